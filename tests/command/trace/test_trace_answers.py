"""What `vramscope trace` says of small traces whose truth is known, as text, JSON and CSV."""
import csv
import io
import json

import pytest

from conftest import run

GPU = {"name": "A card", "id": 0}


def span(name, category, start, duration, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def launched(name, at, start, duration, number, pid=0):
    """A launch of 1 us, and what it launched."""
    return [span("cudaLaunchKernel", "cuda_runtime", at, 1, correlation=number),
            span(name, "kernel", start, duration, pid=pid, tid=7, correlation=number)]


def written(tmp_path, events, name="made.json", **header):
    path = tmp_path / name
    path.write_text(json.dumps({"deviceProperties": [GPU], **header, "traceEvents": events}))
    return path


# Two steps of 100 us; the device works from 60 to 100 and from 110 to 250, with the end of the last step in it.
STEPS = [span("ProfilerStep#1", "user_annotation", 0, 100), span("ProfilerStep#2", "user_annotation", 100, 100),
         *launched("first", 50, 60, 40, 1), *launched("second", 105, 110, 140, 2)]


def test_time_of_steps_is_before_the_first_event_too(tmp_path):
    path = written(tmp_path, STEPS)
    [device] = json.loads(run("trace", "-j", path, expect=0).out)["devices"]
    assert [device[k] for k in ("steps_window_ns", "steps_busy_ns", "steps_busy_ratio")] == [250_000, 180_000, 0.72]
    assert device["busy_ns"] == 180_000 and device["window"]["first_ns"] == 60_000
    words = " ".join(run("trace", path, expect=0).out.split())
    assert "device 0 (A card) worked 72.0 % of the 250.0 us of the steps; from its first event to its last, 190.0 us, " \
           "it worked 94.7 % and was idle for 10.0 us" in words


def test_without_steps_there_is_no_time_of_them(tmp_path):
    [device] = json.loads(run("trace", "-j", written(tmp_path, STEPS[2:]), expect=0).out)["devices"]
    assert [device[k] for k in ("steps_window_ns", "steps_busy_ns", "steps_busy_ratio")] == [None] * 3


def test_the_longest_gaps_are_at_moments_of_the_trace(tmp_path):
    out = run("trace", "--gaps", written(tmp_path, STEPS), expect=0).out
    [line] = [line for line in out.splitlines() if line.endswith("second")]
    assert line.split()[:4] == ["10.0", "us", "100.0", "us"]


def test_gaps_that_are_not_shown_are_counted(tmp_path):
    events = [one for i in range(300) for one in launched("k", 10 * i, 10 * i + 2, 3, i + 1)]
    path = written(tmp_path, events)
    for options, shown in ([], 10), (["-n", "30"], 30), (["-n", "1000"], 100):
        out = run("trace", "--gaps", *options, path, expect=0).out
        assert out.count("  7.00 us ") == shown and f"  and {299 - shown} gaps more\n" in out


def test_devices_stand_by_their_numbers(tmp_path):
    events = [one for i in range(12) for one in launched("k", 10 * i, 10 * i + 2, 3 + i, i + 1, pid=i)]
    path = written(tmp_path, events)
    assert [d["device"] for d in json.loads(run("trace", "-j", path, expect=0).out)["devices"]] == [str(i) for i in range(12)]
    out = run("trace", path, expect=0).out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("busy ")] == [str(i) for i in range(8)]


def test_a_process_that_is_no_number_of_a_device_has_the_name_that_the_file_gives_it(tmp_path):
    named = {"ph": "M", "name": "process_name", "pid": 800, "args": {"name": "Hard\x1bware"}}
    out = run("trace", written(tmp_path, [named, *launched("k", 0, 2, 3, 1, pid=800), *launched("k", 4, 9, 3, 2, pid=800)]), expect=0).out
    assert "verdict  process 800 (Hard\\x1bware) worked" in out


@pytest.mark.parametrize("option, names", [
    ("--ops", ["ProfilerStep*", "cudaLaunchKernel"]), ("--kernels", ["second", "first"]),
    ("--steps", ["ProfilerStep#1", "ProfilerStep#2"]), ("--calls", ["cudaLaunchKernel"]), (None, ["ProfilerStep*", "cudaLaunchKernel"])])
def test_csv_has_the_part_that_was_asked_for(tmp_path, option, names):
    out = run("trace", "--csv", *filter(None, [option]), written(tmp_path, STEPS), expect=0).out
    assert [row["name"] for row in csv.DictReader(io.StringIO(out))] == names


def test_csv_of_gaps(tmp_path):
    out = run("trace", "--csv", "--gaps", written(tmp_path, STEPS), expect=0).out
    [row] = csv.DictReader(io.StringIO(out))
    assert (row["first_ns"], row["ns"], row["next"]) == ("100000", "10000", "second")


def test_csv_is_of_one_part(tmp_path):
    assert "--csv writes one table" in run("trace", "--csv", "--ops", "--gaps", written(tmp_path, STEPS), expect=2).err


def test_csv_of_a_cut_file_says_so(tmp_path):
    path = written(tmp_path, STEPS)
    path.write_text(path.read_text()[:-20])
    done = run("trace", "--csv", "--kernels", path, expect=0)
    assert "INCOMPLETE: the file ends too early" in done.err and done.out.count("\n") == 2
    # What may have stood in the rest is not said to be missing from the recording.
    assert "record with" not in run("trace", path, expect=0).out


@pytest.mark.parametrize("option, words", [
    ("--steps", "none: ranges of steps come from"), ("--gaps", "none: no device activity was recorded"),
    ("--kernels", "none: no device activity was recorded"), ("--calls", "none: no calls of the runtime"),
    ("--memory", "none: events of the allocators are recorded with profile_memory=True")])
def test_a_part_without_rows_says_why(tmp_path, option, words):
    path = written(tmp_path, [span("aten::add", "cpu_op", 0, 5)])
    assert words in " ".join(run("trace", option, path, expect=0).out.split())


def test_a_long_name_is_cut_in_the_verdict(tmp_path):
    out = run("trace", written(tmp_path, launched("k" * 400, 0, 2, 300, 1)), expect=0).out
    assert "k" * 59 + "\u2026" in out and "k" * 61 not in out


def test_memory_before_the_trace_is_unknown_without_totals(tmp_path):
    event = {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1, "args": {"Device Type": 0, "Device Id": -1, "Bytes": 64}}
    out = run("trace", "--memory", written(tmp_path, [event, span("aten::add", "cpu_op", 0, 5)]), expect=0).out
    assert "unknown" in out and "at least: the events have no totals" in out
