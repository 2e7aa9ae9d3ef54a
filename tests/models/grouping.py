"""The live set at a moment and its groupings: what `peak --json` must add up to.

Names are free to change their spelling, so a grouping is compared as a partition: the sorted
list of (bytes, count, largest, oldest event) of its rows.  Where the definitions leave room,
a grouping has several right partitions.
"""
import re
from collections import defaultdict

PLUMBING = {"_call_impl", "_wrapped_call_impl"}
TOP_PACKAGES = set("nn optim autograd utils cuda distributed _dynamo _inductor _functorch fx _tensor functional".split())


def frame_class(frame):
    path = str(frame.get("filename", "")).replace("\\", "/").lower()
    notebook = "ipykernel" in path or path.startswith("<ipython") or path.endswith(".ipynb")
    if not path.endswith((".py", ".pyx")) and not (path.startswith("<") and path.endswith(">")) and not notebook:
        return "native"
    if "/site-packages/torch/" in path or "/dist-packages/torch/" in path:
        return "torch"
    m = re.search(r"/torch/([^/.]+)", path)
    if m and m.group(1) in TOP_PACKAGES:
        return "torch"
    if "torchinductor" in path or path == "<string>":
        return "generated"
    if "/site-packages/" in path or "/dist-packages/" in path:
        return "library"
    if path.startswith("<frozen") or re.search(r"/lib/python\d[^/]*/", path):
        return "std"
    return "user"


def line_of(frame):
    return frame.get("filename"), frame.get("line"), frame.get("name")


def owner_of(frames):
    for f in frames:
        if frame_class(f) in ("library", "user") and f.get("name") not in PLUMBING:
            return line_of(f)
    return None


def culprit_of(frames):
    """The line shown to the user, or a tuple that names what stands in for it."""
    if not frames:
        return ("(no stack)",)
    for f in frames:
        if frame_class(f) == "user":
            return line_of(f)
    owner = owner_of(frames)
    if owner:
        return owner
    for f in frames:
        m = re.search(r"(\w+Backward\d+)", str(f.get("name")))
        if m:
            return "autograd", m.group(1)
    for f in frames:
        if frame_class(f) == "native":
            return "native", f.get("name")
    return ("no user frame",) + line_of(frames[0])


def stack_key(frames, level, recursion):
    """K0 to K3 of section 0.5.  A run of recursion is one frame; whether another line of the
    same function continues the run is left open, hence `recursion`."""
    if level == 0:
        return tuple(line_of(f) for f in frames)
    out, last = [], None
    for f in frames:
        if frame_class(f) == "native" or f.get("name") in PLUMBING:
            continue
        base = re.split(r"[/\\]", str(f.get("filename")))[-1]
        key = ((base, f.get("line"), f.get("name")), (base, f.get("name")), (f.get("name"),))[level - 1]
        same = {"line": key, "function": (base, f.get("name")), "none": object()}[recursion]
        if same != last:
            out.append(key)
        last = same
    return tuple(out)


def site_of(a, level, recursion):
    """The stack key; without a stack the size, and of a stack that the key drops whole the culprit."""
    if not a.frames:
        return "size", a.req
    return stack_key(a.frames, level, recursion) or ("culprit", culprit_of(a.frames))


def live_at(device, event):
    """The allocations alive in the state after `event` (-1: the start)."""
    return [a for a in device.allocations if a.a <= event < a.fc]


def partition(live, key):
    rows = defaultdict(list)
    for a in live:
        rows[key(a)].append(a)
    return sorted((sum(a.req for a in r), len(r), max(a.req for a in r), min(a.a for a in r)) for r in rows.values())


def pool_of(device, a):
    if a.pool is not None:
        return tuple(a.pool)
    for s in device.segments:
        if s["address"] % 2**64 <= a.addr < s["address"] % 2**64 + s.get("total_size", 0):
            pool = s.get("segment_pool_id")
            return tuple(pool) if pool is not None else None
    return None


def partitions(device, live, by, event, key=1):
    """The right answers for one grouping, or None where only the sums are fixed."""
    if by == "site":
        return [partition(live, lambda a: site_of(a, key, r)) for r in ("line", "function", "none")]
    if by == "culprit":
        return [partition(live, lambda a: culprit_of(a.frames))]
    if by == "owner":
        by_line = lambda a: owner_of(a.frames) or culprit_of(a.frames)
        return [partition(live, by_line),
                partition(live, lambda a: (by_line(a)[0], by_line(a)[-1])),
                partition(live, lambda a: owner_of(a.frames) or "none")]
    if by in ("file", "function"):
        pick = (lambda c: c[0]) if by == "file" else (lambda c: (c[0], c[-1]))
        whole = lambda a: culprit_of(a.frames)
        return [partition(live, lambda a: pick(whole(a)) if len(whole(a)) == 3 else whole(a)),
                partition(live, lambda a: pick(whole(a)) if len(whole(a)) == 3 else "none"),
                partition(live, lambda a: whole(a)[-1] if len(whole(a)) == 3 else whole(a)),
                partition(live, lambda a: whole(a)[-1] if len(whole(a)) == 3 else "none")]
    if by == "size":
        return [partition(live, lambda a: a.req)]
    if by == "stream":
        return [partition(live, lambda a: a.stream)]
    if by == "pool":
        pools = {id(a): pool_of(device, a) for a in live}
        default = lambda a: pools[id(a)] or (0, 0)
        small = lambda a: device.block_bytes(a) <= 1 << 20
        return [partition(live, default), partition(live, lambda a: pools[id(a)]),
                partition(live, lambda a: (default(a), small(a))), partition(live, lambda a: (pools[id(a)], small(a)))]
    if by == "age":
        old = lambda a, bucket: -1 if a.a < 0 else bucket(event - a.a)
        floor, ceil = int.bit_length, lambda n: (max(n, 1) - 1).bit_length()
        shifted = lambda n: (n + 1).bit_length()
        merged = lambda n: max(n, 1).bit_length()
        return [partition(live, lambda a, b=b: old(a, b)) for b in (floor, ceil, shifted, merged)] + \
               [partition(live, lambda a, b=b: b(event - a.a)) for b in (floor, ceil, shifted, merged)]
    return None
