"""The table of operators of a trace equals key_averages() of the run that wrote it, row by row."""
import json
import os
import subprocess

import in_torch
import pytest

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return in_torch.answer("real/key_averages.py", tmp_path_factory.mktemp("traces"))


def operators(path, *words):
    done = subprocess.run([os.environ["VRAMSCOPE"], "trace", "--json", *words, path], capture_output=True, check=True)
    return {row["name"]: row for row in json.loads(done.stdout)["ops"]}


def test_rows_are_those_of_the_framework(runs):
    assert len(runs) == 10
    for told in runs:
        ours = operators(told["path"], *(("--framework-exact",) if told["stacks"] else ()))
        theirs = {row["name"]: row for row in told["rows"]}
        assert len(theirs) > 30 and set(ours) == set(theirs), told["path"]
        for name, row in theirs.items():
            assert {key: ours[name][key] for key in row} == row, (told["path"], name)


def test_ranges_keep_the_time_of_frames_inside_them(runs):
    """Without --framework-exact; the operators themselves are the same either way."""
    told, = (t for t in runs if t["path"].endswith("perceptron-stacks.json"))
    ours = operators(told["path"])
    for row in told["rows"]:
        if row["name"].startswith("aten::"):
            assert ours[row["name"]]["self_cpu_ns"] == row["self_cpu_ns"]
    step, = (row for row in told["rows"] if row["name"] == "Optimizer.step#Adam.step")
    assert ours[step["name"]]["self_cpu_ns"] > step["self_cpu_ns"]
