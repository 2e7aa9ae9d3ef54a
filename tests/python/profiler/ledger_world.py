"""A simulated device, its users, and what is known of its memory without asking the ledger.

Each step checks what it gets by the invariants of the peak ledger: a scope's peak is the maximum of
the curve while it was open, whoever else is there (1, 2); not below what was read inside (3), nor
below that of a scope inside it (4); a foreign reset that can be seen marks who is open, and nobody
is ever told more than the truth (5); bounds enclose the truth (6); the ledger resets no more than
it has to (7), and leaves nothing behind (8).
"""
import os
import queue
import threading
import traceback
from collections import namedtuple

from vramscope import Backend, Profiler, sim

CURVES = ("allocated", "reserved", "active", "requested")
THREADS = 8
SLOTS = 64
SLOTS_MOST = 4096  # of the ledger
FORKS_MOST = 2  # of a script: each copies the process
Kept = namedtuple("Kept", "since to peak")


class Counters:
    """The device as the methods of an object, which is how torch's is read: reading and reset are two calls."""

    def __init__(self, device):
        self.device = device

    def stats(self, number):
        told = self.device.stats(number)
        return {f"{curve}_bytes": {"all": {"current": told[f"{curve}_bytes"], "peak": told[f"{curve}_peak_bytes"]}}
                for curve in CURVES}

    def reset_peak(self, number):
        self.device.reset_peak(number)

    def count(self):
        return self.device.count


class Worker(threading.Thread):
    """Runs what it is given, and hands back what came of it: scopes nest by thread."""

    def __init__(self):
        super().__init__(daemon=True)
        self.given, self.done = queue.SimpleQueue(), queue.SimpleQueue()
        self.start()

    def run(self):
        while (call := self.given.get()) is not None:
            try:
                self.done.put((call(), None))
            except BaseException as error:
                self.done.put((None, error))

    def call(self, function):
        self.given.put(function)
        value, error = self.done.get()
        if error is not None:
            raise error
        return value


class User:
    """A scope that is open, or a profiler, which has an interval of its own."""

    def __init__(self, what, since, keeps, doubtful):
        self.what, self.since, self.keeps = what, since, keeps
        self.doubtful = doubtful  # somebody forbade the reset that would have made it exact
        self.lost = self.blurred = False
        self.ever_doubtful = doubtful  # a profiler, in any of its intervals


class World:
    """Steps are methods; `steps` is the script so far, and `results` what scopes gave, by their user."""

    def __init__(self, counters=None, workers=()):
        self.device = sim.Device("64GiB", history=0)
        self.backend = self.device.backend if counters is None else Backend(counters(self.device))
        self.workers = workers
        self.handles, self.curve, self.results, self.intervals = {}, [], {}, []
        self.scopes, self.profilers = {}, {}
        self.seen, self.openings, self.resets, self.freed = [0] * 4, 0, 0, False
        self.forks = 0
        self.moment()
        self.open_profiler(0, False)

    # Memory.

    def moment(self):
        """The values of the curves after something happened; its number."""
        told = self.device.stats()
        self.curve.append([told[f"{curve}_bytes"] for curve in CURVES])
        return len(self.curve) - 1

    def now(self):
        return len(self.curve) - 1

    def highest(self, k, since):
        return max(values[k] for values in self.curve[since:])

    def alloc(self, handle, size):
        if handle not in self.handles:
            self.handles[handle] = self.device.alloc(size)
            self.moment()

    def free(self, handle):
        if handle in self.handles:
            self.device.free(self.handles.pop(handle))
            self.freed = True
            self.moment()

    def foreign_reset(self):
        self.device.reset_peak()
        for user in self.users():
            user.blurred = True  # until a reading shows the reset, or for ever

    # Readings.

    def users(self):
        return [*self.scopes.values(), *self.profilers.values()]

    def keepers(self):
        return any(user.keeps for user in self.users())

    def peaks(self):
        told = self.device.stats()
        return [told[f"{curve}_peak_bytes"] for curve in CURVES]

    def reading(self, call, opens):
        """Does what makes one reading, and sees what it shows and whether it was a reset too."""
        before = self.peaks()
        if any(peak < seen for peak, seen in zip(before, self.seen)):
            for user in self.users():
                user.lost = True
        kept = self.keepers()
        value = call()
        after = self.peaks()
        was_reset = after != before
        assert not was_reset or opens, "a reading that opens nothing has reset the peaks"
        assert not was_reset or not kept, "(7) a reset, which somebody forbids"
        self.resets += was_reset
        self.openings += opens
        self.seen = [0] * 4 if was_reset else before
        return value

    def on(self, thread, call):
        return self.workers[thread].call(call) if self.workers else call()

    # Users.

    def add(self, users, number, what, keeps):
        now, peaks = self.curve[-1], self.peaks()
        users[number] = User(what, self.now(), keeps, any(p > n for p, n in zip(peaks, now)))

    def open_profiler(self, number, keeps):
        if number not in self.profilers:
            made = self.reading(lambda: Profiler(backend=self.backend, device=0, preserve_torch_peak=keeps), True)
            self.add(self.profilers, number, made, keeps)

    def close_profiler(self, number):
        """Its scopes go before it."""
        for scope, user in list(self.scopes.items()):
            if user.what.profiler is self.profilers[number].what:
                self.close(scope, 0)
        self.profilers.pop(number).what.close()

    def open(self, scope, number, thread):
        if scope in self.scopes or number not in self.profilers or len(self.scopes) >= SLOTS:
            return
        made = self.profilers[number].what.scope(f"scope {scope}")
        self.reading(lambda: self.on(thread, made.__enter__), True)
        self.add(self.scopes, scope, made, self.profilers[number].keeps)

    def close(self, scope, thread):
        if scope not in self.scopes:
            return
        made = self.scopes[scope].what
        self.reading(lambda: self.on(thread, lambda: made.__exit__(None, None, None)), False)
        self.judge(scope, self.scopes.pop(scope), made.result)

    def checkpoint(self, number, thread):
        if number not in self.profilers:
            return
        user = self.profilers[number]
        record = self.reading(lambda: self.on(thread, lambda: user.what.checkpoint("here")), True)
        truth, doubtful = self.highest(0, user.since), user.ever_doubtful or user.lost or user.blurred
        assert record.allocated_bytes == self.curve[-1][0]
        assert record.allocated_bytes <= record.interval_peak_bytes <= truth, "(3, 5) a peak of an interval"
        assert record.interval_peak_bytes <= record.peak_bytes <= self.highest(0, 0)
        assert doubtful or record.state == "exact", f"(5) {record.state}, and nobody else has reset the peaks"
        if record.state == "exact" and not user.blurred:
            assert record.interval_peak_bytes == record.interval_peak_at_most_bytes == truth, "(1) an interval"
        self.add(self.profilers, number, user.what, user.keeps)
        self.profilers[number].ever_doubtful |= doubtful

    def read(self):
        told = self.reading(self.backend.stats, False)
        assert [told[f"{curve}_bytes"] for curve in CURVES] == self.curve[-1]

    # What a result must be.

    def judge(self, scope, user, result):
        start, end = self.curve[user.since], self.curve[-1]
        truth = [self.highest(k, user.since) for k in range(3)]
        told = [result.peak_bytes, result.reserved_peak_bytes, result.active_peak_bytes]
        assert (result.start_bytes, result.end_bytes) == (start[0], end[0])
        assert all(peak <= most for peak, most in zip(told, truth)), "(5) a peak is above the truth"
        assert all(peak >= max(a, b) for peak, a, b in zip(told, start, end)), "(3) a peak is below a reading"
        if user.lost:
            assert result.state == "lost", "(5) a reset that could be seen is not marked"
            return
        assert result.state in ("exact", "sampled"), f"(5) {result.state}, and nobody else has reset the peaks"
        if user.blurred:
            return
        assert truth[0] <= result.peak_at_most_bytes, "(6) the truth is above the bound"
        if result.state == "exact" or not user.doubtful:
            assert result.state == "exact", "(1) an interval that began with a reset is not exact"
            assert told == truth and result.peak_at_most_bytes == truth[0], "(1) a peak is not the maximum"
            self.results[scope, user.since] = told
        self.intervals.append(Kept(user.since, self.now(), told[0]))

    def end(self):
        for scope in list(self.scopes):
            self.close(scope, 0)
        for inner in self.intervals:
            for outer in self.intervals:
                assert outer.since > inner.since or outer.to < inner.to or outer.peak >= inner.peak, \
                    "(4) a scope inside has the higher peak"
        assert self.resets <= self.openings and (self.freed or self.resets == 0), "(7) more resets than needed"
        held = sum(handle.block_bytes for handle in self.handles.values())
        assert self.device.stats()["allocated_bytes"] == held, "(8) memory is not as before"

    def no_slot_is_left(self):
        """There is room for as many scopes as ever."""
        profiler, count = self.profilers[0].what, SLOTS_MOST - len(self.profilers)
        scopes, before = [profiler.scope("last") for _ in range(count)], profiler.losses["slots"]
        for scope in scopes:
            scope.__enter__()
        for scope in scopes:
            scope.__exit__(None, None, None)
        assert profiler.losses["slots"] == before, "(8) a slot is open that nobody has"

    def end_in_child(self):
        """The same in a child of fork, which has no other threads; the parent goes on."""
        if self.forks == FORKS_MOST:
            return
        self.forks += 1
        child = os.fork()
        if child == 0:
            try:
                self.workers = ()
                self.end()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0, "the child of a fork"
