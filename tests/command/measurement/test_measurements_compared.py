"""Did a change help: two measurements, from files of any packing, and what stands in them."""
import gzip
import json
import statistics

import pytest

from conftest import ROOT, run, validate
from recordings.small_traces import steps, trace, write

FOLDER = ROOT / "examples" / "measurements"
BEFORE, AFTER = FOLDER / "before.json", FOLDER / "after.json"


def document(path=BEFORE, **changed):
    return {**json.loads(path.read_text()), **changed}


def give(row, values):
    """These values, without the figures of those before."""
    for name in ("mean", "deviation", "least", "most", "p95", "p99"):
        row.pop(name, None)
    row.update(values=values, count=len(values), median=statistics.median(values))


def put(folder, name, made):
    path = folder / name
    path.write_text(json.dumps(made))
    return path


def compare(a, b, *options, expect=0):
    made = run("compare", "-j", *options, a, b, expect=expect).json()
    validate(made)
    return made


def words(text):
    return " ".join(text.split())


def test_whatever_the_files_are_packed_in(tmp_path):
    wanted = compare(BEFORE, AFTER)
    packed = tmp_path / "after.json.gz"
    packed.write_bytes(gzip.compress(AFTER.read_bytes()))
    diagnosis = put(tmp_path, "diagnosis.json", {"schema": "vramscope.diagnosis/1", "figures": 7, "measurement": document()})
    for a, b in ((BEFORE, packed), (diagnosis, AFTER)):
        assert {k: v for k, v in compare(a, b).items() if k not in ("a", "b")} == {k: v for k, v in wanted.items() if k not in ("a", "b")}
    said = run("compare", "-j", "-", AFTER, stdin=BEFORE.read_bytes(), expect=0).json()
    assert said["times"] == wanted["times"] and said["a"]["path"] == "-" and said["a"]["size_bytes"] is None
    assert run("diff", BEFORE, AFTER, expect=0).out == run("compare", BEFORE, AFTER, expect=0).out
    half = tmp_path / "half.json.gz"
    half.write_bytes(packed.read_bytes()[:1000])
    assert run("compare", BEFORE, half, expect=3).out == ""


def test_mirrored_changes_are_mirrored():
    there, back = compare(BEFORE, AFTER), compare(AFTER, BEFORE)
    other = {"faster": "slower", "slower": "faster"}
    for one, two in zip(there["times"], back["times"]):
        assert one["change"] == -two["change"] and (one["change_low"], one["change_high"]) == (-two["change_high"], -two["change_low"])
        assert one["verdict"] == other.get(two["verdict"], two["verdict"]) and one["a"] == two["b"]
    assert [row["change_bytes"] for row in there["memory"]] == [-row["change_bytes"] for row in back["memory"]]


def test_conditions_that_differ_are_said_at_once(tmp_path):
    under = document()["conditions"]
    other = put(tmp_path, "other.json", document(AFTER, conditions={**under, "batch_size": 32, "input_shape": [256], "gpu": None}))
    made = compare(BEFORE, other)
    assert {row["name"]: (row["a"], row["b"]) for row in made["conditions"]} == {
        "batch_size": ("64", "32"), "input_shape": ("128", "256"), "gpu": (under["gpu"], None)}
    lines = run("compare", BEFORE, other, expect=0).out.split("loading ")[0]
    assert words(lines).startswith("verdict B is faster in this pair of runs: ") and "differ batch_size 64 in A and 32 in B" in words(lines)
    assert "\ndiffer" not in run("compare", BEFORE, AFTER, expect=0).out.split("A: ")[0]


def test_units_that_differ_are_both_there(tmp_path):
    made = document(AFTER)
    for row in (made["times"][-1], made["figures"][0]):
        row["unit"] = "s\x1b[2J"
    other = put(tmp_path, "other.json", made)
    said = compare(BEFORE, other)
    for row, unit in ((said["times"][-1], "ms"), (said["figures"][0], "samples/s")):
        assert (row["reason"], row["change"]) == ("units", None)
        assert (row["unit"], row["a"]["unit"], row["b"]["unit"]) == (unit, unit, "s\x1b[2J")
    assert [row["b"]["unit"] for row in said["times"][:-1]] == ["ms"] * 5
    head, *rows = run("compare", "--csv", BEFORE, other, expect=0).out.splitlines()
    at = head.split(",").index("b.unit")
    assert rows[0].split(",")[at] == "ms" and rows[-1].split(",")[at].strip('"').startswith("s")
    text = run("compare", BEFORE, other, expect=0).out
    assert "step is in ms in A and in s" in words(text) and "\x1b" not in text
    shown = next(line for line in text.splitlines() if line.startswith("  step "))
    assert "17.0 ms" in shown and "15.49 s" in shown


def test_hostile_texts_are_escaped(tmp_path):
    made = document()
    for row in made["times"] + made["figures"]:
        row["name"] += "\x1b[2J\u202e"
        row["unit"] += "\x1b[2J"
    made["conditions"]["model"] = "\x1b[2J\n"
    made["phases"][0]["path"] = ["\x1b[2J", "\u202e"]
    made["what"] = "\x1b[2J"
    path = put(tmp_path, "a.json", made)
    other = put(tmp_path, "b.json", {**made, "conditions": {"model": "\x1b[0m"}})
    said = run("compare", path, other, expect=0).out
    assert "\x1b" not in said and "\u202e" not in said and "[2J" in said
    compare(path, other)


def test_numbers_at_the_ends_of_what_numbers_are(tmp_path):
    made = document()
    for row, values in zip(made["times"], ([1e308] * 9, [0, 1.7e308] * 5, [5e-324] * 9)):
        give(row, values)
    for row in made["figures"]:
        row["value"] = 1.7e308
    for row in made["phases"]:
        row["peak_bytes"] = 2 ** 64 - 2
    path = put(tmp_path, "a.json", made)
    for a, b in ((path, BEFORE), (BEFORE, path), (path, path)):
        compare(a, b)
        assert run("compare", a, b, expect=0).out and run("compare", "--csv", a, b, expect=0).out


@pytest.mark.parametrize("row,member,changed,but", (
    ("times", "median", 10.0, "its values give 16.963"), ("times", "mean", 99, "its values give 16.991"), ("times", "count", 39, "the number of its values is 40"),
    ("times", "least", 17, "its values give 16.303"), ("phases", "peak_delta_bytes", 200000000, "\"peak_bytes\", which cannot be less, is 104857600")))
def test_a_document_that_contradicts_itself_is_refused(tmp_path, row, member, changed, but):
    made = document()
    made[row][-1][member] = changed
    wrong = put(tmp_path, "wrong.json", made)
    for sides in ((wrong, AFTER), (BEFORE, wrong), ("--again", wrong, BEFORE, AFTER)):
        said = run("compare", *sides, expect=3)
        assert said.out == "" and "wrong.json: byte " in said.err
        assert f"\"{row}[{len(made[row]) - 1}].{member}\" is {int(changed)}, but {but}" in said.err


@pytest.mark.parametrize("digits", (12, 15, 17))
def test_a_document_that_was_printed_with_less_digits_is_read(tmp_path, digits):
    made = document()
    for row in made["times"]:
        for name, value in row.items():
            if isinstance(value, float):
                row[name] = float(f"{value:.{digits}g}")
    assert compare(put(tmp_path, "shorter.json", made), AFTER)["verdict"] == "faster"


def test_limits_and_exit_statuses(tmp_path):
    for limit, code in (("1ms", 1), ("5ms", 0), ("1%", 1), ("50%", 0)):
        for verb in ("compare", "diff"):
            assert run(verb, "--fail-over", limit, AFTER, BEFORE, expect=code).out
        assert compare(AFTER, BEFORE, "--fail-over", limit, expect=code)["limit"]["exceeded"] == bool(code)
    nothing = put(tmp_path, "nothing.json", document(times=[], figures=[], phases=[]))
    assert "not judged: no step" in run("compare", nothing, BEFORE, expect=0).out
    assert compare(nothing, BEFORE)["rows_left_out"] > 10
    run("compare", "--fail-over", "1%", nothing, BEFORE, expect=1)


def test_two_traces_are_those_of_diff(tmp_path):
    a, b = (write(tmp_path, name, trace(steps(*lengths))) for name, lengths in (("a.json", (1000, 1010, 1020)), ("b.json", (1500, 1510, 1520))))
    assert run("compare", a, b, expect=0).out == run("diff", a, b, expect=0).out
    run("compare", "--fail-over", "10%", a, b, expect=1)


def test_every_cut_of_one_is_a_failure_in_words(tmp_path):
    data = BEFORE.read_bytes()
    path = tmp_path / "cut.json"
    for length in [1, 5, 20, *range(40, len(data.rstrip()) - 1, 997)]:
        path.write_bytes(data[:length])
        said = run("compare", path, BEFORE, expect=3)
        assert said.out == "" and "cut.json: " in said.err
