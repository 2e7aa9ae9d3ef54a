"""Each trust code from one tiny file, beside a twin on which it stays silent."""
import json

import pytest
from recordings import tiny, writers
from recordings.tiny import BASE, MIB, block, event, freed, half, segment, top

from conftest import batch, run

A, B = BASE, BASE + 4 * MIB
HELD = 4 * MIB - 100
ALLOC = event("alloc", A, HELD)
BEGIN = [event("segment_alloc", A, 20 * MIB), ALLOC]
PYTHON = [{"name": "step", "filename": "/home/u/train.py", "line": 7}]
NATIVE = [{"name": "at::empty", "filename": "??", "line": 0}]


def timed(events, times=None):
    return [dict(e, time_us=t) for e, t in zip(events, times or range(100, 10**6))]


def with_frames(events, *stacks):
    return [dict(e, frames=stacks[i % len(stacks)]) for i, e in enumerate(events)]


def many(n, first=()):
    """n events: the given ones, whole lives at one place, then events that change nothing."""
    out = list(first)
    while len(out) + 3 <= n:
        out += [event("alloc", B, 512), *freed(B, 512)]
    return out + [event("snapshot", 0, 4 * MIB)] * (n - len(out))


def settings(**more):
    return {"allocator_settings": dict({"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1}, **more)}


def without(record, *keys):
    return {k: v for k, v in record.items() if k not in keys}


CHURN = [event("alloc", B, 700), *freed(B, 700)]
OLD = freed(B, 700)
PENDING = segment([block(A, 4 * MIB, HELD, "active_pending_free"), block(B, 16 * MIB, state="inactive")])



def recorder(by, **more):
    return {"vramscope": {"schema": "vramscope.extra/1", "recorder": {"begun_by": by}, **more}}


def ooms(*free):
    return [without(event("oom", 0, 1 << 40, device_free=f), "addr") for f in free]


# code -> (a file that shows it, a twin that does not)
CASES = {
    "no_history": (top([half()]), top([half()], BEGIN)),
    "one_event": (top([half()], [event("free_completed", B, 512)]), top([half()], BEGIN)),
    "starts_late": (top([half()], CHURN), top([half()], BEGIN)),
    "overflow": (top([half()], CHURN, **settings(trace_alloc_overflowed=True, trace_alloc_max_entries=3)),
                 top([half()], CHURN, **settings(trace_alloc_overflowed=False, trace_alloc_max_entries=100))),
    "overflow_suspected": (top([half()], OLD + many(9_998)), top([half()], OLD + many(9_997))),
    "orphans": (top([half()], OLD + CHURN), top([half()], CHURN)),
    "unpaired_request": (top([half()], BEGIN + CHURN + [event("alloc", B, 700), event("free_requested", B, 700)]),
                         top([PENDING], BEGIN + CHURN + [event("free_requested", A, HELD)])),
    "skipped_actions": (top([half()], BEGIN + [e for e in CHURN * 3 if e["action"] != "free_requested"]),
                        top([half()], BEGIN + CHURN * 3)),
    "double_alloc": (top([half()], BEGIN + [event("alloc", B, 700)] + CHURN), top([half()], BEGIN + CHURN + CHURN)),
    "end_mismatch": (top([half()], BEGIN + [event("alloc", B, 700)]), top([half()], BEGIN + CHURN)),
    "negative_start": (top([half()], BEGIN + [event("alloc", B, 700)]), top([half()], BEGIN)),
    "baselines_differ": (top([half()], [BEGIN[0], event("alloc", A, HELD - 512)]), top([half()], [ALLOC, *CHURN])),
    "peak_above_reserved": (top([half()], BEGIN + [event("alloc", B, 1 << 40), *freed(B, 1 << 40)]), top([half()], BEGIN + CHURN)),
    "unknown_segment": (top([half()], BEGIN + [event("alloc", 4096, 700), *freed(4096, 700)]), top([half()], BEGIN + CHURN)),
    "no_frames": (top([half()], BEGIN + CHURN), top([half()], with_frames(BEGIN + CHURN, tiny.FRAMES))),
    "frees_carry_alloc_stack": (top([half()], with_frames(BEGIN, tiny.FRAMES) + with_frames(CHURN * 8, tiny.FRAMES)),
                                top([half()], with_frames(BEGIN, tiny.FRAMES) + with_frames(CHURN * 8, tiny.FRAMES, PYTHON, PYTHON))),
    "python_only": (top([half()], with_frames(BEGIN + CHURN * 4, PYTHON)), top([half()], with_frames(BEGIN + CHURN * 4, tiny.FRAMES))),
    "no_time": (top([half()], BEGIN + CHURN), top([half()], timed(BEGIN + CHURN))),
    "time_backwards": (top([half()], timed(BEGIN, (5, 4))), top([half()], timed(BEGIN, (5, 5)))),
    "wrong_types": (top([half(stream="x")], BEGIN), top([half()], BEGIN)),
    "unknown_keys": (top([half(hovercraft=1)], BEGIN), top([half()], BEGIN)),
    "unknown_actions": (top([half()], BEGIN + [event("frobnicate", 0, 0)]), top([half()], BEGIN + [event("snapshot", 0, 4 * MIB)])),
    "begun_by_program": (top([half()], BEGIN, **recorder("program")), top([half()], BEGIN, **recorder("vramscope"))),
    "capacity_varies": (top([half()], BEGIN + ooms(1 << 30, 1 << 33)), top([half()], BEGIN + ooms(1 << 30, (1 << 30) + (63 << 20)))),
}
SUMS = {
    "a gap between blocks": top([segment([block(A, 4 * MIB, HELD), block(B + 512, 16 * MIB - 512, state="inactive")], total_size=20 * MIB)]),
    "blocks fall short": top([half(total_size=22 * MIB)]),
    "allocated_size": top([half(allocated_size=5 * MIB)]), "active_size": top([half(active_size=5 * MIB)]),
    "requested_size": top([half(requested_size=5 * MIB)]),
    "more requested than there is": top([segment([block(A, 2 * MIB, 3 * MIB)])]),
    "a size that is no multiple of 512": top([segment([block(A, 100, 100), block(A + 100, 2 * MIB - 100, state="inactive")])]),
    "a segment of 3 MiB": top([segment([block(A, 3 * MIB)])]),
}


def ids(entry):
    return {i["id"]: i for d in entry["devices"] for i in d["trust"]["items"]}


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trust")
    for code, (shows, silent) in CASES.items():
        (folder / code).write_bytes(writers.pickled(shows, 4))
        (folder / (code + ".twin")).write_bytes(writers.pickled(silent, 4))
    for k, case in enumerate(SUMS.values()):
        (folder / ("sums%d" % k)).write_bytes(writers.pickled(case, 4))
    (folder / "good").write_bytes(writers.pickled(tiny.plain(), 4))
    found, errors = batch("report", folder, sorted(p.name for p in folder.iterdir()))
    assert not errors, errors
    return {name: entry[0] for name, entry in found.items()}


@pytest.mark.parametrize("code", CASES)
def test_code_fires(reported, code):
    items = ids(reported[code])
    assert code in items, sorted(items)
    assert items[code]["text"]


@pytest.mark.parametrize("code", CASES)
def test_twin_stays_silent(reported, code):
    items = ids(reported[code + ".twin"])
    assert code not in items, items.get(code)


@pytest.mark.parametrize("case", range(len(SUMS)), ids=list(SUMS))
def test_broken_sums(reported, case):
    entry = reported["sums%d" % case]
    assert "sums" in ids(entry)
    assert entry["devices"][0]["trust"]["grade"] == "D"


def test_mixed_capture_is_told(reported, tmp_path):
    """One device with native frames beside one without: the styles differ, each alone does not."""
    other = BASE + (1 << 40)
    move = lambda events: [dict(e, addr=e["addr"] - BASE + other) for e in events]
    both = top([half(), half(other, device=1)], with_frames(BEGIN + CHURN * 4, tiny.FRAMES), with_frames(move(BEGIN + CHURN * 4), PYTHON))
    inside = top([half()], with_frames(BEGIN + CHURN * 4, NATIVE + PYTHON, PYTHON))
    for k, case in enumerate((both, inside)):
        (tmp_path / str(k)).write_bytes(writers.pickled(case, 4))
    found, _ = batch("report", tmp_path, ["0", "1"])
    assert {"mixed", "python_only"} & set(ids(found["0"][0]) | ids(found["1"][0]))


def test_a_good_file_has_grade_a(reported):
    trust = reported["good"]["devices"][0]["trust"]
    assert trust["grade"] == "A" and trust["window"] == "complete"
    assert not set(ids(reported["good"])) - {"frees_carry_alloc_stack", "mixed", "python_only", "replay"}


@pytest.mark.parametrize("name,window,grades", (
    ("no_history", "state_only", "B"), ("one_event", "one_event", "B"), ("starts_late", "late_start", "B"),
    ("overflow", "overflowed", "B"), ("overflow_suspected", "overflow_suspected", "B"), ("orphans", "late_start", "B"),
    ("unpaired_request.twin", "complete", "A"), ("skipped_actions", "complete", "CD"), ("double_alloc", None, "CD"),
    ("end_mismatch", None, "CD"), ("negative_start", None, "CD"), ("peak_above_reserved", "complete", "D"),
    ("unknown_segment", "complete", "D"), ("no_time", "complete", "A"), ("time_backwards", "complete", "A"),
    ("wrong_types", "complete", "B"), ("unknown_keys", "complete", "A"), ("unknown_actions", "complete", "A"),
    ("begun_by_program", "complete", "A"), ("capacity_varies", "complete", "A")))
def test_windows_with_their_grades(reported, name, window, grades):
    trust = reported[name]["devices"][0]["trust"]
    assert trust["window"] == window or window is None
    assert trust["grade"] in grades


def test_one_event_is_not_called_a_ring(tmp_path):
    """A file does not say why it has one event: a recording that began late looks like a ring of one."""
    files = {"free": CASES["one_event"][0], "oom": top([half()], ooms(1 << 30))}
    for name, made in files.items():
        (tmp_path / name).write_bytes(writers.pickled(made, 4))
    found, _ = batch("report", tmp_path, sorted(files))
    trust = {name: found[name][0]["devices"][0]["trust"] for name in files}
    assert (trust["free"]["window"], trust["oom"]["window"]) == ("one_event", "late_start")
    for verb in ("report", "oom", "leaks", "steps", "advise", "categories"):
        for name in files:
            told = " ".join(run(verb, tmp_path / name).out.split())
            assert not any(words in told for words in ("max_entries=1)", "no events were recorded", "no trace"))
            assert "the trace has one event, and memory is older than it" in told or name == "oom"


def test_a_failure_that_is_the_only_event_is_judged(tmp_path):
    """The state it failed in is the state at the end."""
    (tmp_path / "late").write_bytes(writers.pickled(top([half()], ooms(1 << 30)), 4))
    told = run("oom", "--json", tmp_path / "late").json()["devices"][0]
    assert (told["status"], told["result"]["verdict"]) == ("ok", "single_request_too_large")
    made = run("categories", "--json", tmp_path / "late").json()["devices"][0]
    assert (made["status"], [r["id"] for r in made["reasons"]]) == ("partial", ["one_event"])
    assert sum(row["bytes"] for row in made["result"]["by_category"]) == HELD


def test_memory_of_before_says_how_much_has_no_stack(tmp_path):
    """By what was in use: a segment that was reserved and empty is no late start."""
    named, bare = block(A, 4 * MIB, HELD, frames=tiny.FRAMES), block(A, 4 * MIB, HELD)
    empty = segment([block(A, 20 * MIB, state="inactive")])
    rest = [block(A + 4 * MIB, 2 * MIB, 2 * MIB), block(A + 6 * MIB, 14 * MIB, state="inactive")]
    files = {"none": segment([bare, *rest]), "most": segment([named, *rest]), "empty": empty,
             "all": segment([named, block(A + 4 * MIB, 16 * MIB, state="inactive")])}
    for name, made in files.items():
        (tmp_path / name).write_bytes(writers.pickled(top([made], CHURN), 4))
    found, _ = batch("report", tmp_path, sorted(files))
    late = {name: ids(found[name][0]).get("starts_late") for name in files}
    assert late["empty"] is None and found["empty"][0]["devices"][0]["trust"]["window"] == "complete"
    assert late["none"]["text"].endswith("and higher, and the stacks of that memory are mostly unknown")
    assert late["most"]["text"].endswith("and higher, and 2.00 MiB of that memory have no stack")
    assert late["all"]["text"].endswith("the true peak may be earlier and higher")


@pytest.mark.parametrize("code,count", (("orphans", 1), ("double_alloc", 1), ("end_mismatch", 1), ("unknown_actions", 1), ("unknown_segment", 1)))
def test_items_carry_their_count(reported, code, count):
    assert ids(reported[code])[code]["count"] == count


def test_trust_names_what_is_unknown(reported):
    assert "hovercraft" in ids(reported["unknown_keys"])["unknown_keys"]["text"]
    assert "frobnicate" in ids(reported["unknown_actions"])["unknown_actions"]["text"]


@pytest.mark.parametrize("extra,told", (
    ({}, None), ({"recorder": {}}, None), ({"recorder": None}, None), ({"recorder": {"begun_by": None}}, None),
    ({"recorder": {"begun_by": "somebody"}}, None), ({"recorder": {"begun_by": "vramscope", "more": 1}}, None),
    ({"recorder": "program"}, "names"), ({"recorder": ["program"]}, "names"), ({"recorder": {"begun_by": 1}}, "names"),
    ({"recorder": {"begun_by": ["program"]}}, "names"), ({"recorder": {"begun_by": {"begun_by": "program"}}}, "names"),
    ({"recorder": {"begun_by": "program"}, "schema": "vramscope.extra/2"}, "names"),
    ({"recorder": {"begun_by": "program"}, "names": 1}, "both")))
@pytest.mark.parametrize("form", ("pickle", "json"))
def test_a_recorder_is_told_where_it_is_well_said(tmp_path, extra, told, form):
    made = top([half()], BEGIN, vramscope={"schema": "vramscope.extra/1", **extra})
    path = tmp_path / ("run." + form)
    path.write_bytes(writers.pickled(made, 4) if form == "pickle" else json.dumps(made).encode())
    found = set(ids(run("report", "--json", path, expect=0).json())) & {"names", "begun_by_program", "unknown_keys"}
    assert found == ({"names", "begun_by_program"} if told == "both" else {told} - {None})


def test_many_dicts_do_not_hide_who_recorded(tmp_path):
    """Dicts that are no records have a room of their own, which a file may fill."""
    many = [dict(e, user_metadata={"k": k}) for k, e in enumerate(CHURN * 3000)]
    made = top([half()], BEGIN + many, **recorder("program"))
    (tmp_path / "run").write_bytes(writers.pickled(made, 4))
    assert "begun_by_program" in ids(run("report", "--json", tmp_path / "run", expect=0).json())


def test_a_cut_file_says_who_recorded_or_nothing(tmp_path):
    whole = writers.pickled(top([half()], BEGIN, **recorder("program")), 4)
    for end in range(len(whole) - 60, len(whole)):
        (tmp_path / ("%03d" % end)).write_bytes(whole[:end])
    found, errors = batch("report", tmp_path, sorted(p.name for p in tmp_path.iterdir()))
    told = ["begun_by_program" in ids(found[name][0]) for name in sorted(found)]
    assert not errors and told == sorted(told) and told[-1] and not told[0]


def test_the_grade_of_a_cut_file_says_what_is_true(bundled, tmp_path):
    """Less than 1 % is a claim about what was read; a cut file has read anything from 0 to 100 %."""
    data, cut = bundled["oom.pickle"][0].read_bytes(), tmp_path / "cut.pickle"
    cut.write_bytes(data[:100000])
    out = run("report", "--trust", cut).out
    assert "trust C  the file is cut: sums and peaks are lower bounds" in out and "1 %" not in out.split("check  ")[0]
    # Cut behind its events, all of the device is there.
    cut.write_bytes(data[:-1])
    assert "trust C  the file is cut, but all of this device was read" in run("report", "--trust", cut).out
