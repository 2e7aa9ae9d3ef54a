"""Profiler: checkpoints, scopes of every kind of function, steps, totals, on a simulated device."""
import asyncio
import gc
import json
import pickle
import sys
import threading
import types

import pytest
import vramscope
from vramscope import Profiler, _core, sim
from vramscope.objects import census

MIB = 1 << 20


@pytest.fixture
def device():
    with sim.Device("1GiB") as made:
        yield made


def pulse(device, mib):
    """Allocates and frees at once."""
    device.free(device.alloc(mib * MIB))


def test_a_checkpoint_tells_its_interval(device):
    with Profiler() as p:
        kept = device.alloc(10 * MIB)
        pulse(device, 100)
        record = p.checkpoint("first", info="warm")
        pulse(device, 20)
        second = p.checkpoint("second")
    assert (record.name, record.index, record.info, record.state) == ("first", 0, "warm", "exact")
    assert (record.allocated_bytes, record.interval_peak_bytes) == (10 * MIB, 110 * MIB)
    assert (second.interval_peak_bytes, second.peak_bytes, second.delta_bytes) == (30 * MIB, 110 * MIB, 0)
    assert second.cached_bytes == second.reserved_bytes - second.active_bytes > 0
    assert [r.name for r in p.records()] == ["first", "second"] and kept.live


def test_a_scope_has_its_own_peak_and_gross_figures(device):
    with Profiler() as p, p.scope("outer") as outer:
        pulse(device, 200)
        with p.scope("inner") as inner:
            kept = device.alloc(5 * MIB)
            pulse(device, 50)
    assert (inner.result.path, inner.result.start_bytes, inner.result.end_bytes) == (("outer", "inner"), 0, 5 * MIB)
    assert (inner.result.peak_bytes, inner.result.peak_delta_bytes) == (55 * MIB, 55 * MIB)
    assert (inner.result.allocated_total_bytes, inner.result.freed_total_bytes) == (55 * MIB, 50 * MIB)
    assert (inner.result.allocations, inner.result.frees) == (2, 1)
    assert outer.result.peak_bytes == 200 * MIB and outer.result.allocations == 3
    assert [r.name for r in p.scopes()] == ["inner", "outer"] and kept.live


def test_a_scope_can_be_entered_again_and_inside_itself(device):
    with Profiler() as p:
        scope = p.scope("again")
        with scope:
            pulse(device, 10)
            with scope:
                pulse(device, 3)
            assert scope.result.peak_bytes == 3 * MIB and scope.result.path == ("again", "again")
        assert scope.result.peak_bytes == 10 * MIB
    assert len(p.scopes()) == 2


def test_overlapping_scopes_may_be_left_in_any_order(device):
    with Profiler() as p:
        first, second = p.scope("first"), p.scope("second")
        first.__enter__()
        second.__enter__()
        pulse(device, 7)
        first.__exit__(None, None, None)
        pulse(device, 9)
        second.__exit__(None, None, None)
        assert (first.result.peak_bytes, second.result.peak_bytes) == (7 * MIB, 9 * MIB)
        assert p.checkpoint("after").path == ("after",)


def test_an_exception_is_named_and_passes_unchanged(device):
    error = KeyError("mine")
    with Profiler() as p:
        with pytest.raises(KeyError) as raised, p.scope("fails") as scope:
            raise error
    assert raised.value is error and error.__cause__ is None and error.__context__ is None
    assert scope.result.raised == "KeyError" and not hasattr(scope.result, "traceback")


def test_a_function_runs_once_and_keeps_its_face(device):
    calls = []
    with Profiler() as p:
        @p.scope("load")
        def load(mib, *, twice=False):
            """Loads."""
            calls.append(mib)
            return device.alloc(mib * MIB)
        kept = load(4, twice=True)
    assert calls == [4] and kept.bytes == 4 * MIB
    assert (load.__name__, load.__doc__) == ("load", "Loads.") and load.__wrapped__ is not load
    assert p.scopes()[0].delta_bytes == 4 * MIB


def test_a_generator_is_measured_while_it_runs(device):
    with Profiler() as p:
        @p.scope("batches")
        def batches():
            pulse(device, 30)
            got = yield 1
            try:
                yield got
            except ValueError:
                yield "caught"
            return "the end"

        def drive():
            return (yield from batches())
        body = drive()
        assert next(body) == 1
        pulse(device, 8)  # between two resumes the scope is open, as others see, not the innermost
        assert p.checkpoint("outside").path == ("outside",)
        assert body.send("sent") == "sent" and body.throw(ValueError()) == "caught"
        with pytest.raises(StopIteration) as end:
            next(body)
        assert end.value.value == "the end"
        unfinished = batches()
        next(unfinished)
        unfinished.close()
    results = p.scopes()
    assert [(r.name, r.raised) for r in results] == [("batches", None), ("batches", None)]
    assert results[0].peak_bytes == 30 * MIB


def test_coroutines_and_asynchronous_generators(device):
    with Profiler() as p:
        @p.scope("work")
        async def work(mib):
            kept = device.alloc(mib * MIB)
            await asyncio.sleep(0)
            device.free(kept)
            return p.checkpoint(f"in {mib}").path

        @p.scope("numbers")
        async def numbers():
            for number in range(2):
                yield number

        async def main():
            paths = await asyncio.gather(work(1), work(2))
            async with p.scope("block"):
                return paths, [n async for n in numbers()]
        paths, listed = asyncio.run(main())
    # Tasks have chains of their own.
    assert paths == [("work", "in 1"), ("work", "in 2")] and listed == [0, 1]
    assert sorted(r.path for r in p.scopes()) == [("block",), ("block", "numbers"), ("work",), ("work",)]


def test_threads_have_chains_of_their_own(device):
    gate = threading.Barrier(2)

    def thread(name, mib):
        with p.scope(name):
            gate.wait()
            pulse(device, mib)
            gate.wait()
    with Profiler() as p:
        threads = [threading.Thread(target=thread, args=(f"t{i}", 10)) for i in range(2)]
        with p.scope("main"):
            for one in threads:
                one.start()
            for one in threads:
                one.join()
    assert sorted(r.path for r in p.scopes()) == [("main",), ("t0",), ("t1",)]


def test_profilers_do_not_disturb_each_other(device):
    with Profiler() as p, Profiler() as q:
        pulse(device, 100)
        assert p.checkpoint("p").interval_peak_bytes == 100 * MIB
        pulse(device, 10)
        assert p.checkpoint("p").interval_peak_bytes == 10 * MIB
        assert q.checkpoint("q").interval_peak_bytes == 100 * MIB


def test_where_resets_are_forbidden_a_peak_is_a_bound(device):
    pulse(device, 100)
    with Profiler(preserve_torch_peak=True) as p, p.scope("small") as scope:
        pulse(device, 10)
    assert device.stats()["allocated_peak_bytes"] == 100 * MIB
    result = scope.result
    assert (result.state, result.peak_at_most_bytes) == ("sampled", 100 * MIB) and result.peak_bytes <= 10 * MIB
    assert result.peak_delta_at_most_bytes == 100 * MIB - result.start_bytes


def test_a_foreign_reset_is_said(device):
    with Profiler() as p, p.scope("disturbed") as scope:
        kept = device.alloc(100 * MIB)
        p.checkpoint("seen")
        device.free(kept)
        device.reset_peak()
        pulse(device, 1)
    assert scope.result.state == "lost" and scope.result.peak_bytes == 100 * MIB
    assert p.losses["foreign_resets"] >= 1


def test_disabled_it_does_nothing(device):
    with Profiler(enabled=False) as p:
        class Trap:
            def __str__(self):
                raise AssertionError("evaluated")
        assert p.checkpoint("no", Trap(), Trap()) is None and p.step() is None
        with p.scope("no") as scope:
            pulse(device, 1)
        assert scope.result is None and p.records() == [] and p.scopes() == []


def test_steps_are_numbered_and_totalled(device):
    with Profiler() as p:
        for index in range(3):
            assert p.step().info == f"step {index}"
            pulse(device, 10 * (index + 1))
        p.step(10)
    (steps,) = [row for row in p.summary().rows if row["kind"] == "scope"]
    assert steps["calls"] == 4 and steps["peak_bytes"] == 30 * MIB


def test_phases_are_scopes_by_name(device):
    with Profiler() as p:
        for name in ("forward", "backward"):
            with p.phase(name):
                pulse(device, 3)
    assert [r.name for r in p.scopes()] == ["forward", "backward"]


def test_call_gives_value_and_result(device):
    with Profiler() as p:
        value, result = p.call(device.alloc, 2 * MIB, tag="weights")
    assert value.tag == "weights" and result.delta_bytes == 2 * MIB


def test_host_and_stack_and_times_alone(device):
    with Profiler(host=True, stack=1) as p:
        record = p.checkpoint("here")
    assert record.rss_bytes > MIB and record.rss_peak_bytes >= record.rss_bytes
    assert record.stack.endswith("test_host_and_stack_and_times_alone") and "test_profiler.py" in record.stack
    with Profiler(stats=False) as p:
        record = p.checkpoint("time")
    assert record.allocated_bytes is None and record.state == "unknown" and record.t_ns >= 0


def test_time_of_the_device_is_that_of_its_clock(device):
    with Profiler() as p:
        with p.scope("kernel", time_device=True) as scope:
            device.advance(5_000_000)
        with p.scope("host") as other:
            pass
    assert scope.result.device_ns == 5_000_000 and other.result.device_ns is None
    assert [(row["device_calls"], row["device_ns"]) for row in p.summary().rows] == [(1, 5_000_000), (0, None)]


class Tensor:
    """What is asked of a tensor; only half of its storage is shown."""
    shape, dtype = (2, 3), "float16"

    def element_size(self):
        return 2

    def nelement(self):
        return 6

    def untyped_storage(self):
        return type("Storage", (), {"nbytes": staticmethod(lambda: 24)})


def test_a_tensor_is_looked_at_and_let_go(device):
    with Profiler() as p:
        tensor = Tensor()
        record = p.checkpoint("t", tensor)
        with p.scope("t", tensor=tensor) as scope:
            pass
        left = [one for one in gc.get_referrers(tensor) if one is not globals() and type(one) is not type(gc)]
    for row in (record, scope.result):
        assert (row.tensor_bytes, row.storage_bytes) == (12, 24)
        assert (row.tensor_shape, row.tensor_dtype) == ("(2, 3)", "float16")
    assert not [one for one in left if type(one).__module__.startswith("vramscope")]


@pytest.mark.parametrize("collect", [(), (0,), (1,), (2,), (0, 0), (0, 1)])
def test_tensors_are_counted_whatever_the_collector_did_meanwhile(device, collect):
    """A collection makes what is new older, and a tensor may lie at the address of one that is gone."""
    old = [device.alloc(MIB) for _ in range(3)]
    for before in ((), (2,)):
        for generation in before:
            gc.collect(generation)
        end = census.begin(device.backend, 0)
        new = [device.alloc(MIB)]
        for generation in collect:
            gc.collect(generation)
        old.pop()
        new += [device.alloc(MIB) for _ in range(2)]
        assert end() == (3, 1)
        del new
        assert end() == (0, 1)


def test_a_tensor_that_moves_to_the_device_is_born_there(monkeypatch):
    class Tensor:
        device = types.SimpleNamespace(index=0)

        def __init__(self, is_cuda):
            self.is_cuda = is_cuda
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(Tensor=Tensor))
    moving, leaving, there = Tensor(False), Tensor(True), Tensor(True)
    gc.collect()  # all three are old
    end = census.begin(types.SimpleNamespace(name="torch"), 0)
    moving.is_cuda, leaving.is_cuda = True, False
    assert end() == (1, 1) and there.is_cuda
    assert census.begin(types.SimpleNamespace(name="torch"), 1)() == (0, 0)


def test_tensors_that_are_born_and_die_are_counted(device):
    with Profiler(track_tensors=True) as p:
        old = [device.alloc(MIB) for _ in range(3)]
        with p.scope("swap") as scope:
            del old[:2]
            new = device.alloc(MIB)
            pulse(device, 1)  # born and gone inside: in the counts of allocations alone
        value, result = p.call(lambda: device.alloc(MIB))
    assert (scope.result.tensors_born, scope.result.tensors_died) == (1, 2)
    assert (scope.result.allocations, scope.result.frees) == (2, 3)
    assert (result.tensors_born, result.tensors_died) == (1, 0) and new.live and value.live
    with Profiler() as p, p.scope("plain") as plain:
        pass
    assert plain.result.tensors_born is None and plain.result.tensors_died is None


def test_a_count_that_fails_is_counted_and_harms_nothing(device, monkeypatch):
    with Profiler(track_tensors=True) as p, p.scope("works") as scope:
        monkeypatch.setattr("gc.get_objects", lambda: 1 / 0)
        kept = device.alloc(MIB)
    assert scope.result.tensors_born is None and scope.result.delta_bytes == kept.bytes
    assert p.losses["hooks"] == 1


def test_rows_are_immutable_comparable_and_picklable(device):
    with Profiler() as p:
        record = p.checkpoint("x", info="y")
        with p.scope("s"):
            pulse(device, 1)
    for row in (record, p.scopes()[0]):
        again = pickle.loads(pickle.dumps(row))
        assert again == row and again.to_dict() == row.to_dict() and row != object()
        with pytest.raises(AttributeError):
            row.name = "other"
    assert list(record.to_dict())[:3] == ["index", "name", "path"]


def test_a_full_ring_loses_the_oldest_and_no_total(device):
    with Profiler(capacity=1024) as p:
        for _ in range(1500):
            p.checkpoint("again")
    assert len(p.records()) == 1024 and p.losses["records"] == 1500 - 1024
    assert p.records()[0].index == 1500 - 1024
    assert p.summary().rows[0]["calls"] == 1500


def test_summary_shows_growth_that_was_freed_inside(device):
    with Profiler() as p:
        for _ in range(2):
            with p.scope("train"):
                pulse(device, 64)
                kept = device.alloc(MIB)
    (row,) = p.summary().rows
    assert (row["calls"], row["peak_delta_bytes"], row["growth_bytes"]) == (2, 64 * MIB, MIB)
    assert row["allocated_total_bytes"] == 130 * MIB and row["transient_ratio"] > 0.9
    assert "train" in p.summary().text() and kept.live


def test_rows_stand_as_their_scopes_ended_whatever_others_called_theirs(device):
    names = [f"{letter} of order" for letter in "cab"]
    with Profiler() as earlier:  # names are the process's
        for name in sorted(names):
            earlier.checkpoint(name)
    with Profiler() as p:
        for name in names:
            with p.scope(name), p.scope("inside"):
                pass
    paths = [row["path"] for row in p.summary().rows]
    assert paths == [path for name in names for path in ([name], [name, "inside"])]


def test_reports_and_files(device, tmp_path):
    with Profiler() as p, p.scope("<b>train</b>"):
        pulse(device, 1)
    document = json.loads(p.report("json"))
    assert document["schema"] == "vramscope.profile/1" and document["rows"][0]["path"] == ["<b>train</b>"]
    assert "<b>" not in p.report("html") and "train" in p.report() and p.report("csv").count("\n") >= 2
    with pytest.raises(vramscope.Error):
        p.report("xml")
    for ending in ("json", "csv", "html", "txt"):
        path = p.save(tmp_path / f"out.{ending}")
        assert path.stat().st_mode & 0o777 == 0o600 and "train" in path.read_text()
    with pytest.raises(OSError):
        p.save(tmp_path / "missing" / "out.json")


def test_a_closed_profiler_refuses_and_keeps_what_it_has(device):
    p = Profiler()
    p.checkpoint("one")
    p.close()
    p.close()
    assert len(p.records()) == 1 and p.closed
    p.enabled = True
    with pytest.raises(ValueError, match="closed"):
        p.checkpoint("two")


def test_reset_begins_the_peak_anew(device):
    with Profiler() as p:
        pulse(device, 100)
        p.checkpoint("before")
        p.reset()
        pulse(device, 5)
        record = p.checkpoint("after")
    assert record.peak_bytes == 5 * MIB and p.records() == [record]


@pytest.mark.parametrize("keywords, error", [
    ({"capacity": 0}, ValueError), ({"capacity": 1 << 25}, ValueError), ({"device": 7}, vramscope.Error),
    ({"device": "cpu"}, vramscope.Error), ({"backend": "nvidia"}, vramscope.Error), ({"stack": "x"}, TypeError)])
def test_arguments(device, keywords, error):
    with pytest.raises(error):
        Profiler(**keywords)


def test_arguments_of_calls(device):
    with Profiler() as p:
        for call in (p.checkpoint, p.scope, p.phase):
            with pytest.raises(TypeError):
                call(7)
        with pytest.raises(TypeError):
            p.checkpoint()
        with pytest.raises(TypeError):
            p.checkpoint("x", unknown=1)


def test_names_may_be_any_text(device):
    with Profiler() as p:
        for name in ("", "\ud800", "a\0b", "\x1b[31m", "é" * 5000):
            assert p.checkpoint(name).name in (name, p.records()[-1].name)
        assert p.records()[4].name.endswith("…") and len(p.records()[4].name.encode()) <= 4099
    assert "\x1b" not in p.summary().text()


# The profiler of the process.

@pytest.fixture
def process():
    profiler = vramscope.get()
    profiler.renew(enabled=False)
    yield profiler
    profiler.renew(enabled=False)


def test_the_profiler_of_the_process_is_one_object(device, process):
    assert vramscope.get() is process and not process.enabled
    assert vramscope.checkpoint("before") is None
    assert vramscope.enable() is process
    with vramscope.scope("s") as scope, vramscope.phase("forward"):
        kept = device.alloc(MIB)
    assert scope.result.delta_bytes == kept.bytes and vramscope.step().info == "step 0"
    vramscope.disable()
    assert not process.enabled and process.records()
    with Profiler() as p:  # the step is over
        assert p.checkpoint("alone").path == ("alone",)


def test_enable_takes_settings_in_place(device, process):
    vramscope.enable()
    vramscope.checkpoint("old")
    assert vramscope.enable(stats=False, stack=1) is process
    record = vramscope.checkpoint("new")
    assert record.index == 0 and record.allocated_bytes is None and record.stack
    vramscope.enable()
    assert len(process.records()) == 1  # without settings it goes on
    with pytest.raises(TypeError, match="no setting 'colour'"):
        vramscope.enable(colour=True)
    with pytest.raises(ValueError, match="open"), process.scope("open"):
        vramscope.enable(stats=True)


@pytest.mark.parametrize("wrong", (1.5, b"x", [], True, object()))
@pytest.mark.parametrize("made", (vramscope.Profiler, vramscope.Tracker, vramscope.LeakDetector))
def test_a_device_of_a_type_that_is_none_is_refused_with_a_sentence(made, wrong):
    with pytest.raises(TypeError, match="a device is a number, a text or a torch.device, not "):
        made(wrong)


def test_an_empty_variable_is_as_one_that_is_not_set(monkeypatch):
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "")
    with sim.Device():
        assert vramscope.Profiler().backend.name == "sim"


@pytest.mark.parametrize("index", ("x", 1.5, []))
def test_a_step_has_a_number(device, index):
    with Profiler() as p:
        with pytest.raises(TypeError, match="the number of a step is an int, not "):
            p.step(index)
        assert p.step(3).info == "step 3" and p.step().info == "step 4"


def test_a_scope_that_two_threads_share_is_left_by_both(device):
    """One is still ending its entry, the last that was opened, when the other leaves."""
    ending, left = threading.Event(), threading.Event()

    def census_that_waits(*_):
        first = threading.current_thread() is not threading.main_thread()

        def end():
            if first:
                ending.set()
                assert left.wait(60)
            return 0, 0
        return end
    opened = threading.Event()
    p = _core.Profiler(backend=device.backend, device=0, scope_class=_core.Scope, capacity=10, enabled=True, stats=True,
                       host=False, preserve_torch_peak=False, strict=False, stack=0, synchronize=False,
                       from_reset=False, census=census_that_waits)
    scope = p.scope("shared")

    def other():
        with scope:
            opened.set()
    thread = threading.Thread(target=other)
    with scope:
        thread.start()
        assert opened.wait(60) and ending.wait(60)
    left.set()
    thread.join()
    assert scope.result is not None and len(p.scopes()) == 2
    with p.scope("after"):
        pass
    assert p.scopes()[-1].name == "after"
