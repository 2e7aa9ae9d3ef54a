"""A naive model of the figures of `report --json`, straight from the definitions.

One Device per device of a recording: its four curves, its pairing and its trust items.
Every list is walked as often as a definition asks; nothing is clever.
"""
import bisect

U64 = (1 << 64) - 1
ACTIONS = {"alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "segment_map",
           "segment_unmap", "snapshot", "oom", "annotate", "user_defined", "free"}
OBTAIN, RETURN = ("segment_alloc", "segment_map"), ("segment_free", "segment_unmap")
KNOWN_KEYS = {
    "top": {"segments", "device_traces", "allocator_settings", "external_annotations", "host_segments", "host_traces",
            "traces", "trace_alloc_overflowed", "trace_alloc_max_entries"},
    "segment": {"device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
                "segment_type", "segment_pool_id", "is_expandable", "frames", "forward_frames", "blocks"},
    "block": {"address", "size", "requested_size", "state", "frames", "history", "forward_frames", "user_metadata",
              "category"},
    "event": {"action", "addr", "device_free", "size", "stream", "frames", "time_us", "compile_context",
              "user_metadata", "internal_metadata", "pool_id", "forward_frames", "category", "name", "stage", "cpp_frames"},
    "frame": {"name", "filename", "line", "fx_node_op", "fx_node_name", "fx_node_target", "fx_node_info",
              "fx_original_trace"},
    "annotation": {"name", "stage", "device", "time_us"},
}


def requested_size(block):
    if "requested_size" in block:
        return block["requested_size"]
    history = block.get("history")
    return history[0].get("real_size", block["size"]) if history else block["size"]


def rounded(n, divisions):
    """The block that a request of n bytes gets at least."""
    if n < 512:
        return 512
    if divisions:
        d = int(divisions.get(str(1 << min(max(n.bit_length() - 21, 0), 15)), 0))
        if d > 1 and n > 512 * d:
            if n & (n - 1) == 0:
                return n
            step = (1 << (n.bit_length() - 1)) // d
            return -(-n // step) * step
    return -(-n // 512) * 512


class Block:
    """A block of the final state; addresses are summed where a layout has none."""

    def __init__(self, raw, address, segment):
        self.raw, self.address, self.segment = raw, address, segment
        self.size, self.requested = raw["size"], requested_size(raw)
        self.state = raw["state"]
        self.active = self.state != "inactive"
        self.allocated = self.state == "active_allocated"
        self.frames = raw.get("frames")
        if self.frames is None and raw.get("history"):
            self.frames = raw["history"][0].get("frames")


class Allocation:
    """Born at event a (-1: before the window), asked back at fr, reusable from fc on."""

    def __init__(self, a, addr, req, stream, frames, pool=None, known=True):
        self.a, self.addr, self.req, self.stream, self.frames, self.pool = a, addr, req, stream, frames or [], pool
        self.fr = self.fc = None
        self.doubled = False
        self.origin = "traced" if known else "pre_freed"
        self.block = None


def pair(events, blocks):
    """Section 0.2 of the analyses: who lived from when to when."""
    n, found, opened = len(events), [], {}
    doubles = orphans = without_request = 0
    for i, e in enumerate(events):
        action, addr = e["action"], e.get("addr", 0) & U64
        if action == "alloc":
            if addr in opened:
                doubles += 1
                old = opened[addr]
                old.doubled = True
                old.fr, old.fc = i if old.fr is None else old.fr, i
            opened[addr] = Allocation(i, addr, e["size"], e.get("stream", 0), e.get("frames"), e.get("pool_id"))
            found.append(opened[addr])
        if action in ("free_requested", "free_completed", "free"):
            if addr not in opened:
                opened[addr] = Allocation(-1, addr, e["size"], e.get("stream", 0), None, e.get("pool_id"), known=False)
                found.append(opened[addr])
            live = opened[addr]
            if action != "free_completed" and live.fr is None:
                live.fr = i
            if action != "free_requested":
                orphans += live.a < 0
                if live.fr is None:
                    live.fr = i
                    without_request += 1
                    live.unasked = True
                live.fc = i
                del opened[addr]
    at_end = {b.address: b for b in blocks if b.active}
    for addr, b in at_end.items():
        if addr in opened:
            # A recorder may keep stacks of blocks and none of events; it is the same allocation.
            opened[addr].block, opened[addr].frames = b, opened[addr].frames or b.frames or []
        else:
            live = Allocation(-1, addr, b.requested, b.segment.get("stream", 0), b.frames)
            live.origin, live.block, live.pool = "pre_live", b, b.segment.get("segment_pool_id")
            found.append(live)
    for live in found:
        live.fr = n if live.fr is None else live.fr
        live.fc = n if live.fc is None else live.fc
    return found, opened, doubles, orphans, without_request


class Curve:
    """A step function given by its change at every event."""

    def __init__(self, deltas, start=None, end=None, line_start=0):
        self.start, self.end = start, end
        if start is None and end is not None and line_start is None:
            self.start = line_start = end - sum(deltas)
        value = line_start if self.start is None else self.start
        self.values = [value]
        for delta in deltas:
            value += delta
            self.values.append(value)
        self.peak = max(self.values)
        self.first = self.values.index(self.peak) - 1
        self.last = len(self.values) - 2 - self.values[::-1].index(self.peak)

    def figures(self):
        return {"start_bytes": self.start, "peak_bytes": self.peak, "peak_event": self.first,
                "peak_last_event": self.last, "end_bytes": self.end}


class Ranges:
    """Which addresses are mapped: disjoint ranges in order."""

    def __init__(self):
        self.at, self.end = [], []

    def remove(self, low, high):
        """The bytes of [low, high) that were there."""
        i = bisect.bisect_right(self.end, low)
        removed, keep = 0, []
        j = i
        while j < len(self.at) and self.at[j] < high:
            a, b = self.at[j], self.end[j]
            removed += min(b, high) - max(a, low)
            keep += [(x, y) for x, y in ((a, min(b, low)), (max(a, high), b)) if x < y]
            j += 1
        self.at[i:j] = [x for x, _ in keep]
        self.end[i:j] = [y for _, y in keep]
        return removed

    def add(self, low, high):
        self.remove(low, high)
        i = bisect.bisect_right(self.at, low)
        self.at.insert(i, low)
        self.end.insert(i, high)

    def holds(self, address):
        i = bisect.bisect_right(self.at, address) - 1
        return i >= 0 and address < self.end[i]


class Device:
    def __init__(self, number, events, segments, divisions, anchored=True, segments_whole=True, complete=True, flags=None):
        self.number, self.events, self.segments = number, events, segments
        self.divisions, self.anchored, self.segments_whole = divisions, anchored, segments_whole
        self.complete, self.flags = complete, flags or {}
        self.blocks = []
        for s in segments:
            address = s.get("address", 0) & U64
            for raw in s.get("blocks", []):
                at = raw.get("address")
                b = Block(raw, address if at is None else at & U64, s)
                self.blocks.append(b)
                address = b.address + b.size
        (self.allocations, self.open, self.double_allocs, self.orphan_frees,
         self.unasked) = pair(events, self.blocks if anchored else [])
        self.draw()

    def block_bytes(self, live):
        return live.block.size if live.block else rounded(live.req, self.divisions)

    def deltas(self):
        """Per curve, the change at each event."""
        n = len(self.events)
        d = {name: [0] * n for name in ("requested", "active", "allocated", "reserved")}
        born = {a.a: a for a in self.allocations if a.a >= 0}
        asked = {a.fr: a for a in self.allocations if a.fr < n and not a.doubled}
        done = {a.fc: a for a in self.allocations if a.fc < n and not a.doubled}
        for i, e in enumerate(self.events):
            action, size = e["action"], e.get("size", 0)
            if action == "alloc":
                d["requested"][i] = size
                d["active"][i] = d["allocated"][i] = self.block_bytes(born[i])
            if action in ("free_requested", "free") and i in asked:
                d["allocated"][i] = -self.block_bytes(asked[i])
            if action in ("free_completed", "free"):
                d["requested"][i] = -size
                d["active"][i] = -self.block_bytes(done[i])
            if action in OBTAIN:
                d["reserved"][i] = size
            if action in RETURN:
                d["reserved"][i] = -size
        return d

    def before(self):
        """The bytes of an unanchored part that are known to lie before it, per curve."""
        n, old = len(self.events), [a for a in self.allocations if a.origin == "pre_freed"]
        held, returned = Ranges(), 0
        for e in self.events:
            low, size = e.get("addr", 0) & U64, e.get("size", 0)
            if e["action"] in OBTAIN:
                held.add(low, low + size)
            elif e["action"] in RETURN:
                returned += size - held.remove(low, low + size)
        return {"requested": sum(a.req for a in old),
                "active": sum(self.block_bytes(a) for a in old),
                "allocated": sum(self.block_bytes(a) for a in old if not getattr(a, "unasked", False)),
                "reserved": returned}

    def draw(self):
        now = {"requested": sum(b.requested for b in self.blocks if b.active),
               "active": sum(b.size for b in self.blocks if b.active),
               "allocated": sum(b.size for b in self.blocks if b.allocated),
               "reserved": sum(s.get("total_size", 0) for s in self.segments)}
        deltas = self.deltas()
        self.curves = {}
        if self.anchored:
            for name, delta in deltas.items():
                self.curves[name] = Curve(delta, end=now[name], line_start=None)
        else:
            before = self.before() if self.events else now
            for name, delta in deltas.items():
                self.curves[name] = Curve(delta, end=now[name] if self.segments_whole else None, line_start=before[name])
        pending = sum(b.requested for b in self.blocks if b.active and not b.allocated)
        self.pending_bytes = pending if self.segments_whole else None
        self.forward_start = sum(a.req for a in self.allocations if a.a < 0)
        self.adjust_bytes = self.curves["requested"].start - self.forward_start if self.anchored else 0

    def figures(self):
        """What a report must say of this device, as far as the definitions fix it."""
        count = lambda action: sum(e["action"] == action for e in self.events)
        f = {"device": self.number, "events": len(self.events), "segments": len(self.segments),
             "blocks": len(self.blocks), "pending_bytes": self.pending_bytes,
             "orphan_frees": self.orphan_frees, "double_allocs": self.double_allocs, "oom_events": count("oom")}
        if not self.double_allocs:
            f["adjust_bytes"] = self.adjust_bytes
        if self.anchored:
            f["allocations"] = len(self.allocations)
        for name, curve in self.curves.items():
            f[name] = curve.figures()
        # Without a request before it, whether a completed free ends "held" is read in two ways.
        if self.unasked:
            f["allocated"] = {"end_bytes": self.curves["allocated"].end}
        exact = not self.events
        if not self.anchored:
            flags = dict.fromkeys(self.curves, False)
        else:
            flags = {"active": exact, "allocated": exact}
            if not self.failed() & {"sums", "end_mismatch", "baselines_differ", "negative_start",
                                    "peak_above_reserved", "unknown_segment", "double_alloc", "skipped_actions"}:
                flags.update(requested=True, reserved=True)
        for name, flag in flags.items():
            f[name]["exact"] = flag
        return f

    # Trust ------------------------------------------------------------------------------

    def sums(self):
        """T01 and T02."""
        bad = 0
        for s in self.segments:
            mine = [b for b in self.blocks if b.segment is s]
            at = s["address"] & U64
            for b in mine:
                bad += b.address != at or b.size % 512 != 0 or (b.active and b.requested > b.size)
                at = b.address + b.size
            bad += at != (s["address"] & U64) + s["total_size"] or s["total_size"] % (2 << 20) != 0
            for key, want in (("allocated_size", sum(b.size for b in mine if b.allocated)),
                              ("active_size", sum(b.size for b in mine if b.active)),
                              ("requested_size", sum(b.requested for b in mine if b.active))):
                bad += key in s and s[key] != want
        return bad

    def unknown_segments(self):
        """T06, backwards from the final segments."""
        mapped, bad = Ranges(), 0
        for s in self.segments:
            mapped.add(s["address"] & U64, (s["address"] & U64) + s["total_size"])
        for e in reversed(self.events):
            low, size = e.get("addr", 0) & U64, e.get("size", 0)
            if e["action"] == "alloc":
                bad += not mapped.holds(low)
            elif e["action"] in OBTAIN:
                mapped.remove(low, low + size)
            elif e["action"] in RETURN:
                mapped.add(low, low + size)
        return bad

    def end_mismatch(self):
        """T03: held by the trace at the end, but no such block there, or of another size."""
        n, bad = len(self.events), 0
        for a in self.allocations:
            if a.a >= 0 and a.fr == n and a.fc == n:
                bad += a.block is None or not a.block.allocated or a.block.requested != a.req
        return bad

    def unpaired(self):
        n = len(self.events)
        return sum(a.fr < n and a.fc == n and not (a.block and a.block.active and not a.block.allocated)
                   for a in self.allocations)

    def skips_requests(self):
        """A whole class of actions is missing, rather than a window that began between two of them."""
        return (any(getattr(a, "unasked", False) and a.a >= 0 for a in self.allocations)
                and not any(e["action"] == "free_requested" for e in self.events))

    def failed(self):
        """Ids that must stand in the trust items; only the checks and facts with a sharp definition."""
        n, ids = len(self.events), set()
        start = self.curves["requested"].start
        if not self.complete:
            ids.add("incomplete")
        if not self.anchored:
            return ids
        if self.sums():
            ids.add("sums")
        if not n:
            return ids | {"no_history"}
        times = [e.get("time_us") for e in self.events]
        if all(t is None for t in times):
            ids.add("no_time")
        elif any(a is not None and b is not None and b < a for a, b in zip(times, times[1:])):
            ids.add("time_backwards")
        if any(e["action"] not in ACTIONS for e in self.events):
            ids.add("unknown_actions")
        if n == 1 and self.events[0]["action"] != "oom" and (start > 0 or self.curves["reserved"].start > 0):
            return ids | {"one_event"}
        if start > 0:
            ids.add("starts_late")
        if self.flags.get("overflowed") or self.flags.get("max_entries") == n:
            ids.add("overflow")
        if self.orphan_frees:
            ids.add("orphans")
        if self.unpaired():
            ids.add("unpaired_request")
        if self.skips_requests():
            ids.add("skipped_actions")
        if self.double_allocs:
            ids.add("double_alloc")
        if self.end_mismatch():
            ids.add("end_mismatch")
        if start < 0:
            ids.add("negative_start")
        elif start != self.forward_start:
            ids.add("baselines_differ")
        if (any(u > v for u, v in zip(self.curves["requested"].values, self.curves["reserved"].values))
                or self.curves["reserved"].start < 0):
            ids.add("peak_above_reserved")
        if self.unknown_segments():
            ids.add("unknown_segment")
        totals = [self.curves["reserved"].values[i] + e["device_free"] for i, e in enumerate(self.events)
                  if e["action"] == "oom" and "device_free" in e]
        if totals and max(totals) - min(totals) > 64 << 20:
            ids.add("capacity_varies")
        return ids

    def unsure(self):
        """Ids whose condition leaves room; their presence is not compared."""
        ids = {"no_frames", "frees_carry_alloc_stack", "python_only", "mixed", "overflow_suspected", "unknown_keys", "replay"}
        if not self.anchored:
            return ids | set("""sums no_history one_event starts_late overflow orphans unpaired_request skipped_actions
                double_alloc peak_above_reserved unknown_segment no_time time_backwards capacity_varies
                unknown_actions""".split())
        n = len(self.events)
        times = [e.get("time_us") is None for e in self.events]
        if any(times) and not all(times):
            ids |= {"no_time", "time_backwards"}
        if n < 2:
            ids |= {"starts_late", "one_event", "orphans", "overflow", "no_time", "unpaired_request"}
        if self.unasked and not self.skips_requests():
            ids.add("skipped_actions")
        if self.curves["requested"].start < 0:
            ids |= {"baselines_differ", "starts_late"}
        if not self.complete:
            ids |= {"no_history", "overflow"}
        return ids

    def window(self):
        """The window states that are right; usually one."""
        n, failed = len(self.events), self.failed()
        if not self.complete:
            return {"incomplete"}
        if not n:
            return {"state_only"}
        if "one_event" in failed:
            return {"one_event"}
        if "overflow" in failed:
            return {"overflowed"}
        start, reserved = self.curves["requested"].start, self.curves["reserved"].start
        if start < 0 or reserved < 0:
            return {"late_start", "complete", "overflow_suspected"}
        round_count = str(n).rstrip("0") in ("1", "2", "5")
        if round_count and any(a.origin == "pre_freed" for a in self.allocations):
            return {"overflow_suspected", "late_start"} if n < 1000 else {"overflow_suspected"}
        if start > 0:
            return {"late_start"}
        if any(a.a < 0 for a in self.allocations):
            return {"late_start", "complete"}
        return {"complete"}

    def grade(self):
        failed, window = self.failed(), self.window()
        if window <= {"one_event", "state_only"} and "sums" not in failed:
            return {"B"}
        if failed & {"sums", "peak_above_reserved", "unknown_segment"}:
            return {"D"} if self.anchored else {"C", "D"}
        if failed & {"end_mismatch", "unpaired_request", "negative_start", "baselines_differ", "double_alloc",
                     "skipped_actions"}:
            return {"C", "D"}
        if window == {"incomplete"}:
            return {"C"} if self.anchored else {"C", "D"}
        if self.unasked:
            return {"A", "B", "C", "D"}
        return {"A"} if window == {"complete"} else {"B"} if "complete" not in window else {"A", "B", "C"}


# A recording ----------------------------------------------------------------------------

def finished(values):
    """The finished records of a list; in a cut file its last one may not be."""
    return [v for v in values or [] if isinstance(v, dict) and getattr(v, "finished", True)]


def devices(recording):
    """The devices of a recording that have an event or a segment."""
    top, complete = recording.top, recording.complete
    traces = top.get("device_traces")
    traces = traces if isinstance(traces, list) else []
    settings = top.get("allocator_settings")
    settings = settings if isinstance(settings, dict) and getattr(settings, "finished", True) else {}
    segments = finished(top.get("segments"))
    segments_whole = complete or getattr(top.get("segments"), "whole", False)
    flags = {"max_entries": settings.get("trace_alloc_max_entries", top.get("trace_alloc_max_entries")),
             "overflowed": settings.get("trace_alloc_overflowed", top.get("trace_alloc_overflowed"))}
    numbers = {s.get("device", 0) for s in segments} | {d for d, t in enumerate(traces) if finished(t)}
    found = []
    for d in sorted(numbers):
        if d < len(traces):
            trace_whole = complete or getattr(traces[d], "whole", False)
        else:
            trace_whole = complete or getattr(top.get("device_traces"), "whole", False)
        found.append(Device(d, finished(traces[d]) if d < len(traces) else [],
                            [s for s in segments if s.get("device", 0) == d],
                            settings.get("roundup_power2_divisions"),
                            anchored=bool(segments_whole and trace_whole), segments_whole=bool(segments_whole),
                            complete=complete, flags=flags))
    return found


def records(recording):
    """How many finished records (events, segments, annotations) there are."""
    top = recording.top
    traces = top.get("device_traces") or []
    return (len(finished(top.get("segments"))) + len(finished(top.get("external_annotations")))
            + sum(len(finished(t)) for t in traces if isinstance(t, list)))


def unknown_keys(recording):
    """Names of keys that no known producer writes, by the kind of their record."""
    found, seen = set(), set()

    def look(kind, record):
        if isinstance(record, dict) and id(record) not in seen:
            seen.add(id(record))
            found.update(set(record) - KNOWN_KEYS[kind])

    top = recording.top
    look("top", top)
    for s in finished(top.get("segments")):
        look("segment", s)
        for b in s.get("blocks", []):
            look("block", b)
            for f in b.get("frames") or []:
                look("frame", f)
    for t in top.get("device_traces") or []:
        for e in finished(t):
            look("event", e)
            for f in e.get("frames") or []:
                look("frame", f)
    for a in finished(top.get("external_annotations")):
        look("annotation", a)
    return found
