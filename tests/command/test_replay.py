"""`vramscope replay` against a naive allocator, a second oracle, and its own answers."""
import copy
import importlib.util
import io
import json
import pickle
import random
import re
import sys

import pytest
from models import rerun
from recordings import random_program, writers
from models.allocator import MIB, NO_END, Allocator, Device, OutOfMemory, Settings

from conftest import ROOT, answers, environment, run, some

SEEDS = some(30, 60)
QUESTION_SEEDS = some(5, 24)
HANGS = 120  # seconds; what is slow here is an endless loop
EXACT = ("exact", "exact after correction")
ANSWER = ("peak_reserved_bytes", "peak_reserved_event", "peak_reserved_ascending_bytes", "peak_active_bytes",
          "peak_active_event", "peak_active_start_bytes", "peak_requested_bytes", "peak_requested_event",
          "new_memory", "retries", "served_oom_event")
OOM = ("event", "want_bytes", "segment_bytes", "reserved_bytes", "active_bytes", "largest_free_bytes",
       "returnable_bytes", "stranded_bytes")


# Asking -------------------------------------------------------------------------------------

def replay(path, *options):
    """number -> device of the answer about one file."""
    result = run("replay", "--json", *options, path, timeout=HANGS)
    assert result.code == 0, "vramscope replay %s ended with %d: %s" % (" ".join(map(str, options)), result.code,
                                                                         result.err[-800:])
    entry, = [e for found in answers(result).values() for e in found]
    return {d["device"]: d for d in entry["devices"]}


def replay_many(folder, names):
    """name -> {number: device}, agreement only."""
    found, names = {}, list(names)
    for at in range(0, len(names), 200):
        result = run("replay", "--json", *names[at:at + 200], cwd=folder, timeout=HANGS)
        assert result.code == 0, (result.code, result.err[-800:])
        for name, (entry,) in answers(result).items():
            found[name] = {d["device"]: d for d in entry["devices"]}
    return found


def write(folder, name, recording):
    path = folder / name
    path.write_bytes(writers.pickled(recording.snapshot, 4))
    return path


def different(want, have, keys):
    return ["%s: want %s, have %s" % (k, want[k], have[k]) for k in keys if k in want and want[k] != have[k]]


def row_problems(want, have):
    """How the program's row departs from one of the naive model."""
    found = different(want, have, ANSWER + ("capacity_needed_bytes", "capacity_retries", "capacity_checked"))
    if "first_oom" in want:
        if (want["first_oom"] is None) != (have["first_oom"] is None):
            found.append("first_oom: want %s, have %s" % (want["first_oom"], have["first_oom"]))
        elif want["first_oom"]:
            found += ["first_oom." + d for d in different(want["first_oom"], have["first_oom"], OOM)]
    return found


def disagreement(agreement):
    first = agreement["first_disagreement"]
    return None if first is None else first["event"]


# Agreement ------------------------------------------------------------------------------------

def agreement_problems(recording, have):
    """A trace of the naive allocator is reproduced in everything that a trace shows."""
    result = have["result"]
    if result is None and not recording.allocs():
        return [] if have["status"] == "needs_trace" else ["status %s" % have["status"]]
    if result is None:
        return ["no result: %s" % have["reasons"]]
    a = result["agreement"]
    events, runs = recording.events, rerun.release_runs(recording.events)
    allocs, blocks = len(recording.allocs()), sum(len(s["blocks"]) for s in recording.segments)
    want = {"addresses": allocs, "addresses_equal": allocs, "final_blocks": blocks, "final_blocks_equal": blocks,
            "release_runs": len(runs), "new_memory_equal": a["new_memory"], "unexpected_segments": 0,
            "unknown_frees": 0, "size_clashes": 0, "impossible_releases": 0}
    whole = recording.start is not None
    if whole:
        want["new_memory"] = recording.new_memory
        # A window also hides whose slack it is.
        want["preexisting"] = sum(p.state != "free" for p in recording.start.pieces())
    if not recording.partial_releases:
        want["release_runs_equal"] = len(runs)
    found = different(want, a, want)
    if not recording.partial_releases and not unsure_of_sizes(recording):
        if a["grade"] not in EXACT or a["first_disagreement"] is not None:
            found.append("grade %s, first disagreement %s" % (a["grade"], a["first_disagreement"]))
        if whole and a["grade"] in EXACT:
            active = {"peak_bytes": recording.options["held_peak"], "start_bytes": recording.start.held(),
                      "end_bytes": recording.allocator.held()}
            found += ["active." + d for d in different(active, a["active"], active)]
    if result["events"] != len(events):
        found.append("%d events of %d" % (result["events"], len(events)))
    if result["recorded_peak_reserved_bytes"] != max(recording.reserved_curve()):
        found.append("recorded peak %s" % result["recorded_peak_reserved_bytes"])
    return found


def unsure_of_sizes(recording):
    """The bytes that a `snapshot` event tells rest on sizes that are not in the file."""
    return recording.ambiguous() or bool(recording.options["window"] and recording.options["ragged"])


def agreement_of(seeds, folder, **fixed):
    """(recordings tried, problems)"""
    recordings = {}
    for seed in seeds:
        r = random_program.make(seed, **fixed)
        # One event may be all that a ring of one holds; a window can not prove more.
        if len(r.events) > 1 and not r.late_fits:
            recordings["%d.pickle" % seed] = r
            write(folder, "%d.pickle" % seed, r)
    found = replay_many(folder, recordings)
    problems = [(name, agreement_problems(r, found[name][0])) for name, r in recordings.items()]
    return len(recordings), [p for p in problems if p[1]]


def test_the_verb_exists():
    assert run("help", "replay").code == 0, "this program has no verb `replay`"


@pytest.mark.parametrize("fixed", [{}, {"expandable": True}, {"expandable": False, "window": 0.4},
                                   {"expandable": True, "window": 0.4}, {"deferred": True, "streams": 4},
                                   {"pools": True, "plain": True}, {"unusual": True, "plain": False},
                                   {"max_split": True, "plain": False, "capacity": 0.6}], ids=str)
def test_random_recordings_are_reproduced(tmp_path, fixed):
    tried, problems = agreement_of(range(SEEDS), tmp_path, **fixed)
    assert tried > SEEDS // 2 and not problems, "%d of %d: %s" % (len(problems), tried, problems[:4])


@pytest.mark.long
def test_many_random_recordings_are_reproduced(tmp_path):
    tried, problems = agreement_of(range(10_000, 13_000), tmp_path)
    assert not problems, "%d of %d: %s" % (len(problems), tried, problems[:4])


def test_a_reservation_that_was_given_back_may_come_back_elsewhere(tmp_path):
    tried, problems = agreement_of(range(300, 330), tmp_path, expandable=True, moves=True, window=None, empties=0.9)
    assert tried > 20 and not problems, "%d of %d: %s" % (len(problems), tried, problems[:4])


def test_what_a_trace_does_not_show_is_no_catastrophe(tmp_path):
    """Memory asked for although the completions of the retry before it made a block that fits; garbage
    collection; reservations that end: addresses are adopted and the replay goes on."""
    tried = 0
    for seed in range(400, 400 + some(20, 40)):
        fixed = ({"deferred": True, "capacity": 0.6}, {"gc": True, "expandable": False, "plain": False},
                 {"expandable": True, "reservation": 160 * MIB, "working_set": 400 * MIB})[seed % 3]
        r = random_program.make(seed, window=None, **fixed)
        result = replay(write(tmp_path, "r.pickle", r))[0]["result"]
        if result is None:
            assert not fixed.get("gc"), seed
            continue
        a = result["agreement"]
        assert a["addresses"] == len(r.allocs()) and 0 <= a["addresses_equal"] <= a["addresses"]
        assert (a["first_disagreement"] is None) == (a["grade"] in EXACT), seed
        if fixed.get("gc") and not r.late_fits:
            tried += 1
            assert (a["addresses_equal"], a["new_memory_equal"], a["final_blocks_equal"]) == \
                   (a["addresses"], a["new_memory"], a["final_blocks"]), seed
    assert tried


def written_out(settings, capacity, *steps):
    """A recording of a program that is written out: numbers name allocations."""
    a, live = Allocator(settings, Device(capacity, base=random_program.BASE)), {}
    for verb, *words in steps:
        if verb == "alloc":
            name, size, *stream = words
            try:
                live[name] = a.malloc(size, *stream)
            except OutOfMemory:
                pass
        elif verb == "free":
            a.free(live.pop(words[0]), words[1:])
        elif verb == "done":
            a.gpu_reaches(*words)
        else:
            a.empty_cache()
        a.check()
    options = {"window": None, "ragged": 0, "settings_stored": True, "held_peak": None}
    start = Allocator(settings, Device(capacity))
    return random_program.Recording(options, settings, a, a.events, start)


M = MIB
WRITTEN = {
    "deferred completion": (Settings(), None, ("alloc", 1, 6 * M), ("alloc", 2, 6 * M), ("free", 1, 7), ("done", 7),
                            ("alloc", 3, 6 * M), ("free", 2)),
    "pending at the end": (Settings(), None, ("alloc", 1, 6 * M), ("alloc", 2, 900), ("free", 1, 7, 9), ("done", 7),
                           ("alloc", 3, 5 * M)),
    "unmap with leftovers": (Settings(expandable=True), None, ("alloc", 1, 30 * M), ("alloc", 2, 50 * M),
                             ("alloc", 3, 8 * M), ("free", 2), ("empty",), ("alloc", 4, 10 * M), ("alloc", 5, 45 * M)),
    "pages mapped by an attempt that failed": (
        Settings(expandable=True), 70 * M, ("alloc", 1, 20 * M), ("alloc", 2, 20 * M), ("free", 1), ("empty",),
        ("alloc", 3, 20 * M, 7), ("free", 2), ("free", 3), ("alloc", 4, 55 * M), ("alloc", 5, 10 * M)),
    "pages mapped by an attempt that ran out": (
        Settings(expandable=True), 65 * M, ("alloc", 1, 20 * M), ("alloc", 2, 20 * M), ("free", 1), ("empty",),
        ("alloc", 3, 5 * M, 7), ("free", 2), ("alloc", 4, 45 * M), ("alloc", 5, 7 * M)),
    "two streams": (Settings(), None, ("alloc", 1, 6 * M), ("alloc", 2, 6 * M, 7), ("free", 1), ("alloc", 3, 6 * M, 7),
                    ("free", 2), ("alloc", 4, 6 * M)),
    "a retry that succeeds": (Settings(), 60 * M, ("alloc", 1, 30 * M), ("free", 1), ("alloc", 2, 40 * M)),
    "an out-of-memory": (Settings(), 60 * M, ("alloc", 1, 30 * M), ("alloc", 2, 40 * M), ("free", 1), ("alloc", 3, 44 * M)),
    "the end of the small pool": (Settings(), None, ("alloc", 1, M), ("alloc", 2, M), ("alloc", 3, M + 1), ("alloc", 4, 1)),
    "ties go to the lower address": (Settings(), None, ("alloc", 1, 10 * M), ("alloc", 2, 10 * M), ("alloc", 3, 10 * M),
                                     ("free", 2), ("free", 3), ("free", 1), ("alloc", 4, 10 * M), ("alloc", 5, 10 * M)),
    "slack is kept": (Settings(), None, ("alloc", 1, 12 * M), ("free", 1), ("alloc", 2, 11 * M), ("alloc", 3, 11 * M)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_written_out_programs_are_reproduced(tmp_path, name):
    r = written_out(*WRITTEN[name])
    assert (r.partial_growth > 0) == ("attempt" in name)
    problems = agreement_problems(r, replay(write(tmp_path, "r.pickle", r))[0])
    assert not [p for p in problems if not p.startswith("active.peak")], problems


# What-if ----------------------------------------------------------------------------------------

def random_change(rng, recording):
    """(options of the program, the same question for the naive model)"""
    s, text, changes = recording.settings, [], {}
    if rng.random() < 0.5:
        changes["expandable"] = not s.expandable
        text.append("expandable_segments:%s" % changes["expandable"])
    if rng.random() < 0.3:
        d = rng.choice((2, 4, 8))
        changes["divisions"] = [d] * 16
        text.append("roundup_power2_divisions:%d" % d)
    if rng.random() < 0.2:
        changes["divisions"] = [2] * 6 + [0] + [4] + [8] * 8
        text = [t for t in text if "roundup" not in t] + ["roundup_power2_divisions:[32:2,128:4,256:8,>:8]"]
    if rng.random() < 0.3:
        changes["max_split"] = max(rng.choice((20, 40, 64)) * MIB, s.large_segment)
        text.append("max_split_size_mb:%d" % (changes["max_split"] // MIB))
        if rng.random() < 0.5:
            changes["non_split_rounding"] = 32 * MIB
            text.append("max_non_split_rounding_mb:32")
    if rng.random() < 0.2 and changes.get("max_split", s.max_split) >= 40 * MIB:   # as PyTorch demands
        changes["large_segment"] = 40 * MIB
        text.append("large_segment_size_mb:40")
    return [w for t in text for w in ("--set", t)], {"settings": s.changed(**changes)}


def random_site(rng, recording):
    with_stack = [i for i in recording.allocs() if recording.events[i].get("frames")]
    if not with_stack:
        return [], {}
    at = rng.choice(with_stack)
    site = recording.events[at]["frames"]
    kind, scope = rng.randrange(3), rng.randrange(1, len(recording.events))
    factor = rng.choice((0.5, 0.25, 2, 1.5))
    return [(["--drop", "event:%d" % at], {"site": site, "drop": True}),
            (["--scale", "event:%d=%s" % (at, factor)], {"site": site, "scale": factor}),
            (["--free-early", "event:%d=%d" % (at, scope)], {"site": site, "early": scope})][kind]


def questions(rng, recording, again):
    """(options, what the naive model is asked)"""
    peak = max(again.curve)
    yield ["--capacity", str(peak * rng.choice((5, 7, 9)) // 10)], {}
    for _ in range(2):
        options, asked = random_change(rng, recording)
        if options:
            yield options, asked
    options, asked = random_site(rng, recording)
    if options:
        yield options, asked
        more, also = random_change(rng, recording)
        yield options + more + ["--capacity", str(peak * 8 // 10)], {**asked, **also}


def askable(seed, **fixed):
    """A recording whose start the file tells exactly and whose replay is exact, or None."""
    r = random_program.make(seed, ragged=0, **fixed)
    unsure = r.ambiguous() or r.late_fits or r.partial_releases or r.base_unknown()
    return None if unsure or len(r.events) < 2 or not r.allocs() else r


def question_problems(folder, seed, smallest=False, **fixed):
    r = askable(seed, **fixed)
    if r is None:
        return None
    path, rng, again = write(folder, "%d.pickle" % seed, r), random.Random(seed), rerun.Rerun(r)
    found, same = [], again.ask_all()
    for options, asked in questions(rng, r, again):
        asked = dict(asked)
        if "--capacity" in options:
            asked["capacity"] = int(options[options.index("--capacity") + 1])
        want = again.ask_all(**asked)
        if smallest and "capacity" not in asked:
            options = options + ["--smallest"]
            want.update(again.sufficient(**asked))
        device = replay(path, *options)[0]
        rows = device["result"]["what_if"]
        if len(rows) < 2:
            found.append((seed, options, "not answered: %s, %s" % (device["status"], device["reasons"])))
            continue
        found += [(seed, options, p) for p in row_problems(want, rows[-1])]
        found += [(seed, "same", p) for p in row_problems(same, rows[0])]
        if rows[-1]["capacity_bytes"] != asked.get("capacity"):
            found.append((seed, options, "capacity %s" % rows[-1]["capacity_bytes"]))
        if device["result"]["identities"] is not None:
            found += [(seed, "identities", p) for p in identity_problems(again, device["result"]["identities"])]
    return found


def identity_problems(again, have):
    want = again.identities()
    # That a recorded oom is now served, the curve being the same, may count either way.
    ooms = [i for i, e in enumerate(again.events) if e["action"] == "oom"]
    if ooms and want["first_oom_at_capacity_event"] is None:
        del want["reproduces_at_capacity"]
    return different(want, have, want)


@pytest.mark.parametrize("fixed", [{}, {"expandable": True}, {"window": 0.4, "expandable": False},
                                   {"deferred": True, "capacity": 0.8, "stacks": "native"}], ids=str)
def test_random_questions_equal_a_rerun(tmp_path, fixed):
    results = [question_problems(tmp_path, seed, **fixed) for seed in range(500, 500 + QUESTION_SEEDS)]
    problems = [p for r in results if r for p in r]
    assert sum(r is not None for r in results) > QUESTION_SEEDS // 3 and not problems, \
        "%d: %s" % (len(problems), problems[:6])


def test_sufficient_capacities_equal_a_rerun(tmp_path):
    results = [question_problems(tmp_path, seed, smallest=True, steps=90) for seed in range(600, 600 + some(5, 12))]
    problems = [p for r in results if r for p in r]
    assert any(r is not None for r in results) and not problems, "%d: %s" % (len(problems), problems[:6])


@pytest.mark.long
def test_many_random_questions_equal_a_rerun(tmp_path):
    results = [question_problems(tmp_path, seed, smallest=seed % 8 == 0) for seed in range(20_000, 20_600)]
    problems = [p for r in results if r for p in r]
    assert not problems, "%d: %s" % (len(problems), problems[:6])


# The second oracle --------------------------------------------------------------------------------

@pytest.fixture(scope="session")
def oracle(shared):
    """`replay_model.py` of the shared folder, a program by somebody else."""
    folder = shared / "spec" / "tools"
    sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location("replay_model", folder / "replay_model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FROM_ORACLE = {"peak_reserved": "peak_reserved_bytes", "peak_reserved_event": "peak_reserved_event",
               "peak_reserved_up": "peak_reserved_ascending_bytes", "peak_held": "peak_active_bytes",
               "peak_held_event": "peak_active_event", "peak_held_start": "peak_active_start_bytes",
               "peak_requested": "peak_requested_bytes", "peak_requested_event": "peak_requested_event",
               "new_segs": "new_memory", "retries": "retries", "served_oom": "served_oom_event",
               "same_curve": "same_curve", "capacity_needed": "capacity_needed_bytes",
               "capacity_retries": "capacity_retries", "capacity_checked": "capacity_checked"}
OOM_FROM_ORACLE = {"event": "event", "want": "want_bytes", "segment": "segment_bytes", "reserved": "reserved_bytes",
                   "held": "active_bytes", "largest_free": "largest_free_bytes", "returnable": "returnable_bytes",
                   "stranded": "stranded_bytes"}


def from_oracle(row):
    found = {ours: row[theirs] for theirs, ours in FROM_ORACLE.items() if theirs in row}
    if "first_oom" in row:
        oom = row["first_oom"]
        found["first_oom"] = oom and {ours: oom[theirs] for theirs, ours in OOM_FROM_ORACLE.items()}
    return found


def understood(oracle, r):
    """That program leaves some rules out; a recording that needs them is not for it."""
    usual = r.settings.non_split_rounding == r.settings.large_segment == 20 * MIB
    return usual and not r.late_fits and not r.partial_growth and not (r.settings.expandable and r.holes_at_start())


def test_naive_allocator_equals_the_oracle(oracle):
    """Every address, new memory, release run and final block of our random recordings."""
    tried = 0
    for seed in range(250):
        r = random_program.make(seed, check=seed < 40)
        if not understood(oracle, r) or not r.events:
            continue
        x, tried = oracle.replay(r.events, r.segments, oracle.settings_of(r.snapshot)), tried + 1
        assert x["first"] is None and x["final_equal"] == x["final_blocks"], (seed, x)
        assert x["same_addr"] == x["allocs"] and x["seg_ok"] == x["new_seg"], (seed, x)
        assert r.partial_releases or x["release_ok"] == x["releases"], (seed, x)
        assert unsure_of_sizes(r) or x["snap_ok"] == x["snaps"], (seed, x)
        assert r.start is None or x["new_seg"] == r.new_memory
        assert unsure_of_sizes(r) or x["peak_rounded"] == r.options["held_peak"], (seed, x)
    assert tried > 150


def test_random_programs_make_valid_files(oracle):
    """No invariant of an unedited file is broken; a window may begin between the two halves of a free."""
    from snapshot_oracle import check
    for seed in range(150):
        broken = check(random_program.make(seed).snapshot)
        assert set(broken) <= {"T5 free_completed after free_requested"}, (seed, broken)


def oracle_questions(oracle, r, base, rng):
    """(question for the naive model, the oracle's settings, its site)"""
    settings = [({}, {}), ({"expandable": not base["expandable"]}, {"expandable": not base["expandable"]}),
                ({"divisions": [4] * 16}, {"table": [4] * 16}), ({"max_split": 64 * MIB}, {"max_split": 64 * MIB})]
    for ours, theirs in settings:
        yield {"settings": r.settings.changed(**ours)}, theirs, None
    options, asked = random_site(rng, r)
    if options:
        verb = "remove" if "drop" in asked else "scale" if "scale" in asked else "early"
        yield asked, {}, (asked["site"], verb, asked.get("scale", asked.get("early")))


def test_naive_reruns_equal_the_oracle(oracle):
    asked_in_all = 0
    for seed in range(700, 760):
        r = askable(seed)
        # It forgets that blocks of the start may be pending.
        if r is None or not understood(oracle, r) or r.pending_at_start():
            continue
        rec = oracle.Recording(r.events, r.segments, oracle.settings_of(r.snapshot))
        again, rng = rerun.Rerun(r), random.Random(seed)
        for asked, changes, site in oracle_questions(oracle, r, rec.base, rng):
            for capacity in None, max(again.curve) * rng.choice((5, 7, 9)) // 10:
                theirs = oracle.whatif(rec, dict(rec.base, **changes), cap=capacity or oracle.INF, site=site)
                problems = row_problems(from_oracle(theirs), again.ask_all(capacity=capacity, **asked))
                assert not problems, (seed, changes, site and site[1:], capacity, problems)
                asked_in_all += 1
        for order in "descend", "ascend":
            theirs = oracle.whatif(rec, rec.base, identity=True, down=order == "descend")
            ours = again.ask(identity=True, order=order)
            assert not different(from_oracle(theirs), ours, ANSWER + ("same_curve",)), seed
        assert rec.recorded_capacity() == again.recorded_capacity()
    assert asked_in_all > 250


class Answers:
    """The nine questions of the anchors put to the program, for one device of one file."""

    def __init__(self, path, device):
        self.path, self.device, self.first = path, device, None

    def ask(self, *options):
        d = replay(self.path, *options)[self.device]
        assert d["result"] and d["result"]["what_if"], "%s %s: %s, %s" % (self.path.name, options, d["status"], d["reasons"])
        return d["result"]

    def problems(self, row):
        kind, *words = row["question"].split(":")
        if kind == "identity":
            return self.identity_problems(row, self.ask("--smallest", "--set", "roundup_power2_divisions:4"))
        options = {"same": lambda: ["--smallest", "--set", "roundup_power2_divisions:4"],
                   "capacity": lambda c: ["--capacity", c],
                   "expandable": lambda x: ["--smallest", "--set", "expandable_segments:" + x],
                   "roundup": lambda d: ["--smallest", "--set", "roundup_power2_divisions:" + d],
                   "max_split_mb": lambda m: ["--smallest", "--set", "max_split_size_mb:" + m],
                   "remove": lambda e: ["--smallest", "--drop", "event:" + e],
                   "scale": lambda e, f: ["--smallest", "--scale", "event:%s=%s" % (e, f)],
                   "early": lambda e, n: ["--smallest", "--free-early", "event:%s=%s" % (e, n)]}[kind](*words)
        rows = self.ask(*options)["what_if"]
        have = rows[0] if kind == "same" else rows[-1]
        return ["%s: %s" % (row["question"], p) for p in row_problems(from_oracle(row), have)]

    def identity_problems(self, row, result):
        want = {"reproduces": row["same_curve"], "reproduces_ascending": row["same_curve_up"],
                "recorded_capacity_bytes": row["recorded_capacity"], "retries_at_capacity": row["retries_at_capacity"],
                "first_oom_at_capacity_event": row["first_oom_at_capacity"],
                "reproduces_at_capacity": row["same_curve_at_capacity"]}
        a = result["agreement"]
        runs = {k: a["runs_by_stack"][k] + a["runs_by_sequence"][k] for k in ("empty_cache", "retry")}
        wanted_runs = {"empty_cache": row["empty_cache_runs"], "retry": row["retry_runs"]}
        found = different(want, result["identities"], want) + different(wanted_runs, runs, wanted_runs)
        if row["same_curve"] and result["recorded_peak_reserved_bytes"] != row["peak_reserved"]:
            found.append("recorded peak %s" % result["recorded_peak_reserved_bytes"])
        return ["identity: " + p for p in found]


def test_random_recordings_answer_as_the_oracle(oracle, tmp_path):
    tried, problems = 0, []
    for seed in range(800, 840):
        r = askable(seed, steps=110)
        if r is None or not understood(oracle, r) or r.pending_at_start():
            continue
        asked = Answers(write(tmp_path, "%d.pickle" % seed, r), 0)
        for row in oracle.whatif_rows(r.events, r.segments, oracle.settings_of(r.snapshot)):
            # What ran out in the recording may run out in either sense (see identity_problems).
            if row["question"] == "identity" and row["same_curve_at_capacity"] and not row["first_oom_at_capacity"]:
                continue
            problems += [(seed, p) for p in asked.problems(row)]
            tried += 1
        if tried > 100:
            break
    assert tried > 100 and not problems, "%d: %s" % (len(problems), problems[:6])


# Real recordings ----------------------------------------------------------------------------------

def rows_of(shared, name):
    return [json.loads(line) for line in (shared / "spec" / name).read_text().splitlines() if line]


EDITED = {"anonymised_expandable_contexts.pickle", "attention_inductor_mini.pickle"}
RING_OF_ONE = {"llama_kv_quant_state_only.pickle", "opt1.3b_offload_torch20_history.pickle"}


def test_real_files_are_reproduced(shared):
    rows = rows_of(shared, "expected-replay.jsonl")
    found = replay_many(shared / "data" / "snapshots", sorted({r["file"] for r in rows}))
    problems = []
    for row in rows:
        d = found[row["file"]][row["device"]]
        a = d["result"] and d["result"]["agreement"]
        if row["file"] in EDITED:
            if a and a["grade"] in EXACT:
                problems.append((row["file"], "grade " + a["grade"]))
            continue
        if row["file"] in RING_OF_ONE and (a is None or a["grade"] == "none"):
            continue    # a single event is no trace
        want = {"addresses": row["allocs"], "addresses_equal": row["same_addr"], "new_memory": row["new_seg"],
                "new_memory_equal": row["seg_ok"], "release_runs": row["releases"],
                "release_runs_equal": row["release_ok"], "final_blocks": row["final_blocks"],
                "final_blocks_equal": row["final_equal"], "snapshots": row["snaps"], "snapshots_equal": row["snap_ok"],
                "unexpected_segments": row["unexpected"], "unknown_frees": row["unknown_free"],
                "size_clashes": row["size_clash"], "impossible_releases": row["bad_segfree"],
                "preexisting": row["preexisting"], "inferred": row["inferred"], "corrected": row["repaired"],
                "first_disagreement": row["first"],
                "grade": "exact after correction" if row["repaired"] else "exact",
                "runs_by_stack": dict(zip(("empty_cache", "retry"), row["by_stack"])),
                "runs_by_sequence": dict(zip(("empty_cache", "retry"), row["by_sequence"]))}
        active = {"start_bytes": row["start_rounded"], "peak_bytes": row["peak_rounded"], "end_bytes": row["end_rounded"]}
        wrong = different(want, a, want) + different(active, a["active"] or {k: None for k in active}, active)
        problems += [(row["file"], row["device"], p) for p in wrong]
    assert len(rows) >= 30 and not problems, "%d: %s" % (len(problems), problems[:6])


def anchors_hold(shared, chosen):
    rows = rows_of(shared, "expected-whatif.jsonl")
    assert len(rows) == 252
    problems, tried = [], 0
    for row in rows:
        path = shared / "data" / "snapshots" / row["file"]
        if chosen(path):
            tried += 1
            problems += [(row["file"], row["device"], p) for p in Answers(path, row["device"]).problems(row)]
    assert tried and not problems, "%d in %d rows: %s" % (len(problems), tried, problems[:6])


SMALL_FILE = 400_000


def test_anchors_of_small_files(shared):
    anchors_hold(shared, lambda path: path.stat().st_size < SMALL_FILE)


@pytest.mark.long
def test_anchors_of_large_files(shared):
    anchors_hold(shared, lambda path: path.stat().st_size >= SMALL_FILE)


# Mutations ----------------------------------------------------------------------------------------

def drop_event(rng, events):
    at = rng.choice([i for i, e in enumerate(events) if e["action"] in ("alloc", "free_completed")])
    del events[at]
    return at, True


def change_size(rng, events):
    at = rng.choice([i for i, e in enumerate(events) if e["action"] == "alloc"])
    events[at]["size"] = 2 * events[at]["size"] + MIB
    return at, True


def swap_frees(rng, events):
    """Frees that nobody misses meanwhile may change places, so the grade need not fall."""
    frees = [i for i, e in enumerate(events) if e["action"] == "free_completed"]
    a, b = sorted(rng.sample(frees, 2))
    events[a], events[b] = events[b], events[a]
    return a, False


@pytest.mark.parametrize("mutate", (drop_event, change_size, swap_frees))
def test_a_change_is_noticed_where_it_is(tmp_path, mutate):
    tried, changed = 0, {}
    for seed in range(900, 990):
        rng = random.Random(seed)
        r = askable(seed, window=None, max_split=False, pools=False)
        if r is None or sum(e["action"] == "free_completed" for e in r.events) < 2:
            continue
        snapshot = copy.deepcopy(r.snapshot)
        events, = snapshot["device_traces"]
        changed["%d.pickle" % seed] = mutate(rng, events)
        (tmp_path / ("%d.pickle" % seed)).write_bytes(writers.pickled(snapshot, 4))
    found = replay_many(tmp_path, changed)
    for name, (at, must_fall) in changed.items():
        result, tried = found[name][0]["result"], tried + 1
        if result is None:
            continue
        first, grade = disagreement(result["agreement"]), result["agreement"]["grade"]
        assert first is None or first >= at, (name, at, result["agreement"])
        assert not must_fall or grade not in EXACT, (name, at, result["agreement"])
        assert (first is None) == (grade in EXACT) or grade == "none", (name, result["agreement"])
    assert tried > some(15, 30)


def test_nothing_crashes_on_wilder_changes(tmp_path):
    """Many changes at once, numbers out of bounds, events of another trace."""
    names = []
    for seed in range(1000, 1000 + some(24, 60)):
        rng, snapshot = random.Random(seed), random_program.make(seed).snapshot
        events, = snapshot["device_traces"]
        other = random_program.make(seed + 1).events
        for _ in range(rng.randint(1, 12) if events else 0):
            at, kind = rng.randrange(len(events)), rng.randrange(6)
            e = events[at] = dict(events[at])
            if kind == 0:
                e["addr"] = rng.choice((0, 512, 2**63, 2**64 - 1, e.get("addr", 0) + 512))
            elif kind == 1:
                e["size"] = rng.choice((0, 1, 2**40, 2**62, 2**63 - 1))
            elif kind == 2:
                e["action"] = rng.choice(("alloc", "free_completed", "segment_alloc", "segment_free", "segment_map",
                                          "segment_unmap", "oom", "snapshot"))
            elif kind == 3 and other:
                events.insert(at, rng.choice(other))
            elif kind == 4:
                e["stream"] = rng.randrange(2**40)
            else:
                e.pop(rng.choice(("addr", "size", "stream")), None)
        names.append("%d.pickle" % seed)
        (tmp_path / names[-1]).write_bytes(writers.pickled(snapshot, 4))
    for options in [], ["--set", "expandable_segments:True", "--smallest"], ["--drop", "event:0", "--capacity", "50000000"]:
        for name in names if options else []:
            assert run("replay", "--json", *options, name, cwd=tmp_path, timeout=HANGS).code in (0, 2, 3, 4)
        if not options:
            assert run("replay", "--json", *names, cwd=tmp_path).code in (0, 3)


# Writing ------------------------------------------------------------------------------------------

class NoNames(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError("global %s.%s" % (module, name))


def written_problems(path, out, *options):
    """The run that is written is a recording: it replays under its own settings, and says what was answered."""
    out.unlink(missing_ok=True)
    result = run("replay", "--json", path, "--write", out, *options)
    assert result.code == 0, (options, result.err[-800:])
    rows = json.loads(result.raw)["devices"][0]["result"]["what_if"]
    assert rows, "%s %s: a run is written and none is answered" % (path.name, options)
    row = rows[-1]
    top = NoNames(io.BytesIO(out.read_bytes())).load()
    device = replay(out)[0]
    if not any(e["action"] == "alloc" for e in top["device_traces"][0]):
        # Not even the first request was served: there is nothing to reproduce.
        assert row["first_oom"] and device["status"] == "needs_trace"
        return [], top
    a = device["result"]["agreement"]
    found = [] if a["grade"] in EXACT and not a["first_disagreement"] else ["grade %s, %s" % (a["grade"], a["first_disagreement"])]
    if device["result"]["recorded_peak_reserved_bytes"] != row["peak_reserved_bytes"]:
        found.append("reserved %s, answered %s" % (device["result"]["recorded_peak_reserved_bytes"], row["peak_reserved_bytes"]))
    if a["active"] and a["active"]["peak_bytes"] != row["peak_active_bytes"]:
        found.append("active %s, answered %s" % (a["active"]["peak_bytes"], row["peak_active_bytes"]))
    report = answers(run("report", "--json", out, expect=0))
    requested = [e for found in report.values() for e in found][0]["devices"][0]["requested"]["peak_bytes"]
    if requested != row["peak_requested_bytes"]:
        found.append("requested %s, answered %s" % (requested, row["peak_requested_bytes"]))
    ooms = [e for e in top["device_traces"][0] if e["action"] == "oom"]
    if (row["first_oom"] is not None) != bool(ooms):
        found.append("%d oom events, answered %s" % (len(ooms), row["first_oom"]))
    return [(path.name, options, p) for p in found], top


WRITES = [["--set", "expandable_segments:True"], ["--set", "expandable_segments:False"],
          ["--set", "roundup_power2_divisions:4"], ["--set", "max_split_size_mb:64"], []]


def test_a_written_run_is_a_recording(tmp_path):
    problems, tried = [], 0
    for seed in range(1100, 1100 + some(12, 30)):
        r = askable(seed, pools=False)
        if r is None:
            continue
        tried, options = tried + 1, WRITES[seed % len(WRITES)]
        # A start above the capacity is dropped before the first event, which no trace shows.
        if r.options["window"] is None:
            options = options + ["--capacity", str(max(r.reserved_curve()) * 8 // 10)]
        problems += written_problems(write(tmp_path, "%d.pickle" % seed, r), tmp_path / "out.pickle", *options)[0]
    assert tried > some(4, 10) and not problems, "%d: %s" % (len(problems), problems[:6])


def test_a_written_run_satisfies_the_oracle(oracle, tmp_path):
    from snapshot_oracle import check
    for seed in range(1200, 1215):
        r = askable(seed, pools=False, window=None, unusual=False)
        if r is None:
            continue
        problems, top = written_problems(write(tmp_path, "in.pickle", r), tmp_path / "out.pickle", *WRITES[seed % len(WRITES)])
        assert not problems and not check(top), (seed, problems, check(top))
        for _, events, segments in oracle.per_device(top):
            x = oracle.replay(events, segments, oracle.settings_of(top))
            assert x["first"] is None and x["final_equal"] == x["final_blocks"], (seed, x)


# A sweep in text ----------------------------------------------------------------------------------

def figure(row):
    """What a question comes to, at the worse end of its range."""
    if row["capacity_needed_bytes"] is not None:
        return row["capacity_needed_bytes"]
    return max(row["peak_reserved_bytes"], row["peak_reserved_ascending_bytes"] or 0)


@pytest.mark.parametrize("options", ((), ("--smallest",), ("--capacity", "25295847424")), ids=" ".join)
@pytest.mark.parametrize("name", ("fragmentation.pickle", "oom.pickle"))
@pytest.mark.long
def test_a_sweep_names_the_winner(name, options):
    """Rows that need least come first, no setting is cut at 80 columns, and the best is that of the figures."""
    path = ROOT / "examples" / name
    rows = run("replay", "--sweep", *options, "--json", path, expect=0).json()["devices"][0]["result"]["what_if"]
    text = run("replay", "--sweep", *options, path, env=environment(COLUMNS="80"), expect=0).out
    complete = [r for r in rows[1:] if r["first_oom"] is None]
    assert "…" not in text[text.index("\nwhat if"):]
    if not complete:
        assert "\nbest " not in text and "\nfits     none of the " in text
        return
    table, places = text[text.index("\nwhat if"):text.index("\nbest ")], []
    for row in sorted(complete, key=figure):
        places.append(re.search(r"(^| )%s( in .*)?$" % re.escape(row["question"]), table, re.M).start())
    by_figure = {figure(r) for r in complete}
    assert len(by_figure) < len(complete) or places == sorted(places)
    best = " ".join(text[text.index("\nbest "):].split("\nnote")[0].split("\nfits")[0].split())
    least = min(map(figure, complete))
    if figure(rows[0]) <= least and rows[0]["first_oom"] is None:
        assert best.startswith("best none of the ")
    else:
        winners = [r["question"] for r in complete if figure(r) == least]
        assert any(best.startswith("best " + w) for w in winners), (best, winners)


def test_more_than_was_recorded_is_explained(shared):
    said = "more than was recorded, as PyTorch never has to empty its cache"
    path = shared / "data" / "snapshots" / "nca_segment_free.pickle"
    assert said in " ".join(run("replay", "--set", "expandable_segments:True", path, expect=0).out.split())
    train = ROOT / "examples" / "train.pickle"
    assert said not in " ".join(run("replay", "--sweep", train, expect=0).out.split())
