"""Row B53: records of telemetry, their rules, older records, files; the identity of ranks."""
import json

import pytest
from vramscope import ranks
from vramscope.compat.gpumemprof import (TelemetryEventV2, load_telemetry_events, resolve_distributed_identity,
                                         telemetry_event_from_record, telemetry_event_to_dict, validate_telemetry_record)

RECORD = {
    "schema_version": 2, "timestamp_ns": 1_700_000_000_123_456_789, "event_type": "sample", "collector": "gpumemprof.cuda_tracker",
    "sampling_interval_ms": 100, "pid": 7, "host": "node", "device_id": 0, "allocator_allocated_bytes": 10,
    "allocator_reserved_bytes": 20, "allocator_active_bytes": 11, "allocator_inactive_bytes": None, "allocator_change_bytes": -3,
    "device_used_bytes": 30, "device_free_bytes": 70, "device_total_bytes": 100, "context": None, "metadata": {"a": 1},
}
WRITTEN = ["schema_version", "timestamp_ns", "event_type", "collector", "sampling_interval_ms", "pid", "host", "job_id", "rank",
           "local_rank", "world_size", "device_id", "allocator_allocated_bytes", "allocator_reserved_bytes",
           "allocator_active_bytes", "allocator_inactive_bytes", "allocator_change_bytes", "device_used_bytes",
           "device_free_bytes", "device_total_bytes", "context", "metadata"]
NUMBERS = [key for key, value in RECORD.items() if isinstance(value, int) or key == "allocator_inactive_bytes"]
NULLABLE = {"allocator_active_bytes", "allocator_inactive_bytes", "device_used_bytes", "device_free_bytes", "device_total_bytes",
            "context"}


def test_a_record_becomes_an_event_and_a_record_again():
    event = telemetry_event_from_record(RECORD)
    written = telemetry_event_to_dict(event)
    assert list(written) == WRITTEN
    assert written == {**RECORD, "job_id": None, "rank": 0, "local_rank": 0, "world_size": 1}
    assert telemetry_event_from_record(json.loads(json.dumps(written))) == event
    written["metadata"]["a"] = 2
    assert event.metadata == RECORD["metadata"] == {"a": 1}


@pytest.mark.parametrize("key", list(RECORD))
def test_every_required_field_is_required(key):
    record = {k: v for k, v in RECORD.items() if k != key}
    with pytest.raises(ValueError, match=f"Missing required telemetry fields: {key}"):
        validate_telemetry_record(record)
    with pytest.raises(ValueError, match="Unknown telemetry fields: more"):
        validate_telemetry_record({**RECORD, "more": 1})


@pytest.mark.parametrize("key", list(RECORD))
def test_what_may_be_unknown(key):
    if key in NULLABLE:
        validate_telemetry_record({**RECORD, key: None})
    else:
        with pytest.raises(ValueError, match=key):
            validate_telemetry_record({**RECORD, key: None})


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("value", ["1", 1.0, True, float("nan"), [1]])
def test_numbers_are_whole(key, value):
    with pytest.raises(ValueError, match=f"{key} must be an integer"):
        validate_telemetry_record({**RECORD, key: value})


@pytest.mark.parametrize("key, least", [(key, -1 if key == "pid" else 0) for key in NUMBERS
                                        if key not in ("schema_version", "device_id", "allocator_change_bytes")])
def test_numbers_have_a_least_value(key, least):
    validate_telemetry_record({**RECORD, "device_used_bytes": 0, "device_free_bytes": 0, key: least})
    with pytest.raises(ValueError, match=f"{key} must be >= {least}"):
        validate_telemetry_record({**RECORD, key: least - 1})


@pytest.mark.parametrize("change, reason", [
    ({"schema_version": 3}, "schema_version must be 2"), ({"event_type": " "}, "event_type must be a non-empty string"),
    ({"host": 3}, "host must be a string"), ({"context": 3}, "context must be a string"), ({"metadata": []}, "metadata must be an object"),
    ({"device_used_bytes": 101}, "device_used_bytes cannot exceed device_total_bytes"),
    ({"device_free_bytes": 101}, "device_free_bytes cannot exceed device_total_bytes"),
    ({"rank": 1}, "rank must be 0 when world_size is 1"), ({"rank": 4, "world_size": 4}, "rank must be < world_size"),
    ({"rank": -1, "world_size": 4}, "rank must be >= 0"), ({"world_size": 0}, "world_size must be >= 1"),
    ({"job_id": ""}, "job_id must be a non-empty string"), ({"local_rank": 4, "world_size": 4}, "local_rank must be < world_size"),
])
def test_a_wrong_record_is_refused_with_the_reason(change, reason):
    with pytest.raises(ValueError, match=reason):
        validate_telemetry_record({**RECORD, **change})


def test_bounds_are_allowed():
    validate_telemetry_record({**RECORD, "device_used_bytes": 100, "device_free_bytes": 100, "context": ""})
    validate_telemetry_record({**RECORD, "device_total_bytes": None, "device_used_bytes": 10**15})
    validate_telemetry_record({**RECORD, "rank": 3, "local_rank": 0, "world_size": 4, "job_id": "x"})


def test_an_event_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="timestamp_ns"):
        TelemetryEventV2(**{**RECORD, "timestamp_ns": -1})


def test_versions_and_older_records_may_be_refused():
    with pytest.raises(ValueError, match="Unsupported schema_version: 4"):
        telemetry_event_from_record({**RECORD, "schema_version": 4})
    with pytest.raises(ValueError, match="Legacy record conversion is disabled"):
        telemetry_event_from_record({"timestamp": 1.0}, permissive_legacy=False)
    with pytest.raises(ValueError, match="mapping"):
        telemetry_event_from_record([1])


def test_an_older_record_of_a_tracker():
    event = telemetry_event_from_record({
        "timestamp": 12.5, "event_type": "peak", "memory_allocated": 10, "memory_reserved": 20, "memory_change": 3, "device_id": 1,
        "context": "x", "metadata_phase": "forward", "metadata": {"rank": 2, "world_size": 4, "total_memory": 100}})
    assert (event.timestamp_ns, event.event_type, event.collector) == (12_500_000_000, "peak", "gpumemprof.cuda_tracker")
    assert (event.allocator_allocated_bytes, event.allocator_reserved_bytes, event.allocator_change_bytes) == (10, 20, 3)
    assert (event.rank, event.local_rank, event.world_size, event.pid, event.host) == (2, 2, 4, -1, "unknown")
    assert event.metadata == {"phase": "forward", "total_memory": 100} and event.device_total_bytes == 100
    # What nobody measured is not told: the original takes what is allocated for it.
    assert event.device_used_bytes is event.device_free_bytes is event.allocator_active_bytes is None


@pytest.mark.parametrize("record, wanted", [
    ({"timestamp_ns": 5, "memory_mb": 1.5, "device": "/GPU:0"}, {"allocator_allocated_bytes": 3 << 19, "device_id": 0}),
    ({"timestamp": 1, "type": "alloc", "device": "cuda:3", "device_used_bytes": 7, "device_total": 9},
     {"device_id": 3, "event_type": "alloc", "device_used_bytes": 7, "device_free_bytes": 2, "allocator_allocated_bytes": 7}),
    ({"timestamp": 1, "device": "cpu", "memory_allocated": 1}, {"device_id": -1, "collector": "gpumemprof.cpu_tracker"}),
    ({"timestamp": 1, "backend": "ROCM"}, {"collector": "gpumemprof.rocm_tracker", "event_type": "sample", "device_id": -1}),
    ({"timestamp": 1, "message": "hello"}, {"context": "hello", "collector": "legacy.unknown", "sampling_interval_ms": 0}),
])
def test_other_older_records(record, wanted):
    event = telemetry_event_from_record(record)
    assert {key: getattr(event, key) for key in wanted} == wanted


@pytest.mark.parametrize("record", [
    {}, {"timestamp": "1"}, {"timestamp": True}, {"timestamp": float("nan")}, {"timestamp": float("inf")}, {"timestamp": 1, "metadata": 3},
    {"timestamp": 1, "memory_mb": float("inf")}, {"timestamp": 1, "memory_allocated": "7"}, {"timestamp": 1, "rank": 2},
    {"timestamp": 1, "memory_allocated": -1}, {"timestamp": 1, "device_used": "3", "device_total": 4}, {"timestamp": 1, "event_type": 3},
])
def test_older_records_that_make_no_sense(record):
    with pytest.raises(ValueError):
        telemetry_event_from_record(record)


@pytest.mark.parametrize("payload, count", [([RECORD, RECORD], 2), ({"events": [RECORD]}, 1), (RECORD, 1), ({"timestamp": 3}, 1), ([], 0)])
def test_files_of_one_document(tmp_path, payload, count):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(payload))
    assert len(load_telemetry_events(path)) == len(load_telemetry_events(str(path))) == count


@pytest.mark.parametrize("text, reason", [
    ("3", "object or array"), ("{}", "does not contain telemetry"), ('{"events": 3}', "does not contain telemetry"),
    ("[" * 200_000, "nested too deep"), ("[3]", "Event at index 0 must be an object"), ("[", "Expecting"), ("", "Expecting"),
])
def test_files_that_are_none(tmp_path, text, reason):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=reason):
        load_telemetry_events(path)


def test_a_key_of_the_document_is_taken(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"mine": [RECORD], "events": []}))
    assert len(load_telemetry_events(path, events_key="mine")) == 1 and load_telemetry_events(path) == []
    with pytest.raises(ValueError, match="'other' must contain a list"):
        load_telemetry_events(path, events_key="other")
    with pytest.raises(FileNotFoundError):
        load_telemetry_events(tmp_path / "none.json")


def test_files_of_lines(tmp_path):
    path = tmp_path / "rank0.telemetry.jsonl"
    whole = json.dumps(RECORD) + "\n"
    path.write_text(whole + "\n" + whole + whole[:50])  # the last one as a killed program leaves it
    assert len(load_telemetry_events(path)) == 2
    path.write_text(whole[:50] + "\n" + whole)
    with pytest.raises(ValueError):
        load_telemetry_events(path)


TORCHRUN = {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "night"}
MPI = {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "6"}
SLURM = {"SLURM_PROCID": "2", "SLURM_LOCALID": "2", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "99"}


@pytest.mark.parametrize("env, wanted", [
    ({}, (None, None, None, None)), (TORCHRUN, ("night", 3, 1, 8)), (MPI, (None, 5, 0, 6)), (SLURM, ("99", 2, 2, 4)),
    ({**SLURM, **MPI, **TORCHRUN}, ("night", 3, 1, 8)), ({**SLURM, **MPI}, ("99", 5, 0, 6)),
    ({"RANK": "3", **SLURM}, ("99", 2, 2, 4)),  # without a number of ranks it says nothing
    ({"RANK": " 1 ", "WORLD_SIZE": "2"}, (None, 1, None, 2)), ({"RANK": "", "WORLD_SIZE": "2"}, (None, None, None, None)),
])
def test_the_identity_of_a_process(env, wanted):
    assert tuple(ranks.identity(env).values()) == wanted and tuple(ranks.identity(env)) == ranks.FIELDS


def test_the_variables_of_the_process_are_the_default(monkeypatch):
    for name in (*TORCHRUN, *MPI, *SLURM):
        monkeypatch.delenv(name, raising=False)
    assert ranks.identity() == ranks.identity({})
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert ranks.identity()["rank"] == 1
    assert resolve_distributed_identity()["rank"] == 0  # asks no variables unless they are given


@pytest.mark.parametrize("given, wanted", [
    ({}, (None, 0, 0, 1)), ({"env": TORCHRUN}, ("night", 3, 1, 8)), ({"env": TORCHRUN, "rank": 4}, ("night", 4, 1, 8)),
    ({"metadata": {"rank": 1, "world_size": 2, "job_id": "m"}}, ("m", 1, 1, 2)),
    ({"metadata": {"rank": 1, "world_size": 2}, "rank": 0}, (None, 0, 0, 2)),
    ({"rank": 1, "local_rank": 0, "world_size": 2, "env": SLURM}, ("99", 1, 0, 2)),
    ({"env": {"RANK": "1", "WORLD_SIZE": "2"}}, (None, 1, 1, 2)), ({"job_id": "j", "env": SLURM}, ("j", 2, 2, 4)),
])
def test_identity_is_resolved(given, wanted):
    found = resolve_distributed_identity(**given)
    assert tuple(found.values()) == wanted and tuple(found) == ranks.FIELDS


@pytest.mark.parametrize("given", [{"rank": 1}, {"rank": "0"}, {"world_size": 0}, {"rank": 2, "world_size": 2}, {"job_id": " "},
                                   {"rank": True, "world_size": 2}, {"env": {"RANK": "x", "WORLD_SIZE": "2"}},
                                   {"env": {"RANK": "2", "WORLD_SIZE": "2"}}])
def test_ranks_that_do_not_fit_together_are_refused(given):
    with pytest.raises(ValueError):
        resolve_distributed_identity(**given)
