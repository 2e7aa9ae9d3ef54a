"""Hand-made tiny recordings: the smallest files that show one thing each."""

MIB = 1 << 20
BASE = 0x7F0000000000
FRAMES = [{"name": "at::empty", "filename": "??", "line": 0}, {"name": "step", "filename": "/home/u/train.py", "line": 7}]


def block(address, size, requested=None, state="active_allocated", **more):
    requested = (size if state != "inactive" else 0) if requested is None else requested
    return dict({"address": address, "size": size, "requested_size": requested, "state": state, "frames": []}, **more)


def segment(blocks, device=0, **more):
    """A segment that is exactly as large as its blocks, with honest sums."""
    active = [b for b in blocks if b["state"] != "inactive"]
    s = {"device": device, "address": blocks[0]["address"], "total_size": sum(b["size"] for b in blocks),
         "allocated_size": sum(b["size"] for b in active if b["state"] == "active_allocated"),
         "active_size": sum(b["size"] for b in active), "requested_size": sum(b["requested_size"] for b in active),
         "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [],
         "blocks": blocks}
    return dict(s, **more)


def event(action, addr, size, time=None, **more):
    e = {"action": action, "addr": addr, "size": size, "stream": 0}
    if time is not None:
        e["time_us"] = time
    return dict(e, **more)


def freed(addr, size, time=None, **more):
    return [event("free_requested", addr, size, time, **more), event("free_completed", addr, size, time, **more)]


def top(segments, *traces, **more):
    """Each event is a dict of its own, as every producer writes it, even where a test repeats one."""
    return dict({"segments": segments, "device_traces": [[dict(e) if isinstance(e, dict) else e for e in t] for t in traces]}, **more)


def half(address=BASE, first=4 * MIB, total=20 * MIB, **more):
    """A segment whose first block is in use."""
    return segment([block(address, first, first - 100), block(address + first, total - first, state="inactive")], **more)


def plain():
    """From the first byte on: a segment, two allocations, one freed; three neighbours, grade A."""
    a, b = BASE, BASE + 4 * MIB
    return top([half()], [event("segment_alloc", a, 20 * MIB, 10, frames=FRAMES),
                          event("alloc", a, 4 * MIB - 100, 11, frames=FRAMES),
                          event("alloc", b, 2 * MIB, 12, frames=FRAMES), *freed(b, 2 * MIB, 13, frames=FRAMES[1:])])


def two_devices():
    """Two devices, a kept block and an orphan on the second one, annotations behind."""
    other = BASE + (1 << 40)
    return top([half(), half(other, device=1, stream=3)],
               [event("segment_alloc", BASE, 20 * MIB), event("alloc", BASE, 4 * MIB - 100)],
               [*freed(other + 8 * MIB, 700), event("segment_free", other + 64 * MIB, 2 * MIB), event("alloc", other, 4 * MIB - 100)],
               external_annotations=[{"name": "step", "stage": "START", "device": 0, "time_us": 1}])


def traces_first():
    whole = two_devices()
    return {k: whole[k] for k in ("device_traces", "segments", "external_annotations")}


def stranger_between():
    """An empty dict under an unknown key, between the two parts."""
    whole = two_devices()
    return {"segments": whole["segments"], "hovercraft": {}, "device_traces": whole["device_traces"]}


def bare():
    return [half(), half(BASE + (1 << 40), first=6 * MIB)]
