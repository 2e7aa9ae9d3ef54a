"""Time of the device of a scope: between two events that nobody waits for, of torch or of an object."""
import contextvars
import gc
import math
import pickle
import weakref

import pytest
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import Profiler, _core, sim

PENDING = 1024  # most events' pairs that a profiler keeps
MS = 1_000_000


@pytest.fixture
def gpu():
    """torch over a simulated device, whose events are done when the program synchronises."""
    device = sim.Device("1GiB")
    with installed(devices=[Simulated(device)]) as torch:
        torch.cuda.init()
        torch.work = lambda ms: device.advance(int(ms * MS))
        torch.times = torch.profiler.times
        yield torch


class Moment:
    """An event of an object that is a backend."""

    def __init__(self, owner):
        self.owner, self.ms = owner, owner.ms

    def query(self):
        self.owner.asked += 1
        return self.owner.done

    def elapsed_time(self, later):
        return later.ms - self.ms


class Owner:
    """A device that has events and nothing else; it has come to all of them where `done`."""
    kind = Moment

    def __init__(self, done=False):
        self.done, self.ms, self.asked, self.made = done, 0, 0, []

    def event(self, device):
        made = self.kind(self)
        self.made.append(weakref.ref(made))
        return made

    def alive(self):
        return sum(made() is not None for made in self.made)


def timed(p, owner, name="s", ms=1):
    with p.scope(name, time_device=True) as scope:
        owner.ms += ms
    return scope


def told(p):
    return [row.device_ns for row in p.scopes()]


def test_it_is_not_known_before_the_device_has_come_to_the_end(gpu):
    with Profiler(backend="torch") as p:
        with p.scope("kernel", time_device=True) as scope:
            gpu.work(2.5)
        first = scope.result
        assert first.device_ns is None and told(p) == [None] and scope.result is first
        assert gpu.times.reached == 0 and gpu.times.recorded == 2, "nobody waits"
        gpu.cuda.synchronize()
        assert scope.result.device_ns == 2.5 * MS and told(p) == [2.5 * MS]
        assert first.device_ns is None and first != scope.result and scope.result is scope.result
        assert {**first.to_dict(), "device_ns": 2.5 * MS} == scope.result.to_dict() == p.scopes()[0].to_dict()
        assert [pickle.loads(pickle.dumps(row)).device_ns for row in (first, scope.result)] == [None, 2.5 * MS]
        assert p.losses["hooks"] == p.losses["device_times"] == 0


def test_the_rows_know_it_though_nobody_asked_the_scope(gpu):
    with Profiler(backend="torch") as p:
        scope = p.scope("again", time_device=True)
        for ms in (1, 2):
            with scope:
                gpu.work(ms)
        with p.scope("untimed") as other:
            gpu.work(4)
        gpu.cuda.synchronize()
        with scope:
            gpu.work(8)
        assert told(p) == [1 * MS, 2 * MS, None, None] and scope.result.device_ns is None
        p.close()
        gpu.cuda.synchronize()
        assert told(p) == [1 * MS, 2 * MS, None, 8 * MS] and other.result.device_ns is None
        assert scope.result.device_ns == 8 * MS


def test_who_waits_for_the_device_knows_it_at_once(gpu):
    with Profiler(backend="torch", synchronize=True) as p, p.scope("step", time_device=True) as scope:
        gpu.work(3)
    assert scope.result.device_ns == 3 * MS


def summed(p):
    return [(row["calls"], row["device_calls"], row["device_ns"]) for row in p.summary().rows]


def test_a_summary_adds_up_what_is_known(gpu):
    with Profiler(backend="torch") as p:
        scope = p.scope("again", time_device=True)
        with scope:
            gpu.work(1)
        with p.scope("again"):
            gpu.work(2)
        assert summed(p) == [(2, 0, None)] and "on device" not in p.report()
        gpu.cuda.synchronize()
        with scope:
            gpu.work(4)
        assert summed(p) == [(3, 1, 1 * MS)] and "on device" in p.report()
        gpu.cuda.synchronize()
        assert summed(p) == summed(p) == [(3, 2, 5 * MS)]
        p.checkpoint("untimed")
        assert summed(p)[-1] == (1, 0, None)


def test_nested_scopes_functions_and_generators_have_their_own(gpu):
    with Profiler(backend="torch") as p:
        @p.scope("load", time_device=True)
        def load():
            gpu.work(1)

        @p.scope("batches", time_device=True)
        def batches():
            for _ in range(2):
                gpu.work(2)
                yield
        with p.scope("outer", time_device=True):
            load()
            for _ in batches():
                gpu.work(4)
        gpu.cuda.synchronize()
        assert [(row.name, row.device_ns) for row in p.scopes()] == [
            ("load", 1 * MS), ("batches", 12 * MS), ("outer", 13 * MS)]


def test_before_cuda_is_initialised_there_is_none():
    with installed() as torch, Profiler(backend="torch") as p:
        with p.scope("early", time_device=True) as early:
            pass
        with p.scope("between", time_device=True) as between:
            assert not torch.cuda.is_initialized() and p.backend.event() is None
            torch.cuda.init()
        torch.cuda.synchronize()
        assert early.result.device_ns is None and between.result.device_ns is None
        assert torch.profiler.times.recorded == 0 and p.losses["hooks"] == 0


def test_a_capture_is_not_disturbed(gpu):
    with Profiler(backend="torch") as p:
        with p.scope("before", time_device=True) as before:
            gpu.work(1)
        gpu.cuda.synchronize()
        gpu.times.capturing = True
        with p.scope("inside", time_device=True) as inside:
            gpu.work(2)
        assert before.result.device_ns is None and gpu.times.recorded == 2
        gpu.times.capturing = False
        assert before.result.device_ns == 1 * MS and inside.result.device_ns is None
        assert p.losses["hooks"] == 0


def test_a_backend_makes_events(gpu):
    with Profiler(backend="torch") as p:
        begin = p.backend.event()
        gpu.work(1)
        end = p.backend.event(0)
        assert not end.query()
        gpu.cuda.synchronize()
        assert end.query() and begin.elapsed_time(end) == 1
    assert sim.Device().backend.event() is None and _core.Backend(object()).event() is None
    with Profiler(backend="torch") as p, pytest.raises(_core.Error, match="no device 9"):
        p.backend.event(9)


def raising(method):
    def fail(self, *arguments):
        raise RuntimeError("mine")
    return type("Raising", (Moment,), {method: fail})


def telling(value):
    return type("Telling", (Moment,), {"elapsed_time": lambda self, later: value})


FAULTY = {"query": raising("query"), "elapsed_time": raising("elapsed_time"), "text": telling("1"),
          "none": telling(None), "negative": telling(-1.0), "not a number": telling(math.nan),
          "endless": telling(math.inf), "ages": telling(1e13)}


@pytest.mark.parametrize("fault", FAULTY)
def test_an_event_that_fails_is_counted_once_and_harms_nothing(fault):
    owner = Owner(done=True)
    owner.kind = FAULTY[fault]
    with Profiler(backend=owner) as p:
        with pytest.raises(KeyError, match="mine"), p.scope("s", time_device=True) as scope:
            raise KeyError("mine")
        result = scope.result
        assert (result.device_ns, result.raised) == (None, "KeyError") and owner.alive() == 0
        assert told(p) == [None] and scope.result == result and p.losses["hooks"] == 1
        owner.kind = Moment
        assert timed(p, owner).result.device_ns == 1 * MS and p.losses["hooks"] == 1


@pytest.mark.parametrize("failing", [1, 2])
def test_an_event_that_cannot_be_made_is_counted(failing):
    class Refusing(Owner):
        def event(self, device):
            if len(self.made) + 1 == failing:
                self.made.append(lambda: None)
                raise RuntimeError("no more events")
            return super().event(device)
    owner = Refusing(done=True)
    with Profiler(backend=owner) as p:
        assert timed(p, owner).result.device_ns is None and p.losses["hooks"] == 1 and owner.alive() == 0
        assert timed(p, owner).result.device_ns == 1 * MS and p.losses["hooks"] == 1


def test_too_many_that_are_pending_lose_the_oldest():
    owner, more = Owner(), 5
    with Profiler(backend=owner) as p:
        scopes = [timed(p, owner, ms=i) for i in range(PENDING + more)]
        assert p.losses["device_times"] == more and owner.alive() == 2 * PENDING
        assert set(told(p)) == {None}
        owner.done = True
        assert [scope.result.device_ns for scope in scopes] == [None] * more + [
            i * MS for i in range(more, PENDING + more)]
        assert told(p) == [scope.result.device_ns for scope in scopes]
        assert owner.alive() == 0 and p.losses["hooks"] == 0
        p.reset()
        assert p.losses["device_times"] == 0


def test_events_that_are_done_are_let_go_without_a_question():
    owner = Owner(done=True)
    with Profiler(backend=owner) as p:
        most = 0
        for _ in range(3 * PENDING):
            timed(p, owner)
            most = max(most, owner.alive())
        assert most <= 4 and p.losses["device_times"] == 0
        assert owner.asked <= 4 * 3 * PENDING
        assert told(p) == [1 * MS] * 3 * PENDING


def test_events_of_two_streams_are_both_asked():
    class Later(Moment):
        def query(self):
            return self is not self.owner.made[0]() or self.owner.done
    owner = Owner()
    owner.kind = Later
    with Profiler(backend=owner) as p:
        scope = timed(p, owner)
        assert scope.result.device_ns is None
        owner.done = True
        assert scope.result.device_ns == 1 * MS


def test_a_row_that_is_gone_keeps_no_time_from_the_scope():
    owner = Owner()
    with Profiler(backend=owner, capacity=1024) as p:
        scope = timed(p, owner)
        for _ in range(1024):
            with p.scope("others"):
                pass
        owner.done = True
        assert scope.result.device_ns == 1 * MS and told(p) == [None] * 1024
        assert ("s", 1 * MS) in [(row["path"][0], row["device_ns"]) for row in p.summary().rows]
    owner.done = False
    with Profiler(backend=owner) as p:
        scope = timed(p, owner)
        p.reset()
        with p.scope("s"):
            pass
        owner.done = True
        assert scope.result.device_ns == 1 * MS and told(p) == [None] and summed(p) == [(1, 0, None)]


def test_one_that_begins_anew_forgets_what_was_pending():
    owner = Owner()
    with Profiler(backend=owner) as p:
        scope = timed(p, owner)
        p.renew(backend=owner)
        owner.done = True
        assert scope.result.device_ns is None and owner.alive() == 0
        assert timed(p, owner).result.device_ns == 1 * MS


def test_moments_of_two_backends_are_not_compared(gpu, monkeypatch):
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "auto")
    with Profiler() as p:
        with p.scope("across", time_device=True) as scope, sim.Device() as device:
            device.advance(5)
            p.checkpoint("which asks it from now on")
            scope.__exit__(None, None, None)
        gpu.cuda.synchronize()
        assert scope.result.device_ns is None and p.losses["hooks"] == 0


def test_nothing_outlives_the_profiler():
    owner = Owner()
    p = Profiler(backend=owner)
    scope = timed(p, owner)
    opened = p.scope("never left", time_device=True)
    contextvars.copy_context().run(opened.__enter__)
    assert owner.alive() == 3
    del p, scope, opened
    assert owner.alive() == 0


def test_events_that_hold_the_profiler_are_collected():
    owner = Owner()
    p = Profiler(backend=owner)
    owner.kind = type("Holding", (Moment,), {"profiler": p})
    made = weakref.ref(owner.kind)
    timed(p, owner)
    with p.scope("open", time_device=True):
        pass
    owner.kind = Moment
    del p
    gc.collect()
    assert made() is None and owner.alive() == 0


@pytest.mark.parametrize("meanwhile, first, then", [
    ("result", 2 * MS, 2 * MS), ("scopes", 2 * MS, 2 * MS), ("reset", 2 * MS, 2 * MS),
    ("left again", None, 0), ("renew", None, None), ("too many", None, None)])
def test_an_event_may_use_the_profiler_meanwhile(meanwhile, first, then):
    owner = Owner()
    with Profiler(backend=owner) as p:
        scope = p.scope("s", time_device=True)

        def left_again():
            with scope:
                pass
        act = {"result": lambda: scope.result, "scopes": p.scopes, "left again": left_again, "reset": p.reset,
               "renew": lambda: p.renew(backend=owner),
               "too many": lambda: [timed(p, owner) for _ in range(PENDING)]}[meanwhile]

        class Using(Moment):
            used = False

            def query(self):
                if self.used:
                    return self.owner.done
                self.used = True
                if self is self.owner.made[1]():
                    act()
                return True
        owner.kind = Using
        with scope:
            owner.ms += 2
        owner.kind, owner.done = Moment, meanwhile in ("result", "scopes")
        assert scope.result.device_ns == first
        owner.done = True
        assert scope.result.device_ns == then
        assert timed(p, owner).result.device_ns == 1 * MS
        p.scopes()
        assert p.losses["hooks"] == 0 and p.losses["device_times"] == (meanwhile == "too many")
    assert owner.alive() == 0
