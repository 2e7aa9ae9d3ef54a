"""LeakDetector on simulated devices, where a live Handle is what a tensor is."""
import doctest
import gc
import pickle
import warnings

import pytest
import vramscope
from conftest import validate
from stand_in import installed
from vramscope import _core, hooks, LeakDetector, LeakError, sim

MIB = 1 << 20


RUNS = []


@pytest.fixture(autouse=True)
def runs():
    """What runs keep is alive until the test ends."""
    yield
    RUNS.clear()


class Run:
    """Steps of a made-up training, of which some keep something."""

    def __init__(self, device, **options):
        self.device, self.detector, self.kept = device, LeakDetector(**options), []
        RUNS.append(self)
        self.weights = [device.alloc("100MiB", tag="weights") for _ in range(4)]

    def steps(self, count, keep=lambda run, step: None):
        for step in range(count):
            activations = [self.device.alloc("%dMiB" % (5 * n)) for n in range(1, 6)]
            keep(self, step)
            del activations
            self.detector.step()
        return self.detector


def losses(run, step):
    run.kept.append(run.device.alloc("20MiB", tag="losses"))


def cycles(run, step):
    class Trainer:
        pass
    trainer = Trainer()
    trainer.itself, trainer.loss = trainer, run.device.alloc("20MiB", tag="loss")


def optimizer_state(run, step):
    if step == 0:
        run.kept.append(run.device.alloc("200MiB", tag="state"))


@pytest.fixture
def bare():
    with sim.Device("24GiB", history=0) as device:
        yield device


def test_what_is_kept_in_each_step_grows(bare):
    found = Run(bare).steps(8, losses).suspects()
    validate(found.to_dict())
    assert found.grows is True and not found.held_by_cycles and found.sites is None
    assert found["trend"] == {"grows": True, "growth_bytes": 100 * MIB, "slope_bytes": 20 * MIB, "rises_every": 1}
    assert found["census"] == {"from_step": 3, "to_step": 8, "invisible_bytes": 0}
    assert found.rows == [{"growth_bytes": 100 * MIB, "first_bytes": 60 * MIB, "last_bytes": 160 * MIB, "first_count": 3,
                           "last_count": 8, "name": "losses", "shape": "(20971520,)", "dtype": "", "device": "cuda:0"}]
    assert "memory grows: 5 steps added 100.00 MiB, 20.00 MiB in each" in str(found)
    assert "<pre>memory grows" in found._repr_html_()


def test_check_raises_what_was_found(bare):
    detector = Run(bare).steps(8, losses)
    with pytest.raises(AssertionError, match="losses") as raised:
        detector.check()
    assert isinstance(raised.value, LeakError) and raised.value.leaks.grows
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is LeakError and str(again) == str(raised.value) and again.leaks.rows == raised.value.leaks.rows


@pytest.mark.parametrize("keep, says", ((lambda run, step: None, "no growth: 5 steps added 0 B"),
                                        (optimizer_state, "no growth: 5 steps added 0 B")))
def test_what_stays_is_no_leak(bare, keep, says):
    detector = Run(bare).steps(8, keep)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.check()
    found = detector.suspects()
    assert found.grows is False and says in str(found) and found.rows == []


def test_state_of_the_first_step_is_no_leak_without_a_warm_up(bare):
    assert Run(bare, warmup=0).steps(8, optimizer_state).suspects().grows is False


def test_what_garbage_holds_is_held_by_cycles(bare):
    gc.collect()
    gc.disable()
    try:
        found = Run(bare).steps(8, cycles).suspects()
    finally:
        gc.enable()
    assert found.grows is True and found.held_by_cycles and "held by reference cycles" in str(found)
    assert found["collection"] == {"growth_bytes": -60 * MIB, "held_by_cycles": True}
    assert [(row["name"], row["last_count"]) for row in found.rows] == [("loss", 8)]


def test_what_its_function_freed_is_not_held_by_cycles(bare):
    detector = LeakDetector()

    def train():
        kept = []
        for _ in range(8):
            kept.append(bare.alloc("20MiB", tag="losses"))
            detector.step()
    train()
    collections = []
    gc.callbacks.append(lambda phase, info: collections.append(phase))
    try:
        found = detector.suspects()
    finally:
        gc.callbacks.pop()
    validate(found.to_dict())
    assert found.grows is True and found.freed and not found.held_by_cycles and found.rows == []
    assert found["collection"] is None and collections == []
    assert "what grew has been freed since" in str(found) and "cycles" not in str(found)


def test_what_shrank_after_the_last_step_is_not_listed(bare):
    detector, kept = LeakDetector(), []

    def train():
        weights = bare.alloc("100MiB", tag="weights")
        for _ in range(8):
            kept.append(bare.alloc("20MiB", tag="losses"))
            detector.step()
        return weights.bytes
    train()
    found = detector.suspects()
    assert [(row["name"], row["growth_bytes"]) for row in found.rows] == [("losses", 100 * MIB)]
    assert not found.freed and not found.held_by_cycles and found["census"]["invisible_bytes"] == 0


def test_with_history_what_was_freed_is_told_beside_the_lines():
    with sim.Device("24GiB") as device:
        detector = LeakDetector()

        def train():
            kept = []
            for _ in range(8):
                kept.append(device.alloc("20MiB", tag="losses"))
                detector.step()
        train()
        found = detector.suspects()
    assert found.grows and found.freed and found.sites.kind == "leaks"
    assert "as much has been freed since" in str(found) and "cycles" not in str(found)


def test_a_history_too_short_to_see_the_growth_does_not_deny_it():
    with sim.Device("24GiB", history=2) as device:
        found = Run(device).steps(8, losses).suspects()
    assert found.grows and found.sites is None


def test_no_step_collects_garbage_and_only_growth_does_it_in_suspects(bare):
    collections = []
    gc.disable()
    gc.callbacks.append(lambda phase, info: collections.append(phase))
    try:
        still = Run(bare).steps(8)
        growing = Run(bare).steps(8, losses)
        still.suspects()
        assert collections == []
        growing.suspects()
        assert collections == ["start", "stop"]
    finally:
        gc.callbacks.pop()
        gc.enable()


def test_too_few_steps_decide_nothing(bare):
    detector = Run(bare).steps(6, losses)
    with pytest.warns(vramscope.VramscopeNote, match="not decided: 4 of 5 steps after the warm-up"):
        detector.check()
    assert detector.suspects().grows is None


def test_growth_below_the_least_does_not_count(bare):
    run = Run(bare, min_growth="101MiB")
    assert run.steps(8, losses).suspects()["class"] == "too_small"
    assert Run(bare, min_growth=100 * MIB).steps(8, losses).suspects().grows


def test_only_each_nth_step_is_read(bare):
    readings = []

    class Counting:
        def stats(self, number):
            readings.append(number)
            return {"requested_bytes": {"all": {"current": len(readings) * MIB}}}

        def count(self):
            return 1
    detector = LeakDetector(every=3, steps=4, backend=Counting())
    for _ in range(15):
        detector.step()
    assert readings == [0] * 5
    found = detector.suspects()
    assert found.grows and (found["first_step"], found["last_step"], found["steps"]) == (3, 15, 12)
    assert found["bytes"] == [n * MIB for n in range(1, 6)] and "1.00 MiB in every 3" in str(found)


def test_what_is_not_known_decides_nothing():
    detector = LeakDetector(backend="none")
    for _ in range(8):
        detector.step()
    found = detector.suspects()
    assert found.grows is None and found["bytes"] is None and found["trend"] is None
    assert "not known" in str(found)


def test_where_history_is_on_the_lines_are_named():
    with sim.Device("24GiB") as device:
        found = Run(device).steps(8, losses).suspects()
        marks = [event for event in device.history_snapshot()["external_annotations"]]
    assert found.sites.kind == "leaks" and found.rows == [] and found["census"] is None
    site = found.sites["devices"][0]["result"]["sites"][0]
    assert (site["class"], site["slope_bytes"]) == ("leak", 20 * MIB)
    assert "test_leak_detector.py" in str(found) and "losses" in str(found)
    assert [mark["name"] for mark in marks][:3] == ["step 2", "step 2", "step 3"]


def test_history_is_taken_or_left_as_was_asked():
    with sim.Device("24GiB") as device:
        assert Run(device, use_history=False).steps(8, losses).suspects().sites is None
    with sim.Device("24GiB", history=0) as device:
        with Run(device, use_history=True).steps(8, losses) as detector:
            assert device.history_enabled() and detector.suspects().sites.kind == "leaks"
        assert not device.history_enabled()


def test_history_that_waits_for_the_device_begins_no_more_after_close():
    with installed("2.15") as torch:
        with LeakDetector(use_history=True) as detector:
            detector.step()
        torch.cuda.init()
        assert torch.cuda.stand_in.settings == []


def test_history_that_cannot_begin_leaves_the_programs_device_alone(monkeypatch):
    monkeypatch.setattr(hooks, "failures", 0)
    with installed("2.15") as torch:
        monkeypatch.setattr(torch.cuda.memory, "_record_memory_history", lambda max_entries=0: 1 / 0)
        with LeakDetector(use_history=True) as detector:
            detector.step()
            torch.cuda.init()
    assert hooks.failures == 1


def test_steps_of_the_process_profiler_are_not_marked_twice():
    with sim.Device("24GiB") as device:
        profiler = vramscope.enable()
        try:
            profiler.step()
            Run(device).steps(3, losses)
            assert not device.history_snapshot()["external_annotations"]
        finally:
            profiler._end_step()
            vramscope.disable()


def test_the_device_is_the_one_that_was_named():
    with sim.Device("24GiB", count=2, history=0) as device:
        first, second = LeakDetector(), LeakDetector("cuda:1")
        kept = []
        for _ in range(8):
            kept.append(device.alloc("2MiB", device=1))
            first.step()
            second.step()
        assert first.suspects().grows is False and second.suspects().grows
        assert {row["device"] for row in second.suspects().rows} == {"cuda:1"}
        with pytest.raises(vramscope.Error, match="no device 7"):
            LeakDetector(7).step()


def test_the_example_of_its_docstring_runs():
    test = doctest.DocTestParser().get_doctest(LeakDetector.__doc__, {}, "LeakDetector", None, 0)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


@pytest.mark.parametrize("options", ({"steps": 1}, {"warmup": -1}, {"every": 0}, {"min_growth": -1},
                                     {"use_history": "sometimes"}))
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError):
        LeakDetector(**options)
    with pytest.raises(vramscope.Error, match="size"):
        LeakDetector(min_growth="much")


def test_readings_that_are_none_are_refused():
    for arguments in (([0], 1, 0, 6, 0, None, None, None, None), ([0], 1, 1, 2, 0, None, None, None, None)):
        with pytest.raises(vramscope.Error) as raised:
            _core._growth(*arguments)
        assert raised.value.status == "usage"
    for arguments in ((["x"], 1, 1, 6, 0, None, None, None, None), ([0], 1, 1, 6, 0, None, None, (1, 2), None),
                      ([0], 1, 1, 6, 0, None, None, (1, 2, [(1,)]), (1, 2, [])), (None, 1, 1, 6, 0, None, None, None, None)):
        with pytest.raises((TypeError, SystemError)):
            _core._growth(*arguments)
