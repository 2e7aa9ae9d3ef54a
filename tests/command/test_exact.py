"""Allocated and active bytes of `report` where the allocator's model reproduces a recording."""
import json

import pytest
from recordings import random_program, tiny, writers
from recordings.tiny import BASE, MIB, block, event, freed, segment, top

from conftest import batch, is_reproduced, replay_text, run

SEEDS = 80
EXACT = "the allocator's model reproduces %s: allocated and active bytes are exact"
AMBIGUOUS = ("the allocator's model reproduces the only address, but 1 block older than the recording may be up to "
             "1 MiB larger: allocated and active bytes are lower bounds")
PARTLY = ("the allocator's model reproduces %d of %d addresses: allocated and active bytes are lower bounds; "
          "vramscope replay says where they differ")
NOT_REPLAYED = ("not replayed through the allocator's model (%d events): allocated and active bytes are lower bounds; "
                "--replay always does it")


def exact_text(addresses):
    return EXACT % ("the only address" if addresses == 1 else "all %d addresses" % addresses)


def devices(folder, name, *options):
    found, errors = batch("report", folder, [name], *options)
    assert not errors, errors
    return {d["device"]: d for d in found[name][0]["devices"]}


# Random programs, whose allocator knows the truth ------------------------------------------------

@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """name -> (the recording, its report for each --replay)"""
    folder, made = tmp_path_factory.mktemp("programs"), {}
    for seed in range(SEEDS):
        fixed = ({}, {"window": None}, {"expandable": False, "window": 0.5, "ragged": 0})[seed % 3]
        r = random_program.make(seed, **fixed)
        if len(r.events) > 1 and r.allocs():
            made["%d.pickle" % seed] = r
            (folder / ("%d.pickle" % seed)).write_bytes(writers.pickled(r.snapshot, 4))
    reports = {}
    for when in "auto", "always", "never":
        found, errors = batch("report", folder, made, "--replay", when)
        assert not errors, errors
        reports[when] = {name: entries[0]["devices"][0] for name, entries in found.items()}
    return {name: (r, {when: reports[when][name] for when in reports}) for name, r in made.items()}


def test_exact_bytes_are_those_the_program_held(programs):
    exact = whole = larger = 0
    for name, (r, by_when) in programs.items():
        d, never = by_when["auto"], by_when["never"]
        active = d["active"]
        assert active["exact"] == d["allocated"]["exact"] == ("are exact" in replay_text(d)), name
        if not active["exact"]:
            continue
        exact += 1
        assert replay_text(d) == exact_text(len(r.allocs()))
        assert active["end_bytes"] == r.allocator.held(), name
        larger += active["peak_bytes"] > never["active"]["peak_bytes"]
        if r.start is None:
            continue    # the window begins inside a step: the truth before it is not kept
        whole += 1
        assert (active["start_bytes"], active["peak_bytes"]) == (r.start.held(), r.options["held_peak"]), name
    assert exact > SEEDS // 2 and whole > SEEDS // 3 and larger > 5, (exact, whole, larger)


def test_what_the_model_should_reproduce_it_does(programs):
    for name, (r, by_when) in programs.items():
        if not (r.ambiguous() or r.late_fits or r.partial_releases or r.options["window"]):
            assert by_when["auto"]["active"]["exact"], (name, replay_text(by_when["auto"]))


def test_inexact_bytes_are_lower_bounds(programs):
    tried = 0
    for name, (r, by_when) in programs.items():
        for d in by_when.values():
            if d["active"]["exact"] or r.start is None:
                continue
            tried += 1
            assert d["active"]["start_bytes"] <= r.start.held(), name
            assert d["active"]["peak_bytes"] <= r.options["held_peak"], name
            assert d["active"]["end_bytes"] == r.allocator.held(), name
    assert tried > SEEDS // 2


def test_never_gives_lower_bounds_and_says_so(programs):
    for name, (r, by_when) in programs.items():
        d = by_when["never"]
        assert not d["active"]["exact"] and not d["allocated"]["exact"], name
        assert replay_text(d) == NOT_REPLAYED % len(r.events), name
        for curve in "requested", "reserved":
            assert d[curve] == by_when["auto"][curve], name
        for key in "start_bytes", "peak_bytes":
            assert d["active"][key] <= by_when["auto"]["active"][key], name
            assert d["allocated"][key] <= by_when["auto"]["allocated"][key], name
        assert (d["trust"]["grade"], d["trust"]["window"]) == \
               (by_when["auto"]["trust"]["grade"], by_when["auto"]["trust"]["window"]), name


def test_always_is_auto_for_short_recordings(programs):
    for name, (_, by_when) in programs.items():
        assert by_when["always"] == by_when["auto"], name


def test_allocated_is_active_less_what_waits(programs):
    for name, (r, by_when) in programs.items():
        active, allocated = by_when["auto"]["active"], by_when["auto"]["allocated"]
        assert allocated["peak_bytes"] <= active["peak_bytes"], name
        assert allocated["start_bytes"] <= active["start_bytes"], name
        if not any(e["action"].startswith("free") for e in r.events):
            continue
        if not (r.pending_at_start() or r.options["deferred"]) and active["exact"]:
            assert allocated["peak_bytes"] == active["peak_bytes"], name


# The trust item, in all its words ------------------------------------------------------------------

def slack(*events):
    """A request of 5 MiB, older than the recording, is freed in it: 7.5 MiB are free there in the end."""
    return top([segment([block(BASE, 7 * MIB + MIB // 2, state="inactive"),
                         block(BASE + 7 * MIB + MIB // 2, 12 * MIB + MIB // 2, 12 * MIB)])], [*freed(BASE, 5 * MIB), *events])


AGAIN = [event("alloc", BASE, 5 * MIB), *freed(BASE, 5 * MIB)]
ELSEWHERE = [event("alloc", BASE + MIB, 5 * MIB), *freed(BASE + MIB, 5 * MIB)]
WORDS = {
    "exact": (tiny.plain(), exact_text(2), True),
    "ambiguous": (slack(*AGAIN), AMBIGUOUS, False),
    "partly": (slack(*AGAIN, *ELSEWHERE), PARTLY % (1, 2), False),
    "no_trace": (top([tiny.half()]), "", True),
    "ring_of_one": (top([tiny.half()], [event("free_completed", BASE + 4 * MIB, 512)]), "", False),
    "no_allocs": (top([tiny.half()], [*freed(BASE + 8 * MIB, 700), event("snapshot", 0, 4 * MIB)]), "", False),
}


@pytest.mark.parametrize("name", WORDS)
def test_the_trust_list_says_how_well_the_model_agrees(tmp_path, name):
    recording, text, exact = WORDS[name]
    (tmp_path / name).write_bytes(writers.pickled(recording, 4))
    d = devices(tmp_path, name)[0]
    assert replay_text(d) == text
    assert d["active"]["exact"] == d["allocated"]["exact"] == exact
    for item in d["trust"]["items"]:
        if item["id"] == "replay":
            assert (item["count"], item["worst_bytes"]) == (1 if name == "partly" else 0, None)
            # Event 5 is the alloc at an address where the model would not have put it.
            assert item["first_event"] == (5 if name == "partly" else None)


def test_more_streams_than_the_model_follows_are_told(tmp_path):
    """More streams than 1,024, with a block each, in one segment that only the first of them may use."""
    events = [event("segment_alloc", BASE, 20 * MIB)]
    for k in range(1100):
        events += [event("alloc", BASE + 4 * MIB, 2 * MIB, stream=k), *freed(BASE + 4 * MIB, 2 * MIB, stream=k)]
    (tmp_path / "r").write_bytes(writers.pickled(top([tiny.half()], events), 4))
    d = devices(tmp_path, "r")[0]
    assert replay_text(d) == ("not replayed through the allocator's model, since it has more streams and pools than the "
                              "model follows: allocated and active bytes are lower bounds")
    assert not d["active"]["exact"]


@pytest.mark.parametrize("name", ("no_trace", "ring_of_one"))
def test_what_has_no_trace_is_not_missed(tmp_path, name):
    (tmp_path / name).write_bytes(writers.pickled(WORDS[name][0], 4))
    assert replay_text(devices(tmp_path, name, "--replay", "never")[0]) == ""


def test_a_cut_file_is_not_replayed(tmp_path):
    data = writers.pickled(tiny.plain(), 4)
    (tmp_path / "cut").write_bytes(data[:len(data) * 3 // 4])
    for when in "auto", "always", "never":
        d = devices(tmp_path, "cut", "--replay", when)[0]
        assert replay_text(d) == "" and not d["active"]["exact"] and not d["allocated"]["exact"]


def test_ambiguous_bytes_are_the_smallest_possible(tmp_path):
    (tmp_path / "a").write_bytes(writers.pickled(WORDS["ambiguous"][0], 4))
    active = devices(tmp_path, "a")[0]["active"]
    assert active["start_bytes"] == active["peak_bytes"] == 17 * MIB + MIB // 2


def test_peak_says_the_same_and_takes_the_option(tmp_path):
    (tmp_path / "r").write_bytes(writers.pickled(tiny.plain(), 4))
    for when, text in (("auto", exact_text(2)), ("always", exact_text(2)), ("never", NOT_REPLAYED % 5)):
        found, errors = batch("peak", tmp_path, ["r"], "--replay", when)
        assert not errors and replay_text(found["r"][0]["devices"][0]) == text
    wrong = run("peak", "--replay", "sometimes", "r", cwd=tmp_path)
    assert wrong.code == 2 and "sometimes" in wrong.err


# Real recordings ------------------------------------------------------------------------------------

EDITED = {"anonymised_expandable_contexts.pickle", "attention_inductor_mini.pickle"}
AMBIGUOUS_FILES = 4


def test_real_files_have_the_expected_active_bytes(shared):
    rows = [json.loads(x) for x in (shared / "spec" / "expected-replay.jsonl").read_text().splitlines() if x]
    found, errors = batch("report", shared / "data" / "snapshots", sorted({r["file"] for r in rows}), "--replay", "always")
    assert not errors, errors
    exact, ambiguous, problems = 0, set(), []
    for row in rows:
        d, = [d for d in found[row["file"]][0]["devices"] if d["device"] == row["device"]]
        text, active = replay_text(d), d["active"]
        if row["file"] in EDITED or "reproduces" not in text:
            # Edited, or a single event, which is no trace.
            assert not is_reproduced(text) and (row["file"] in EDITED or row["events"] < 2), (row["file"], text)
            continue
        want = tuple(row[k] for k in ("start_rounded", "peak_rounded", "end_rounded"))
        have = tuple(active[k] for k in ("start_bytes", "peak_bytes", "end_bytes"))
        problems += [(row["file"], want, have)] if want != have or not is_reproduced(text) else []
        exact += active["exact"]
        if not active["exact"]:
            ambiguous.add(row["file"])
    assert not problems, problems
    assert len(ambiguous) == AMBIGUOUS_FILES and exact >= 24, (exact, ambiguous)
