"""Phases and steps: the figures of real files, and properties of every answer."""
import json
import pickle

import pytest

from conftest import ROOT, batch, run

SOURCES = "marks", "optimizer_marks", "phases", "annotations", "periodicity"
EXAMPLES = "fragmentation", "leak", "oom", "train"


@pytest.fixture(scope="session")
def real_steps(shared):
    folder = shared / "data" / "snapshots"
    found, errors = batch("steps", folder, sorted(p.name for p in folder.iterdir()))
    assert not errors
    return {name: entries[0] for name, entries in found.items()}


def result(answers, name, device=0):
    entry = next(e for n, e in answers.items() if n.rsplit(".", 1)[0] == name)
    return next(d for d in entry["devices"] if d["device"] == device)["result"]


def runs(r, *phases):
    """phase -> the allocs of its intervals, in order."""
    return [[p["allocs"] for p in r["phases"] if p["phase"] == name] for name in phases]


def test_phases_of_real_files(real_steps):
    cnn = runs(result(real_steps, "cnn_counterfactuals_snapshot_events"), "forward", "other", "backward", "optimizer")
    assert cnn == [[50] * 10, [9] * 10, [134] + [133] * 9, [3] + [1] * 9]
    lm = result(real_steps, "lm_fwd_bwd_ctx150")
    assert runs(lm, "forward", "backward", "optimizer") == [[262, 261, 261], [455, 454, 454], [546] * 3]
    peaks = {n: max(p["peak_bytes"] for p in lm["phases"] if p["phase"] == n) for n in ("forward", "backward", "optimizer")}
    assert peaks == {"forward": 877034436, "backward": 937034440, "optimizer": 522114612}
    assert lm["peak_phase"] == "backward"
    fsdp = runs(result(real_steps, "fsdp_homework_embedded"), "forward", "backward")
    assert fsdp == [[312, 311, 311], [408, 407, 407]]
    whole = [(p["phase"], p["first_event"], p["last_event"], p["peak_bytes"])
             for p in result(real_steps, "lm_train_full")["phases"] if p["phase"] != "other"]
    assert whole == [("forward", 0, 5701, 22827925508), ("backward", 6368, 18466, 19018190856),
                     ("optimizer", 18483, 19459, 15621025796)]


# name -> (source, steps, what the others say)
STEPS = {
    "cnn_counterfactuals_snapshot_events": ("phases", 10, {"periodicity": 10}),
    "lm_fwd_bwd_ctx150": ("optimizer_marks", 3, {"phases": 3, "periodicity": 3}),
    "fsdp_homework_embedded": ("optimizer_marks", 3, {"phases": 3, "periodicity": 2}),
    "toy_mlp_short": ("phases", 17, {}),
    "linear_grad_tiny": ("periodicity", 3, {"phases": 0}),
    "quant_empty_cache_churn": ("periodicity", 28, {"phases": 0}),
    "llama_offload_two_streams": ("periodicity", 2, {"phases": 0}),
    "lm_compile_adamw": ("optimizer_marks", 1, {"phases": 1, "periodicity": 0}),
    "lm_fullstep_from_start": ("optimizer_marks", 1, {"phases": 1, "periodicity": 0}),
    "lm_train_medium_ctx512": ("optimizer_marks", 1, {"phases": 1, "periodicity": 0}),
    "lm_train_full": ("optimizer_marks", 1, {"phases": 1, "periodicity": 0}),
    # A forward and a backward, and the recording ends: nothing tells of an update.
    "qlora_notebook": (None, 0, {"phases": 0, "periodicity": 0}),
    "zeroth_order_finetune_windows": (None, 0, {"periodicity": 0}),
}
# name -> (repeats, allocs of a period or None)
LOOPS = {
    "lm_infer_medium_ctx1024": (24, None, "inside_module"),
    "lm_large_fwd_nograd": (36, None, "inside_module"),
    "lm_forward_bf16": (12, None, "inside_module"),
    "nca_segment_free": (40, None, "inside_module"),
    "lm_train_full": (36, 100, "no_python_frames"),
    "qlora_notebook": (22, 88, "autograd_threads"),
    "lm_compile_adamw": (111, None, "optimizer_phase"),
}


def test_steps_of_real_files(real_steps):
    for name, (source, count, others) in STEPS.items():
        s = result(real_steps, name)["steps"]
        assert (s["source"], s["count"]) == (source, count), name
        assert {k: s["agreement"][k] for k in others} == others, name
    for name, (repeats, period, rule) in LOOPS.items():
        s = result(real_steps, name)["steps"]
        assert s["agreement"]["periodicity"] == 0, name
        loop = next(x for x in s["inner_loops"] if x["repeats"] == repeats)
        assert loop["refused_by"] == rule and period in (None, loop["period_allocs"]), name
        assert loop["similarity_ratio"] >= 0.99, name


def test_boundaries_of_real_files(real_steps):
    def live(name):
        return [b["live_bytes"] for b in result(real_steps, name)["steps"]["boundaries"]]

    cnn = result(real_steps, "cnn_counterfactuals_snapshot_events")["steps"]
    assert cnn["similarity_median_ratio"] == 1
    assert live("cnn_counterfactuals_snapshot_events") == [24500592] + [48748928] * 9
    assert live("lm_fwd_bwd_ctx150") == [272369456] + [349408820] * 2
    assert [b["event"] for b in result(real_steps, "lm_fwd_bwd_ctx150")["steps"]["boundaries"]] == [156, 3982, 7769]


def test_layers_would_look_like_a_leak(real_steps, shared):
    """Each of the twelve layers of lm_forward_bf16 leaves 18 MiB behind; as a step it would leak."""
    loop, = (x for x in result(real_steps, "lm_forward_bf16")["steps"]["inner_loops"] if x["repeats"] == 12)
    period = loop["period_allocs"]
    with open(shared / "data" / "snapshots" / "lm_forward_bf16.pickle", "rb") as f:
        trace, = [t for t in pickle.load(f)["device_traces"] if t]
    allocs = [i for i, e in enumerate(trace) if e["action"] == "alloc"]
    made = [(repr(trace[i]["frames"]), trace[i]["size"]) for i in allocs]
    begin = next(p for p in range(len(made)) if made[p:p + 11 * period] == made[p + period:p + 12 * period])
    live = [0] + curve_of(trace, 0)
    left = [live[allocs[begin + k * period]] for k in range(12)]
    assert {b - a for a, b in zip(left, left[1:])} == {18 << 20}


def curve_of(recording, device):
    """Requested bytes after each event, from the start of 0."""
    live, values = 0, []
    for e in recording:
        if e["action"] == "alloc":
            live += e["size"]
        elif e["action"] in ("free_completed", "free"):
            live -= e["size"]
        values.append(live)
    return values


def check_answer(r, events):
    """What holds of every answer; `events` is the number of the device's events."""
    end = -1
    for p in r["phases"]:
        assert end < p["first_event"] <= p["peak_event"] <= p["last_event"] < events
        assert p["entry_bytes"] + p["alloc_bytes"] - p["freed_bytes"] == p["exit_bytes"]
        assert p["peak_bytes"] >= p["exit_bytes"]
        end = p["last_event"]
    s = r["steps"]
    assert len(s["boundaries"]) == s["count"]
    assert (s["kind"] is None) == (s["count"] == 0) and {b["kind"] for b in s["boundaries"]} <= {s["kind"]}
    assert (s["source"] is None) == (s["count"] == 0)
    begins = [b["event"] for b in s["boundaries"]]
    assert begins == sorted(set(begins))
    if s["count"]:
        assert s["agreement"][s["source"]] == s["count"]
        several = [x for x in SOURCES[:3] if s["agreement"][x] >= 2] or [x for x in SOURCES[:3] if s["agreement"][x]]
        assert (several or [x for x in SOURCES if s["agreement"][x] >= 2])[0] == s["source"]
    for b, after in zip(s["boundaries"], begins[1:] + [events]):
        assert b["event"] <= b["peak_event"] <= b["end_event"] < after and b["event"] <= b["valley_event"] <= b["end_event"]
    end = -1
    for p in s["passes"]:
        assert end < p["first_event"] <= p["last_event"] < events
        assert all(p["last_event"] < b["event"] or p["first_event"] > b["end_event"] for b in s["boundaries"])
        end = p["last_event"]
    for p in r["phases"]:
        if p["step"]:
            b = s["boundaries"][p["step"] - 1]
            assert b["event"] <= p["first_event"] <= p["last_event"] <= b["end_event"] and p["kind"] == s["kind"]
            assert p["contribution_bytes"] == p["peak_bytes"] - b["live_bytes"]
            assert p["peak_bytes"] <= b["peak_bytes"]
        else:
            assert p["contribution_bytes"] is None


def test_every_real_answer_is_sound(real_steps, shared):
    folder = shared / "data" / "snapshots"
    reports, _ = batch("report", folder, sorted(real_steps))
    for name, entry in real_steps.items():
        for d, known in zip(entry["devices"], reports[name][0]["devices"]):
            if d["result"] is None:
                assert d["status"] in ("needs_trace", "needs_stacks") and d["reasons"], name
                continue
            check_answer(d["result"], known["events"])
            if d["result"]["phases"] and known["requested"]["peak_event"] >= 0:
                peak = max(p["peak_bytes"] for p in d["result"]["phases"])
                assert peak <= known["requested"]["peak_bytes"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name):
    path = ROOT / "examples" / (name + ".pickle")
    d = run("steps", "--json", path, expect=0).json()["devices"][0]
    assert d["status"] == "ok"
    r = d["result"]
    check_answer(r, 10 ** 9)
    want = {"fragmentation": ("annotations", 11), "leak": ("marks", 5), "oom": ("marks", 2), "train": ("marks", 3)}
    source, count = want[name]
    assert r["steps"]["source"] == source and count in (None, r["steps"]["count"])
    if name == "train":
        # README of the examples: the peak is in the first moments of backward.
        assert r["peak_phase"] == "backward"
    if name == "oom":
        assert r["peak_phase"] == "forward"
    assert r["sources"]["annotations"] > 0 or name == "fragmentation"


def test_without_a_trace_or_stacks(tmp_path):
    def event(action, addr, size, **more):
        return dict({"action": action, "addr": addr, "size": size, "stream": 0, "frames": []}, **more)

    lives = [e for i in range(12) for e in (event("alloc", 4096 + 512 * i, 512), event("free_completed", 4096 + 512 * i, 512))]
    segment = {"device": 0, "address": 4096, "total_size": 2097152, "stream": 0, "segment_type": "small",
               "allocated_size": 0, "active_size": 0, "requested_size": 0,
               "blocks": [{"address": 4096, "size": 2097152, "requested_size": 0, "state": "inactive", "frames": []}]}

    def ask(trace, marks=()):
        path = tmp_path / "x.json"
        path.write_text(json.dumps({"segments": [segment], "device_traces": [trace], "external_annotations": list(marks)}))
        return run("steps", "--json", path, expect=0).json()["devices"][0]

    assert ask([])["status"] == "needs_trace"
    bare = ask(lives)
    assert bare["status"] == "needs_stacks" and bare["result"] is None
    timed = [dict(e, time_us=100 + i) for i, e in enumerate(lives)]
    marks = [{"name": "step %d" % (i // 2), "stage": ("START", "END")[i % 2], "device": 0, "time_us": 100 + 6 * (i // 2) + 5 * (i % 2)}
             for i in range(6)]
    marked = ask(timed, marks)
    assert marked["status"] == "partial" and [x["id"] for x in marked["reasons"]] == ["no_stacks"]
    assert [b["event"] for b in marked["result"]["steps"]["boundaries"]] == [0, 6, 12]
    named = [{"name": "## %s ##" % n, "stage": s, "device": 0, "time_us": t}
             for n, a, b in (("forward", 100, 110), ("backward", 110, 120)) for s, t in (("START", a), ("END", b))]
    phased = ask(timed, named)
    assert phased["status"] == "ok" and phased["result"]["sources"] == {"stacks": 2, "annotations": 10}
    assert [(p["phase"], p["allocs"]) for p in phased["result"]["phases"]] == [("forward", 5), ("backward", 5)]
