"""The conformance list is whole, its tests exist, and docs/conformance.md is what it says."""
import re
import shutil
import subprocess
import tomllib

import pytest
from conftest import ROOT

ROWS = "tests/python/compat/rows.toml"


def conformance(*words):
    return subprocess.run([ROOT / "tools/conformance", *map(str, words)], capture_output=True, text=True)


def rows():
    return tomllib.loads((ROOT / ROWS).read_text(encoding="utf-8"))


def test_every_test_exists_and_the_page_is_up_to_date():
    done = conformance("--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_rows_are_those_of_the_list(shared):
    listed = re.findall(r"^\| ([ABCD]\d\d) ([^|]*)\|", (shared / "spec/seeds-conformance.md").read_text("utf-8"), re.M)
    assert [name for name, _ in listed] == list(rows())
    assert {name for name, marks in listed if "◆" in marks} == {name for name, row in rows().items() if row.get("drop_in")}


def test_nothing_of_the_first_two_groups_waits_but_for_traces_and_devices():
    waiting = {name: row["waits"] for name, row in rows().items() if name[0] in "AB" and row.get("waits")}
    assert {name for name, why in waiting.items() if "GPU" not in why} <= {"A15", "A16"}


@pytest.fixture
def tree(tmp_path):
    """A copy of what the tool looks at."""
    for name in (ROWS, "docs/conformance.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for test in {test.split("::")[0] for row in rows().values() for test in row.get("tests", [])}:
        (tmp_path / "tests" / test).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "tests" / test, tmp_path / "tests" / test)
    return tmp_path


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("old, new, said", [
    ("::test_traps_are_kept", "::test_traps", "A21: there is no test"),
    ("python/real/test_compat_model_size.py::", "python/real/test_nothing.py::", "there is no test"),
    ("::test_traps_are_kept", "", "there is no test"),
    ("[A23]", "[A24]", "not what"),
    ("[D33]", "[C20]", "20 rows of group C, wanted 19"),
    ('what = "categories"', 'whatever = "categories"', "C04: a row is"),
])
def test_a_fault_is_named(tree, old, new, said):
    assert conformance("--check", tree).returncode == 0
    edit(tree / ROWS, old, new)
    if "whatever" in new:
        edit(tree / ROWS, new, 'what = "categories"\nwhatever = 1')
    done = conformance("--check", tree)
    assert done.returncode == 1 and said in done.stdout


def test_it_prints_the_page(tree):
    (tree / "docs/conformance.md").unlink()
    assert conformance("--check", tree).returncode == 1
    assert conformance(tree).returncode == 0
    assert (tree / "docs/conformance.md").read_bytes() == (ROOT / "docs/conformance.md").read_bytes()


def test_a_row_without_a_test_is_not_yet_built(tree):
    """And one that says what it waits for, waits for that."""
    text = (tree / ROWS).read_text(encoding="utf-8")
    whole = r'(?s)^\[%s\]\n(what = "[^\n]*"\n)(drop_in = true\n)?.*?(?=^\[|\Z)'
    text = re.sub(whole % "D32", r"[D32]\n\1\n", text, flags=re.M)
    text = re.sub(whole % "D33", r'[D33]\n\1waits = "a thing"\n', text, flags=re.M)
    (tree / ROWS).write_text(text, encoding="utf-8")
    conformance(tree)
    page = (tree / "docs/conformance.md").read_text(encoding="utf-8")
    assert re.search(r"^\| D32 \|  \| [^|]* \| not yet \|$", page, re.M)
    assert re.search(r"^\| D33 \|  \| [^|]* \| waits for a thing \|$", page, re.M)


def test_departures_stand_below_the_table(tree):
    page = (tree / "docs/conformance.md").read_text(encoding="utf-8")
    told = page.partition("## D. ")[2].partition("Departures:\n\n")[2]
    assert re.findall(r"^\* (\w+): ", told, re.M) == [name for name, row in rows().items() if row.get("departs")]
    assert "Departures" not in page.partition("## D. ")[0]
    edit(tree / ROWS, 'departs = "where', 'departs = "elsewhere, where')
    assert conformance("--check", tree).returncode == 1
