"""The same recording as other ways of recording would have left it.

`all` has stacks of both languages; `python` has Python frames alone, as `stacks="python"` leaves
them; the `late` ones begin within a step, so that what was alive then has no stack.
"""

# Style -> share of the step in which it begins, and which step that is.
LATE = {"late15": (0.15, 1), "late": (1 / 3, 2), "late50": (0.5, 1)}


def without_native(top):
    """The recording with Python frames alone; lists that were shared stay shared."""
    kept = {}

    def python(frames):
        if id(frames) not in kept:
            kept[id(frames)] = [f for f in frames if f["filename"].endswith(".py")]
        return kept[id(frames)]

    def bare(record):
        return dict(record, frames=python(record["frames"])) if "frames" in record else record

    segments = [dict(bare(s), blocks=[bare(b) for b in s["blocks"]]) for s in top["segments"]]
    return dict(top, segments=segments, device_traces=[[bare(e) for e in t] for t in top["device_traces"]])


def begun_at(top, first, stacks=False):
    """The recording of events from number `first` on; older blocks and segments have no stack unless `stacks`."""
    trace = top["device_traces"][0][first:]
    fresh = {(e["action"], e.get("addr")) for e in trace}
    begin = trace[0]["time_us"] if trace else 0

    def segment(s):
        own = s if ("segment_alloc", s["address"]) in fresh else dict(s, frames=[])
        blocks = [b if ("alloc", b["address"]) in fresh else dict(b, frames=[]) for b in s["blocks"]]
        return dict(own, blocks=blocks)

    segments = top["segments"] if stacks else [segment(s) for s in top["segments"]]
    return dict(top, segments=segments, device_traces=[trace],
                external_annotations=[a for a in top["external_annotations"] if a["time_us"] >= begin])


def late_starts(ranges, events, first):
    """The event at which each late style begins; in a shorter run the second half of its steps."""
    steps = [r for r in ranges if r["kind"] == "step" and r["first_event"] >= first] or ranges
    starts = {}
    for style, (share, number) in LATE.items():
        if not steps:
            starts[style] = first + int((events - first) * share)
            continue
        one = steps[min(number, len(steps) // 2)]
        starts[style] = one["first_event"] + int((one["last_event"] - one["first_event"]) * share)
    return starts
