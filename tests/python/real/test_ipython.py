"""The magics in the real IPython; tests/python/integrations has them in a stand-in for its shell."""
import in_torch
import pytest
from conftest import ROOT

MIB = 1 << 20


@pytest.fixture(scope="module")
def answer():
    found = in_torch.answer("real/ipython_shell.py", ROOT / "examples" / "oom.pickle")
    if found is None:
        pytest.skip("no IPython in build/torch-venv")
    return found


@pytest.mark.torch
def test_the_extension_loads_and_goes(answer):
    assert answer["load"]["failed"] is answer["unload"]["failed"] is None and answer["load"]["out"] == ""


@pytest.mark.torch
def test_a_cell_prints_what_it_prints_and_is_measured(answer):
    cell = answer["cell"]
    assert cell["failed"] is None and cell["out"].startswith("own\n") and "42" in cell["out"]
    assert "42" in answer["last"]["out"]
    (shown,) = cell["shown"]
    assert shown["text/plain"].startswith("load\n") and "8.00 MiB" in shown["text/plain"]
    assert shown["text/html"].startswith("<pre>load\n")


@pytest.mark.torch
def test_a_statement_gives_its_result(answer):
    assert answer["line"]["failed"] is None and answer["result"]["failed"] is None
    assert str((8 * MIB, 8 * MIB)) in answer["result"]["out"]


@pytest.mark.torch
def test_a_failure_is_the_cells_own_and_shown_once(answer):
    assert answer["fails"]["failed"] == "ZeroDivisionError"
    assert answer["fails"]["out"].count("division by zero") == 1
    assert answer["memory"]["failed"] == "OutOfMemoryError" and "memory ran out" in answer["stderr"] + answer["memory"]["out"]


@pytest.mark.torch
def test_a_file_is_shown(answer):
    (shown,) = answer["report"]["shown"]
    assert answer["report"]["failed"] is None and shown["text/html"].startswith("<svg")
