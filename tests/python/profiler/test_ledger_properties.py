"""The peak ledger by its eight invariants: random users of a simulated device, in an order that shrinks to a script."""
import random

import pytest
from conftest import some
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from ledger_world import SLOTS, THREADS, Counters, Worker, World

MIB = 1 << 20
HANDLES, SCOPES, PROFILERS, THREAD = (st.integers(0, n - 1) for n in (12, SLOTS + 8, 4, THREADS))
SIZES = st.one_of(st.sampled_from([1, 512, 513, MIB, 20 * MIB]), st.integers(1, 64 * MIB))


class Machine(RuleBasedStateMachine):
    counters, workers = None, ()

    def __init__(self):
        super().__init__()
        self.world, self.script = World(self.counters, self.workers), []

    def do(self, step, *given):
        self.script.append((step, given))
        getattr(self.world, step)(*given)

    @rule(handle=HANDLES, size=SIZES)
    def alloc(self, handle, size):
        self.do("alloc", handle, size)

    @rule(handle=HANDLES)
    def free(self, handle):
        self.do("free", handle)

    @rule(scope=SCOPES, profiler=PROFILERS, thread=THREAD)
    def open(self, scope, profiler, thread):
        self.do("open", scope, profiler, thread)

    @rule(scope=SCOPES, thread=THREAD)
    def close(self, scope, thread):
        self.do("close", scope, thread)

    @rule(first=st.integers(0, SLOTS - 8), thread=THREAD)
    def open_many(self, first, thread):
        for scope in range(first, first + 8):
            self.do("open", scope, 0, thread)

    @rule(profiler=PROFILERS, thread=THREAD)
    def checkpoint(self, profiler, thread):
        self.do("checkpoint", profiler, thread)

    @rule(profiler=PROFILERS)
    def open_profiler(self, profiler):
        self.do("open_profiler", profiler, False)

    @rule()
    def read(self):
        self.do("read")

    def teardown(self):
        self.world.end()


class Alone(Machine):
    """Nobody else resets, and nobody forbids it: all is exact, whoever else is there."""

    @rule(without=st.sets(SCOPES))
    def play_without(self, without):
        again = World(self.counters)
        for step, given in self.script:
            if step not in ("open", "close") or given[0] not in without:
                getattr(again, step)(*given)
        for at, peak in self.world.results.items():
            assert at[0] in without or again.results[at] == peak, "(2) a peak changes with who else is there"


class Crowd(Machine):
    """With foreign resets, users that forbid them, and forks."""

    @rule()
    def foreign_reset(self):
        self.do("foreign_reset")

    @rule(profiler=st.integers(1, 3))
    def open_keeper(self, profiler):
        self.do("open_profiler", profiler, True)

    @rule(profiler=st.integers(1, 3))
    def close_profiler(self, profiler):
        if profiler in self.world.profilers:
            self.do("close_profiler", profiler)

    @rule()
    def fork(self):
        self.world.end_in_child()


class Deaf(Counters):
    """A device that does not reset its peaks, which looks as a ledger does that forgets to."""

    def reset_peak(self, number):
        pass


@pytest.fixture(scope="module")
def workers():
    made = [Worker() for _ in range(THREADS)]
    yield made
    for worker in made:
        worker.given.put(None)
        worker.join()


def run(machine, counters, workers, examples, steps, **more):
    class Run(machine):
        pass

    Run.counters, Run.workers = counters, workers
    Run.__name__ = Run.__qualname__ = machine.__name__
    run_state_machine_as_test(Run, settings=settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, database=None, derandomize=True, **more))


BACKENDS = pytest.mark.parametrize("counters", (None, Counters), ids=("sim", "object"))
MACHINES = pytest.mark.parametrize("machine", (Alone, Crowd), ids=lambda m: m.__name__)


@MACHINES
@BACKENDS
def test_the_invariants_hold(machine, counters, workers):
    run(machine, counters, workers, some(12, 25), 50)


@pytest.mark.long
@MACHINES
@BACKENDS
def test_the_invariants_hold_for_long(machine, counters, workers):
    run(machine, counters, workers, 300, 100)


@pytest.mark.parametrize("machine", some([Alone], [Alone, Crowd]), ids=lambda m: m.__name__)
def test_a_fault_is_found(machine, workers):
    with pytest.raises(AssertionError, match=r"^\(\d"):
        run(machine, Deaf, workers, 200, 50, phases=[Phase.generate], report_multiple_bugs=False)


@BACKENDS
def test_a_long_script_leaves_no_slot(counters):
    world, draw = World(counters), random.Random(8)
    for _ in range(some(1500, 3000)):
        world.alloc(draw.randrange(12), draw.randrange(1, MIB)) if draw.random() < 0.5 else world.free(draw.randrange(12))
        world.open(draw.randrange(SLOTS), 0, 0) if draw.random() < 0.5 else world.close(draw.randrange(SLOTS), 0)
    world.end()
    assert world.openings > 250 and world.resets > 50
    world.no_slot_is_left()
