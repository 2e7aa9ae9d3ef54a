"""The JSON of `replay` by its schema, for answers made by hand: the unit test prints them."""
import json
import subprocess
from pathlib import Path

import pytest

from conftest import program, validate

CASES = ("exact", "corrected", "mostly", "poor", "none", "one", "several", "oom", "served", "sweep", "hostile", "tiny", "huge")


def printed(case, form):
    maker = Path(program()).parents[1] / "tests" / "unit" / "test_replay_render"
    if not maker.exists():
        pytest.skip("the unit tests are not built beside the program")
    return json.loads(subprocess.run([maker, case, form], capture_output=True, check=True).stdout)


@pytest.mark.parametrize("case", CASES)
def test_answers_keep_the_schema(case):
    one, several = printed(case, "0"), printed(case, "1")
    assert one["schema"] == "vramscope.replay/1" and several["schema"] == "vramscope.replay-set/1"
    validate(one)
    validate(several)
    assert several["files"] == [{k: v for k, v in one.items() if k not in ("schema", "tool")}]


@pytest.mark.parametrize("case", CASES)
def test_differences_are_those_to_the_first_question(case):
    result = printed(case, "0")["devices"][0]["result"]
    for row in result["what_if"] if result else ():
        same = result["what_if"][0]
        for name in "reserved", "active":
            assert row["delta_%s_bytes" % name] == row["peak_%s_bytes" % name] - same["peak_%s_bytes" % name]
        needed = row["capacity_needed_bytes"], same["capacity_needed_bytes"]
        assert row["delta_capacity_needed_bytes"] == (None if None in needed else needed[0] - needed[1])
        assert row["first_oom"] is None or row["served_oom_event"] is None


def test_hostile_text_arrives_as_it_is():
    device = printed("hostile", "0")["devices"][0]
    row = device["result"]["what_if"][1]
    assert row["question"] == "--drop \x1b[31m\"<b>\ufffd\n'\\"
    assert row["first_oom"]["culprit"] == "\x1b[2J<script>:1 \u202ef\t"
