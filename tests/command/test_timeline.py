"""The timeline of `report --json` against curves by group, worked out event by event."""
import bisect
from collections import defaultdict

import pytest
from models import model, reader
from recordings import random_program, writers

from conftest import answers, run

MIB = 1 << 20
U64 = (1 << 64) - 1
SEEDS = 40
EDITED = ("anonymised_expandable_contexts.pickle", "attention_inductor_mini.pickle")


def devices(path, *options):
    found = answers(run("report", "--json", *options, path, expect=0))
    return {d["device"]: d for d in next(iter(found.values()))[0]["devices"]}


def timelines(path, *options):
    return {n: d["timeline"] for n, d in devices(path, *options).items()}


# Groups by the definition ----------------------------------------------------------------------

class Groups:
    """(pool, stream, class) of everything of one device."""

    def __init__(self, d):
        self.d = d
        self.segments = sorted(d.segments, key=lambda s: s["address"] & U64)
        self.begins = [s["address"] & U64 for s in self.segments]
        self.mapped = [(e.get("addr", 0) & U64, e) for e in d.events if e["action"] == "segment_map"]

    def segment_at(self, address):
        i = bisect.bisect_right(self.begins, address) - 1
        s = self.segments[i] if i >= 0 else None
        return s if s and address < self.begins[i] + s["total_size"] else None

    @staticmethod
    def of_segment(s):
        return tuple(s.get("segment_pool_id", (0, 0))), s["stream"] & U64, s["segment_type"]

    def pool(self, event, address, segment=None):
        if event and event.get("pool_id") is not None:
            return tuple(event["pool_id"])
        s = segment or self.segment_at(address)
        return tuple(s.get("segment_pool_id", (0, 0))) if s else (0, 0)

    def of_allocation(self, a, event):
        size = a.block.size if a.block else model.rounded(a.req, self.d.divisions)
        kind = a.block.segment["segment_type"] if a.block else "small" if size <= MIB else "large"
        stream = event.get("stream", 0) if event else a.block.segment["stream"]
        return self.pool(event, a.addr, a.block and a.block.segment), stream & U64, kind

    def of_release(self, e):
        address, kind = e["addr"] & U64, None
        s = self.segment_at(address)
        if e["action"] in ("segment_map", "segment_unmap"):
            beside = [x for low, x in self.mapped if low <= address < low + x["size"]]
            if s and s.get("is_expandable"):
                kind = s["segment_type"]
            elif beside:
                kind = "small" if beside[-1]["size"] == 2 * MIB else "large"
        if kind is None:
            kind = "small" if e["size"] == 2 * MIB else "large"
        return self.pool(e, address), e.get("stream", 0) & U64, kind

    def curves(self):
        """group -> [requested, reserved], each a value for every state."""
        d, n = self.d, len(self.d.events)
        changes = defaultdict(lambda: ([0] * n, [0] * n))
        ends = defaultdict(lambda: [0, 0])
        for a in d.allocations:
            first = a.a if a.a >= 0 else min(a.fr, a.fc)
            group = self.of_allocation(a, d.events[first] if first < n else None)
            if a.a >= 0:
                changes[group][0][a.a] += d.events[a.a]["size"]
            if a.fc < n and not a.doubled:
                changes[group][0][a.fc] -= d.events[a.fc]["size"]
        for i, e in enumerate(d.events):
            if e["action"] in model.OBTAIN + model.RETURN:
                changes[self.of_release(e)][1][i] += e["size"] if e["action"] in model.OBTAIN else -e["size"]
        for s in d.segments:
            ends[self.of_segment(s)][1] += s["total_size"]
        for b in d.blocks:
            if b.active:
                ends[self.of_segment(b.segment)][0] += b.requested
        found = {}
        for group in set(changes) | set(ends):
            pair = []
            for deltas, end in zip(changes[group], ends[group]):
                values = [end - sum(deltas)]
                for delta in deltas:
                    values.append(values[-1] + delta)
                pair.append(values)
            found[group] = pair
        return found


def group_problems(d, timeline):
    """Groups add up to the device at every event, and the answer has their figures."""
    curves = Groups(d).curves()
    for k, name in enumerate(("requested", "reserved")):
        assert [sum(at) for at in zip(*(c[k] for c in curves.values()))] == d.curves[name].values, name
    peak = d.curves["requested"].first
    wanted = {}
    for (pool, stream, kind), (requested, reserved) in curves.items():
        wanted[pool, stream, kind] = {
            "peak_bytes": max(requested), "peak_event": requested.index(max(requested)) - 1,
            "reserved_peak_bytes": max(reserved), "reserved_peak_event": reserved.index(max(reserved)) - 1,
            "at_peak_bytes": requested[peak + 1]}
    have = {(tuple(g["pool"]), g["stream"], g["class"]): {k: g[k] for k in g if k.endswith(("bytes", "event"))}
            for g in timeline["groups"]}
    assert have == wanted
    assert sum(g["at_peak_bytes"] for g in timeline["groups"]) == d.curves["requested"].peak
    assert [g["peak_bytes"] for g in timeline["groups"]] == sorted((g["peak_bytes"] for g in timeline["groups"]),
                                                                     reverse=True)


# Curves ------------------------------------------------------------------------------------------

def thinned_problems(points, values):
    """Points are points of the curve; each of equal spans has its least and its most there."""
    assert points[0] == [-1, values[0]] and points[-1] == [len(values) - 2, values[-1]]
    assert len(points) <= 1000
    assert [p[0] for p in points] == sorted({p[0] for p in points})
    assert all(values[event + 1] == value for event, value in points)
    assert [values.index(max(values)) - 1, max(values)] in points
    if len(values) <= 1000:
        kept = {e for e, _ in points}
        assert kept >= {i - 1 for i in range(1, len(values)) if values[i] != values[i - 1]}
        return
    spans = 499
    shown = [points[0][1]]
    for b in range(spans):
        low, high = b * len(values) // spans, (b + 1) * len(values) // spans
        inside = [v for e, v in points if low <= e + 1 < high]
        # What the span before ended on needs no point of its own.
        assert {min(values[low:high]), max(values[low:high])} <= set(inside) | {shown[-1]}
        shown += inside


def local_peaks(values):
    """By the definition: highest around, out to where the curve falls below 90 %; of equal ones the first."""
    found, states = [], len(values)
    for i, v in enumerate(values):
        if v <= 0 or (i > 0 and values[i - 1] >= v) or (i + 1 < states and values[i + 1] > v):
            continue
        least = v - v // 10
        low = high = i
        while low > 0 and least <= values[low - 1] < v:
            low -= 1
        while high + 1 < states and least <= values[high + 1] <= v:
            high += 1
        if (low == 0 or values[low - 1] < least) and (high + 1 == states or values[high + 1] < least):
            found.append({"bytes": v, "event": i - 1, "first_event": low - 1, "last_event": high - 1})
    return sorted(found, key=lambda p: (-p["bytes"], p["event"]))[:5]


def curve_problems(d, have, timeline):
    requested = d.curves["requested"].values
    thinned_problems(timeline["curves"]["requested"]["points"], requested)
    thinned_problems(timeline["curves"]["reserved"]["points"], d.curves["reserved"].values)
    assert timeline["local_peaks"] == local_peaks(requested)
    for p in timeline["peaks"]:
        curve = have[p["curve"]]
        assert (p["bytes"], p["event"], p["last_event"]) == (curve["peak_bytes"], curve["peak_event"],
                                                               curve["peak_last_event"]), p
        if p["curve"] != "active":
            values = d.curves[p["curve"]].values
            assert p["ties"] == sum(v == p["bytes"] for v in values)
        if p["event"] >= 0:
            assert p["time_us"] == d.events[p["event"]].get("time_us")
    for name in ("requested", "active", "allocated", "reserved"):
        c = timeline["curves"][name]
        assert c["exact"] == have[name]["exact"]
        assert (c["points"][0][1], c["points"][-1][1]) == (have[name]["start_bytes"], have[name]["end_bytes"])
        assert max(v for _, v in c["points"]) == have[name]["peak_bytes"]
        assert c["bound_bytes"] == 0 if c["exact"] else c["bound_bytes"] != 0


def gap_problems(d, timeline):
    gap = timeline["gap"]
    assert gap["event"] == d.curves["reserved"].first and gap["reserved_bytes"] == d.curves["reserved"].peak
    assert gap["requested_bytes"] == d.curves["requested"].values[gap["event"] + 1]
    parts = [gap[k] for k in ("slack_bytes", "returnable_bytes", "stranded_bytes", "held_for_graph_bytes")]
    if None in parts:
        assert parts == [None] * 4
    else:
        assert gap["reserved_bytes"] - gap["requested_bytes"] == sum(parts)
    return None not in parts


def burst_problems(d, timeline):
    runs, events = [], d.events
    for i, e in enumerate(events):
        if e["action"] in model.RETURN:
            if i and events[i - 1]["action"] in model.RETURN:
                runs[-1][1:] = [i, runs[-1][2] + e["size"]]
            else:
                runs.append([i, i, e["size"]])
    assert [[b["first_event"], b["last_event"], b["bytes"]] for b in timeline["bursts"]] == runs


def all_problems(path, recording):
    gaps = 0
    have = devices(path)
    for d in model.devices(recording):
        timeline = have[d.number]["timeline"]
        if timeline is None:
            assert len(d.events) < 2
            continue
        group_problems(d, timeline)
        curve_problems(d, have[d.number], timeline)
        gaps += gap_problems(d, timeline)
        burst_problems(d, timeline)
    return gaps


def test_real_recordings(real):
    gaps = sum(all_problems(path, recording) for name, (path, recording) in real.items() if name not in EDITED)
    assert gaps == 28       # devices whose layout the replay proves


def test_edited_recordings_have_groups_too(real):
    for name in EDITED:
        path, recording = real[name]
        for d in model.devices(recording):
            group_problems(d, timelines(path)[d.number])


def test_examples(bundled):
    for path, recording in bundled.values():
        assert all_problems(path, recording)


@pytest.mark.long
def test_random_programs(tmp_path):
    checked = 0
    for seed in range(SEEDS):
        r = random_program.make(seed)
        path = tmp_path / ("%d.pickle" % seed)
        path.write_bytes(writers.pickled(r.snapshot, 4))
        recording = reader.load(path.read_bytes())[0]
        have = devices(path)
        for d in model.devices(recording):
            timeline = have[d.number]["timeline"]
            if timeline is None or not d.anchored:
                continue
            curve_problems(d, have[d.number], timeline)
            gap_problems(d, timeline)
            burst_problems(d, timeline)
            assert sum(g["at_peak_bytes"] for g in timeline["groups"]) == d.curves["requested"].peak
            checked += 1
    assert checked > SEEDS // 2


# Figures of real files -----------------------------------------------------------------------------

def one(shared, name):
    return timelines(shared / "data" / "snapshots" / name)[0]


def peaks(timeline):
    return {p["curve"]: (p["bytes"], p["event"]) for p in timeline["peaks"]}


def test_both_peaks_of_linear_grad_tiny(shared):
    t = one(shared, "linear_grad_tiny.pkl")
    assert peaks(t)["requested"] == (4434803008, 17) and peaks(t)["active"] == (4436169216, 17)


def test_rounding_alone_ties_the_peak_of_linear_grad_tiny(real):
    """The rule for requests knows two equal peaks; the blocks, some unsplit, have one."""
    d, = model.devices(real["linear_grad_tiny.pkl"][1])
    values = [sum(model.rounded(a.req, d.divisions) for a in d.allocations if a.a <= i < a.fc) for i in range(len(d.events))]
    tops = [i for i, v in enumerate(values) if v == max(values)]
    assert max(values) == 4434803200 < 4436169216
    # Each lasts until the free that was asked for is completed.
    assert tops == [17, 18, 26, 27]


def test_three_peaks_of_lm_fwd_bwd_ctx150(shared):
    assert peaks(one(shared, "lm_fwd_bwd_ctx150.pickle")) == {
        "requested": (937034440, 4575), "active": (953719808, 8361), "reserved": (1063256064, 4574)}


def test_quant_empty_cache_churn(shared, real):
    t = one(shared, "quant_empty_cache_churn.pickle")
    top = next(p for p in t["peaks"] if p["curve"] == "requested")
    assert (top["bytes"], top["event"]) == (4351237120, 148)
    # It comes to the top 56 times, for two events each.
    d, = model.devices(real["quant_empty_cache_churn.pickle"][1])
    assert top["ties"] == 112
    assert sum(v == top["bytes"] for v in d.curves["requested"].values) == 112
    assert [b["cause"] for b in t["bursts"]] == ["empty_cache"] * 28
    assert sum(b["bytes"] for b in t["bursts"]) == 156019720192


def test_the_retry_of_nca_segment_free(shared):
    t = one(shared, "nca_segment_free.pickle")
    burst, = (b for b in t["bursts"] if b["cause"] == "retry")
    assert (burst["first_event"], burst["last_event"], burst["bytes"]) == (2077, 2086, 8208252928)
    assert peaks(t)["requested"][1] == burst["first_event"] + 61 == 2138


def test_llama_offload_two_streams(shared):
    t = one(shared, "llama_offload_two_streams.pickle")
    assert [b["cause"] for b in t["bursts"]] == ["unknown"] * 39
    by_stream = defaultdict(int)
    for g in t["groups"]:
        by_stream[g["stream"]] += g["at_peak_bytes"]
    assert by_stream[0] == 16467536896
    assert max(v for k, v in by_stream.items() if k != 0) == 3523215360
    assert peaks(t)["requested"][1] == 5317 and peaks(t)["reserved"] == (22519218176, 5553)


# Degradation -----------------------------------------------------------------------------------------

def test_no_timeline_without_a_trace_or_of_several_files(shared, bundled):
    assert one(shared, "no_frames_no_trace.pickle") is None
    two = [bundled[n][0] for n in ("train.pickle", "oom.pickle")]
    for entries in answers(run("report", "--json", *two, expect=0)).values():
        assert all(d["timeline"] is None for e in entries for d in e["devices"])


def test_without_a_replay_curves_of_blocks_have_a_bound(bundled):
    path = bundled["fragmentation.pickle"][0]
    exact, rounded = timelines(path)[0], timelines(path, "--replay", "never")[0]
    for name in ("active", "allocated", "idle"):
        assert exact["curves"][name]["exact"] and exact["curves"][name]["bound_bytes"] == 0
        c = rounded["curves"][name]
        assert not c["exact"] and c["bound_bytes"] % MIB == 0 and c["bound_bytes"] > 0
        assert abs(max(v for _, v in c["points"]) - max(v for _, v in exact["curves"][name]["points"])) <= c["bound_bytes"]
    assert rounded["curves"]["requested"] == exact["curves"]["requested"]
    gap = rounded["gap"]
    assert gap["stranded_bytes"] is None and gap["reserved_bytes"] == exact["gap"]["reserved_bytes"]
