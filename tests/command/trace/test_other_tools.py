"""Chrome traces that torch.profiler has not written: what lasts by itself is a range, and the rest is said."""
import json

import pytest

from conftest import run


def lasts(name, start, us, **more):
    return {"ph": "X", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": us, **more}


def of(phase, ts=1, **more):
    return {"ph": phase, "name": "x", "cat": "c", "pid": 1, "tid": 1, "ts": ts, **more}


# What a tool writes, how many of its events are ranges, and which phases are not read.
TOOLS = {
    "clang -ftime-trace": ({"traceEvents": [lasts("ExecuteCompiler", 0, 90), lasts("Source", 1, 20, args={"detail": "a.h"}), of("b", id=0), of("e", id=0),
                                            {"ph": "M", "name": "process_name", "pid": 1, "ts": 0, "args": {"name": "clang"}}], "beginningOfTime": 17}, 2, "b, e"),
    "Chrome, V8": ({"traceEvents": [lasts("V8.Execute", 0, 90, cat="v8", tts=5, tdur=3), of("B"), of("E", 5), of("I", s="t"), of("R"), of("C", args={"n": 1})],
                    "metadata": {"os-name": "Linux"}}, 1, "B, C, E, R"),
    "TensorFlow, JAX": ({"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}, "traceEvents": [
        {"ph": "M", "pid": 3, "name": "process_name", "args": {"name": "/device:GPU:0"}}, lasts("MatMul", 1.5, 3.25, pid=3, args={"long_name": "x"}), {}]}, 1, "None"),
    "Bazel": ({"otherData": {"build_id": "x"}, "traceEvents": [lasts("action", 0, 9, cat="action processing", out="a.o"), of("C", cpu=1), of("i")]}, 1, "C"),
    "VizTracer": ({"viztracer_metadata": {"version": "1"}, "traceEvents": [lasts("main (a.py:1)", 0.5, 90.1, cat="FEE"), lasts("f (a.py:2)", 1.1, 2.2, cat="FEE")]}, 2, None),
    "ninjatracing": ([lasts("a.o", 0, 5, cat="targets", args={}), lasts("b.o", 5, 9, cat="targets", args={})], 2, None),
    "py-spy": ([of("B", args={"filename": "a.py"}), of("E", 9)], 0, "B, E"),
    "node": ({"traceEvents": [of("b", id="0x1"), of("n", id="0x1"), of("e", id="0x1")]}, 0, "b, e, n"),
    "counters alone": ([of("C", args={"v": k}) for k in range(3)], 0, "C"),
    "a phase that there is not": ([lasts("a", 0, 1), of("\x1b[31m"), of("y" * 500)], 1, None),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_ranges_of_other_tools(tmp_path, tool):
    made, ranges, unread = TOOLS[tool]
    path = tmp_path / "run.json"
    path.write_text(json.dumps(made))
    doc = run("trace", "-j", path, expect=0).json()
    assert doc["figures"]["kinds"].get("other", 0) == ranges and doc["devices"] == [] and doc["ops"] == []
    said = " ".join(run("trace", "run.json", cwd=tmp_path, expect=0).out.split())
    assert "%d range%s of another tool than torch.profiler" % (ranges, "" if ranges == 1 else "s") in said
    assert "\x1b" not in said and len(said) < 500
    if unread:
        assert said.split(" next ")[0].endswith("not read, of phase " + unread)
    tree = run("trace", "--tree", path, expect=0).out
    names = {e["name"] for e in (made if isinstance(made, list) else made["traceEvents"]) if e.get("ph") == "X"}
    assert all(name in tree for name in names)
    # All of them can be written for other programs, too.
    folded = run("export", path, "--to", "folded", expect=0).out.splitlines()
    assert {line.rsplit(" ", 1)[0].split(";")[-1] for line in folded} == names


def test_unknown_ranges_beside_known_ones_are_no_calls(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps([lasts("aten::mm", 0, 9, cat="cpu_op"), lasts("mine", 1, 2)]))
    assert "mine" not in run("trace", "--tree", path, expect=0).out
    assert "not read" not in run("trace", path, expect=0).out
