"""Reference cycles of CPU tensors are told of, and freed."""
import xml.etree.ElementTree

import in_torch
import pytest
from conftest import validate

pytestmark = pytest.mark.torch
NONE_LOST = {"collections": 0, "objects": 0, "callback": 0, "graph": 0, "failed": 0}


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    return in_torch.answer("real/cycles.py", tmp_path_factory.mktemp("cycles"))


def test_cycles_that_hold_tensors_are_told_of(answer):
    assert answer["first"] == 1 and answer["freed"] == [True, True]
    assert (answer["flags"], answer["kept"]) == (0, 0)
    first, second = answer["told"]
    for cycles in answer["told"]:
        validate(cycles)
        assert cycles["bytes"] == sum(row["bytes"] for row in cycles["rows"])
    assert [row["bytes"] for row in first["rows"]] == [4000, 1000]
    for row in first["rows"]:
        assert (row["tensors"], row["cycle"][0], row["cycle"][-1]) == (1, row["to_tensor"][0], row["to_tensor"][0])
        assert {"Trainer", "cell"} < set(row["cycle"]) and any("cycle.<locals>.<lambda>" in t for t in row["cycle"])
        assert row["to_tensor"] == ["Trainer", "dict", "Tensor"] and "Trainer -> dict -> Tensor" in row["text"]
    # Two views of one storage, and a tensor that refers to itself.
    assert sorted((row["bytes"], row["tensors"]) for row in second["rows"]) == [(256, 1), (2048, 2)]
    assert [row["text"] for cycles in answer["told"] for row in cycles["rows"]] == answer["logged"][:4]


def test_the_largest_is_drawn(answer):
    drawn = xml.etree.ElementTree.fromstring(answer["svg"])
    texts = [e.text for e in drawn.iter("{http://www.w3.org/2000/svg}text")]
    loop = answer["told"][0]["rows"][0]["cycle"][:-1]
    assert texts == ["cycle", *loop, "holds", "dict", "Tensor"] and "script" not in answer["svg"]
    assert drawn[0].text == answer["told"][0]["rows"][0]["text"]
    assert answer["graph"] == [1, 0, ["cycle.svg"]]


def test_a_watch_disturbs_nobody(answer):
    assert answer["others"] == [True, True] and answer["child"] == 0 and answer["profile"] == [True]
    assert answer["losses"] == NONE_LOST
    assert answer["ended"] == [True, False, False] and answer["later"] == 0
    assert answer["raising"] == [{**NONE_LOST, "callback": 1}, True, True]
    assert answer["refused"] == "usage" and answer["finalized"] == ["MainThread"]
    assert answer["many"] == [3000, 0] and "vramscope-reader" in answer["threads"]


def test_a_callback_that_blocks_holds_the_end_for_a_second(answer):
    """That the program came to its end at all is half of it: its last callback never returns."""
    seconds, lost = answer["held"]
    assert 0.9 <= seconds < 10 and lost >= 3
