"""Recordings of one run in three styles, beside a file that says what is true.

The allocator that gives addresses and segments is vramscope's (`replay --write`).  `all` has stacks
of both languages; `python` has Python frames alone, as `stacks="python"` leaves them; `late` begins
within a step, so that what was alive then has no stack.
"""
import json
import pickle
import subprocess
from pathlib import Path

SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
    "expandable_segments": False, "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False, "graph_capture_record_stream_reuse": False,
    "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)},
    "trace_alloc_overflowed": False, "trace_alloc_max_entries": (1 << 63) - 1,
}
UNLIMITED = 1 << 44


def placed(events, annotations, vramscope, folder, capacity):
    """The events with addresses and segments, and whether memory ran out at the last of them."""
    raw, made = Path(folder, "program.pickle"), Path(folder, "placed.pickle")

    def write(count):
        raw.write_bytes(pickle.dumps({"segments": [], "device_traces": [events[:count]],
                                      "allocator_settings": SETTINGS, "external_annotations": annotations}, 4))

    def replay(*options):
        command = [vramscope, "replay", "--anyway", "--capacity", str(capacity or UNLIMITED), *options, raw]
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout

    write(len(events))
    oom = None
    if capacity:
        oom = json.loads(replay("--json"))["devices"][0]["result"]["what_if"][-1]["first_oom"]
    if oom:
        write(oom["event"] + 1)
    replay("--write", made)
    top = pickle.loads(made.read_bytes())
    raw.unlink()
    made.unlink()
    return top, oom["event"] if oom else None


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


def begun_late(top, first):
    """The recording of events from number `first` on; older blocks and segments have no stack."""
    trace = top["device_traces"][0][first:]
    fresh = {(e["action"], e.get("addr")) for e in trace}
    begin = trace[0]["time_us"] if trace else 0

    def segment(s):
        own = s if ("segment_alloc", s["address"]) in fresh else dict(s, frames=[])
        blocks = [b if ("alloc", b["address"]) in fresh else dict(b, frames=[]) for b in s["blocks"]]
        return dict(own, blocks=blocks)

    return dict(top, segments=[segment(s) for s in top["segments"]], device_traces=[trace],
                external_annotations=[a for a in top["external_annotations"] if a["time_us"] >= begin])


def numbers(trace, events):
    """For each event of the program its number in the placed trace, which has segments between."""
    found, at = [], 0
    for event in events:
        while at < len(trace) and (trace[at]["action"], trace[at].get("size")) != (event["action"], event["size"]):
            at += 1
        if at == len(trace):
            break
        found.append(at)
        at += 1
    return found


def line_of(program, text):
    """FILE:LINE of a line of the program or of a network, `text` being in it and in no other."""
    folder = Path(program.__file__).parents[2]
    found = [(path.name, number) for path in [Path(program.__file__), *sorted(folder.glob("nets/*.py"))]
             for number, line in enumerate(path.read_text().splitlines(), 1) if text in line and "PLANTED" not in line]
    if len(found) != 1:
        raise SystemExit("%s: %d lines with %r" % (program.__file__, len(found), text))
    return "%s:%d" % found[0]


def planted_in(program):
    """What the program says is planted, with the line in place of its text."""
    planted = dict(getattr(program, "PLANTED", {}))
    if "leak" in planted:
        planted["leak"] = line_of(program, planted["leak"])
    return planted


def truth_of(recorder, program, trace, oom):
    """The JSON beside the recordings; numbers of events are those of the placed trace."""
    at = numbers(trace, recorder.events)
    last = len(at) - 1
    labels = recorder.labels(len(at))

    def event(number):
        return at[min(number, last)]

    allocations = [{"alloc_event": event(a.event), "address": trace[event(a.event)]["addr"], "bytes": a.size,
                    "free_event": event(a.died + 1) if a.died is not None and a.died < last else None,
                    "category": labels[a.number]}
                   for a in recorder.allocations if a.event <= last]
    ranges = [{"kind": kind, "first_event": event(begin), "last_event": event(end - 1)}
              for kind, begin, end in recorder.ranges if end > begin and begin <= last]
    return {"schema": "vramscope.labelled/1", "program": program.__name__.rsplit(".", 1)[-1],
            "planted": planted_in(program), "oom": oom is not None,
            "events": len(trace), "allocations": allocations, "ranges": ranges}


def late_event(truth):
    """A third into the third step, or into the second half of a shorter run."""
    steps = [r for r in truth["ranges"] if r["kind"] == "step"] or truth["ranges"]
    if not steps:
        return truth["events"] // 2
    one = steps[min(2, len(steps) // 2)]
    return one["first_event"] + (one["last_event"] - one["first_event"]) // 3


def write(recorder, program, vramscope, folder):
    """NAME.all.pickle, NAME.python.pickle, NAME.late.pickle and NAME.json in `folder`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    top, oom = placed(recorder.events, recorder.annotations, vramscope, folder, getattr(program, "CAPACITY", None))
    truth = truth_of(recorder, program, top["device_traces"][0], oom)
    truth["late_event"] = late_event(truth)
    styles = {"all": top, "python": without_native(top), "late": begun_late(top, truth["late_event"])}
    for style, recording in styles.items():
        Path(folder, "%s.%s.pickle" % (truth["program"], style)).write_bytes(pickle.dumps(recording, 4))
    Path(folder, truth["program"] + ".json").write_text(json.dumps(truth))
    return truth
