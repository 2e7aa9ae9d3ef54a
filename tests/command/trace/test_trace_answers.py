"""What `vramscope trace` says of small traces whose truth is known, as text, JSON and CSV."""
import csv
import io
import json
import re

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
    # 70 us of idle time in the steps are 60 before the device's first event and the 10 that the gaps explain.
    assert "device 0 (A card) was busy for 72.0 % of the 250.0 us of the steps and idle for the other 70.0 us, " \
           "above all before its first event and behind its last (60.0 us)" in words
    assert "idle of 10.0 us from its first event to its last: " in words


def test_findings_name_the_time_that_they_are_a_share_of(tmp_path):
    """Idle time of the steps is more than that between the device's events; steps of the host are less than with their work."""
    loader = span("enumerate(DataLoader)#X.__next__", "user_annotation", 0, 40)
    quiet = [*STEPS[:2], *launched("first", 50, 60, 10, 1), *launched("second", 105, 110, 20, 2)]
    low = " ".join(run("trace", "--findings", written(tmp_path, quiet), expect=0).out.split())
    assert "15.0 % of 200.0 us and idle for the other 170.0 us" in low
    assert "the device waited 35.0 us for the host to launch, of 40.0 us idle between its first event and its last" in low
    assert "40.0 us of 200.0 us of steps on the host went into loading data" in \
        " ".join(run("trace", "--findings", written(tmp_path, [loader, *STEPS]), expect=0).out.split())


def test_the_line_of_a_device_has_its_moments(tmp_path):
    lines = run("trace", written(tmp_path, STEPS), expect=0).out.splitlines()
    [at] = [i for i, line in enumerate(lines) if line.startswith("busy ")]
    assert lines[at + 1].split() == ["60.0", "us", "250.0", "us"] and len(lines[at + 1]) == len(lines[at])


def test_the_table_of_steps_has_what_busy_is_a_share_of(tmp_path):
    out = run("trace", "--steps", written(tmp_path, STEPS), expect=0).out
    head, first, second = [re.split(" {2,}", line.strip()) for line in out.split("\n\n")[1].splitlines()[:3]]
    assert head[-2:] == ["with work", "busy"]
    # The second begins where the first and its work ended, and ends with its work at 250 us.
    assert first[-2:] == ["100.0 us", "40.0 %"] and second[-2:] == ["150.0 us", "93.3 %"]


def work_of(steps, first_number=1):
    """Steps of (length in us, pieces of work), one after another."""
    events, at, number = [], 0, first_number
    for i, (length, pieces) in enumerate(steps):
        events.append(span(f"ProfilerStep#{i}", "user_annotation", at, length))
        for k in range(pieces):
            number += 1
            events += launched("k", at + 1 + 4 * k, at + 2 + 4 * k, 1, number)
        at += length
    return events


def test_statistics_are_of_plain_steps(tmp_path):
    """Neither the warm-up nor what was cut tells how long a step takes."""
    path = written(tmp_path, work_of([(400, 9), (100, 9), (110, 9), (130, 9), (20, 2)]))
    answer = json.loads(run("trace", "-j", path, expect=0).out)
    assert [s["kind"] for s in answer["steps"]] == ["warm_up", "plain", "plain", "plain", "cut"]
    figures = answer["step_statistics"]
    assert [figures[k] for k in ("count", "min_ns", "median_ns", "max_ns")] == [3, 100_000, 110_000, 130_000]
    words = " ".join(run("trace", path, expect=0).out.split())
    assert "steps 5 steps; without ProfilerStep#0 (warm-up) and ProfilerStep#4 (cut), on the host 110.0 us each in the " \
           "median, from 100.0 us to 130.0 us" in words


def test_one_plain_step_has_no_median_of_two(tmp_path):
    path = written(tmp_path, work_of([(100, 9), (20, 2)]))
    assert json.loads(run("trace", "-j", path, expect=0).out)["step_statistics"]["max_ns"] == 100_000
    assert "steps 2 steps; without ProfilerStep#1 (cut), on the host 100.0 us; with their work " in \
        " ".join(run("trace", path, expect=0).out.split())


@pytest.mark.parametrize("host, culprit, evidence, words", [
    ([], None, "unrecorded_ns", "for the longest part of it no host event was recorded (30.0 us)"),
    ([span("my loop", "user_annotation", 10, 38)], "my loop", "culprit_ns", "longest in my loop (28.0 us)"),
    # The step around it all is no place to look at, and 5 us of an operator are not the longest.
    ([span("ProfilerStep#1", "user_annotation", 0, 100), span("aten::add", "cpu_op", 20, 5)], None, "outside_ns",
     "longest in code between operators (25.0 us)"),
    # What a loader calls is the loader's time, as in the line `late`.
    ([span("enumerate(DataLoader)#X.__next__", "user_annotation", 20, 28), span("aten::stack", "cpu_op", 21, 25)],
     "enumerate(DataLoader)#X.__next__", "culprit_ns", "longest in enumerate(DataLoader)#X.__next__ (28.0 us)")])
def test_who_kept_the_host_is_told_as_the_line_late_tells_it(tmp_path, host, culprit, evidence, words):
    path = written(tmp_path, [*host, *launched("a", 5, 10, 10, 1), *launched("b", 50, 55, 3, 2)])
    [low] = [f for f in json.loads(run("trace", "-j", path, expect=0).out)["findings"] if f["id"] == "GPU-LOW"]
    assert low["culprit"] == culprit and evidence in low["evidence"]
    assert words in " ".join(run("trace", path, expect=0).out.split())


def test_findings_that_are_not_shown_are_counted(tmp_path):
    path = written(tmp_path, [*launched("a", 5, 10, 10, 1), *launched("b", 50, 55, 3, 2)])
    answer = json.loads(run("trace", "-j", path, expect=0).out)
    out = run("trace", path, expect=0).out
    shown = [f["id"] for f in answer["findings"] if f["id"] + ": " in out]
    assert len(shown) < len(answer["findings"]) and f" {len(answer['findings']) - len(shown)} more (--findings)\n" in out


def test_names_that_differ_inside_stay_different(tmp_path):
    names = ["sm80_gemm_%s_tile%s_%s_cublas" % ("f32" * 8, tile, "ffma_align" * 6) for tile in ("64x128", "256x64", "64x64")]
    path = written(tmp_path, [one for i, n in enumerate(names) for one in launched(n, 10 * i, 10 * i + 2, 3, i + 1)])
    out = run("trace", path, expect=0).out
    rows = [line.split()[0] for line in out.splitlines() if line.startswith("  sm80_gemm")]
    assert len(rows) == 3 == len(set(rows)) and all(any(t in r for r in rows) for t in ("64x128", "256x64", "64x64"))
    assert "names are cut to fit the width; --kernels --csv has them whole" in out


def test_an_empty_name_is_said_to_be_one(tmp_path):
    out = run("trace", written(tmp_path, [span("", "cpu_op", 0, 5)]), expect=0).out
    assert "the largest part is in what has an empty name (100.0 %)" in " ".join(out.split())


def test_sums_of_times_stay_in_range(tmp_path):
    length = (2**63 - 2) // 1000  # us
    path = written(tmp_path, [span("aten::add", "cpu_op", 0, length, tid=i) for i in range(3)])
    [row] = csv.DictReader(io.StringIO(run("trace", "--ops", "--csv", path, expect=0).out))
    assert row["cpu_total_ns"] == row["self_cpu_ns"] == str(2**63 - 1)


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
    assert "verdict  process 800 (Hard\\x1bware) was busy for" in out


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


def test_of_a_file_that_ends_too_early_no_step_counts_whose_work_may_be_missing(tmp_path):
    """The work of a device stands behind the host's events: what was not read is not taken for idle time."""
    steps = [span("ProfilerStep#%d" % i, "user_annotation", 100 * i, 100) for i in range(5)]
    steps += [span("aten::mm", "cpu_op", 100 * i + 5, 90) for i in range(5)]
    events = [event for i in range(5) for event in launched("k%d" % i, 100 * i + 10, 100 * i + 20, 60, i + 1)]
    calls, work = [e for e in events if e["ph"] != "X" or e["cat"] != "kernel"], [e for e in events if e.get("cat") == "kernel"]
    whole = written(tmp_path, [*steps, *calls, *work])
    text = whole.read_text()
    at = text.index(json.dumps(work[3])[:60])
    cut = tmp_path / "cut.json"
    cut.write_text(text[:at + 20])
    of = {name: json.loads(run("trace", "-j", path, expect=0).out) for name, path in (("whole", whole), ("cut", cut))}
    assert [s["kind"] for s in of["whole"]["steps"]] == ["plain"] * 5
    assert [s["kind"] for s in of["cut"]["steps"]] == ["plain", "plain", "cut", "cut", "cut"]
    assert [of[k]["devices"][0]["steps_busy_ratio"] for k in of] == [0.6, 0.6]
    assert "5 steps; without ProfilerStep#2 to ProfilerStep#4 (cut)" in " ".join(run("trace", cut, expect=0).out.split())
    # What is missing may make the device busier, and less busy: no share is proven.
    for limit in ("--min-busy=70%", "--min-busy=50%", "--max-idle=30%"):
        assert "INCONCLUSIVE" in run("check", limit, cut, expect=0).out
    assert "FAIL" in run("check", "--min-busy=70%", whole, expect=1).out


def test_of_a_file_that_ends_before_its_first_work_no_step_is_judged(tmp_path):
    steps = [span("ProfilerStep#%d" % i, "user_annotation", 100 * i, 100) for i in range(3)]
    steps += [span("aten::mm", "cpu_op", 100 * i + 5, 90) for i in range(3)]
    path = written(tmp_path, steps)
    path.write_text(path.read_text()[:-2])
    answer = json.loads(run("trace", "-j", path, expect=0).out)
    assert [s["kind"] for s in answer["steps"]] == ["cut"] * 3
    assert {"id": "DATA-3", "clause": "no step is whole"} in answer["silent"]


def test_where_launches_were_not_recorded_no_reason_is_claimed(tmp_path):
    """Nor is anything advised for what nobody saw."""
    steps = [span("ProfilerStep#1", "user_annotation", 0, 1000), span("aten::mm", "cpu_op", 1, 990)]
    work = [span("k", "kernel", at, 10, pid=0, tid=7) for at in range(0, 1000, 250)]
    found = json.loads(run("trace", "-j", written(tmp_path, steps + work), expect=0).out)["findings"]
    low = next(f for f in found if f["id"] == "GPU-LOW")
    assert low["advice"] == "the trace does not tell why: of most work behind a gap the launch was not recorded"


def test_work_of_no_step_is_said(tmp_path):
    lone = span("lone", "kernel", 300, 50, pid=0, tid=7)
    of_none = "50.0 us of the devices' work are of no step"
    assert of_none in run("trace", "--steps", written(tmp_path, [*STEPS, lone]), expect=0).out
    assert "of no step" not in run("trace", "--steps", written(tmp_path, STEPS), expect=0).out
