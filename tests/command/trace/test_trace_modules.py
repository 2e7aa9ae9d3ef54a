"""Modules of traces: those of a trace of known truth, and of real ones as a slow model finds them."""
import gzip
import json
from collections import defaultdict

import pytest

from conftest import ROOT, run

STACKED = ("bert_small_h100_memory.json.gz", "transformer_gh200_2026.pt.trace.json", "vllm_decode_mi300x.json.gz")


def answer(path):
    return run("trace", "--json", path, expect=0).json()


def host_times(events):
    """path of modules -> (calls, host ns), from the frames of modules alone, each inside those that hold it."""
    threads = defaultdict(list)
    for i, e in enumerate(events):
        if e.get("ph") == "X" and e.get("cat") == "python_function" and e["name"].startswith("nn.Module: "):
            start = round(float(e["ts"]) * 1000)
            threads[e["pid"], e["tid"]].append((start, -round(float(e["dur"]) * 1000), i, e["name"].removeprefix("nn.Module: ")))
    found = defaultdict(lambda: [0, 0])
    for rows in threads.values():
        stack = []
        for start, minus, _, name in sorted(rows):
            while stack and stack[-1][0] <= start:
                stack.pop()
            path = (stack[-1][1] + "." if stack else "") + name
            stack.append((start - minus, path))
            found[path][0] += 1
            found[path][1] -= minus
    return {k: tuple(v) for k, v in found.items()}


@pytest.mark.parametrize("name", STACKED)
def test_real_traces(shared, name):
    data = (shared / "data/traces" / name).read_bytes()
    top = json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data, parse_float=str)
    doc = answer(shared / "data/traces" / name)
    have = {m["path"]: (m["calls"], m["host_ns"]) for m in doc["modules"] if not m["backward"]}
    assert have == host_times(top["traceEvents"])
    for m in doc["modules"]:
        assert 0 <= m["self_host_ns"] <= m["host_ns"] and 0 <= m["self_device_ns"] <= m["device_ns"]
    roots = [m for m in doc["modules"] if m["depth"] == 0]
    work = sum(k["ns"] for k in doc["kernels"])
    assert sum(m["device_ns"] for m in roots) <= work
    assert sum(m["self_device_ns"] for m in doc["modules"]) == sum(m["device_ns"] for m in roots)


def numbered(extra=()):
    """A forward in module Net_0, of whose operators two have the number 5, and its backward in another thread."""
    span = lambda category, name, ts, dur, tid, **args: {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid,
                                                         "ts": ts, "dur": dur, "args": args}
    number = lambda n, thread=0: {"Sequence number": n, "Fwd thread id": thread}
    wrapped = "autograd::engine::evaluate_function: "
    return [span("python_function", "nn.Module: Net_0", 0, 50, 1), span("python_function", "nn.Module: Linear_0", 10, 30, 1),
            span("cpu_op", "aten::t", 2, 2, 1, **number(5)), span("cpu_op", "aten::addmm", 12, 9, 1, **number(5)),
            span("cpu_op", wrapped + "AddmmBackward0", 100, 20, 2, **number(5, 1)),
            span("cpu_op", "AddmmBackward0", 101, 18, 2, **number(5, 1)), *extra]


def backward_of(tmp_path, events):
    (tmp_path / "run.json").write_text(json.dumps(events))
    return {m["path"]: m["host_ns"] for m in answer(tmp_path / "run.json")["modules"] if m["backward"]}


def test_a_backward_is_found_by_the_number_of_its_node(tmp_path):
    """Of several operators with it the last, so that the module is the inner one."""
    assert backward_of(tmp_path, numbered()) == {"Net_0.backward": 20_000, "Net_0.Linear_0.backward": 20_000}


def test_a_number_of_two_threads_tells_nothing(tmp_path):
    other = {**numbered()[3], "tid": 3}
    assert backward_of(tmp_path, numbered([other])) == {}
    assert backward_of(tmp_path, [other, *numbered()]) == {}
    later = {**numbered()[3], "ts": 300}
    assert backward_of(tmp_path, [e for e in numbered([later]) if e["name"] not in ("aten::t", "aten::addmm")]) == {}


def test_where_there_are_arrows_numbers_tell_nothing(tmp_path):
    arrow = {"cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1}
    others = [{**arrow, "ph": "s", "tid": 1, "ts": 60}, {**arrow, "ph": "f", "bp": "e", "tid": 2, "ts": 200}]
    assert backward_of(tmp_path, numbered(others)) == {}


def test_numbers_stay_in_a_trace_that_is_written_again(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(numbered()))
    run("trace", "run.json", "--repair", "-o", "again.json", cwd=tmp_path, expect=0)
    again = json.loads((tmp_path / "again.json").read_text())
    assert [(e["args"]["Sequence number"], e["args"]["Fwd thread id"]) for e in again
            if "Sequence number" in e.get("args", ())] == [(5, 0), (5, 0), (5, 1), (5, 1)]


def test_text(tmp_path):
    frame = lambda name, ts, dur: {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur}
    path = tmp_path / "m.json"
    path.write_text(json.dumps([frame("nn.Module: Net_0", 0, 90), frame("nn.Module: \x1b[2J_1", 10, 30), frame("nn.Module: C_2", 50, 9)]))
    lines = run("trace", "m.json", "--modules", cwd=tmp_path, expect=0).out.splitlines()
    assert [line.split()[-1] for line in lines if "us" in line] == ["Net_0", "\\x1b[2J_1", "C_2"]
    assert "and 1 row more" not in "\n".join(lines) and "and 2 rows more" in run("trace", path, "--modules", "-n", "1", expect=0).out


def test_without_frames_the_switch_is_named():
    done = run("trace", ROOT / "examples/traces/training.pt.trace.json.gz", "--modules", expect=0)
    assert "modules  none: " in done.out and "with_stack=True" in done.out


def test_csv_has_the_modules(shared):
    path = shared / "data/traces" / STACKED[0]
    rows = run("trace", "--csv", "--modules", path, expect=0).out.splitlines()
    assert rows[0].startswith("file") or "path" in rows[0]
    assert len(rows) == 1 + len(answer(path)["modules"])


def test_csv_has_no_tree():
    done = run("trace", "--csv", "--tree", ROOT / "examples/traces/training.pt.trace.json.gz", expect=2)
    assert "export --to csv -t paths" in done.err and not done.raw
