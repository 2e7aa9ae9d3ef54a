"""Addresses and segments for the events of a program: vramscope's own allocator gives them."""
import json
import pickle
import subprocess
import tempfile
from pathlib import Path

SETTINGS = {
    "PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
    "expandable_segments": False, "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
    "pinned_use_cuda_host_register": False, "graph_capture_record_stream_reuse": False,
    "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)},
    "trace_alloc_overflowed": False, "trace_alloc_max_entries": (1 << 63) - 1,
}
UNLIMITED = 1 << 44


def placed(events, annotations, vramscope, capacity):
    """The events with addresses and segments; where they run out of `capacity`, up to there."""
    with tempfile.TemporaryDirectory() as folder:
        return placed_in(Path(folder), events, annotations, vramscope, capacity)


def placed_in(folder, events, annotations, vramscope, capacity):
    raw, made = folder / "program.pickle", folder / "placed.pickle"

    def write(count):
        raw.write_bytes(pickle.dumps({"segments": [], "device_traces": [events[:count]],
                                      "allocator_settings": SETTINGS, "external_annotations": annotations}, 4))

    def replay(*options):
        command = [vramscope, "replay", "--anyway", "--capacity", str(capacity or UNLIMITED), *options, raw]
        return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE).stdout

    write(len(events))
    if capacity:
        oom = json.loads(replay("--json"))["devices"][0]["result"]["what_if"][-1]["first_oom"]
        if oom:
            write(oom["event"] + 1)
    replay("--write", made)
    top = pickle.loads(made.read_bytes())
    trace = top["device_traces"][0]
    trace[:0] = first_segment(top["segments"], trace)
    return top


def first_segment(segments, trace):
    """The replay takes the first segment for older than the trace; this process asked for it."""
    first = trace[0]
    return [dict(first, action="segment_alloc", addr=s["address"], size=s["total_size"]) for s in segments
            if first["action"] == "alloc" and s["address"] <= first["addr"] < s["address"] + s["total_size"]]


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
