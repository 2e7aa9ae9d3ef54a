"""The files of a Tracker: segments, manifests, and what is left of runs that end badly (row B34)."""
import json
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from conftest import PACKAGE, ROOT, validate
from vramscope import Thresholds, Tracker, VramscopeNote, _core, sim
from vramscope.compat.gpumemprof import load_telemetry_events, validate_telemetry_record
from vramscope.tracker import runs

MIB, GIB = 1 << 20, 1 << 30


@pytest.fixture
def device():
    with sim.Device("10GiB") as made:
        yield made


def segments(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".jsonl"))


def records(folder):
    """Those of all segments in their order; each is one of telemetry, version 2, and manifests are what the schema says."""
    found = []
    for manifest in folder.glob("*.manifest.json"):
        validate(json.loads(manifest.read_text()))
    for name in segments(folder):
        for line in (folder / name).read_text().splitlines():
            validate_telemetry_record(json.loads(line, parse_constant=pytest.fail))
        found += load_telemetry_events(folder / name, permissive_legacy=False)
    return found


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_every_event_is_a_record_of_telemetry_B34_B53(device, tmp_path):
    folder = tmp_path / "made" / "by start"
    device.other(GIB)
    held = []
    with Tracker(interval=3600, sink=folder, job_id="job", rank=1, world_size=4, thresholds=Thresholds(growth_bytes=MIB)) as tracker:
        with tracker.phase("load \"x\"", {"step": 3, "backend": "mine", "nan": float("nan")}):
            held.append(device.alloc(8 * MIB))
            tracker.sample()
    told = records(folder)
    kept = sorted([*tracker.events(), *tracker.events("sample")], key=lambda event: event.index)
    assert [r.event_type for r in told] == [e.kind for e in kept]
    for record, event in zip(told, kept, strict=True):
        assert record.timestamp_ns == round(event.time * 1e6) * 1000
        assert record.allocator_allocated_bytes == event.allocated_bytes and record.context == event.context
        assert record.allocator_change_bytes == (event.change_bytes or 0)
        assert (record.device_used_bytes, record.device_free_bytes, record.device_total_bytes) == (
            event.device_used_bytes, event.device_free_bytes, event.device_total_bytes)
        assert (record.job_id, record.rank, record.world_size, record.device_id) == ("job", 1, 4, 0)
        assert (record.pid, record.sampling_interval_ms, record.collector) == (os.getpid(), 3_600_000, "vramscope.tracker")
    enter, warning = (next(r for r in told if r.event_type == kind) for kind in ("phase_enter", "warning"))
    assert enter.metadata == {"backend": "mine", "phase": ["load \"x\""], "step": 3, "nan": "nan"}
    assert warning.metadata == {"backend": "sim", "large_allocation": True, "phase": ["load \"x\""]}
    manifest, = runs(folder)
    assert manifest["status"] == "completed" and manifest["failure"] is None and manifest["rank"] == 1
    assert manifest["records"] == len(told) == sum(s["records"] for s in manifest["segments"])
    assert manifest["dropped_records"] == manifest["pruned_records"] == 0
    assert manifest["segments"][0]["bytes"] == os.path.getsize(folder / manifest["segments"][0]["name"])
    assert manifest["run_id"] == tracker.stats()["sink_run"] and sorted(os.listdir(folder))[1:] == [f"{manifest['run_id']}.manifest.json"]


def test_what_is_not_known_is_told_as_such(tmp_path):
    with Tracker(interval=3600, sink=tmp_path, backend="none") as tracker:
        tracker.sample()
    told = records(tmp_path)
    # The form has no place for it: samples of nothing are left out, other events say so.
    assert [r.event_type for r in told] == ["start", "collector_degraded", "stop"]
    assert all(r.metadata["unknown"] == ["allocator_allocated_bytes", "allocator_reserved_bytes"] for r in told)
    assert all(r.device_used_bytes is None and r.allocator_active_bytes is None for r in told)


def test_each_run_has_files_of_its_own(device, tmp_path):
    tracker = Tracker(interval=3600, sink=tmp_path)
    for _ in range(3):
        with tracker:
            pass
    with Tracker(interval=3600, sink=tmp_path, rank=0, world_size=2):
        pass
    found = runs(tmp_path)
    assert len({run["run_id"] for run in found}) == 4 and {run["status"] for run in found} == {"completed"}
    assert found[3]["run_id"].endswith("-rank0") or any(run["run_id"].endswith("-rank0") for run in found)
    assert len(segments(tmp_path)) == 4 and [r.event_type for r in records(tmp_path)].count("start") == 4


def test_an_exception_interrupts_a_run(device, tmp_path):
    with pytest.raises(KeyError), Tracker(interval=3600, sink=tmp_path):
        raise KeyError
    assert runs(tmp_path)[0]["status"] == "interrupted" and records(tmp_path)[-1].event_type == "stop"


def core_tracker(folder, *limits, interval=0.001):
    core = _core.Tracker(backend=None, device=None, interval=interval, capacity=1000, host=False, process=False,
                         samples_only=False)
    core.identify(None, -1, -1, -1, None, "sim", None)
    core.files(folder, *limits)
    return core


def test_segments_roll_and_the_oldest_go(device, tmp_path):
    core = core_tracker(tmp_path, 1, 10_000, 3)  # flush at once; 10,000 bytes in each of 3 segments
    core.start()
    until(lambda: core.stats()["sink_segments"] >= 6)
    core.stop(False, True)
    known, manifest = core.stats(), runs(tmp_path)[0]
    names = segments(tmp_path)
    assert len(names) == 3 and names == [s["name"] for s in manifest["segments"]]
    assert names[-1].endswith(f".{known['sink_segments']:06}.jsonl")
    assert all(0 < os.path.getsize(tmp_path / name) <= 10_000 for name in names)
    left = records(tmp_path)
    assert known["sink_records"] == known["sink_pruned"] + len(left) and manifest["pruned_records"] == known["sink_pruned"] > 0
    assert manifest["status"] == "completed" and left[-1].event_type == "stop"


def test_bytes_in_all_are_bounded(device, tmp_path):
    core = core_tracker(tmp_path, 1, 4_000, 100, 12_000)
    core.start()
    until(lambda: core.stats()["sink_segments"] >= 8)
    core.stop(False, True)
    assert sum(os.path.getsize(tmp_path / name) for name in segments(tmp_path)) <= 12_000
    assert records(tmp_path)[-1].event_type == "stop"


def test_a_full_buffer_drops_and_counts(device, tmp_path):
    core = core_tracker(tmp_path, 0, 0, 0, 0, 5_000, interval=3600)  # the thread writes once, at the start
    core.start()
    for _ in range(100):
        core.sample()
    assert core.stats()["sink_dropped"] > 50
    core.stop(False, True)
    known, manifest = core.stats(), runs(tmp_path)[0]
    assert manifest["status"] == "incomplete" and manifest["dropped_records"] == known["sink_dropped"]
    assert known["sink_records"] + known["sink_dropped"] == known["samples"] + 1  # and the stop
    assert len(records(tmp_path)) == known["sink_records"]


def test_a_folder_that_cannot_be_used(device, tmp_path):
    (tmp_path / "file").write_text("")
    tracker = Tracker(interval=3600, sink=tmp_path / "file")
    with pytest.raises(OSError):
        tracker.start()
    core = core_tracker(tmp_path / "nothing here")
    with pytest.raises(_core.Error, match="nothing here: No such file") as failure:
        core.start()
    assert failure.value.status == "io" and not core.running and not tracker.running


def test_a_child_of_fork_writes_nothing(device, tmp_path):
    tracker = Tracker(interval=3600, sink=tmp_path)
    tracker.start()
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    pid = os.fork()
    if pid == 0:
        tracker.sample()
        tracker._note("error", "of the child")
        tracker.stop()
        del tracker
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before
    tracker.stop()
    assert [r.event_type for r in records(tmp_path)] == ["start", "sample", "stop"]


# Programs that end badly.

PROGRAM = """
    import os, signal, sys, time
    from vramscope import sim, Tracker
    device = sim.Device("1GiB")
    device.__enter__()
    tracker = Tracker(interval=0.02, sink=sys.argv[1])
    tracker.start()
"""


def begin(folder, more, **given):
    return subprocess.Popen([sys.executable, "-B", "-c", textwrap.dedent(PROGRAM) + textwrap.dedent(more), str(folder)],
                            env={**os.environ, "PYTHONPATH": PACKAGE}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given)


def marks(folder):
    """When the program noted each mark that is on the disk; it may write meanwhile."""
    lines = [line for name in segments(folder) for line in (folder / name).read_text().split("\n")[:-1]]
    return [float(row["context"]) for row in map(json.loads, lines) if row["event_type"] == "cleanup"]


def test_a_killed_program_leaves_all_but_the_last_two_seconds(tmp_path):
    process = begin(tmp_path, """
        print("runs", flush=True)
        while True:
            time.sleep(0.01)
            tracker._note("cleanup", str(time.time()))
    """)
    process.stdout.readline()
    until(lambda: segments(tmp_path) and os.path.getsize(tmp_path / segments(tmp_path)[0]) > 0)
    # Two flushes: the second brings what is more than two seconds younger than the first of all.
    until(lambda: (noted := marks(tmp_path)) and noted[-1] - noted[0] > 2)
    killed = time.time()
    process.send_signal(signal.SIGKILL)
    process.wait()
    text = (tmp_path / segments(tmp_path)[0]).read_text()
    assert text.endswith("\n")  # whole lines
    noted = marks(tmp_path)
    assert noted == sorted(noted) and noted[0] < killed - 2
    # Two seconds to the flush; a machine that is busy adds to it.
    assert noted[-1] > killed - 4
    manifest = json.loads(next(tmp_path.glob("*.manifest.json")).read_text())
    assert manifest["status"] == "running" and runs(tmp_path)[0]["status"] == "incomplete"


def test_a_running_program_says_so(tmp_path):
    process = begin(tmp_path, "print('runs', flush=True); sys.stdin.read()", stdin=subprocess.PIPE)
    process.stdout.readline()
    assert runs(tmp_path)[0]["status"] == "running"
    _, errors = process.communicate(b"")
    # It ends without a stop.
    assert (process.returncode, errors) == (0, b"")
    assert runs(tmp_path)[0]["status"] == "interrupted" and records(tmp_path)[-1].event_type == "stop"


def test_a_full_disk_costs_records_and_not_the_program(tmp_path):
    process = begin(tmp_path, """
        for number in range(400):
            tracker._note("cleanup", "x" * 100)
            while number == 100 and not tracker.stats()["sink_records"]:
                time.sleep(0.01)  # what fits into the file is written, then what does not
        tracker.stop()
        stats = tracker.stats()
        assert stats["sink_failure"].startswith("records cannot be written: File too large"), stats
        assert stats["sink_dropped"] > 0 and stats["sink_records"] > 0, stats
    """, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000)))
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    manifest, = runs(tmp_path)
    assert manifest["status"] == "incomplete" and "File too large" in manifest["failure"]
    assert len(records(tmp_path)) == manifest["records"] > 0


@pytest.mark.parametrize("text", (b"", b"{", b"[]", b"{}", b"\xff", b"[" * 100_000,
                                  b'{"status": "running", "host": "h", "pid": "1", "began_us": 1, "run_id": "r"}'))
def test_a_broken_manifest_is_named_and_the_other_runs_are_told(device, tmp_path, text):
    for _ in range(2):
        with Tracker(interval=3600, sink=tmp_path):
            pass
    (tmp_path / "a.manifest.json").write_bytes(text)
    with pytest.warns(VramscopeNote, match=r"a run was left out: .*a\.manifest\.json: ") as told:
        found = runs(tmp_path)
    assert [run["status"] for run in found] == ["completed"] * 2 and len(told) == 1


# Export.

@pytest.mark.parametrize("format", ["jsonl", "json", "csv"])
def test_what_is_kept_is_exported_B28(device, tmp_path, format):
    held = []
    with Tracker(interval=3600, capacity=5) as tracker, tracker.phase("a,b\n=1+1"):
        for _ in range(8):
            held.append(device.alloc(4 * MIB))
            tracker.sample()
    path = tracker.export(tmp_path / f"events.{format}", format)
    assert path == str(tmp_path / f"events.{format}") and os.listdir(tmp_path) == [f"events.{format}"]
    kept = sorted([*tracker.events(), *tracker.events("sample")], key=lambda event: event.index)
    if format == "csv":
        import csv
        with open(path, newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["event_type"] for row in rows] == [event.kind for event in kept]
        assert [int(row["allocator_allocated_bytes"]) for row in rows] == [event.allocated_bytes for event in kept]
        assert json.loads(rows[0]["metadata"])["phase"] == ["a,b\n=1+1"] and list(rows[0])[:3] == ["schema_version", "timestamp_ns", "event_type"]
    else:
        assert [event.event_type for event in load_telemetry_events(path, permissive_legacy=False)] == [e.kind for e in kept]


def test_an_export_of_nothing_and_in_no_format(device, tmp_path):
    tracker = Tracker(interval=3600)
    assert open(tracker.export(tmp_path / "x", "json")).read() == "[]\n"
    with pytest.raises(ValueError, match="no format 'xml'"):
        tracker.export(tmp_path / "y", "xml")
    assert os.listdir(tmp_path) == ["x"]


# The line of a terminal.

def test_a_line_on_a_terminal_alone(tmp_path):
    text = """
        import sys
        import sampled
        from vramscope import sim, Tracker
        with sim.Device("1GiB") as device, Tracker(interval=0.01, live=True) as tracker:
            kept = device.alloc("512MiB")
            sampled.wait(20)
            sys.stdin.read()
    """
    command = [sys.executable, "-B", "-c", textwrap.dedent(text)]
    env = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{ROOT / 'tests/python'}"}
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    reader, terminal = os.openpty()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=terminal, env=env)
    os.close(terminal)
    shown = b""
    try:
        while block := os.read(reader, 65536):
            shown += block
            if shown.count(b"\r") >= 2:
                process.stdin.close()
    except OSError:  # the other end is closed
        pass
    os.close(reader)
    lines = shown.decode().split("\r")
    assert process.wait(120) == 0 and process.stdout.read() == b""
    assert lines[2].startswith("512.00 MiB of 1.00 GiB allocated, peak 512.00 MiB, 1 alert\x1b[K")
    assert 3 <= len(lines) <= 6 and shown.endswith(b"\r\n")
