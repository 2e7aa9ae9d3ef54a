"""`--csv`: the rows of each verb's table are those of its JSON, member by member."""
import csv
import io
import json

import pytest

from conftest import ROOT, entries, run, some
from recordings import tiny, writers
from test_export import on_terminal

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))[:some(3, None)]
# The list of an answer whose rows are the table, and what the question needs.
TABLES = {"report": ("devices", []), "peak": ("rows", []), "oom": ("must_go", []), "leaks": ("sites", []),
          "fragments": ("groups", ["--all-metrics"]), "steps": ("phases", []), "categories": ("by_category", []),
          "advise": ("advice", []), "replay": ("what_if", ["--sweep"]), "diff": ("rows", []),
          "check": ("limits", ["--max-peak", "1GiB", "--max-site", ".*=1MiB", "--no-oom", "--max-stranded", "10MiB"])}
OF_FILE = ("path", "entry")


def lines(raw):
    text = raw.decode("utf-8", "surrogateescape")
    assert text.endswith("\r\n")
    read = csv.DictReader(io.StringIO(text, newline=""))
    assert len(set(read.fieldnames)) == len(read.fieldnames)
    return list(read)


def shown(value):
    if isinstance(value, list):
        return " ".join(map(shown, value))
    text = {None: "", True: "true", False: "false"}.get(value, value) if not isinstance(value, (int, float)) or isinstance(
        value, bool) else repr(value)
    formula = isinstance(value, str) and value[:1] in tuple("=+-@\t\r\n") and not is_number(value)
    return "'" + text if formula else text


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def flat(row, prefix=""):
    """The members that have a cell: not lists of rows, nor the numbers of stacks."""
    for name, value in row.items():
        if isinstance(value, dict):
            yield from flat(value, prefix + name + ".")
        elif name != "stack" and not name.endswith("_stack") and not (
                isinstance(value, list) and (not value or isinstance(value[0], (dict, list)))):
            yield prefix + name, value


def front(verb, entry, device):
    files = {"a_file": entry["a_file"], "b_file": entry["b_file"]} if verb == "diff" else {"file": entry["file"]}
    cells = {"%s.%s" % (name, member): file[member] for name, file in files.items() for member in OF_FILE}
    cells.update({k: device[k] for k in ("a_device", "b_device", "device") if k in device})
    cells.update({"device." + k: device[k] for k in ("kind", "status") if k in device and verb != "report"})
    return cells


def rows(verb, doc):
    for entry in entries(doc):
        for device in entry.get("devices", ()):
            if verb == "report":
                sections = ("overview", "timeline")  # of more than one row
                yield dict(front(verb, entry, device), **dict(flat({k: v for k, v in device.items() if k not in sections})))
                continue
            for row in (device["result"] or {}).get(TABLES[verb][0]) or ():
                yield dict(front(verb, entry, device), **dict(flat(row)))


def same(cell, value):
    if isinstance(value, float):
        return float(cell) == value
    return cell == shown(value)


def compare(verb, *args, at_least=0):
    more = TABLES[verb][1]
    doc = json.loads(run(verb, "--json", *more, *args).raw)
    read = lines(run(verb, "--csv", *more, *args).raw)
    want = list(rows(verb, doc))
    assert len(read) == len(want) >= at_least
    for cells, row in zip(read, want):
        absent = {k for k, v in row.items() if k not in cells and v is not None}
        assert not absent, absent
        wrong = {k: (cells[k], v) for k, v in row.items() if k in cells and not same(cells[k], v)}
        assert not wrong, wrong
        assert all(v == "" for k, v in cells.items() if k not in row), set(cells) - set(row)
    return read


@pytest.mark.parametrize("verb", list(TABLES)[::some(2, 1)])
def test_rows_are_those_of_json(verb):
    if verb == "diff":
        compare(verb, ROOT / "examples" / "train.pickle", ROOT / "examples" / "oom.pickle", at_least=5)
        return
    found = sum(len(compare(verb, path)) for path in EXAMPLES)
    assert found >= 1


@pytest.mark.parametrize("verb", [v for v in TABLES if v != "diff"][::some(3, 1)])
def test_several_files_are_one_table(verb):
    together = compare(verb, *EXAMPLES)
    apart = [row for path in EXAMPLES for row in compare(verb, path)]
    assert [r["file.path"] for r in together] == [r["file.path"] for r in apart]


def test_what_lines_have_no_place_for_is_told(tmp_path):
    """A recording that is cut, and one of which nothing can be said, do not look like one without findings."""
    whole = (ROOT / "examples" / "oom.pickle").read_bytes()
    cut, state = tmp_path / "cut.pickle", tmp_path / "state.pickle"
    cut.write_bytes(whole[:len(whole) * 7 // 10])
    state.write_bytes(writers.pickled(tiny.top([tiny.half()], []), 4))
    for verb, path, status in ("peak", cut, "partial"), ("leaks", state, "needs_trace"), ("steps", state, "needs_trace"):
        doc = json.loads(run(verb, "--json", path).raw)
        device, = doc["devices"]
        done = run(verb, "--csv", path)
        assert device["status"] == status and device["reasons"]
        assert done.err.splitlines()[-len(device["reasons"]):] == [
            "vramscope: warning: %s, device 0: %s" % (path, r["text"]) for r in device["reasons"]]
        assert {r["device.status"] for r in lines(done.raw)} == ({status} if device["result"] else set())
    assert "warning" not in run("peak", "--csv", ROOT / "examples" / "oom.pickle").err


def test_rows_are_limited_as_in_json():
    assert len(compare("peak", "-n", 2, EXAMPLES[0])) == 2


def test_text_of_a_stranger_is_no_formula(tmp_path):
    path, texts = tmp_path / "bad.pickle", ("=1+1", "+x", "@x,\"y\"", "\x1b[31mred", "-1", "\n=2")
    stacks = [[{"filename": "=a.py", "line": i, "name": text}] for i, text in enumerate(texts)]
    events = [tiny.event("segment_alloc", tiny.BASE, 20 * tiny.MIB)]
    events += [tiny.event("alloc", tiny.BASE + i * tiny.MIB, tiny.MIB, frames=f) for i, f in enumerate(stacks)]
    path.write_bytes(writers.pickled(tiny.top([], events), 4))
    names = {r["name"] for r in compare("peak", "--by", "function", path, at_least=5)}
    assert names == {"'=1+1", "'+x", "'@x,\"y\"", "\x1b[31mred", "-1", "'\n=2"}
    status, sent = on_terminal("peak", "--by", "function", "--csv", path)
    assert status == 0 and b"\x1b" not in sent and b"\\x1b[31mred" in sent


def test_forms_exclude_each_other():
    for verb, args in (("peak", ("--json", "--csv")), ("peak", ("--stacks", "--csv")), ("report", ("--markdown", "--csv")),
                       ("report", ("--trust", "--csv")), ("advise", ("--waste", "--csv")),
                       ("advise", ("--explain-silent", "--csv")), ("check", ("--format", "junit", "--csv"))):
        more = ["--max-peak", "1GiB"] if verb == "check" else []
        done = run(verb, *args, *more, EXAMPLES[0], expect=2)
        assert done.raw == b"" and "--csv" in done.err


def test_a_file_without_rows_has_the_names(tmp_path):
    path = tmp_path / "empty.pickle"
    path.write_bytes(writers.pickled(tiny.top([], []), 4))
    raw = run("leaks", "--csv", path).raw
    assert raw.startswith(b"file.path,") and raw.count(b"\r\n") == 1
