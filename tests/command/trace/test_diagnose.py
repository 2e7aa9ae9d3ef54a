"""`vramscope diagnose`: the kind of bottleneck on either side of each threshold, and the page of each real trace."""
import json
import re

import pytest
from recordings import trace_rules

from conftest import ROOT, run

BUNDLED = ROOT / "examples" / "traces" / "training.pt.trace.json.gz"
LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
LABELS = ("baseline", "kind", "phases", "modules", "ops", "kernels", "findings", "missing", "verify")


def between(launch, first=300, second=300, loader=0):
    """A step of 1000 with a gap in the middle, whose end was launched then, and so much of it in the data loader."""
    trace = trace_rules.Trace().steps(1000).work(0, first).work(1000 - second, second, launch=launch)
    return trace.range(LOADER, first, loader) if loader else trace


def unlinked(busy):
    """Work whose launches are not in the trace, with a gap in the middle."""
    trace = trace_rules.Trace().steps(1000).op("aten::mm", 0, 1)
    half = busy // 2
    for start, length in ((0, busy - half), (1000 - half, half)):
        trace.span("kernel", "gemm", start, length, pid=trace_rules.DEVICE, tid=trace_rules.STREAM, correlation=7 + start)
    return trace


def beyond(busy):
    """A long gap that a late host ends behind the step: only what of it lies in the step counts."""
    return trace_rules.Trace().steps(1000).work(0, busy).work(90_000, 10, launch=80_000)


def queued(busy):
    """Both were launched at once: what the second waited for is not the host."""
    return trace_rules.Trace().steps(1000).work(0, busy - busy // 2).work(1000 - busy // 2, busy // 2, launch=1)


# What is tested, a trace on the one side of a threshold with its kind, its twin on the other side with its own.
KINDS = [
    ("gpu-high-busy_ratio", trace_rules.busy(901), "device", trace_rules.busy(900), "mixed"),
    ("gpu-high-busy_ratio", trace_rules.loop(501).work(0, 1801), "device", trace_rules.loop(501).work(0, 1800), "data"),
    ("data-compute_ratio", trace_rules.loop(data=501), "data", trace_rules.loop(data=500), "unknown"),
    ("gpu-low-busy_ratio", trace_rules.busy(699), "host", trace_rules.busy(700), "mixed"),
    ("gpu-low-busy_ratio", between(990, 349, 350), "host", between(990, 350, 350), "mixed"),
    ("bottleneck-idle_ratio", between(501), "host", between(500), "mixed"),
    ("bottleneck-idle_ratio", between(690, loader=201), "data", between(690, loader=200), "host"),
    ("what waits in the queue", between(690), "host", queued(600), "mixed"),
    ("little work that waits in the queue", between(690, 200, 200), "host", queued(400), "mixed"),
    ("the launches", unlinked(600), "unknown", between(501), "host"),
    ("gaps outside the steps", beyond(699), "host", beyond(700), "mixed"),
]


def diagnosed(path):
    return run("diagnose", "--json", path, expect=0).json()["bottleneck"]


@pytest.mark.parametrize("name, one, kind, other, its_kind", KINDS)
def test_the_kind_on_either_side_of_a_threshold(tmp_path, name, one, kind, other, its_kind):
    for trace, expected in ((one, kind), (other, its_kind)):
        path = tmp_path / "t.json"
        path.write_bytes(trace_rules.as_json(trace))
        found = diagnosed(path)
        assert found["kind"] == expected, found
        assert "for 0 ns of" not in found["text"] and found["evidence"].get("waited_ns", 0) <= 1000
        assert "{" not in found["text"] and "  " not in found["text"]
        assert not name.endswith("_ratio") or name in found["threshold"]
        words = " ".join(run("diagnose", path, expect=0).out.split())
        assert found["text"] in words


def test_thresholds_are_the_users(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(trace_rules.as_json(trace_rules.busy(900)))
    found = run("diagnose", "--json", "--threshold", "gpu-high-busy_ratio=0.8", path, expect=0).json()["bottleneck"]
    assert found["kind"] == "device" and found["threshold"]["gpu-high-busy_ratio"] == 0.8
    assert "no rule has a threshold" in run("diagnose", "--threshold", "busy=1", path, expect=2).err


@pytest.mark.parametrize("trace, why", [
    ({"traceEvents": [{"ph": "X", "cat": "v8", "name": "f", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}, "not one of torch.profiler"),
    ({"deviceProperties": [{"id": 0, "name": "A card"}], "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]}, "no device activity was recorded, though a GPU is listed"),
    ({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]},
     "no device activity was recorded")])
def test_what_cannot_be_told_is_said(tmp_path, trace, why):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(trace))
    found = diagnosed(path)
    assert found["kind"] == "unknown" and why in found["text"]
    assert "kind     cannot be told: " in run("diagnose", path, expect=0).out


def test_a_snapshot_is_told_which_verb_reads_it():
    said = run("diagnose", ROOT / "examples/train.pickle", expect=3).err
    assert "a memory snapshot" in said and "vramscope report" in said and said.count("\n") == 1


def test_the_command_that_it_ends_with_runs():
    last = run("diagnose", BUNDLED, expect=0).out.splitlines()[-1]
    label, program, verb, *words = last.split()[:5]
    assert (label, program, verb, words) == ("verify", "vramscope", "diff", [str(BUNDLED), "AFTER"])
    assert "no difference" in run(verb, words[0], BUNDLED, expect=0).out


def test_what_has_no_file_is_a_placeholder_in_the_command():
    said = run("diagnose", "-", stdin=BUNDLED.read_bytes(), expect=0).out.splitlines()[-1]
    assert said.split("#")[0].split() == ["verify", "vramscope", "diff", "BEFORE", "AFTER"]


def test_shares_are_of_what_they_are_a_part_of(tmp_path):
    """Times of modules on the host hold Python's, of which the whole is not known: no share is told."""
    made = trace_rules.Trace().steps(10_000).span("python_function", "nn.Module: Net_0", 0, 9000).op("aten::mm", 100, 1000)
    path = tmp_path / "t.json"
    path.write_bytes(trace_rules.as_json(made))
    out = run("diagnose", path, expect=0).out
    assert "modules  on the host, by itself: Net_0 9.00 us\n" in out
    assert all(float(share) <= 100 for share in re.findall(r"\(([0-9.]+) %\)", out))


def test_other_parts_are_those_of_trace():
    ours, theirs = (run(verb, "--json", BUNDLED, expect=0).json() for verb in ("diagnose", "trace"))
    assert ours == theirs


def check_page(path):
    out = run("diagnose", path, expect=0).out
    labels = [found for line in out.splitlines() if (found := line.split(" ")[0]) in LABELS]
    assert labels == sorted(labels, key=LABELS.index) and {"baseline", "kind", "ops", "verify"} <= set(labels), path
    kind = " ".join(out[out.index("\nkind "):out.index("\nops ")].split("\nphases")[0].split())
    assert not re.search(r"[{}]|nan|-0 ", kind) and kind.count(": ") >= 1, kind


def test_each_real_trace_has_its_page(shared):
    check_page(BUNDLED)
    kinds = {"resnet50": "data", "vgg16": "device", "transformer_gh200": "host", "qwen0.5b": "device"}
    pages = 0
    for path in sorted((shared / "data/traces").glob("*.json*")):
        check_page(path)
        pages += 1
    assert pages >= 15
    for name, kind in kinds.items():
        [path] = (shared / "data/traces").glob(name + "*")
        assert diagnosed(path)["kind"] == kind, path
