"""Stacks of operators that are texts (`Call stack`), as traces of 2021 have them."""
import gzip
import json

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
