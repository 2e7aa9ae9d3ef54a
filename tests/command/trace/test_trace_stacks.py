"""Stacks of operators that are texts (`Call stack`), as traces of 2021 have them."""
import gzip
import json
import re
from collections import Counter

import pytest
from recordings.small_traces import span, steps, trace, write

from conftest import run

REAL = "resnet50_v100_2021_memory_stacks.pt.trace.json.gz"
FORWARD = "/env/site-packages/torch/nn/modules/conv.py(440): forward;/env/lib/python3.7/runpy.py(3): run;model.py(7): forward;train.py(9): <module>"
LOSS = 'train.py(12): "loss" \\ of\n\u00e4;train.py(30): <module>'


def op(start, ns, stack=None, name="aten::mm", **args):
    return span(name, "cpu_op", start, ns, **args, **({} if stack is None else {"Call stack": stack}))


def stacks(path):
    """Of each operator with a stack, by its begin: that."""
    with (gzip.open if path.suffix == ".gz" else open)(path) as file:
        events = json.load(file)["traceEvents"]
    return sorted((e["ts"], e["name"], e["args"]["Call stack"]) for e in events if "Call stack" in e.get("args", {}))


# Written again ------------------------------------------------------------------------

@pytest.fixture
def made(tmp_path):
    return write(tmp_path, "a.json", trace([*steps(1000, 1000), op(10, 50, FORWARD), op(100, 20), op(1010, 50, LOSS),
                                            op(1100, 60, FORWARD, **{"External id": 3})]))


def test_stacks_are_written_again(made, tmp_path):
    out = tmp_path / "b.json"
    run("trace", "--repair", "-o", out, made, expect=0)
    assert stacks(out) == stacks(made) and len(stacks(out)) == 3
    run("trace", "--slice", "1", "-o", out, made, expect=0)
    assert stacks(out) == stacks(made)[1:]
    assert run("trace", "-j", out, expect=0).json()["capture"]["with_stack"] is True
    run("export", made, "--to", "chrome", "-o", out, expect=0)
    assert stacks(out) == stacks(made)


def test_stacks_of_a_mended_event(made, tmp_path):
    text = made.read_text().replace('"External id": 3', '"External id": nan')
    made.write_text(text)
    run("trace", "--repair", "-o", tmp_path / "b.json", made, expect=0)
    assert [stack for _, _, stack in stacks(tmp_path / "b.json")] == [FORWARD, LOSS, FORWARD]


def test_stacks_of_a_real_trace(shared, tmp_path):
    path, out = shared / "data" / "traces" / REAL, tmp_path / "out.json"
    run("export", path, "--to", "chrome", "-o", out, expect=0)
    whole = stacks(path)
    assert stacks(out) == whole and len(whole) == 14994
    run("trace", path, "--slice", "5..6", "-o", out, expect=0)
    some = stacks(out)
    assert len(some) > 4000 and set(some) < set(whole)
    said = run("trace", out, expect=0).out
    assert "with_stack" not in said and "missing" not in said


LINEAR = "; ".join("/home/yangu/anaconda3/envs/kineto/lib/python3.7/site-packages/torch/nn/" + frame
                   for frame in ("functional.py(1847): linear", "modules/linear.py(99): forward"))


# Operators by stack -------------------------------------------------------------------

def by_stack(path, by, *names):
    """Of each row of these operators: calls, by name and stack."""
    rows = run("trace", "--ops", "--by", by, "-j", path, expect=0).json()["ops_by"]
    return {(row["name"], row["stack"]): row["calls"] for row in rows if row["name"] in names}


def shown(stack, frames=5):
    return "; ".join(stack.split(";")[:frames])


def test_operators_by_stack(tmp_path):
    """A call of the runtime has the stack of its operator."""
    other = FORWARD.replace("train.py(9)", "train.py(10)")
    events = [op(0, 10, FORWARD), op(20, 10, FORWARD), op(40, 10, other), op(60, 10), op(80, 30, LOSS),
              span("cudaMalloc", "cuda_runtime", 85, 10), op(100, 5, name="aten::t")]
    path = write(tmp_path, "a.json", trace(events))
    assert by_stack(path, "stack", "aten::mm", "aten::t", "cudaMalloc") == {
        ("aten::mm", shown(FORWARD)): 2, ("aten::mm", shown(other)): 1, ("aten::mm", None): 1, ("aten::mm", shown(LOSS)): 1,
        ("cudaMalloc", shown(LOSS)): 1, ("aten::t", None): 1}
    assert by_stack(path, "stack:1", "aten::mm") == {
        ("aten::mm", shown(FORWARD, 1)): 3, ("aten::mm", None): 1, ("aten::mm", shown(LOSS, 1)): 1}


def test_beside_frames_stacks_are_not_kept(tmp_path):
    """Wherever in the file the first frame stands."""
    frame = span("train.py(40): main", "python_function", 200, 100, **{"Python id": 1})
    events = [op(0, 10, FORWARD), op(210, 10, FORWARD)]
    for at in range(3):
        path = write(tmp_path, "a.json", trace([*events[:at], frame, *events[at:]]))
        assert by_stack(path, "stack", "aten::mm") == {("aten::mm", None): 1, ("aten::mm", "train.py(40): main"): 1}
        run("trace", path, "--repair", "-o", tmp_path / "b.json", expect=0)
        assert b"Call stack" not in (tmp_path / "b.json").read_bytes()


def test_a_backward_pass_has_the_stack_of_its_operator(tmp_path):
    events = [op(0, 10, FORWARD, **{"Sequence number": 4, "Fwd thread id": 0}),
              span("MmBackward", "cpu_op", 100, 20, tid=2, **{"Sequence number": 4, "Fwd thread id": 1}),
              span("aten::mm", "cpu_op", 105, 5, tid=2)]
    path = write(tmp_path, "a.json", trace(events))
    assert by_stack(path, "stack:2", "aten::mm", "MmBackward") == {
        ("aten::mm", shown(FORWARD, 2)): 2, ("MmBackward", shown(FORWARD, 2)): 1}


def test_frames_that_are_empty(tmp_path):
    for stack, wanted in ((";", ""), ("a;", "a"), (";a", "; a"), ("a;;b", "a; ; b")):
        path = write(tmp_path, "a.json", trace([op(0, 10, stack)]))
        assert by_stack(path, "stack", "aten::mm") == {("aten::mm", wanted or None): 1}, stack


def test_a_real_trace_by_stack(shared):
    """As key_averages(group_by_stack_n=2) adds them up; what runs backward, on a thread without stacks, has those of the forward."""
    path, wanted = shared / "data" / "traces" / REAL, Counter()
    with gzip.open(path) as file:
        operators = [e for e in json.load(file)["traceEvents"] if e.get("cat") == "Operator"]
    forward = {e["tid"] for e in operators if "Call stack" in e["args"]}
    backward = {e["name"] for e in operators if e["tid"] not in forward}
    for e in operators:
        if "Call stack" in e["args"]:
            wanted[re.sub("ProfilerStep#.*", "ProfilerStep*", e["name"]), shown(e["args"]["Call stack"], 2)] += 1
    found = by_stack(path, "stack:2", *{name for name, _ in wanted})
    for (name, stack), calls in wanted.items():
        assert found[name, stack] >= calls if name in backward else found[name, stack] == calls, (name, stack)
    assert len(backward) > 20 and found["aten::t", LINEAR] == 5 * wanted["aten::t", LINEAR]
    said = run("trace", "--ops", "--by", "stack", path, expect=0).out
    assert "none" not in said and "batch_norm" in said


def test_modules_are_not_in_texts(shared):
    said = run("trace", "--modules", shared / "data" / "traces" / REAL, expect=0).out
    assert "texts of its operators" in " ".join(said.split()) and "with_stack" not in said


# Findings -----------------------------------------------------------------------------

def lines(path):
    findings = run("trace", "-j", path, expect=0).json()["findings"]
    return {f["id"]: (f["culprit"], f["line"]) for f in findings}


def waiting(at, number, stack, *, ns=100):
    """An operator that waits for the device, and a kernel."""
    return [op(at, ns + 20, stack, "aten::_local_scalar_dense"), span("cudaStreamSynchronize", "cuda_runtime", at + 5, ns),
            span("cudaLaunchKernel", "cuda_runtime", at + ns + 6, 4, correlation=number),
            span("gemm", "kernel", at + ns + 50, 700, 0, 7, correlation=number)]


def waits(*stacks):
    events = []
    for i, stack in enumerate(stacks):
        events += [span("ProfilerStep#%d" % i, "user_annotation", 1000 * i, 1000), *waiting(1000 * i + 20, i, stack, ns=100 + i)]
    return trace(events)


def test_a_finding_names_the_line_of_its_operator(tmp_path):
    """The call to blame is in an operator, whose stack has frames of others and one of the program's own."""
    path = write(tmp_path, "a.json", waits(FORWARD, FORWARD, LOSS))
    assert lines(path)["SYNC-STEP"] == ("aten::_local_scalar_dense", LOSS.split(";")[0])
    assert lines(write(tmp_path, "a.json", waits(LOSS, LOSS, FORWARD)))["SYNC-STEP"][1] == "model.py(7): forward"
    foreign = FORWARD.split(";model.py")[0]
    assert lines(write(tmp_path, "a.json", waits(foreign, foreign)))["SYNC-STEP"] == ("aten::_local_scalar_dense", None)
    assert lines(write(tmp_path, "a.json", waits(None, None)))["SYNC-STEP"] == ("aten::_local_scalar_dense", None)


def test_frames_go_before_texts(tmp_path):
    top = waits(FORWARD, FORWARD)
    top["traceEvents"].append(span("train.py(40): main", "python_function", 0, 3000, **{"Python id": 1}))
    assert lines(write(tmp_path, "a.json", top))["SYNC-STEP"][1] == "train.py(40): main"


def test_a_range_around_is_not_the_line_of_what_runs_in_it(tmp_path):
    top = waits(None, None)
    for event in top["traceEvents"]:
        if event["name"].startswith("ProfilerStep"):
            event["cat"], event["args"]["Call stack"] = "cpu_op", "train.py(50): <module>"
    assert lines(write(tmp_path, "a.json", top))["SYNC-STEP"] == ("aten::_local_scalar_dense", None)


def test_lines_of_a_real_trace(shared):
    """The program is resnet50_profiler_api.py: it loads in line 42, copies in 44, and goes on in the order of a training."""
    found = lines(shared / "data" / "traces" / REAL)
    at = {rule: int(re.fullmatch(r"resnet50_profiler_api\.py\(([0-9]+)\): <module>", line)[1]) for rule, (_, line) in found.items() if line}
    assert at == {"GPU-LOW": 42, "DATA-3": 42, "H2D-PAGEABLE": 44, "SYNC-STEP": 44, "TC-IDLE": 46, "ZERO-FILL": 49, "OPT-LOOP": 51}
    assert "in resnet50_profiler_api.py(42)" in run("trace", shared / "data" / "traces" / REAL, expect=0).out.replace("\n", " ")
