"""The count of tests must not be fooled: what did not run is no success."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

PATH = Path(__file__).resolve().parents[2] / "tools/run-tests"


@pytest.fixture(scope="module")
def tool():
    loader = SourceFileLoader("run_tests", str(PATH))
    module = module_from_spec(spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


# What a program printed, its exit status, and passed, failed, skipped.
CASES = [
    ("1..2\nok 1 - a\nok 2 - b\n", 0, (2, 0, 0)),
    ("ok 1 - a\nok 2 - b\n1..2\n", 0, (2, 0, 0)),
    ("1..2\nok 1 - a\nnot ok 2 - b\n", 1, (1, 1, 0)),
    ("1..2\nok 1 - a # SKIP no data\nok 2 - b\n", 0, (1, 0, 1)),
    ("1..1\nnot ok 1 - a # TODO later\n", 0, (0, 0, 1)),
    ("1..0 # SKIP nothing here\n", 0, (0, 0, 1)),
    ("1..3\nok 1 - a\n", -11, (1, 1, 0)),  # crashed
    ("1..2\nok 1 - a\nok 2 - b\n", 1, (2, 1, 0)),  # a leak, found at exit
    ("ok 1 - a\n", 0, (1, 1, 0)),  # no plan
    ("Bail out! no corpus\n", 1, (0, 1, 0)),
    ("", 0, (0, 1, 0)),
]


@pytest.mark.parametrize("output, status, expected", CASES)
def test_tap(tool, output, status, expected):
    count = tool.Count()
    tool.count_tap(count, "program", output, status)
    assert (count.passed, count.failed, count.skipped) == expected


def test_a_failure_shows_what_it_said(tool, capsys):
    tool.count_tap(tool.Count(), "p", "1..2\nnot ok 1 - a\n# why a\nnot ok 2 - b\n# why b\n", 1)
    said = capsys.readouterr().out
    assert said.index("FAILED p: a") < said.index("why a") < said.index("FAILED p: b")
    assert said.count("why b") == 1
