"""Faults planted in training loops on the CPU, with the real torch: each is found in its trace, with the function that
holds it, and nothing of their kind is said of the clean ones."""
import json
import re
import subprocess

import in_torch
import pytest
from conftest import ROOT, SANITIZER, run
from loops import LOOPS
from made_once import made_once
from others import OTHERS

pytestmark = [pytest.mark.torch, pytest.mark.alone]
DATA, KINDS = {"DATA-1", "DATA-2", "DATA-3"}, {"ITEM-STEP", "STEP-OTHER", "COPY-STEP"}
SECONDS = 900
# What is said of a fault, and the words that tell it from the others of that rule.
TOLD = {"loader": (DATA, "slept or read files"), "workers": (DATA, "waited for the loader's workers"),
        "load": (DATA, " computed: "), "item": ({"ITEM-STEP"}, ".item()"),
        "transform": ({"STEP-OTHER"}, "the loader's workers"), "copy": ({"COPY-STEP"}, "copy only what")}
# Without frames no line is known, nor what a function of the dataset does; a forward is where a range says so.
TOLD_PLAIN = {**TOLD, "loader": (DATA, ""), "load": (DATA, "")}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(folder, name -> (what is planted, where))"""
    python = in_torch.interpreter()

    def record(folder):
        done = subprocess.run([python, "-B", ROOT / "tests/python/loops/record.py", folder],
                              capture_output=True, env=in_torch.environment(), timeout=SECONDS)
        assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-3000:]
        (folder / "truth").write_bytes(done.stdout)
    folder = made_once(tmp_path_factory, "loops", record)
    return folder, json.loads((folder / "truth").read_text())


def found_in(recorded, name, stacks):
    """The findings of our kinds."""
    answer = run("trace", "--json", recorded[0] / ("%s.%s.json" % (name, stacks)), expect=0).json()
    return {f["id"]: f for f in answer["findings"] if f["id"] in DATA | KINDS}


@pytest.mark.parametrize("stacks", ["stacks", "plain"])
@pytest.mark.parametrize("name", [name for name, loop in LOOPS.items() if not loop.fault])
def test_nothing_is_said_of_a_clean_loop(recorded, name, stacks):
    assert found_in(recorded, name, stacks) == {}


@pytest.mark.parametrize("name", [name for name, loop in LOOPS.items() if loop.fault])
def test_a_fault_is_told_with_its_function(recorded, name):
    fault, (first, last, function) = recorded[1][name]
    rules, words = TOLD[fault]
    found = found_in(recorded, name, "stacks")
    assert found and set(found) <= rules, found
    if fault == "workers":  # what a worker runs is in no trace: the loop that waits for it
        function, first, last = "train", 46, 58
    for finding in found.values():
        file, line, named = re.fullmatch(r"(.*)\((\d+)\): (.*)", finding["line"]).groups()
        assert file.endswith("/%s.py" % name) and named == function and first <= int(line) <= last, finding["line"]
        assert words in finding["advice"], finding["advice"]


def is_told_without_frames(name, fault):
    """No operator runs for .tolist() and .numpy(); in a loop without ranges nothing says where the forward is."""
    if name in ("item_tolist", "item_numpy"):
        return False
    return fault not in ("transform", "copy") or name.endswith("_ranges")


@pytest.mark.parametrize("name", [name for name, loop in LOOPS.items() if loop.fault])
def test_without_frames_a_fault_is_told_or_nothing(recorded, name):
    fault = recorded[1][name][0]
    rules, words = TOLD_PLAIN[fault]
    found = found_in(recorded, name, "plain")
    assert set(found) <= rules, found
    assert bool(found) == is_told_without_frames(name, fault)
    assert all(words in f["advice"] for f in found.values()), found


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs(recorded, name):
    """Loading one small sample after another takes long in all scripts: of rules about it only those planted are asked."""
    planted = OTHERS[name][1]
    found = found_in(recorded, name, "stacks")
    assert set(found) - DATA == set(planted) - DATA
    for rule, function in planted.items():
        assert re.fullmatch(r".*/%s\.py\(\d+\): %s" % (name, function), found[rule]["line"]), found[rule]


def test_the_method_names_a_planted_value(recorded):
    said = run("diagnose", recorded[0] / "item.stacks.json", expect=0).out
    assert "ITEM-STEP" in said and "item.py(" in said and ": train" in said
