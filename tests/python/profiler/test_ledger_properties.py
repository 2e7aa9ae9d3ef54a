"""The peak ledger, by programs that hypothesis makes up, against a model that knows the whole curve.

Users open and close scopes, take checkpoints and samples on eight threads while memory comes and
goes; somebody else resets the device's peaks, some users forbid resets, and the process forks.  The
model follows the device alone: what it allocated, moment by moment, and what its counters show.
What is held is numbered as in section 4.2: (1) a peak is the maximum between its readings; (2) it
is the same without the other users; (3) it is no less than any reading inside; (4) an outer one is
no less than an inner one; (5) a reset by somebody else marks those open across it, where the
counter shows it, and no peak is above the truth; (6) of a lower bound the truth lies below the
upper one; (7) there are no more resets than openings; (8) at the end every place is free again.
"""
import os
from concurrent.futures import ThreadPoolExecutor

import pytest
import vramscope
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test
from vramscope import _core
from vramscope.sim import Device

MIB = 1 << 20
THREADS, PROFILERS, SLOTS = 8, 4, 4096
LONG = os.environ.get("VRAMSCOPE_TEST_LONG") is not None
CURVES = ("allocated", "reserved", "active", "requested")
SIZES = st.sampled_from([1, 512, 513, MIB, 3 * MIB, 20 * MIB + 1])


class Counters:
    """The simulated device by the methods of a backend of Python: reading and reset are two calls."""

    def __init__(self, device):
        self.device, self.resets = device, 0

    def stats(self, number):
        raw = self.device.stats(number)
        return {f"{c}_bytes": {"all": {"current": raw[f"{c}_bytes"], "peak": raw[f"{c}_peak_bytes"]}} for c in CURVES}

    def reset_peak(self, number):
        self.resets += 1
        self.device.reset_peak(number)


class Open:
    """A scope that is open, and what the model knows of it."""

    def __init__(self, scope, thread, start):
        self.scope, self.thread, self.start = scope, thread, start
        self.foreign = self.lost = False
        self.inside = []  # allocated bytes at readings


class Ledger(RuleBasedStateMachine):
    kind = "sim"

    @initialize(keepers=st.sampled_from([(), (), (), (0,), (1, 3)]), samples_reset=st.booleans())
    def begin(self, keepers, samples_reset):
        self.device = Device("8GiB", history=0)
        self.counters = Counters(self.device)
        self.backend = self.device.backend if self.kind == "sim" else _core.Backend(self.counters)
        self.threads = [ThreadPoolExecutor(1) for _ in range(THREADS)]
        self.live, self.open, self.closed = [], [], []
        self.program = []  # a size, or the place of what is freed: a moment of the curve each
        self.curve, self.seen = [0], [0] * 4
        self.openings = self.foreign_resets = 0
        # One that keeps peaks forbids resets to all, as long as it is open.
        self.profilers = [self.reads(lambda k=k: vramscope.Profiler(backend=self.backend, preserve_torch_peak=k in keepers),
                                     opens=True) for k in range(PROFILERS)]
        self.since = [0] * PROFILERS
        self.missed = [False] * PROFILERS  # a reset by others lies in the interval
        self.sampler = self.reads(lambda: _core.Sampler(backend=self.backend, reset_peaks=samples_reset), opens=True)
        self.sampled_since, self.sample_missed = 0, False

    # What the model does.

    def raw(self):
        stats = self.device.stats()
        return [stats[f"{c}_peak_bytes"] for c in CURVES]

    def reads(self, call, opens=False, thread=0):
        """Calls what makes a reading; then the model knows what a ledger has seen, and whether it reset."""
        before = self.raw()
        if any(now < seen for now, seen in zip(before, self.seen)):
            for o in self.open:  # (5)
                o.lost = True
        value = self.threads[thread].submit(call).result(60)
        after = self.raw()
        reset = any(now < was for now, was in zip(after, before))
        self.seen = [0] * 4 if reset else after
        self.openings += opens
        for o in self.open:
            o.inside.append(self.curve[-1])
        return value

    def moves(self, size=None, place=None):
        if size is not None:
            self.live.append(self.device.alloc(size))
        else:
            self.device.free(self.live.pop(place))
        self.program.append((size, place))
        self.curve.append(sum(h.block_bytes for h in self.live))

    def truth(self, start):
        return max(self.curve[start:])

    def check(self, lo, at_most, state, start, foreign, lost):
        truth = self.truth(start)
        assert lo <= truth  # (5)
        if lost:
            assert state == "lost"
            return
        assert state in ("exact", "sampled")
        if not foreign:
            assert at_most >= truth  # (6)
            assert lo == truth if state == "exact" else lo < at_most  # (1)

    # What happens.

    @rule(size=SIZES, times=st.integers(1, 3))
    def alloc(self, size, times):
        for _ in range(times):
            self.moves(size=size)

    @precondition(lambda self: self.live)
    @rule(which=st.integers(0, 1000))
    def free(self, which):
        self.moves(place=which % len(self.live))

    @rule(size=SIZES)
    def spike(self, size):
        self.moves(size=size)
        self.moves(place=len(self.live) - 1)

    @precondition(lambda self: len(self.open) < 64)
    @rule(who=st.integers(0, PROFILERS - 1), thread=st.integers(0, THREADS - 1))
    def enter(self, who, thread):
        scope = self.profilers[who].scope("work")
        self.reads(scope.__enter__, opens=True, thread=thread)
        self.open.append(Open(scope, thread, len(self.curve) - 1))

    @precondition(lambda self: self.open)
    @rule(which=st.integers(0, 1000))
    def leave(self, which):
        o = self.open[which % len(self.open)]
        self.reads(lambda: o.scope.__exit__(None, None, None), thread=o.thread)
        self.open.remove(o)
        r = o.scope.result
        assert r.start_bytes == self.curve[o.start] and r.end_bytes == self.curve[-1]
        assert r.peak_bytes >= max(r.start_bytes, r.end_bytes, *o.inside)  # (3)
        self.check(r.peak_bytes, r.peak_at_most_bytes, r.state, o.start, o.foreign, o.lost)
        end = len(self.curve) - 1
        for start, stop, peak in self.closed:  # (4)
            if r.state == "exact" and not o.foreign and o.start <= start and stop <= end:
                assert r.peak_bytes >= peak
        self.closed.append((o.start, end, r.peak_bytes))
        if r.state == "exact" and not o.foreign:
            self.alone = self.closed[-1]

    @rule(who=st.integers(0, PROFILERS - 1), thread=st.integers(0, THREADS - 1))
    def checkpoint(self, who, thread):
        r = self.reads(lambda: self.profilers[who].checkpoint("here"), opens=True, thread=thread)
        assert r.allocated_bytes == self.curve[-1]
        truth = self.truth(self.since[who])
        assert r.interval_peak_bytes <= truth
        if not self.missed[who]:  # with equal bounds it is the truth
            assert r.interval_peak_at_most_bytes >= truth
        self.since[who], self.missed[who] = len(self.curve) - 1, False

    @rule(thread=st.integers(0, THREADS - 1))
    def sample(self, thread):
        self.reads(self.sampler.now, opens=True, thread=thread)
        s = self.sampler.samples()[-1]
        truth = self.truth(self.sampled_since)
        assert s.allocated_bytes == self.curve[-1] <= s.peak_bytes <= truth
        if s.state == "exact" and not self.sample_missed:
            assert s.peak_bytes == truth
        self.sampled_since, self.sample_missed = len(self.curve) - 1, False

    @rule(thread=st.integers(0, THREADS - 1))
    def read(self, thread):
        stats = self.reads(lambda: self.backend.stats(0), thread=thread)
        assert stats["allocated_bytes"] == self.curve[-1]

    @rule()
    def reset_by_somebody_else(self):
        self.device.reset_peak()
        self.foreign_resets += 1
        self.missed, self.sample_missed = [True] * PROFILERS, True
        for o in self.open:
            o.foreign = True

    @precondition(lambda self: self.open and not any(o.foreign for o in self.open))
    @rule()
    def fork(self):
        """A child closes what is open, and finds the same."""
        child = os.fork()
        if child == 0:
            try:
                for o in self.open:
                    o.scope.__exit__(None, None, None)
                    r = o.scope.result
                    exact = r.peak_bytes == self.truth(o.start) or r.state == "sampled"
                    assert exact and r.peak_bytes <= self.truth(o.start) <= r.peak_at_most_bytes
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0

    @invariant()
    def resets_are_few(self):
        if self.kind != "sim" and hasattr(self, "openings"):
            assert self.counters.resets <= self.openings  # (7)

    def teardown(self):
        if not hasattr(self, "profilers"):
            return
        while self.open:
            self.leave(0)
        for p in self.profilers:
            p.close()
        for thread in self.threads:
            thread.shutdown()
        if hasattr(self, "alone"):
            assert peak_alone(self.program, *self.alone[:2]) == self.alone[2]  # (2)


class LedgerOfTwoCalls(Ledger):
    kind = "object"


def peak_alone(program, start, stop):
    """Of a scope over these moments of a program that has no other user."""
    device, live = Device("8GiB", history=0), []
    p = vramscope.Profiler(backend=device.backend, enabled=False)
    p.enabled = True
    scope = p.scope("alone")
    for moment in range(stop + 1):
        if moment > 0:
            size, place = program[moment - 1]
            live.append(device.alloc(size)) if size is not None else device.free(live.pop(place))
        if moment == start:
            scope.__enter__()
    scope.__exit__(None, None, None)
    assert scope.result.state == "exact"
    return scope.result.peak_bytes


@pytest.mark.parametrize("machine", [Ledger, LedgerOfTwoCalls])
def test_invariants_hold_in_any_program(machine):
    run_state_machine_as_test(machine, settings=settings(max_examples=600 if LONG else 30, stateful_step_count=40,
                                                         deadline=None))


def test_every_place_is_free_again():
    """(8): as many scopes as there is room for are open at once, and then once more."""
    with vramscope.Profiler(backend=Device("1GiB").backend, enabled=False) as p:
        p.enabled = True
        for _ in range(2):
            scopes = [p.scope("open") for _ in range(SLOTS + 1)]
            for scope in scopes:
                scope.__enter__()
            for scope in scopes:
                scope.__exit__(None, None, None)
            assert [s.result.state for s in scopes] == ["exact"] * SLOTS + ["unknown"]


def test_memory_that_only_grows_is_never_reset():
    """(7)"""
    counters = Counters(Device("1GiB"))
    with vramscope.Profiler(backend=_core.Backend(counters)) as p:
        kept = []
        for i in range(20):
            with p.scope("grow") as scope:
                kept.append(counters.device.alloc(MIB))
            p.checkpoint("here")
            assert scope.result.peak_bytes == (i + 1) * MIB
        assert counters.resets == 0
