"""What-if, naively: the program that a recording shows is run again by the naive allocator.

`Rerun(recording).ask(...)` answers one question in the words of `vramscope replay --json`.  The start is
the true one, which only the maker of a random recording knows; nothing is inferred.
"""
import copy

from .allocator import SMALL_MAX, SMALL_SEGMENT, Device

RELEASES, GROWTH = ("segment_free", "segment_unmap"), ("segment_alloc", "segment_map")
LOWEST, HIGHEST = 3 << 48, 1 << 50


def release_runs(events):
    """(first, behind the last, cause) of every maximal run of release entries."""
    runs, i = [], 0
    while i < len(events):
        j = i
        while j < len(events) and events[j]["action"] in RELEASES:
            j += 1
        if j > i:
            runs.append((i, j, cause(events, i, j)))
        i = max(j, i + 1)
    return runs


def cause(events, i, j):
    for f in events[i].get("frames") or []:
        if "emptyCache(" in f["name"] or f["name"] == "empty_cache" and f["filename"].endswith("/memory.py"):
            return "empty_cache"
    if any("CachingAllocator::malloc(" in f["name"] for f in events[i].get("frames") or []):
        return "retry"
    after = j
    while after < len(events) and events[after]["action"] in GROWTH:
        after += 1
    then = events[after]["action"] if after < len(events) else None
    return "retry" if then == "oom" or then == "alloc" and after > j else "empty_cache"


class Rerun:
    def __init__(self, recording):
        self.recording, self.events = recording, recording.events
        self.curve = recording.reserved_curve()
        self.runs = release_runs(self.events)
        self.pool_of_address = {}
        low = [e["addr"] for e in self.events if e.get("addr")] + [s["address"] for s in recording.segments]
        self.low = min(low + [LOWEST])

    def pool(self, e):
        if "pool_id" in e:
            return e["pool_id"]
        for s in self.recording.segments:
            if s["address"] <= e.get("addr", -1) < s["address"] + s["total_size"]:
                return s["segment_pool_id"]
        return (0, 0)

    def recorded_capacity(self):
        for i, e in enumerate(self.events):
            if e["action"] == "oom" and e.get("device_free") is not None:
                return self.curve[i + 1] + e["device_free"]
        return max(self.curve)

    def ask(self, settings=None, capacity=None, order="descend", identity=False, site=None, drop=False, scale=None,
            early=None):
        """`site` is a frames list; with it goes one of drop, scale (a factor) and early (an event)."""
        question = Question(self, settings or self.recording.settings, capacity, order, identity)
        question.change(site, drop, scale, early)
        return question.run()

    def ask_all(self, settings=None, capacity=None, **change):
        """As a row of the program: descending, with the ascending peak beside it."""
        row = self.ask(settings, capacity, **change)
        row["peak_reserved_ascending_bytes"] = \
            self.ask(settings, capacity, order="ascend", **change)["peak_reserved_bytes"]
        return row

    def sufficient(self, settings=None, **change):
        free = self.ask(settings, **change)
        lo = -(-free["peak_active_bytes"] // SMALL_SEGMENT) - 1
        hi = -(-free["peak_reserved_bytes"] // SMALL_SEGMENT)
        while hi - lo > 1:
            mid = (lo + hi) // 2
            if self.ask(settings, mid * SMALL_SEGMENT, **change)["first_oom"]:
                lo = mid
            else:
                hi = mid
        at, above = (self.ask(settings, (hi + k) * SMALL_SEGMENT, **change) for k in (0, 1))
        return {"capacity_needed_bytes": hi * SMALL_SEGMENT, "capacity_retries": at["retries"],
                "capacity_checked": not at["first_oom"] and not above["first_oom"]}

    def identities(self):
        capacity = self.recorded_capacity()
        at = self.ask(capacity=capacity)
        oom = at["first_oom"] or {"event": None}
        return {"reproduces": self.ask(identity=True)["same_curve"],
                "reproduces_ascending": self.ask(identity=True, order="ascend")["same_curve"],
                "reproduces_at_capacity": at["same_curve"] and self.right_oom(oom["event"]),
                "recorded_capacity_bytes": capacity, "retries_at_capacity": at["retries"],
                "first_oom_at_capacity_event": oom["event"]}

    def right_oom(self, event):
        ooms = [i for i, e in enumerate(self.events) if e["action"] == "oom"]
        return event == (ooms[0] if ooms else None) or event is None


class Question:
    def __init__(self, rerun, settings, capacity, order, identity):
        self.rerun, self.events, self.identity, self.capacity = rerun, rerun.events, identity, capacity
        a = self.a = copy.deepcopy(rerun.recording.start)
        a.settings = settings
        a.device = Device(capacity, order, low=rerun.low, high=HIGHEST)
        a.context, a.new_memory, a.retries = None, 0, 0
        a.on_reserve, a.on_complete = self.see_reserved, self.forget
        # When the GPU is done is the recording's business: nothing completes by itself.
        a.queues = {"recorded": [[p, False] for p in a.pending()]}
        for p in a.pending():
            p.waits_for = 1
        self.live = {p.address: p for p in a.pieces() if p.state != "free"}
        self.older = list(self.live.values())
        self.mine, self.site, self.drop, self.scale, self.early = [], None, False, None, None
        self.event, self.same_curve, self.served, self.oom = -1, True, None, None

    def change(self, site, drop, scale, early):
        self.site, self.drop, self.scale, self.early = site, drop, scale, early
        reused = {e["addr"] for e in self.events if e["action"] in ("alloc", "free_completed")}
        if site is not None:
            self.mine = [p for address, p in self.live.items() if p.frames == site and address not in reused]
        if drop:
            for p in list(self.mine):
                self.finish(p)

    # Watching ---------------------------------------------------------------------------

    def see_reserved(self):
        self.see("reserved", self.a.reserved())

    def see(self, name, value):
        if value > self.peaks["peak_%s_bytes" % name]:
            self.peaks["peak_%s_bytes" % name], self.peaks["peak_%s_event" % name] = value, self.event
            if name == "active":
                self.peaks["peak_active_start_bytes"] = sum(p.size for p in self.older)

    def start_peaks(self):
        self.peaks = {"peak_active_start_bytes": sum(p.size for p in self.older)}
        for name, value in ("reserved", self.a.reserved()), ("active", self.a.held()), ("requested", self.a.requested()):
            self.peaks["peak_%s_bytes" % name], self.peaks["peak_%s_event" % name] = value, -1

    def forget(self, piece):
        """Whoever completes a piece, its life is over."""
        for address in [a for a, p in self.live.items() if p is piece]:
            del self.live[address]
        self.mine = [p for p in self.mine if p is not piece]
        self.older = [p for p in self.older if p is not piece]

    def finish(self, piece):
        queue = self.a.queues["recorded"]
        queue[:] = [entry for entry in queue if entry[0] is not piece]
        piece.waits_for = 0
        self.a.complete(piece)

    # Running ----------------------------------------------------------------------------

    def run(self):
        self.start_peaks()
        if self.capacity is not None and self.a.reserved() > self.capacity:
            # What waited is completed, and what was cached is gone, before the run begins.
            self.a.release_all()
            self.start_peaks()
            if self.a.reserved() > self.capacity:
                self.out_of_memory(0, 0, None)
        if self.oom is None:
            for self.event, e in enumerate(self.events):
                if self.step(e):
                    break
        return {**self.peaks, "new_memory": self.a.new_memory, "retries": self.a.retries, "first_oom": self.oom,
                "served_oom_event": self.served, "same_curve": self.same_curve}

    def step(self, e):
        """True where the run ends."""
        action, at = e["action"], self.event
        if self.early == at:
            for p in list(self.mine):
                self.finish(p)
        if action == "alloc" or action == "oom" and not self.identity:
            if self.allocate(e):
                return True
        elif action == "free_requested" and e["addr"] in self.live:
            p = self.live[e["addr"]]
            p.state, p.waits_for = "pending", 1
            self.a.queues["recorded"].append([p, False])
        elif action == "free_completed" and e["addr"] in self.live:
            self.finish(self.live[e["addr"]])
        for first, _, why in self.rerun.runs:
            if first == at and (self.identity or why == "empty_cache"):
                self.a.release_all()
        inside = any(first <= at < behind - 1 for first, behind, _ in self.rerun.runs)
        compared = action not in GROWTH and (self.identity and not inside or action not in RELEASES)
        if compared and self.a.reserved() != self.rerun.curve[at + 1]:
            self.same_curve = False
        return False

    def allocate(self, e):
        request, a = e["size"], self.a
        mine = self.site is not None and e.get("frames") == self.site
        if mine and self.drop:
            return False
        if mine and self.scale is not None:
            request = max(1, int(request * self.scale))
        pool, stream = self.rerun.pool(e), e["stream"]
        n = a.settings.rounded(request)
        key = (pool, n <= SMALL_MAX, stream)
        piece = a.obtain(n, key)
        if piece is None:
            self.out_of_memory(n, a.settings.segment(n), key)
            return True
        if a.splits(piece, n):
            a.enters(piece.area.cut(piece, n))
        piece.state, piece.requested = "used", request
        self.see("active", a.held())
        self.see("requested", a.requested())
        if e["action"] == "oom":
            self.served = self.event
            return True
        self.live[e["addr"]] = piece
        if mine:
            self.mine.append(piece)
        return False

    def out_of_memory(self, n, segment, key):
        a = self.a
        back = sum(size for _, _, size in a.returnable()) if key else 0
        self.oom = {"event": self.event, "want_bytes": n, "segment_bytes": segment, "reserved_bytes": a.reserved(),
                    "active_bytes": a.held(), "largest_free_bytes": max([p.size for p in a.free_pieces(key)] + [0]),
                    "returnable_bytes": back, "stranded_bytes": a.reserved() - a.held() - back}
