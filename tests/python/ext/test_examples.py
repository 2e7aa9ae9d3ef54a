"""examples/python: each runs as it stands on the simulated device, is short, and says first what it is for."""
import os
import subprocess
import sys

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment

FOLDER = ROOT / "examples" / "python"
HELPER = "anywhere.py"
LINES_MOST = 40
# Of each example: its words, the exit status, and what it says.
RUNS = (
    ("explain_my_crash.py", (), 0, ("The program holds too much", "explain_my_crash.py:18 forward", "kept in oom_dumps")),
    ("profile_my_function.py", (), 0, ("forward", "attention in", "1032 MiB at most, 8 MiB kept, 3 allocations, exact")),
    ("profile_my_function.py", ("report.html",), 0, ("written to report.html",)),
    ("check_in_ci.py", (), 0, ("all 2 limits hold",)),
    ("check_in_ci.py", ("1GiB",), 1, ("FAIL  max-peak",)),
    ("columns_into_numpy.py", (), 0, ("48.0 MiB x 6", "25 allocations, 5 alive at the end with 248.0 MiB")),
    ("columns_into_numpy.py", (str(ROOT / "examples" / "train.pickle"),), 0, ("alive at the end",)),
    ("find_a_leak.py", (), 1, ("memory grows", "20.00 MiB a step")),
)


def run_example(name, words, folder):
    return subprocess.run([sys.executable, "-B", FOLDER / name, *words], cwd=folder, capture_output=True, text=True,
                          timeout=120, env=environment(PYTHONPATH=PACKAGE, COLUMNS="80"))


@pytest.mark.parametrize("name, words, status, said", RUNS, ids=lambda v: v if isinstance(v, str) else None)
def test_an_example_runs_without_a_gpu(name, words, status, said, tmp_path):
    if name.startswith("columns"):
        pytest.importorskip("numpy", reason="numpy is not installed: the columns were not looked at")
    done = run_example(name, words, tmp_path)
    assert done.returncode == status and done.stderr == "", done.stderr[-2000:]
    for text in said:
        assert text in done.stdout, done.stdout


def test_what_an_example_leaves_can_be_read(tmp_path):
    run_example("explain_my_crash.py", ("here",), tmp_path)
    dump, = (tmp_path / "here").iterdir()
    assert vramscope.load(dump / "snapshot.pickle").oom().verdict is True
    run_example("profile_my_function.py", ("report.html",), tmp_path)
    assert "attention" in (tmp_path / "report.html").read_text() and os.listdir(tmp_path / "here") == [dump.name]


def test_examples_are_short_and_say_what_they_are_for():
    names = sorted(p.name for p in FOLDER.glob("*.py"))
    assert names == sorted({name for name, *_ in RUNS} | {HELPER})
    for name in names:
        lines = (FOLDER / name).read_text().splitlines()
        assert len(lines) < LINES_MOST and max(map(len, lines)) <= 100, name
        assert lines[0].startswith('"""') and lines[0].rstrip('"').endswith("."), name
        if name != HELPER:
            assert lines[0].startswith('"""' + name.removesuffix(".py").replace("_", " ").capitalize().replace(
                "ci", "CI").replace("numpy", "NumPy") + ":"), name
