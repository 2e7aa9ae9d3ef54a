"""Names of memory in `leaks`, `fragments` and `export`: each where its block is in use at the end, and nowhere else."""
import csv
import io
import json
import pickle
import re
import sqlite3
from collections import defaultdict

import pytest

from recordings import scripts, writers
from recordings.tiny import BASE, MIB, block, event, freed, half, segment, top
from conftest import ROOT, answers, run, schemas
from test_export import has_sqlite, on_terminal

HOSTILE = ["=1+1", "+x", "-x", "@x", "a\"b,c", "l\nm", "'); DROP TABLE blocks;--", "\x1b[31mred\x1b[0m", "<script>x</script>",
           "**b** | `c`", "\u202edmp", "-1", "a" * 3000]
COLUMNS = ("tensor_name", "tensor_kind", "tensor_bytes", "tensor_dtype", "tensor_shape")


def entry(address, bytes, name, device=0, **more):
    return dict({"device": device, "address": address, "bytes": bytes, "kind": "parameter", "name": name, "shape": [3, 5],
                 "dtype": "torch.bfloat16"}, **more)


def named(path, snapshot, *entries):
    key = {"schema": "vramscope.extra/1", "names": {"time_us": 1, "dropped": 0, "tensors": list(entries)}}
    path.write_bytes(writers.pickled(dict(snapshot, vramscope=key), 4))
    return path


def in_use(snapshot):
    """(device, address, requested bytes) of each block that is allocated at the end."""
    for s in snapshot["segments"]:
        at = s["address"]
        for b in s["blocks"]:
            at = b.get("address", at)
            if b["state"] == "active_allocated":
                yield s["device"], at, b["requested_size"]
            at += b["size"]


def example(name):
    made = ROOT / "examples" / (name + ".pickle")
    return pickle.loads((made if made.exists() else scripts.make(name)).read_bytes())


def two_of_three(snapshot, without=2):
    return [entry(address, size, "model.w%d" % i, device, kind=("parameter", "gradient", "tensor")[i % 3])
            for i, (device, address, size) in enumerate(in_use(snapshot)) if i % 3 != without]


def device_of(verb, path, *options):
    found = answers(run(verb, "--json", *options, path, expect=0))
    device, = next(iter(found.values()))[0]["devices"]
    return device["result"]


def table(path, name):
    made = json.loads(run("export", path, "--to", "json", "-t", name, expect=0).raw)
    schemas.validate("export", made)
    return made["tables"][name]


def check_row(row, held):
    """A row has the names of `held`, (allocation's bytes, entry) of each block that has one, as allocated."""
    members = {"named_bytes", "named_count", "tensors"} & set(row)
    if not held:
        assert not members
        return
    assert (row["named_bytes"], row["named_count"]) == (sum(b for b, _ in held), len(held))
    want = sorted(held, key=lambda h: -h[0])[:5]
    assert row["tensors"] == [{"name": e["name"], "kind": e["kind"], "bytes": e["bytes"], "requested_bytes": requested,
                               "dtype": e.get("dtype"), "shape": " x ".join(map(str, e["shape"]))} for requested, e in want]


# Leaks ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["leak", "train", "growth"])
def test_places_that_grow_say_their_names(name, tmp_path):
    snapshot = example(name)
    given = two_of_three(snapshot)
    path = named(tmp_path / "x.pickle", snapshot, *given)
    lives = table(path, "allocations")
    assert [r["tensor_name"] for r in lives if r["tensor_name"]]
    by_place = defaultdict(list)
    for r in lives:
        if r["tensor_name"]:
            by_place[r["culprit"], r["owner"]].append((r["bytes"], next(e for e in given if e["name"] == r["tensor_name"])))
    found = defaultdict(int)
    for site in device_of("leaks", path)["sites"]:
        own = by_place[site["site"]["culprit"], site["site"]["owner"]]
        names = [e["name"] for _, e in own]
        if "tensors" in site:
            # Two places may have one line: each has names of it, and together they have all.
            assert all(t["name"] in names for t in site["tensors"])
            found[site["site"]["culprit"], site["site"]["owner"]] += site["named_bytes"]
            assert site["named_bytes"] <= site["boundary_bytes"][-1]
            if site["named_count"] == len(own):
                check_row(site, own)
    assert found and all(found[place] == sum(b for b, _ in by_place[place]) for place in found)


def test_a_leak_says_its_share_and_its_lines(tmp_path):
    snapshot = pickle.loads(scripts.make("leak").read_bytes())
    path = named(tmp_path / "x.pickle", snapshot, *two_of_three(snapshot))
    site = device_of("leaks", path)["sites"][0]
    assert site["class"] == "leak" and (site["named_count"], site["generations"]) == (8, 12)
    text = run("leaks", path, expect=0).out
    share = "%.1f %% of it, " % (100 * site["named_bytes"] / site["boundary_bytes"][-1])
    verdict = " ".join(text[text.index("\nleak"):text.index("\nsteps")].split())
    assert share in verdict and verdict.count("have a name") == 1
    for tensor in site["tensors"]:
        assert re.search(r"^ +[\d.]+ [KM]iB  %s  bf16 3 x 5$" % re.escape(tensor["name"]), text, re.M), tensor
    assert re.search(r"^ +36.00 MiB  3 more names$", text, re.M)


# Fragments --------------------------------------------------------------------------------------

def held_in(lives, given, low, high, event=None):
    """Of allocations in a range that are alive at the event, or at the end."""
    never = 1 << 60
    at = lambda e, other: other if e is None else e
    alive = [r for r in lives if low <= r["address"] < high and at(r["free_completed_event"], never) == never
             and (event is None or at(r["alloc_event"], -1) <= event)]
    of = {e["name"]: e for e in given}
    return [(r["bytes"], of[r["tensor_name"]]) for r in alive if r["tensor_name"]]


@pytest.mark.parametrize("at", ["end", "peak", "1500"])
def test_blocks_in_the_way_say_their_names(at, tmp_path):
    snapshot = example("fragmentation")
    given = two_of_three(snapshot, without=0)
    path = named(tmp_path / "x.pickle", snapshot, *given)
    lives = table(path, "allocations")
    result = device_of("fragments", path, "--at", at)
    event = None if at == "end" else result["at_event"]
    pinned = 0
    for pin in result["pins"]:
        held = held_in(lives, given, pin["address"], pin["address"] + pin["total_bytes"], event)
        check_row(pin, held)
        pinned += len(held)
    for move in result["moves"]:
        check_row(move, held_in(lives, given, move["address"], move["address"] + 1, event))
    assert pinned > 0 or at != "end"
    if at == "end":
        assert any("tensors" in m for m in result["moves"])
        lines = run("fragments", path, expect=0).out.splitlines()
        row, = [i for i, line in enumerate(lines) if "largest block allocated by" in line]
        first = result["pins"][0]["tensors"][0]
        assert lines[row + 2].split()[2] == first["name"] and lines[row + 2].startswith(" " * 10)


# What names nothing -----------------------------------------------------------------------------

A, B, C = BASE, BASE + 4 * MIB, BASE + 8 * MIB
THREE = segment([block(A, 4 * MIB, 4 * MIB), block(B, 4 * MIB, 4 * MIB, "active_pending_free"),
                 block(C, 12 * MIB, state="inactive")])
EVENTS = [event("segment_alloc", A, 20 * MIB), event("alloc", A, 4 * MIB), event("alloc", B, 4 * MIB),
          event("free_requested", B, 4 * MIB), event("alloc", C, 4 * MIB), *freed(C, 4 * MIB)]
WRONG = {
    "larger than its block": [entry(A, 4 * MIB + 1, "no")],
    "inside of a block": [entry(A + 512, 512, "no")],
    "freed": [entry(C, 512, "no")],
    "waiting for a stream": [entry(B, 512, "no")],
    "on another device": [entry(A, 512, "no", device=1)],
    "two names": [entry(A, 512, "no"), entry(A, 512, "nor this")],
}


@pytest.mark.parametrize("why", WRONG)
def test_a_name_that_the_file_contradicts_names_nothing(why, tmp_path):
    path = named(tmp_path / "x.pickle", top([THREE], EVENTS), *WRONG[why])
    result = device_of("fragments", path)
    assert result["pins"] and not any("tensors" in r for r in result["pins"] + result["moves"])
    for name in ("blocks", "allocations"):
        assert all(r[c] is None for r in table(path, name) for c in COLUMNS)
    # Its twin, which is true.
    path = named(tmp_path / "x.pickle", top([THREE], EVENTS), entry(A, 4 * MIB, "yes"))
    assert [r["tensor_name"] for r in table(path, "blocks")] == ["yes", None, None]
    assert [r["tensor_name"] for r in table(path, "allocations")] == ["yes", None, None]
    assert [t["name"] for p in device_of("fragments", path)["pins"] for t in p["tensors"]] == ["yes"]


def test_an_address_that_was_used_before_has_one_name(tmp_path):
    """The name is of the allocation that is there at the end, not of those before it."""
    path = named(tmp_path / "x.pickle", top([half()], [event("segment_alloc", A, 20 * MIB), event("alloc", A, 2 * MIB), *freed(A, 2 * MIB),
                                                       event("alloc", A, 4 * MIB - 100)]), entry(A, 512, "last"))
    assert [(r["bytes"], r["tensor_name"], r["tensor_bytes"]) for r in table(path, "allocations")] == [
        (2 * MIB, None, None), (4 * MIB - 100, "last", 512)]


@pytest.mark.parametrize("verb,name", [("leaks", "leak"), ("fragments", "fragmentation")])
def test_a_list_without_entries_changes_nothing(verb, name, tmp_path):
    snapshot = example(name)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "x.pickle").write_bytes(writers.pickled(snapshot, 4))
    named(tmp_path / "x.pickle", snapshot)
    for options in ([], ["--csv"]):
        texts = [run(verb, *options, "x.pickle", cwd=folder, expect=0).out.replace("\r", "").split("\n", 1)
                 for folder in (tmp_path / "plain", tmp_path)]
        assert texts[0][1] == texts[1][1]  # the first line says how large the file is
    results = [device_of(verb, folder / "x.pickle") for folder in (tmp_path / "plain", tmp_path)]
    assert results[0] == results[1] and "tensors" not in json.dumps(results)


# Strangers' names -------------------------------------------------------------------------------

@pytest.fixture
def hostile(tmp_path):
    blocks = [block(BASE + i * 2 * MIB, 2 * MIB, 2 * MIB - i) for i in range(len(HOSTILE))]
    blocks.append(block(BASE + len(HOSTILE) * 2 * MIB, 2 * MIB, state="inactive"))
    given = [entry(b["address"], b["requested_size"], name, dtype=name, kind=name) for b, name in zip(blocks, HOSTILE)]
    return named(tmp_path / "x.pickle", top([segment(blocks)], []), *given)


def test_hostile_names_in_tables(hostile, tmp_path):
    for name in ("allocations", "blocks"):
        rows = [r for r in table(hostile, name) if r["tensor_name"] is not None]
        assert [(r["tensor_name"], r["tensor_dtype"], r["tensor_kind"]) for r in rows] == [(n, n, "tensor") for n in HOSTILE]
        raw = run("export", hostile, "--to", "csv", "-t", name, expect=0).raw.decode()
        read = [r for r in csv.DictReader(io.StringIO(raw, newline="")) if r["tensor_bytes"]]
        guarded = ["'" + n if n[0] in "=+-@" and n != "-1" else n for n in HOSTILE]
        assert [(r["tensor_name"], r["tensor_dtype"]) for r in read] == [(n, n) for n in guarded]
        _, sent = on_terminal("export", hostile, "--to", "csv", "-t", name)
        assert b"\x1b" not in sent and b"\\x1b[31mred" in sent and "\u202e".encode() not in sent
    if has_sqlite():
        run("export", hostile, "--to", "sqlite", "-o", tmp_path / "x.db", expect=0)
        with sqlite3.connect(tmp_path / "x.db") as db:
            for name in ("allocations", "blocks", "allocation_sites"):
                found = db.execute("SELECT tensor_name, tensor_bytes FROM %s WHERE tensor_name IS NOT NULL" % name).fetchall()
                assert found == [(n, 2 * MIB - i) for i, n in enumerate(HOSTILE)], name


@pytest.mark.parametrize("more", [[], ["--ascii"]])
def test_hostile_names_in_text(hostile, more):
    raw = run("fragments", hostile, *more, expect=0).raw
    assert b"=1+1" in raw and not re.search(rb"[\0-\x09\x0b-\x1f\x7f]", raw) and "\u202e".encode() not in raw
    result = device_of("fragments", hostile)
    assert [t["name"] for t in result["pins"][0]["tensors"]] == HOSTILE[:5] and result["pins"][0]["named_count"] == len(HOSTILE)


def test_columns_stand_behind_those_before(hostile):
    for name, last in (("allocations", "undecided"), ("blocks", "owner")):
        heading = run("export", hostile, "--to", "csv", "-t", name, expect=0).out.splitlines()[0].split(",")
        assert tuple(heading[-5:]) == COLUMNS and heading[-6] == last
