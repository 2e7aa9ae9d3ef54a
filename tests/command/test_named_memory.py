"""Names of memory in `leaks`, `fragments` and `export`: each where its block is in use at the end, and nowhere else."""
import csv
import io
import json
import pickle
import re
import sqlite3
from collections import Counter, defaultdict

import pytest

from recordings import scripts, writers
from recordings.named import LATER_THAN_ALL
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
    key = {"schema": "vramscope.extra/1", "names": {"time_us": LATER_THAN_ALL, "dropped": 0, "tensors": list(entries)}}
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


PATHS = [("model.layers.3.weight", "parameter", "model.layers.3"), ("weight", "parameter", "(no module)"),
         ("model.weight.grad", "gradient", "model"), ("exp_avg of model.norm.bias", "optimizer_state", "model.norm"),
         ("cache['a.b']", "tensor", "(no module)"), ("model.cache['a.b']", "tensor", "model"),
         ("model.cache['a.b'].weight", "tensor", "model.cache['a.b']"), ("model.cache[\"it's ].b\"]", "tensor", "model"),
         (r"model.cache['a\'].b']", "tensor", "model"), ("it's model.weight", "tensor", "it's model"),
         ("model[a.weight", "tensor", "model[a"), ("model.w[0.5", "tensor", "model.w[0"), ("layers[0].w", "tensor", "layers[0]"),
         (".weight", "parameter", "(no module)"), ("  .weight", "parameter", "(no module)"), ("   ", "tensor", "(no module)")]


def rows_by(path, by, count):
    rows = device_of("peak", path, "--by", by, "--at", "end", "-n", str(count))["rows"]
    return {r["name"]: r["count"] for r in rows}


def test_a_path_is_what_stands_before_the_last_dot_outside_of_brackets(tmp_path):
    blocks = [block(BASE + i * 2 * MIB, 2 * MIB, 2 * MIB - i) for i in range(len(PATHS))]
    given = [entry(b["address"], b["requested_size"], name, kind=kind) for b, (name, kind, _) in zip(blocks, PATHS)]
    path = named(tmp_path / "x.pickle", top([segment(blocks)], []), *given)
    assert rows_by(path, "path", len(PATHS)) == Counter(module for _, _, module in PATHS)
    # A name of blanks alone would be a row without a label.
    assert rows_by(path, "name", len(PATHS)) == Counter(name if name.strip() else "(no name)" for name, _, _ in PATHS)


# A list that was begun while the program went on -----------------------------------------------

def dated(path, time, snapshot, *entries):
    key = {"schema": "vramscope.extra/1", "names": {"time_us": time, "dropped": 0, "tensors": list(entries)}}
    path.write_bytes(writers.pickled(dict(snapshot, vramscope=key), 4))
    return path


def items_of(path):
    return {i["id"]: i for i in run("report", "--json", path, expect=0).json()["devices"][0]["trust"]["items"]}


def used_names(path):
    return [r["tensor_name"] for r in table(path, "blocks") if r["tensor_name"]]


def at_times(snapshot, *times):
    trace = [dict(e) for e in snapshot["device_traces"][0]]
    for e, time in zip(trace, times):
        if time is not None:
            e["time_us"] = time
    return dict(snapshot, device_traces=[trace])


TWO = top([segment([block(A, 4 * MIB), block(B, 4 * MIB), block(C, 12 * MIB, state="inactive")])],
          [event("segment_alloc", A, 20 * MIB), event("alloc", A, 4 * MIB), event("alloc", B, 4 * MIB)])
OLDER = top([segment([block(A, 4 * MIB), block(B, 4 * MIB), block(C, 12 * MIB, state="inactive")])],
            [event("segment_alloc", A + 64 * MIB, 20 * MIB), event("segment_alloc", A + 96 * MIB, 20 * MIB),
             event("alloc", B, 4 * MIB)])


@pytest.mark.parametrize("snapshot,times,begun,used", [
    (TWO, (10, 11, 12), 13, ["a", "b"]), (TWO, (10, 11, 12), 12, ["a"]), (TWO, (10, 11, 12), 11, []), (TWO, (10, 11, 12), 5, []),
    # An event without a time is older where a later one is.
    (TWO, (10, None, 12), 13, ["a", "b"]), (TWO, (10, None, 12), 12, []), (TWO, (10, 11, None), 12, ["a"]), (TWO, (None, 11, 12), 12, ["a"]),
    # Without an event: older than the trace, which must begin before the list.
    (OLDER, (10, 11, 12), 12, ["a"]), (OLDER, (10, 11, 12), 10, []),
    # No times tell: nothing contradicts.
    (TWO, (), 1, ["a", "b"]), (TWO, (10, 11, 12), None, ["a", "b"]), (TWO, (10, 11, 12), "noon", ["a", "b"]),
    (dict(TWO, device_traces=[[]]), (), 1, ["a", "b"])])
def test_what_was_made_after_the_list_was_begun_has_no_name(snapshot, times, begun, used, tmp_path):
    path = dated(tmp_path / "x.pickle", begun, at_times(snapshot, *times), entry(A, 512, "a"), entry(B, 512, "b"))
    assert used_names(path) == used
    items = items_of(path)
    assert items.get("names_later", {"count": 0})["count"] == 2 - len(used)
    if used != ["a", "b"]:
        assert items["names_later"]["worst_bytes"] == 512 and "after the list of names was begun" in items["names_later"]["text"]
    assert ("names" in items) == (begun == "noon")
    untold = snapshot["device_traces"][0] and (not times or type(begun) is not int)
    assert ("names_undated" in items) == bool(untold)


def test_what_was_freed_after_the_list_was_begun_is_no_contradiction(tmp_path):
    """And what took its place has no name, even where the trace ends before that."""
    trace = [event("segment_alloc", A, 20 * MIB, 10), event("alloc", A, 4 * MIB, 11), *freed(A, 4 * MIB, 20), event("alloc", B, 4 * MIB, 12)]
    trace.sort(key=lambda e: e["time_us"])
    free = segment([block(A, 4 * MIB, state="inactive"), block(B, 4 * MIB), block(C, 12 * MIB, state="inactive")])
    for held in (free, TWO["segments"][0]):
        items = items_of(dated(tmp_path / "x.pickle", 15, top([held], trace), entry(A, 512, "a"), entry(B, 512, "b")))
        assert items["names_later"]["count"] == 1 and "names" not in items
        assert used_names(tmp_path / "x.pickle") == ["b"]
    # Freed before the list was begun: that is one.
    items = items_of(dated(tmp_path / "x.pickle", 25, top([free], trace), entry(A, 512, "a"), entry(B, 512, "b")))
    assert items["names"]["count"] == 1 and "names_later" not in items


def test_each_device_has_its_own_events(tmp_path):
    other = BASE + (1 << 40)
    snapshot = top([half(), half(other, device=1)], [event("segment_alloc", A, 20 * MIB, 10), event("alloc", A, 4 * MIB - 100, 30)],
                   [event("segment_alloc", other, 20 * MIB, 10), event("alloc", other, 4 * MIB - 100, 11)])
    path = dated(tmp_path / "x.pickle", 20, snapshot, entry(A, 512, "first"), entry(other, 512, "second", device=1))
    assert used_names(path) == ["second"]


# What the list lacks, in words -----------------------------------------------------------------

def said(path, key, name="names"):
    path.write_bytes(writers.pickled(dict(TWO, vramscope=key), 4))
    items = items_of(path)
    return items[name]["text"] if name in items else None


def key_of(*entries, **more):
    return {"schema": "vramscope.extra/1", "names": dict({"time_us": LATER_THAN_ALL, "dropped": 0, "tensors": list(entries)}, **more)}


UNUSED, OTHER = "names that are not used: ", "; the list is of another moment, or was edited"
VERSION = 'the key "vramscope" is written for another version, "vramscope.extra/2", and not used'
ITSELF = 'the key "vramscope" is no dict with a schema'


@pytest.mark.parametrize("key,text", [
    (dict(key_of(entry(A, 512, "a")), schema="vramscope.extra/2"), VERSION), (5, ITSELF), ((), ITSELF), ({"names": {}}, ITSELF),
    ({"schema": "vramscope.extra/1", "names": []}, '"names" is no dict'), ({"schema": "vramscope.extra/1", "names": ()}, '"names" is no dict'),
    (key_of(tensors=()), '"tensors" is no list'), (key_of(tensors=(entry(A, 512, "a"),)), '"tensors" is no list'), (key_of(tensors=[]), None),
    (key_of(tensors={}), '"tensors" is no list'), (key_of(tensors=None), None),
    ({"schema": "vramscope.extra/1", "steps": 5}, '"steps" is no list of dicts of numbers'),
    ({"schema": "vramscope.extra/1", "steps": [{"index": "x", "event": 1}]}, '"steps" is no list of dicts of numbers'),
    ({"schema": "vramscope.extra/1", "recorder": []}, '"recorder" is no dict with a text "begun_by"'),
    (key_of(entry(A + 512, 512, "a")), UNUSED + "1 inside a block, not at its start" + OTHER),
    (key_of(entry(C, 512, "a"), entry(B, 9 * MIB, "b")), UNUSED + "1 where nothing is in use, 1 larger than what is there" + OTHER),
    (key_of(entry(A, 512, "a"), entry(A, 512, "b"), entry(A, 512, "b")), UNUSED + "3 for memory that others call differently" + OTHER),
    (key_of(entry(A, 512, "a"), entry(A, 512, "a"), entry(A, 512, "a")), None),
    (key_of(entry(A, 512, "a", device=3)), UNUSED + "1 of a device that is not in the file" + OTHER),
    (key_of(7, entry(-1, 512, "a"), entry(-5, 512, "a"), entry(-4096.0, 512, "a")), UNUSED + "4 malformed"),
    (key_of(entry(A, 512, "a", dtype=5)), "1 member of a wrong type is taken as absent"),
    (key_of(entry(A, 512, "a", dtype=5, shape="x", of=1, kind=[], shared=3)), "5 members of a wrong type are taken as absent"),
    (key_of(entry(C, 512, "a"), 7, entry(A, 512, "a", dtype=5)),
     UNUSED + "1 where nothing is in use, 1 malformed" + OTHER + "; 1 member of a wrong type is taken as absent")])
def test_what_is_wrong_with_the_list_is_said(key, text, tmp_path):
    assert said(tmp_path / "x.pickle", key) == text


def test_a_wrong_member_leaves_the_name(tmp_path):
    made = entry(A, 512, "a", dtype=5, shape="x", of=1, kind=[], shared=3)
    assert used_names(named(tmp_path / "x.pickle", TWO, made)) == ["a"]
    [row] = [r for r in table(tmp_path / "x.pickle", "blocks") if r["tensor_name"]]
    assert (row["tensor_dtype"], row["tensor_shape"], row["tensor_kind"]) == (None, None, "tensor")
    # A kind that is not given is one that is not known.
    for bare in ({k: v for k, v in made.items() if k != "kind"}, dict(made, kind=None)):
        assert used_names(named(tmp_path / "x.pickle", TWO, bare)) == ["a"]
        assert items_of(tmp_path / "x.pickle")["names"]["count"] == 4


@pytest.mark.parametrize("dropped,text", [
    (0, None), (None, None), (1, "the list of names leaves out 1 tensor: without a name, or the smallest of too many"),
    (1234, "the list of names leaves out 1\u202f234 tensors: without a name, or the smallest of too many")])
def test_what_the_list_leaves_out_is_said(dropped, text, tmp_path):
    assert said(tmp_path / "x.pickle", key_of(entry(A, 512, "a"), dropped=dropped), "names_dropped") == text
    page = " ".join(run("report", "--trust", tmp_path / "x.pickle", expect=0).out.split())
    assert ("names_dropped:" in page) == (text is not None) and (text is None or text.replace("\u202f", " ") in page)


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
