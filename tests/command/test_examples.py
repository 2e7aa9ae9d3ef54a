"""The bundled recordings are what they are said to be, and so is the output that the docs show."""
import json
import shlex
import subprocess
import sys

import pytest

from conftest import ROOT, environment, program, run

CARD = 25295847424
NAMES = "fragmentation", "leak", "oom", "train"


def result(name):
    done = run("replay", "--json", "--capacity", str(CARD), ROOT / "examples" / (name + ".pickle"), expect=0)
    return json.loads(done.out)["devices"][0]["result"]


def test_they_are_what_the_program_makes(tmp_path):
    maker = [sys.executable, "-B", ROOT / "examples" / "simulate.py", "--vramscope", program()]
    done = subprocess.run([*maker, "--check"], stdout=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stdout.decode()
    again = tmp_path / "leak.pickle"
    again.write_bytes(b"other")
    done = subprocess.run([*maker, "--output", tmp_path, "--check"], stdout=subprocess.PIPE, timeout=300)
    assert done.returncode == 1 and b"leak.pickle differs" in done.stdout
    assert again.read_bytes() == b"other"


@pytest.mark.parametrize("name", NAMES)
def test_each_is_reproduced_with_both_identities(name):
    found = result(name)
    assert found["agreement"]["grade"] == "exact" and found["certain"]
    identities = found["identities"]
    assert identities["reproduces"] and identities["reproduces_at_capacity"]
    if found["what_if"][-1]["first_oom"]:
        assert identities["recorded_capacity_bytes"] == CARD


def test_oom_is_more_than_the_card_has():
    oom = result("oom")["what_if"][-1]
    assert oom["peak_requested_bytes"] + oom["first_oom"]["want_bytes"] > CARD


def test_fragmentation_has_the_memory_in_pieces():
    oom = result("fragmentation")["what_if"][-1]["first_oom"]
    assert oom["active_bytes"] + oom["want_bytes"] < CARD
    assert oom["returnable_bytes"] + oom["stranded_bytes"] >= oom["want_bytes"] > oom["largest_free_bytes"]


@pytest.mark.parametrize("name", ("leak", "train"))
def test_these_complete(name):
    assert result(name)["what_if"][-1]["first_oom"] is None


def shown(page):
    """Each block of a page that begins with a command, as (command, lines)."""
    blocks = (ROOT / page).read_text(encoding="utf-8").split("\n```\n")
    for block in blocks:
        if block.startswith("$ vramscope "):
            command, *lines = block.splitlines()
            yield shlex.split(command)[2:], lines


def stands_in(lines, output):
    """Whether the lines are the output, where "…" stands for any number of its lines."""
    at, gap = 0, False
    for line in lines:
        if line == "…":
            gap = True
        elif line not in output[at:] or (not gap and output[at] != line):
            return False
        else:
            at, gap = output.index(line, at) + 1, False
    return gap or at == len(output)


def test_the_docs_show_real_output(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = environment(COLUMNS="80")
    change = ["replay", "examples/fragmentation.pickle", "--capacity", str(CARD)]
    run(*change, "--set", "expandable_segments:True", "--write", "after.pickle", cwd=tmp_path, expect=0)
    blocks = list(shown("docs/what-if.md"))
    assert len(blocks) == 4
    for command, lines in blocks:
        output = run(*command, cwd=tmp_path, env=env, expect=0).out.splitlines()
        assert stands_in(lines, output), command
    report = run("report", "-n", "4", "examples/oom.pickle", cwd=tmp_path, env=env, expect=0).out
    assert "```\n%s```\n" % report in (ROOT / "README.md").read_text(encoding="utf-8")
