"""docs/symptoms.md: each of its commands runs, and says what the page says of it (row D33)."""
import contextlib
import io
import re
import shlex

import pytest
import vramscope
from conftest import ROOT, run
from method_program import program
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import sim

PAGE = (ROOT / "docs" / "symptoms.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    vramscope (.+)$", PAGE, re.M)
INLINE = re.findall(r"`vramscope ([^`]*\.pickle[^`]*)`", PAGE)
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
# A word of each answer, by which it is the one that the page speaks of; and the exit status.
ANSWERS = {
    "oom examples/oom.pickle": ("verdict", 0), "report examples/train.pickle": ("The peak is", 0),
    "peak examples/train.pickle --by category": ("activation", 0), "leaks examples/leak.pickle": ("grow", 0),
    "advise examples/train.pickle": ("checkpoint", 0),
    "fragments examples/fragmentation.pickle": ("segment", 0),
    "replay examples/fragmentation.pickle --sweep --capacity 24GiB": ("expandable_segments:True", 0),
    "compare examples/measurements/before.json examples/measurements/after.json": ("B is faster in this pair of runs: the median step", 0),
    "compare --again examples/measurements/again.json examples/measurements/before.json examples/measurements/after.json":
        ("A again: examples/measurements/again.json", 0),
    "diff examples/train.pickle examples/leak.pickle": ("in use", 0),
    "check examples/train.pickle --max-peak 80GiB --no-oom": ("all 2 limits hold", 0),
    "diagnose examples/traces/training.pt.trace.json.gz": ("kind     the loading of data: ", 0),
    "trace examples/traces/training.pt.trace.json.gz": ("DATA-1", 0),
    "trace examples/traces/training.pt.trace.json.gz --findings": ("silent rules", 0),
}


def test_every_command_has_its_answer_here():
    assert set(COMMANDS) | set(INLINE) == set(ANSWERS)


@pytest.mark.parametrize("command", ANSWERS)
def test_a_command_runs(command):
    word, status = ANSWERS[command]
    done = run(*shlex.split(command), cwd=ROOT, expect=status)
    assert word in done.out, done.out


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs(number):
    said = ("peak above begin", "kind     mixed: the driver found", "Without loading: ", "GPU Utilization: 80%", "90.0")
    assert len(said) == len(BLOCKS)
    text = io.StringIO()
    with sim.Device("80GiB") as device, installed("2.15", [Simulated(device)]) as torch:
        torch.cuda.init()
        device.set_util(80, seconds=100)
        reader = {**program(torch, device), "vramscope": vramscope}
        reader["loader"], reader["batch"], reader["target"] = reader["dataloader"], reader["on_device"], None
        with contextlib.redirect_stdout(text):
            exec(compile(BLOCKS[number], "docs/symptoms.md", "exec"), reader)
    assert said[number] in text.getvalue(), text.getvalue()


def test_each_symptom_of_the_row_has_its_place():
    titles = re.findall(r"^## (.*)$", PAGE, re.M)
    for symptom in ("Training is slower", "Low utilisation", "Which part", "Did the change help", "much memory",
                    "first iterations are slow", "not for"):
        assert any(symptom in title for title in titles), symptom


def test_what_other_tools_are_for():
    """Row D32."""
    behind = PAGE.partition("## What this is not for")[2]
    assert "Nsight Compute" in behind and "`nsys profile`" in behind


def test_names_of_the_page_are_there():
    for name in re.findall(r"vramscope\.(\w+)", PAGE):
        assert hasattr(vramscope, name) or name == "pickle", name
    rules = run("advise", "--explain-silent", "examples/leak.pickle", cwd=ROOT, expect=0).out
    assert "grad-not-cleared" in rules
