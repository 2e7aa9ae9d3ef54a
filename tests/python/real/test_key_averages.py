"""The table of operators of a trace equals key_averages() of the run that wrote it, row by row."""
import json
import os
import subprocess

import in_torch
import pytest

pytestmark = pytest.mark.torch

NUMBERS = ("calls", "cpu_total_ns", "self_cpu_ns", "cpu_bytes", "self_cpu_bytes")
FRAMES = 3
# Those that no backward pass calls: the framework takes the frames of a backward pass by numbers that traces have not.
FORWARD = ("aten::linear", "aten::conv2d", "aten::batch_norm", "aten::lstm", "aten::embedding", "aten::layer_norm",
           "aten::randn", "aten::scaled_dot_product_attention", "aten::_fused_adam_", "aten::addcdiv_")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return in_torch.answer("real/key_averages.py", tmp_path_factory.mktemp("traces"))


def answer(path, *words):
    done = subprocess.run([os.environ["VRAMSCOPE"], "trace", "--json", *words, path], capture_output=True, check=True)
    return json.loads(done.stdout)


def operators(path, *words):
    return {row["name"]: row for row in answer(path, *words)["ops"]}


def sums(rows, key):
    """Of each key the numbers of its rows."""
    of = {}
    for row in rows:
        at = of.setdefault((row["name"], key(row)), dict.fromkeys(NUMBERS, 0))
        for number in NUMBERS:
            at[number] += row[number]
    return of


def shapes_of(text):
    """As the framework says them: a list of tensors, and what is none, has no shape there."""
    listed = json.loads(text or "[]")
    return str([[] if not isinstance(shape, list) or any(isinstance(n, list) for n in shape) else shape for shape in listed])


def test_rows_are_those_of_the_framework(runs):
    assert len(runs) == 10
    for told in runs:
        ours = operators(told["path"], *(("--framework-exact",) if told["stacks"] else ()))
        theirs = {row["name"]: row for row in told["rows"]}
        assert len(theirs) > 30 and set(ours) == set(theirs), told["path"]
        for name, row in theirs.items():
            assert {key: ours[name][key] for key in NUMBERS} == {key: row[key] for key in NUMBERS}, (told["path"], name)


def test_rows_of_shapes_are_those_of_the_framework(runs):
    for told in runs:
        exact = ("--framework-exact",) if told["stacks"] else ()
        ours = sums(answer(told["path"], "--ops", "--by", "shapes", *exact)["ops_by"], lambda row: shapes_of(row["shapes"]))
        theirs = sums(told["by_shapes"], lambda row: str(row["shapes"] or []))
        assert len(theirs) > len(told["rows"]) and ours == theirs, told["path"]


def test_frames_around_operators_are_those_of_the_framework(runs):
    seen = set()
    for told in runs:
        if not told["stacks"]:
            continue
        ours = sums(answer(told["path"], "--ops", "--by", "stack:%d" % FRAMES)["ops_by"], lambda row: row["stack"] or "")
        theirs = sums(told["by_stack"], lambda row: "; ".join(row["stack"][:FRAMES]))
        for key in ours.keys() | theirs.keys():
            if key[0] in FORWARD:
                assert key[1] and ours.get(key) == theirs.get(key), (told["path"], key)
                seen.add(key[0])
    assert len(seen) > 6, seen


def test_modules_of_a_backward_by_numbers_are_those_by_arrows(runs, tmp_path):
    for told in runs:
        if not told["stacks"]:
            continue
        with open(told["path"], encoding="utf-8") as file:
            trace = json.load(file)
        arrows = sum(e.get("cat") == "fwdbwd" for e in trace["traceEvents"])
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") != "fwdbwd"]
        bare = tmp_path / "bare.json"
        bare.write_text(json.dumps(trace))
        modules = answer(told["path"])["modules"]
        assert arrows > 10 and any(m["backward"] for m in modules), told["path"]
        assert answer(bare)["modules"] == modules, told["path"]


def test_ranges_keep_the_time_of_frames_inside_them(runs):
    """Without --framework-exact; the operators themselves are the same either way."""
    told, = (t for t in runs if t["path"].endswith("perceptron-stacks.json"))
    ours = operators(told["path"])
    for row in told["rows"]:
        if row["name"].startswith("aten::"):
            assert ours[row["name"]]["self_cpu_ns"] == row["self_cpu_ns"]
    step, = (row for row in told["rows"] if row["name"] == "Optimizer.step#Adam.step")
    assert ours[step["name"]]["self_cpu_ns"] > step["self_cpu_ns"]
