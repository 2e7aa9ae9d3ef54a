"""The commands of compat.gpumemprof that sample: monitor and track; rows B62, B63, B66, and B30 with the real tracker."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import PACKAGE, ROOT
from gpumemprof_command import check_golden, masked, run
from gpumemprof_made import MIB
from vramscope import sim
from vramscope.compat.gpumemprof import MemoryTracker, MemoryWatchdog, cli_live, load_telemetry_events


@pytest.fixture
def device():
    """One of 4 GiB, 3 of it in use, 20 MiB cached."""
    with sim.Device("4GiB", count=2) as made:
        kept = [made.alloc("3GiB"), made.alloc(20 * MIB)]
        made.free(kept[1])
        yield made


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "none")
    monkeypatch.delenv("RANK", raising=False)


def plain(text, folder=None):
    """Without counts of samples and times of day."""
    text = re.sub(r"(Snapshots collected|Total events): \d+", r"\1: {count}", masked(text, folder))
    text = re.sub(r"^\[\d\d:\d\d:\d\d\]", "[{time}]", text, flags=re.M)
    return re.sub(r"[\d.]+ MB", "{size} MB", text) if folder is None else text


def check_printed(name, *argv, folder):
    for encoding in ("utf-8", "ascii"):
        done = run(*argv, encoding=encoding)
        assert (done.status, done.err) == (0, "")
        check_golden(f"{name}.txt", plain(done.out, folder))


def test_monitor_B62(device, tmp_path):
    path = tmp_path / "deep/samples.csv"
    check_printed("monitor", "monitor", "--duration", 0.05, "--interval", 0.01, "--output", path, folder=tmp_path)
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["timestamp", "operation", "allocated_memory", "reserved_memory", "active_memory", "inactive_memory", "device_id"]
    assert {(row["operation"], row["allocated_memory"], row["device_id"]) for row in rows} == {("monitor", str(3 << 30), "0")}
    assert len(rows) >= 1 and os.listdir(path.parent) == ["samples.csv"]


def test_monitor_writes_json_over_what_is_there_B62(device, tmp_path):
    path = tmp_path / "samples.json"
    for number in range(2):
        done = run("monitor", "--duration", 0.03, "--interval", 0.01, "--output", path, "--format", "json", "--device", 1)
        assert done.status == 0 and "Peak memory usage: 0.00 GB" in done.out
    read = json.loads(path.read_text())
    assert read["results"] == [] and read["metadata"]["num_snapshots"] == len(read["snapshots"]) > 0
    assert {snapshot["device_id"] for snapshot in read["snapshots"]} == {1}


def test_monitor_tells_a_change_and_a_peak_B62(device):
    timer = threading.Timer(0.1, lambda: kept.append(device.alloc(512 * MIB)))
    kept = []
    timer.start()
    done = run("monitor", "--duration", 1, "--interval", 0.01)
    timer.join()
    assert "Peak memory usage: 3.50 GB\nMemory change from baseline: 0.50 GB\n" in done.out


def test_monitor_without_a_device_B62(no_device, tmp_path):
    path = tmp_path / "samples.csv"
    done = run("monitor", "--duration", 0.05, "--interval", 0.01, "--output", path)
    check_golden("monitor_none.txt", plain(done.out.replace(str(tmp_path), "{folder}")))
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert done.status == 0 and list(rows[0]) == ["timestamp", "rss", "vms", "cpu_percent"] and int(rows[0]["rss"]) > MIB


def test_nothing_sampled_is_unavailable_B62_B67(device):
    done = run("monitor", "--duration", 0, "--interval", 3600)
    count = int(re.search(r"Snapshots collected: (\d+)", done.out)[1])
    assert ("Peak memory usage: unavailable" in done.out) == (count == 0)


def test_status_lines_come_in_time_B62_B63(monkeypatch):
    """The clock is the test's: a line at once, then at each multiple, one for those that were slept over."""
    now, told = [100.0], []
    naps = iter([1.0, 1.0, 1.0, 1.0, 1.0, 7.5, 0.5, 1.0])
    monkeypatch.setattr(cli_live, "time", type("clock", (), {
        "monotonic": staticmethod(lambda: now[0]),
        "sleep": staticmethod(lambda seconds: now.__setitem__(0, now[0] + (next(naps) if seconds > 0 else 0)))}))
    cli_live._wait(14.0, 5.0, told.append)
    assert told == [0.0, 5.0, 12.5] and now[0] == 114.0


def test_track_B63(device, tmp_path):
    path = tmp_path / "deep/events.json"
    check_printed("track", "track", "--duration", 0.2, "--interval", 0.01, "--output", path, "--format", "json", "--watchdog",
                  "--warning-threshold", 99, "--oom-flight-recorder", "--oom-dump-dir", tmp_path / "dumps", "--oom-max-dumps", 3,
                  "--oom-max-total-mb", 7, "--oom-buffer-size", 50, "--job-id", "night", "--rank", 1, "--world-size", 4, folder=tmp_path)
    events = load_telemetry_events(path)
    assert {(event.job_id, event.rank, event.local_rank, event.world_size) for event in events} == {("night", 1, 1, 4)}
    assert events[0].event_type == "start" and events[-1].event_type == "stop" and events[0].allocator_allocated_bytes == 3 << 30
    assert not (tmp_path / "dumps").exists()


def test_track_tells_alerts_and_the_watchdog_cleans_B63_B30(device):
    """Three quarters are in use: a warning at 70; at 74 a critical level, which empties the cache."""
    done = run("track", "--duration", 0.5, "--interval", 0.01, "--warning-threshold", 70, "--critical-threshold", 74, "--watchdog")
    assert re.search(r"^\[\d\d:\d\d:\d\d\] CRITICAL: CRITICAL: Memory usage at 75\.0%", done.out, re.M)
    assert "Automatic cleanups: 1\n" in done.out and device.stats()["reserved_bytes"] == 3 << 30
    quiet = run("track", "--duration", 0.1, "--interval", 0.01)
    assert "CRITICAL" not in quiet.out and "Automatic" not in quiet.out and "OOM" not in quiet.out


def test_the_watchdog_with_the_tracker_B30(device):
    with MemoryTracker(sampling_interval=60) as tracker:
        tracker.set_threshold("memory_warning_percent", 70.0)
        watchdog = MemoryWatchdog(tracker, cleanup_threshold=0.7)
        kept = device.alloc(MIB)
        tracker.sample()
        end = time.monotonic() + 20
        while not tracker.get_events("cleanup") and time.monotonic() < end:
            time.sleep(0.01)
        told = tracker.get_events("cleanup")[0]
    assert kept.live and watchdog.get_cleanup_stats()["cleanup_count"] == 1
    assert told.context.startswith("Performed standard memory cleanup: ") and told.metadata["returned_bytes"] == 20 * MIB
    assert device.stats()["reserved_bytes"] == (3 << 30) + 2 * MIB


def test_track_writes_csv_B63(device, tmp_path):
    path = tmp_path / "events.csv"
    assert run("track", "--duration", 0.05, "--interval", 0.01, "--output", path).status == 0
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["event_type"] == "start" and rows[0]["allocator_allocated_bytes"] == str(3 << 30)


@pytest.mark.parametrize("verb", ("monitor", "track"))
def test_the_format_is_that_of_the_ending_B62_B63(device, tmp_path, verb):
    times = ("--duration", 0.05, "--interval", 0.01)
    for name, words in (("a.json", ()), ("b.csv", ()), ("c", ()), ("d.json", ("--format", "csv"))):
        assert run(verb, *times, "--output", tmp_path / name, *words).status == 0
    assert json.loads((tmp_path / "a.json").read_text())
    for name in ("b.csv", "c", "d.json"):
        with open(tmp_path / name, newline="") as file:
            assert len(next(csv.reader(file))) > 3
    told = run("analyze", tmp_path / "b.csv")
    assert told.status == 5 and "this is a table (CSV)" in told.err and "--output events.json" in told.err


def test_track_without_a_device_B63(no_device, tmp_path):
    path = tmp_path / "events.json"
    done = run("track", "--duration", 0.05, "--interval", 0.01, "--output", path, "--format", "json")
    check_golden("track_none.txt", plain(done.out.replace(str(tmp_path), "{folder}")))
    assert done.status == 0 and load_telemetry_events(path)[0].device_id == -1


def test_memory_that_runs_out_meanwhile_leaves_a_bundle_B63(device, tmp_path, monkeypatch):
    real = cli_live._wait

    def failing(duration, every, tell):
        real(duration, every, tell)
        device.alloc("8GiB")
    monkeypatch.setattr(cli_live, "_wait", failing)
    done = run("track", "--duration", 0.05, "--interval", 0.01, "--oom-flight-recorder", "--oom-dump-dir", tmp_path)
    (bundle,) = os.listdir(tmp_path)
    assert done.status == 1 and done.err.startswith("Error: CUDA out of memory.") and f"dump saved to: {tmp_path}/{bundle}\n" in done.out
    about = json.loads((tmp_path / bundle / "metadata.json").read_text())
    assert about["context"] == "gpumemprof.track" and about["custom_metadata"]["command"] == "track"
    assert {"sample", "start", "error"} & {event["event_type"] for event in json.loads((tmp_path / bundle / "events.json").read_text())}


@pytest.mark.parametrize("argv", [
    ["--rank", "4", "--world-size", "4"], ["--rank", "-1"], ["--world-size", "0"], ["--oom-max-dumps", "0"], ["--interval", "0"],
    ["--oom-buffer-size", "x"], ["--warning-threshold", "x"],
])
def test_arguments_of_track_that_are_wrong_B63_B66(device, argv):
    done = run("track", "--duration", 0.01, *argv)
    assert done.status == 2 and done.err != "" and "Tracking Summary" not in done.out


def test_a_device_that_is_not_there_B62_B63_B66(device):
    for command in ("monitor", "track"):
        done = run(command, "--duration", 0.01, "--device", 7)
        assert done.status == 1 and done.err == "Error: device 7 is not available: there are 2\n"


# The command, which also says when there are some samples.
SAMPLED = """
import sys, threading
import sampled
from vramscope.compat.gpumemprof import cli
def tell():
    sampled.wait(3, begins=True)
    sys.stdout.write("sampled\\n")
threading.Thread(target=tell, daemon=True).start()
sys.exit(cli.main())
"""


@pytest.mark.parametrize("command", ["monitor", "track"])
def test_an_interrupt_leaves_whole_files_B62_B63_B66(command, tmp_path):
    path = tmp_path / "out.json"
    env = {**os.environ, "PYTHONPATH": f"{PACKAGE}:{ROOT / 'tests/python'}", "VRAMSCOPE_BACKEND": "sim", "PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen([sys.executable, "-B", "-c", SAMPLED, command, "--duration", "60", "--interval", "0.01", "--output",
                                str(path), "--format", "json"], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = []
    while "sampled\n" not in lines or not any(line.startswith("Elapsed: ") for line in lines):
        lines.append(running.stdout.readline())
        assert lines[-1] != "", running.stderr.read()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (130, "") and "stopped by user\n" in out and f"saved to: {path}\n" in out
    read = json.loads(path.read_text())
    assert len(read["snapshots"] if command == "monitor" else read) > 2
