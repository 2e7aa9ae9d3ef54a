"""Verbs that take snapshots and traces: which a file is, its bytes tell, whatever its name, packing and order."""
import gzip
import json
import re
from xml.etree import ElementTree

import pytest
from recordings import writers
from recordings.small_traces import memory, span, steps, trace, write

from conftest import ROOT, run

SNAPSHOT = ROOT / "examples" / "oom.pickle"


# Which it is --------------------------------------------------------------------------

def forms():
    plain = json.dumps(trace(steps(1000, 1000))).encode()
    last = json.dumps({"traceEvents": steps(1000, 1000), "schemaVersion": 1}).encode()
    bare = json.dumps(steps(1000, 1000)).encode()
    return {"plain": plain, "gz": gzip.compress(plain), "zst": writers.zstd(plain), "last": last, "bare": bare,
            "bom": b"\xef\xbb\xbf" + plain, "cut": plain[:len(plain) // 2],
            "blank": b" \n" + plain.replace(b'":', b'" :')}


def test_report_takes_a_trace_for_what_it_is(tmp_path):
    for name, data in forms().items():
        path = tmp_path / (name + ".pickle")
        path.write_bytes(data)
        told = run("trace", path, expect=0).out
        assert run("report", path, expect=0).out == told, name
        assert run("report", "-", stdin=data, expect=0).out == run("trace", "-", stdin=data).out, name


def test_report_json_of_a_trace(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 1000)))
    assert run("report", "-j", path, expect=0).json() == run("trace", "-j", path, expect=0).json()


def test_snapshots_in_json_stay_snapshots(tmp_path):
    snapshot = {"segments": [], "device_traces": [[{"action": "alloc", "addr": 1, "size": 2, "stream": 0,
                                                   "frames": [{"name": "ph", "filename": "a.py", "line": 1}]}]]}
    for name, top in (("dict", snapshot), ("list", [])):
        path = write(tmp_path, name + ".json", top)
        said = run("report", path)
        assert "profiler trace" not in said.out and "profiler trace" not in said.err, name


def test_files_of_both_kinds(tmp_path):
    one = write(tmp_path, "a.json", trace(steps(1000, 1000)))
    other = write(tmp_path, "b.json", trace(steps(2000, 2000)))
    both = run("report", one, SNAPSHOT, other, expect=0).out
    traces = run("trace", one, other, expect=0).out
    assert both.endswith(traces) and both.index("oom.pickle") < both.index("a.json")
    for option in ("--json", "--csv"):
        said = run("report", option, one, SNAPSHOT, expect=2)
        assert said.out == "" and "name files of one kind" in said.err


def test_a_folder_of_both(tmp_path):
    write(tmp_path, "a.json", trace(steps(1000, 1000)))
    (tmp_path / "b.pickle").write_bytes(SNAPSHOT.read_bytes())
    (tmp_path / "c.json").write_text("{}")
    said = run("report", ".", cwd=tmp_path, expect=0)
    assert "a.json" in said.out and "b.pickle" in said.out and "c.json" not in said.out


@pytest.mark.parametrize("option", ["--markdown", "--trust"])
def test_pages_of_snapshots_alone(tmp_path, option):
    said = run("report", option, write(tmp_path, "a.json", trace(steps(1000))), expect=2)
    assert said.out == "" and option in said.err


@pytest.mark.parametrize("option", [["--device", "0"], ["--replay", "never"], ["--user-root", "."], ["--library", "*"],
                                    ["--quick"]])
def test_options_of_snapshots_are_not_ignored(tmp_path, option):
    path = write(tmp_path, "a.json", trace(steps(1000)))
    verbs = [["report"]] if option == ["--quick"] else [["report"], ["check", "--max-step", "1s"]]
    for verb in verbs:
        said = run(*verb, *option, path, expect=2)
        assert said.out == "" and f"{option[0]} is of memory snapshots" in said.err
    said = run("diff", "--replay", "never", path, path, expect=2)
    assert "--replay is for memory snapshots; A and B are profiler traces" in said.err


@pytest.mark.parametrize("option, instead", [
    (["--baseline", str(SNAPSHOT)], "vramscope diff A B --fail-over 5% compares two traces"), (["--allow-estimates"], "leave it out"),
    (["--rules", "rules.txt"], "--max-memory-peak limits the memory of a trace")])
def test_options_of_check_for_snapshots_alone(tmp_path, option, instead):
    path = write(tmp_path, "a.json", trace(steps(1000)))
    (tmp_path / "rules.txt").write_text("")
    for limit in (["--max-step", "1s"], ["--max-step", "1s", "--max-peak", "1GiB"]):
        said = run("check", *limit, *option, path, cwd=tmp_path, expect=2)
        assert said.out == "" and said.err.count("\n") == 1
        assert f"a.json: a profiler trace, and {option[0]} is of memory snapshots: " in said.err and instead in said.err


def test_a_trace_is_no_baseline(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000)))
    for of in (path, SNAPSHOT):
        said = run("check", "--max-delta", "5%", "--baseline", path, of, expect=2)
        assert said.out == "" and said.err.count("\n") == 1
        assert "--baseline takes a memory snapshot, and" in said.err and "vramscope diff A B --fail-over 5%" in said.err


@pytest.mark.parametrize("limit", [["--min-busy", "70%"], ["--max-idle", "30%"], ["--max-step", "1s"], ["--max-memory-peak", "1GiB"]])
def test_limits_of_traces_alone_on_a_snapshot(limit):
    said = run("check", *limit, SNAPSHOT, expect=2)
    assert said.out == "" and said.err.count("\n") == 1
    assert f"--max-peak, --max-reserved, --no-oom and others ({limit[0][2:]} is one of profiler traces)" in said.err


# Limits -------------------------------------------------------------------------------

def check(folder, top, *limits, expect=0, **more):
    path = write(folder, "a.json", top)
    said = run("check", "-j", *limits, path, expect=expect, **more)
    return {row["name"]: row for row in said.json()["limits"]}


def test_busy_and_idle(tmp_path):
    """Two kernels of 500 ns in two steps of 1,000 ns."""
    top = trace(steps(1000, 1000))
    found = check(tmp_path, top, "--min-busy", "50%", "--max-idle", "50%")
    assert [r["result"] for r in found.values()] == ["pass", "pass"]
    assert found["min-busy"]["value_ratio"] == 0.5 and found["min-busy"]["device"] == "0"
    found = check(tmp_path, top, "--min-busy", "50.0001%", "--max-idle", "49.9999%", expect=1)
    assert [r["result"] for r in found.values()] == ["fail", "fail"]


def test_the_share_is_the_one_the_page_leads_with(tmp_path):
    """The kernels begin 100 ns behind the first step, whose time counts; without steps it does not."""
    top = trace(steps(1000, 1000))
    page = run("trace", "-j", write(tmp_path, "a.json", top), expect=0).json()["devices"][0]
    found = check(tmp_path, top, "--min-busy", "1%")["min-busy"]
    lead = page["steps_busy_ratio"] if page["steps_busy_ratio"] is not None else page["busy_ratio"]
    assert found["value_ratio"] == lead and found["time"] == "steps"
    alone = trace([span("gemm", "kernel", at, 10, 3, 7) for at in (0, 990)])
    assert check(tmp_path, alone, "--min-busy", "1%")["min-busy"]["time"] == "window"


def test_the_least_busy_device_counts(tmp_path):
    idle = [span("gemm", "kernel", at, 10, 3, 7) for at in (0, 990)]
    found = check(tmp_path, trace(steps(1000, 1000) + idle), "--min-busy", "5%", expect=1)
    assert found["min-busy"]["device"] == "3" and found["min-busy"]["value_ratio"] == 0.01


def test_the_median_step_without_warm_up(tmp_path):
    top = trace(steps(9000, 1000, 1200, 1400))
    found = check(tmp_path, top, "--max-step", "1.2us")
    assert found["max-step"] | {"value_ns": 1200, "steps": 3, "result": "pass"} == found["max-step"]
    assert check(tmp_path, top, "--max-step", "1199ns", expect=1)["max-step"]["result"] == "fail"


def test_a_step_lasts_to_the_end_of_its_work(tmp_path):
    """Kernels of twice a step: the first step ends at 2100, the second at 3100."""
    found = check(tmp_path, trace(steps(1000, 1000, kernel=2)), "--max-step", "1us", expect=1)
    assert found["max-step"]["value_ns"] == (2100 + 1000) // 2


def test_memory(tmp_path):
    exact = trace([memory(512, **{"Total Allocated": 512, "Total Reserved": 1024})] + steps(1000))
    assert check(tmp_path, exact, "--max-memory-peak", "512")["max-memory-peak"]["value_bytes"] == 512
    assert check(tmp_path, exact, "--max-memory-peak", "511", expect=1)["max-memory-peak"]["result"] == "fail"
    bound = trace([memory(512)] + steps(1000))
    assert check(tmp_path, bound, "--max-memory-peak", "511", expect=1)["max-memory-peak"]["result"] == "fail"
    found = check(tmp_path, bound, "--max-memory-peak", "512", "--strict", expect=4)
    assert found["max-memory-peak"]["reason"]["id"] == "lower_bound"


def test_what_cannot_be_decided(tmp_path):
    """A trace of a host alone; undecided is a warning, with --strict exit status 4, and never passed."""
    host = trace([span("aten::mm", "cpu_op", 0, 1000)])
    limits = ["--min-busy", "0%", "--max-idle", "100%", "--max-step", "1s", "--max-memory-peak", "1GiB"]
    for more, code in (([], 0), (["--strict"], 4)):
        found = check(tmp_path, host, *limits, *more, expect=code)
        assert {r["result"] for r in found.values()} == {"inconclusive"}
        assert [r["reason"]["id"] for r in found.values()] == ["no_device_activity"] * 2 + ["no_steps", "no_memory_events"]
    said = run("check", *limits, tmp_path / "a.json", expect=0)
    assert "4 of 4 could not be decided" in said.out and "--strict" in said.err


def test_a_cut_file_passes_nothing(tmp_path):
    data = json.dumps(trace(steps(1000, 1000, 1000)))
    path = tmp_path / "a.json"
    path.write_text(data[:-40])
    said = run("check", "-j", "--min-busy", "1%", "--max-step", "1ns", path, expect=1).json()
    assert [r["result"] for r in said["limits"]] == ["inconclusive", "fail"]
    assert said["limits"][0]["reason"]["id"] == "incomplete" and said["limits"][1]["reason"] is None


def test_limits_of_several_traces(tmp_path):
    good, bad = write(tmp_path, "a.json", trace(steps(1000))), write(tmp_path, "b.json", trace(steps(9000)))
    said = run("check", "-j", "--max-step", "5us", good, bad, expect=1).json()
    assert [f["exit_code"] for f in said["files"]] == [0, 1]
    assert "1 of 2 limits exceeded" in run("check", "--max-step", "5us", good, bad, expect=1).out
    assert run("check", "--csv", "--max-step", "5us", good, expect=0).out.startswith("file.path,name,result,")


def test_limits_of_the_other_kind(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000)))
    said = run("check", "--max-peak", "1GiB", path, expect=2)
    assert "none of the limits is one of traces" in said.err and said.out == ""
    assert run("check", "--min-busy", "1%", SNAPSHOT, expect=2).out == ""
    assert "min-busy is one of profiler traces" in run("check", "--min-busy", "1%", SNAPSHOT, expect=2).err
    mixed = run("check", "--max-peak", "1TiB", "--max-step", "1s", SNAPSHOT, path, expect=0).out
    assert "max-peak" in mixed and "max-step" in mixed
    run("check", "--max-peak", "1", "--max-step", "1s", SNAPSHOT, path, expect=1)


def test_limits_of_the_other_kind_are_undecided(tmp_path):
    """Said by name, and never a pass: neither of options nor of a file of limits."""
    path, budget = write(tmp_path, "a.json", trace(steps(1000))), tmp_path / "limits.txt"
    both = ["--max-step", "1s", "--max-peak", "1TiB", "--no-oom", "--max-category", "activation=8GiB"]
    found = check(tmp_path, trace(steps(1000)), *both, "--strict", expect=4)
    assert [(r["name"], r["result"]) for r in found.values()] == [
        ("max-step", "pass"), ("max-peak", "inconclusive"), ("no-oom", "inconclusive"),
        ("max-category activation", "inconclusive")]
    assert found["no-oom"]["reason"]["id"] == "other_kind"
    said = run("check", "-j", "--max-peak", "1TiB", "--min-busy", "1%", "--strict", SNAPSHOT, expect=4).json()
    rows = {row["name"]: row for row in said["devices"][0]["result"]["limits"]}
    assert (rows["max-peak"]["result"], rows["min-busy"]["result"]) == ("pass", "inconclusive")
    budget.write_text("max-step = 1s # of traces\nmax-peak = 1TiB\ncapacity = 80GiB\n")
    for file, code in ((path, 4), (SNAPSHOT, 4)):
        said = run("check", "--budget", budget, "--strict", file, expect=code).out
        assert "max-step" in said and "max-peak" in said and "PASS" in said and "INCONCLUSIVE" in said
    budget.write_text("min-busy = 70\n")
    assert "limits.txt:1: min-busy does not take" in run("check", "--budget", budget, path, expect=2).err


@pytest.mark.parametrize("option, value", [("--min-busy", "101%"), ("--min-busy", "0.7"), ("--max-step", "120"),
                                           ("--max-step", "9223372037s"), ("--max-step", "-1ms"),
                                           ("--max-memory-peak", "much"), ("--max-idle", "")])
def test_limits_that_make_no_sense(option, value):
    said = run("check", option, value, "nowhere.json", expect=2)
    assert "does not take" in said.err


def test_stats_are_said_beside_the_answer():
    path = ROOT / "examples/traces/training.pt.trace.json.gz"
    plain, told = run("trace", path, expect=0), run("trace", "--stats", path, expect=0)
    assert told.raw == plain.raw and plain.err == ""
    unpacked = gzip.decompress(path.read_bytes()).rstrip()
    found = re.search(r"training.pt.trace.json.gz: (\d+) bytes \(unpacked\) with (\d+) events read in ([\d.]+) s, [\d.]+ MB/s and "
                      r"\d+ events/s; answered after ([\d.]+) s; 0 bytes skipped; resident at most [\d.]+ MB$", told.err.strip())
    assert found and (int(found[1]), int(found[2])) == (len(unpacked), len(json.loads(unpacked)["traceEvents"]))
    assert float(found[3]) <= float(found[4])


def test_limits_for_ci(tmp_path):
    """JUnit, Markdown and SARIF of a trace say what the JSON says."""
    path = write(tmp_path, "a|b.json", trace(steps(1000, 1000)))
    limits = ["--min-busy", "99%", "--max-step", "1s", "--max-peak", "1GiB"]
    for strict, code in (([], 1), (["--strict"], 1)):
        suites = ElementTree.fromstring(run("check", *limits, *strict, "--format", "junit", path, expect=code).out)
        assert {k: suites.get(k) for k in ("tests", "failures", "errors", "skipped")} == {
            "tests": "3", "failures": "1", "errors": "01"[len(strict)], "skipped": "10"[len(strict)]}
        cases = {c.get("name"): [e.tag for e in c] for c in suites.iter("testcase")}
        assert cases == {"min-busy": ["failure"], "max-step": [], "max-peak": [["skipped"], ["error"]][len(strict)]}
    assert "50.0 % of at least 99.0 %" in suites.find(".//failure").get("message")
    lines = run("check", *limits, "--format", "markdown", path, expect=1).out.splitlines()
    assert "1 of 3 limits exceeded, 1 of 3 could not be decided" in lines[0] and len(lines) == 7
    assert [line.count("|") for line in lines[2:]] == [7] * 5
    results = json.loads(run("check", *limits, "--format", "sarif", path, expect=1).out)["runs"][0]["results"]
    assert [(r["ruleId"], r["kind"], r["level"]) for r in results] == [("min-busy", "fail", "error"), ("max-peak", "open", "none")]
    assert results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("a%7Cb.json")


# Words --------------------------------------------------------------------------------

@pytest.mark.parametrize("data", [b"#!/bin/sh\necho hello\n", b"\x93\x01\x9f\xfa random bytes\x00\x01", b"PK\x03\x04 zip"])
def test_each_verb_names_what_writes_its_own_files(tmp_path, data):
    path = tmp_path / "a.json"
    path.write_bytes(data)
    said = run("trace", path, expect=3).err
    assert "export_chrome_trace" in said and "_dump_snapshot" not in said and "memory snapshot" not in said
    said = run("peak", path, expect=3).err
    assert "_dump_snapshot" in said and "export_chrome_trace" not in said


@pytest.mark.parametrize("order", ["utf-32-le", "utf-32-be"])
def test_utf_32_is_called_so(tmp_path, order):
    (tmp_path / "a.json").write_bytes("\ufeff{}     ".encode(order))
    assert "UTF-32" in run("trace", tmp_path / "a.json", expect=3).err


def test_thresholds_as_people_write_them(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 1000)))
    for people, number in (("gpu-low-busy_ratio=70%", "gpu-low-busy_ratio=0.7"), ("small-kernel_ns=10us", "small-kernel_ns=10000"),
                           ("pageable_bytes=16MiB", "pageable_bytes=16777216")):
        said = run("trace", "-j", "--threshold", people, path, expect=0).json()
        assert said["findings"] == run("trace", "-j", "--threshold", number, path, expect=0).json()["findings"]
    for wrong in ("gpu-low-busy_ratio=10us", "small-kernel_ns=70%", "pageable_bytes=-1", "small-kernel_ns="):
        assert "by the unit in its name" in run("trace", "--threshold", wrong, path, expect=2).err


@pytest.mark.parametrize("end", [".gz", ".zst"])
def test_a_rewritten_trace_is_never_called_packed(tmp_path, end):
    path = write(tmp_path, "a.json", trace(steps(1000, 1000)))
    said = run("trace", "--repair", "-o", tmp_path / ("b.json" + end), path, expect=2)
    assert "plain JSON" in said.err and not (tmp_path / ("b.json" + end)).exists()
