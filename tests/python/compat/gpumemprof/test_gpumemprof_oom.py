"""The flight recorder of compat.gpumemprof and what counts as running out of memory: rows B31, B32."""
import doctest
import errno
import json
import logging
import os
import re
import time

import pytest
from vramscope import sim
from vramscope.compat.gpumemprof import (OOMFlightRecorder, OOMFlightRecorderConfig, TrackingEvent, classify_oom_exception, oom_recorder,
                                         records)

FAILED = RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
FILES = ["environment.json", "events.json", "manifest.json", "metadata.json"]


def of(name, module, base=RuntimeError):
    return type(name, (base,), {"__module__": module})


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


@pytest.mark.parametrize("error, told", [
    (of("OutOfMemoryError", "torch")("x"), (True, "torch.cuda.OutOfMemoryError")),
    (of("OutOfMemoryError", "torch.cuda")("x"), (True, "torch.cuda.OutOfMemoryError")),
    (of("Mine", "mine", of("OutOfMemoryError", "torch"))("x"), (True, "torch.cuda.OutOfMemoryError")),
    (sim.OutOfMemoryError("x"), (True, "vramscope.sim.OutOfMemoryError")),
    (of("OutOfMemoryError", "elsewhere")("x"), (False, None)),
    (of("_ResourceExhaustedError", "mine")("x"), (True, "tensorflow.ResourceExhaustedError")),
    (of("ResourceExhaustedErrors", "mine")("x"), (False, None)),
    (RuntimeError("CUDA Out Of Memory."), (True, "message_pattern:out of memory")),
    (RuntimeError("HIP out of memory"), (True, "message_pattern:out of memory")),
    (ValueError("RESOURCE EXHAUSTED: of 3"), (True, "message_pattern:resource exhausted")),
    (OSError("Failed to allocate 12 bytes"), (True, "message_pattern:failed to allocate")),
    (RuntimeError("the allocation failed"), (True, "message_pattern:allocation failed")),
    (RuntimeError("failed to alloc"), (False, None)),
    (ValueError("bad input"), (False, None)),
    (MemoryError("out of memory"), (False, "host.MemoryError")),
    (of("ArrayMemoryError", "numpy", MemoryError)("Unable to allocate 3 TiB"), (False, "host.MemoryError")),
    (Mute(), (False, None)),
])
def test_what_counts_as_running_out_of_memory_B32(error, told):
    found = classify_oom_exception(error)
    assert found == told and (found.is_oom, found.reason) == told
    is_oom, reason = found
    assert (is_oom, reason) == told


def test_a_simulated_device_that_runs_out_B32():
    with sim.Device("1GiB") as device, pytest.raises(RuntimeError) as caught:
        device.alloc("2GiB")
    assert classify_oom_exception(caught.value).is_oom


def recorder(folder, **config):
    return OOMFlightRecorder(OOMFlightRecorderConfig(**{"enabled": True, "dump_dir": str(folder), **config}))


def dump(made, **more):
    return made.dump(**{"reason": "message_pattern:out of memory", "exception": FAILED, "context": "step", "backend": "cuda", **more})


def read(path, name):
    with open(os.path.join(path, name), encoding="utf-8") as file:
        return json.load(file)


def test_a_bundle_B31(tmp_path):
    made = recorder(tmp_path / "new/dumps", buffer_size=3)
    for number in range(5):
        made.record({"i": number})
    assert made.snapshot_events() == [{"i": 2}, {"i": 3}, {"i": 4}]
    path = dump(made, metadata={"batch": 7, "odd": {1, }})
    assert os.path.dirname(path) == str(tmp_path / "new/dumps") and sorted(os.listdir(path)) == FILES
    assert re.fullmatch(rf"oom_dump_\d{{8}}T\d{{6}}Z_{os.getpid()}_cuda_1", os.path.basename(path))
    assert os.listdir(tmp_path / "new/dumps") == [os.path.basename(path)]
    assert read(path, "events.json") == [{"i": 2}, {"i": 3}, {"i": 4}]
    assert read(path, "metadata.json") == {
        "reason": "message_pattern:out of memory", "exception_type": "RuntimeError", "exception_module": "builtins",
        "exception_message": str(FAILED), "context": "step", "backend": "cuda", "captured_event_count": 3,
        "custom_metadata": {"batch": 7, "odd": "{1}"}}
    about = read(path, "environment.json")
    assert about["pid"] == os.getpid() and about["cwd"] == os.getcwd() and about["system"]["python_version"]
    manifest = read(path, "manifest.json")
    assert list(manifest) == ["schema_version", "bundle_name", "created_at_utc", "reason", "backend", "event_count", "files"]
    assert manifest["schema_version"] == 1 and manifest["bundle_name"] == os.path.basename(path) and manifest["event_count"] == 3
    assert sorted(manifest["files"]) == FILES and abs(time.mktime(time.strptime(
        manifest["created_at_utc"], "%Y-%m-%dT%H:%M:%SZ")) - time.mktime(time.gmtime())) < 60


def test_events_are_kept_as_they_were_B31(tmp_path):
    made, event = recorder(tmp_path), {"i": 1}
    made.record(event)
    event["i"] = 2
    made.snapshot_events()[0]["i"] = 3
    assert made.snapshot_events() == [{"i": 1}]
    made.record_event(TrackingEvent(1.5, "critical", 7, 9, 0, 0))
    assert made.snapshot_events()[1]["event_type"] == "critical" and made.snapshot_events()[1]["memory_reserved"] == 9
    assert len(recorder(tmp_path, buffer_size=0).config.dump_dir) and recorder(tmp_path, buffer_size=0)._events.maxlen == 1


def test_nothing_is_written_unless_it_is_on_B31(tmp_path):
    assert OOMFlightRecorderConfig().enabled is False
    assert dump(recorder(tmp_path / "dumps", enabled=False)) is None
    assert not (tmp_path / "dumps").exists()


def test_a_name_that_is_taken_and_a_backend_with_any_name_B31(tmp_path):
    made = recorder(tmp_path, max_dumps=0)
    first = dump(made, backend="a/b c")
    assert "_a_b_c_" in first and "_unknown_" in dump(made, backend="")
    again = recorder(tmp_path, max_dumps=0)
    names = {dump(made), dump(again), dump(again), dump(again)}
    assert len(names) == 4 and all(os.path.isdir(path) for path in names)


def older(tmp_path, *sizes):
    """Bundles of others, the oldest first."""
    for number, size in enumerate(sizes):
        folder = tmp_path / f"oom_dump_20200101T000000Z_1_cuda_{9 - number}"
        folder.mkdir()
        (folder / "events.json").write_bytes(b" " * size)
        os.utime(folder, (number, number))


def left(tmp_path):
    return sorted(name[-1] for name in os.listdir(tmp_path) if name.startswith("oom_dump_2020"))


@pytest.mark.parametrize("config, kept", [
    ({"max_dumps": 4}, ["7", "8", "9"]),
    ({"max_dumps": 3}, ["7", "8"]),  # the oldest go first, not the first by name
    ({"max_dumps": 1}, []),
    ({"max_dumps": 0}, ["7", "8", "9"]),
    ({"max_dumps": -1}, ["7", "8", "9"]),
    ({"max_dumps": 0, "max_total_mb": 4}, ["7", "8", "9"]),
    ({"max_dumps": 0, "max_total_mb": 2}, ["7"]),
    ({"max_dumps": 0, "max_total_mb": 0}, ["7", "8", "9"]),
    ({"max_dumps": 3, "max_total_mb": 2}, ["7"]),
])
def test_the_oldest_are_pruned_by_count_then_by_bytes_B31(tmp_path, config, kept):
    older(tmp_path, 1 << 20, 1 << 20, 1 << 20)
    path = dump(recorder(tmp_path, **config))
    assert left(tmp_path) == kept and os.path.isdir(path)


def test_the_newest_stays_however_large_and_what_is_no_bundle_is_left_alone_B31(tmp_path):
    older(tmp_path, 10)
    (tmp_path / "mine").mkdir()
    (tmp_path / "oom_dump_notes.txt").write_text("kept")
    outside = tmp_path.parent / "outside"
    outside.mkdir(exist_ok=True)
    (tmp_path / "oom_dump_link").symlink_to(outside)
    made = recorder(tmp_path, max_dumps=1, max_total_mb=1)
    made.record({"text": "x" * (2 << 20)})
    path = dump(made)
    assert sorted(os.listdir(tmp_path)) == sorted(["mine", "oom_dump_link", "oom_dump_notes.txt", os.path.basename(path)])
    assert outside.is_dir()


def test_what_cannot_be_written_is_one_line_of_the_log_B31(tmp_path, caplog, monkeypatch):
    taken = tmp_path / "file"
    taken.write_text("")
    with caplog.at_level(logging.WARNING, "vramscope"):
        assert dump(recorder(taken)) is None
    assert len(caplog.records) == 1 and str(taken) in caplog.text

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(os, "replace", full)
    assert dump(recorder(tmp_path / "dumps")) is None
    assert os.listdir(tmp_path / "dumps") == [] and "No space left" in caplog.records[-1].getMessage()


def test_an_interrupt_passes_and_leaves_nothing_B31(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dump(recorder(tmp_path))
    assert os.listdir(tmp_path) == []


def test_foreign_values_B31(tmp_path):
    made = recorder(tmp_path)
    made.record({"context": "\ud800\0<b>", ("odd", "key"): 1, "value": Mute()})
    path = dump(made, exception=Mute(), metadata={"self": made.config})
    assert read(path, "events.json")[0]["value"] == "<Mute>"
    assert read(path, "metadata.json")["exception_message"] == "<Mute>"


def test_names_of_the_module_B31():
    assert oom_recorder.OOMFlightRecorderConfig is records.OOMFlightRecorderConfig
    with pytest.raises(AttributeError, match="nothing"):
        oom_recorder.nothing
    done = doctest.testmod(oom_recorder)
    assert done.attempted and not done.failed
