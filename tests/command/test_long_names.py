"""How names of memory look in text: what the figures beside them add up to, and what happens to long ones."""
import re

import pytest

from recordings import named as recordings_named, scripts
from recordings.tiny import BASE, MIB, block, segment, top
from conftest import environment, run
from test_named_memory import entry, example, in_use, named

LONG = "transformer.encoder.layers.%d.self_attn.in_proj_weight"
VERBS = (["report"], ["peak"], ["peak", "--by", "path"], ["oom"], ["fragments"])


def text(*words, width=80, **more):
    return run(*words, "--ascii", env=dict(environment(), COLUMNS=str(width)), expect=0, **more).out


def blocks_of(sizes, entries=()):
    """A recording of blocks, (block's bytes, requested bytes) each, and of them those entries."""
    at, made = BASE, []
    for size, requested in sizes:
        made.append(block(at, size, requested))
        at += size
    return top([segment(made + [block(at, 2 * MIB, state="inactive")])], [])


def bytes_of(words):
    number, unit = words.split()
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]


@pytest.fixture
def long(tmp_path):
    snapshot = example("oom")
    largest = sorted(in_use(snapshot), key=lambda b: -b[2])
    return named(tmp_path / "x.pickle", snapshot, *[entry(address, size, LONG % i, device, shape=[4096, 11008])
                                                    for i, (device, address, size) in enumerate(largest)])


@pytest.mark.parametrize("size,requested,tensor", [(20 * MIB, 20 * MIB, 1), (512, 100, 512)])
def test_lines_of_names_add_up_to_their_row(size, requested, tensor, tmp_path):
    """A tensor may have less than its allocation, or all of a block of which less was asked for."""
    snapshot = blocks_of([(size, requested)] * 8)
    path = named(tmp_path / "x.pickle", snapshot, *[entry(a, tensor, "w%d" % i) for i, (_, a, _) in enumerate(in_use(snapshot))])
    lines = re.findall(r"^ {12} *([\d.]+ [KMG]?i?B)  (w\d  |3 more names$)", text("peak", path), re.M)
    assert [bytes_of(figure) for figure, _ in lines] == [requested] * 5 + [3 * requested]
    row = run("peak", "--json", path, expect=0).json()["devices"][0]["result"]["rows"][0]
    assert [(t["bytes"], t["requested_bytes"]) for t in row["tensors"]] == [(tensor, requested)] * 5
    assert row["named_bytes"] == 8 * requested == row["bytes"]


@pytest.mark.parametrize("width", [20, 33, 39, 47, 48, 52, 80, 100, 200])
@pytest.mark.parametrize("verb", VERBS + (["peak", "--by", "name"],), ids=" ".join)
def test_long_names_fit_any_width(verb, width, long):
    lines = text(*verb, long, width=width).splitlines()
    shown = [line for line in lines if "proj_weight" in line or "bf16" in line or "more name" in line]
    assert shown and max(map(len, shown)) <= width, max(shown, key=len)
    if width >= (60 if verb[-1] == "name" else 52):  # a name, and a type behind it or further in on the next line
        names = [line for line in shown if re.search(r"[B%]  tra", line)]
        assert names and any(" bf16 4" in line for line in shown)
        assert len({line.index("tr") for line in names}) == 1 or verb[-1] == "path"


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_type_stands_whole_below_a_name_that_leaves_no_room(verb, long):
    lines = text(*verb, long).splitlines()
    first = next(i for i, line in enumerate(lines) if LONG % 5 in line or LONG % 6 in line)
    assert lines[first + 1] == " " * (lines[first].index("transformer") + 2) + "bf16 4096 x 11008"
    wide = text(*verb, long, width=120)
    assert re.search(r"layers\.[56]\.self_attn\.in_proj_weight  bf16 4096 x 11008$", wide, re.M)


def test_oom_says_its_names_below_each_line(long):
    lines = text("oom", long).splitlines()
    row = lines.index(next(line for line in lines if line.endswith("model.py:22 forward") and "GiB      6" in line))
    names = [line.split()[-1] for line in lines[row + 1:row + 11:2]]
    assert sorted(names) == [LONG % i for i in range(1, 6)] and lines[row + 11].split()[-3:] == ["1", "more", "name"]


def test_by_name_each_name_has_one_line(long):
    rows = text("peak", "--by", "name", "-n", "13", long).splitlines()
    heading = next(i for i, line in enumerate(rows) if line.split()[:1] == ["bytes"])
    assert rows[heading].split() == ["bytes", "share", "name", "dtype", "and", "shape"]
    named_rows = rows[heading + 1:heading + 14]
    assert all(re.search(r"  trans\S*\.\.\.\S*self_attn\.in_proj_weight  bf16 4096 x 11008$", r) for r in named_rows)
    assert len({r.split()[4] for r in named_rows}) == 13
    assert rows[heading + 14].split()[4] == "other"
    assert text("peak", "--by", "name", long, width=160).count(LONG % 5) == 1


def test_by_name_counts_stay_where_a_name_has_several(tmp_path):
    snapshot = blocks_of([(2 * MIB, 2 * MIB)] * 3)
    address = [a for _, a, _ in in_use(snapshot)]
    path = named(tmp_path / "x.pickle", snapshot, entry(address[0], MIB, "w"), entry(address[1], MIB, "w", shape=[7]),
                 entry(address[2], MIB, "size:12"))
    rows = text("peak", "--by", "name", path).splitlines()
    assert next(r for r in rows if " w" in r).split() == ["4.00", "MiB", "66.7", "%", "2", "w"]  # two shapes: none is told
    assert next(r for r in rows if "size:12" in r).split()[-5:] == ["size:12", "bf16", "3", "x", "5"]


def test_by_name_what_has_none_has_no_type(tmp_path):
    """Blanks are no name: what has them is one row with what has nothing, whose types are not known."""
    snapshot = blocks_of([(2 * MIB, 2 * MIB)] * 3)
    path = named(tmp_path / "x.pickle", snapshot, *[entry(a, MIB, name) for (_, a, _), name in zip(in_use(snapshot), ("w", " "))])
    rows = text("peak", "--by", "name", path).splitlines()
    assert next(r for r in rows if "(no name)" in r).endswith("(no name)")
    assert any(r.endswith("w          bf16 3 x 5") for r in rows)


@pytest.mark.parametrize("by,ours", [("name", {"(no name)"}), ("path", {"(no name)", "(no module)"})])
def test_a_name_like_ours_is_told_from_it(by, ours, tmp_path):
    snapshot = blocks_of([(2 * MIB, 2 * MIB)] * 6)
    names = ("(no name)", "(no name).w", "(no module).w", ".w", "plain")
    given = [entry(a, MIB, name) for (_, a, _), name in zip(in_use(snapshot), names)]
    path = named(tmp_path / "x.pickle", snapshot, *given)
    result = run("peak", "--by", by, "--json", path, expect=0).json()["devices"][0]["result"]
    rows = sorted((r["name"], r["named"], r["count"]) for r in result["rows"])
    if by == "name":
        assert rows == sorted([("(no name)", False, 1)] + [(n, True, 1) for n in names])
    else:
        assert rows == [("(no module)", False, 3), ("(no module)", True, 1), ("(no name)", False, 1), ("(no name)", True, 1)]
    assert {r[0] for r in rows if not r[1]} == ours
    plain = run("peak", "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    assert not any("named" in r for r in plain)


def test_of_several_files_the_largest_name_is_told(tmp_path):
    for i in range(2):
        snapshot = blocks_of([(2 * MIB, 2 * MIB)] * 3 + [(4 * MIB, 4 * MIB)])
        named(tmp_path / ("rank%d.pickle" % i), snapshot, entry(next(in_use(snapshot))[1], MIB, "model." + "w" * 40 + ".%d" % i))
    lines = text("peak", "--by", "name", tmp_path).splitlines()
    for i in range(2):
        assert re.search(r"  20.0 %% mode\S*\.\.\.w+\.%d$" % i,
                         next(line for line in lines if line.startswith("rank%d" % i)))
    assert "(no name)" not in "\n".join(lines[:6])


@pytest.mark.parametrize("name", ("w" * 262144, "\u0001" * 262144, "\u4e2d" * 262144), ids=("letters", "controls", "wide"))
def test_names_of_any_length_are_shown_in_part(tmp_path, name):
    said = {"kind": "parameter", "name": name, "dtype": name, "of": name, "shape": [1 << 40] * 64, "shared": [name] * 64}
    path = recordings_named.written(tmp_path, scripts.make(recordings_named.LAYERS), {20: said, 22: dict(said, name="short")})
    for verb in ("report", "peak"):
        text = run(verb, "--ascii", path, expect=0).out
        assert "short" in text and len(text) < 40_000
    rows = run("peak", "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    [tensors] = [row["tensors"] for row in rows if "tensors" in row]
    shown = tensors[1]["name"]
    assert tensors[0]["name"] == "short" and len(shown.encode()) <= 1024 + 3
    assert shown.endswith("\u2026") and name.startswith(shown[:-1]) and len(shown.encode()) > 1000
