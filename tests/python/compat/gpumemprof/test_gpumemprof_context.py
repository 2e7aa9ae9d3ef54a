"""The decorator, the block, wrapped modules and the profiler of the process: rows B55 to B57."""
import doctest
import importlib
import json

import pytest
from stand_in import installed, tensors
from stand_in.counters import SimCounters
from vramscope import sim
from vramscope.compat import gpumemprof
from vramscope.compat.gpumemprof import GPUMemoryProfiler, MemoryProfiler, ProfiledModule, context_profiler

MIB = 1 << 20


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setattr(context_profiler, "_global_profiler", None)
    with sim.Device() as made:
        yield made


def names():
    return [result.function_name for result in gpumemprof.get_profile_results()]


def test_the_decorator_bare_and_with_arguments_B55(device):
    own = GPUMemoryProfiler()

    @gpumemprof.profile_function
    def load(size, *, twice=False):
        """What it does."""
        return device.alloc(size * MIB * (1 + twice))

    @gpumemprof.profile_function(name="other", profiler=own)
    def work():
        return 7

    kept = load(4, twice=True)
    assert kept.bytes == 8 * MIB and work() == 7
    assert (load.__name__, load.__doc__) == ("load", "What it does.")
    assert (load._is_profiled, load._profile_name, work._profile_name) == (True, "load", "other")
    assert names() == ["load"] and [result.function_name for result in own.results] == ["other"]
    assert gpumemprof.get_profile_results()[0].memory_allocated == 8 * MIB
    labels = own.results[0].memory_before.operation, own.results[0].memory_after.operation
    assert labels == ("before_other", "after_other")


def test_a_decorated_function_that_raises_B55(device):
    @gpumemprof.profile_function
    def buggy():
        raise KeyError("of the program")

    with pytest.raises(KeyError, match="of the program"):
        buggy()
    assert names() == ["buggy"] and gpumemprof.get_profile_results()[0].memory_after.operation == "after_buggy_error"


class Swallows(GPUMemoryProfiler):
    def profile_function(self, func, *args, **kwargs):
        try:
            return super().profile_function(func, *args, **kwargs)
        except ValueError:
            return None


class Never(GPUMemoryProfiler):
    def profile_function(self, func, *args, **kwargs):
        return None


class Twice(GPUMemoryProfiler):
    def profile_function(self, func, *args, **kwargs):
        super().profile_function(func)
        return super().profile_function(func)


@pytest.mark.parametrize("kind", [GPUMemoryProfiler, Swallows, Never, Twice])
@pytest.mark.parametrize("raises", [False, True])
def test_a_function_runs_exactly_once_B55(device, kind, raises):
    """Fixed: where its profiler swallows an exception the original calls the function again."""
    calls = []

    @gpumemprof.profile_function(profiler=kind())
    def work():
        calls.append(1)
        if raises:
            raise ValueError("once")
        return len(calls)

    if raises:
        with pytest.raises(ValueError, match="once"):
            work()
    else:
        assert work() == 1
    assert calls == [1]


def test_a_block_B55(device):
    own = GPUMemoryProfiler()
    with gpumemprof.profile_context("mine", profiler=own) as given:
        kept = device.alloc(3 * MIB)
    with gpumemprof.profile_context() as other:
        pass
    assert given is own and own.results[-1].memory_allocated == kept.bytes
    assert other is gpumemprof.get_global_profiler() and names() == ["context"]


def test_the_profiler_of_the_process_B55(device):
    assert gpumemprof.get_summary() == {"message": "No global profiler instance"}
    assert gpumemprof.get_profile_results() == []
    gpumemprof.clear_results()
    assert context_profiler._global_profiler is None
    first = gpumemprof.get_global_profiler(0)
    assert gpumemprof.get_global_profiler() is first and isinstance(first, GPUMemoryProfiler)
    for name in "abc":
        with gpumemprof.profile_context(name):
            pass
    assert names() == ["a", "b", "c"]
    assert [r.function_name for r in gpumemprof.get_profile_results(2)] == ["b", "c"]
    assert len(gpumemprof.get_profile_results(limit=9)) == len(gpumemprof.get_profile_results(0)) == 3
    assert gpumemprof.get_summary()["total_function_calls"] == 3
    gpumemprof.clear_results()
    assert names() == []
    second = GPUMemoryProfiler()
    gpumemprof.set_global_profiler(second)
    assert gpumemprof.get_global_profiler() is second


def test_a_wrapped_module_B56():
    with installed(devices=[SimCounters(sim.Device())]) as torch:
        torch.cuda.init()
        profiler, model = GPUMemoryProfiler(), torch.nn.Linear(1000, 500).cuda()
        wrapped = ProfiledModule(model, name="head", profiler=profiler)
        assert isinstance(wrapped, ProfiledModule) and isinstance(wrapped, torch.nn.Module)
        assert dict(wrapped.named_modules())["module"] is model and wrapped.weight is model.weight
        made = wrapped(torch.randn(64, 1000).cuda())
        assert made.shape == (64, 500)
        result = profiler.results[-1]
        assert (result.function_name, result.memory_allocated, result.tensors_created) == ("head_forward", 64 * 500 * 4, 1)
        assert ProfiledModule(model, profiler=profiler).profile_name == "Linear"
        with pytest.raises(AttributeError, match="nothing"):
            wrapped.nothing


def test_what_is_no_module_of_torch_is_wrapped_too_B56(device):
    class Model:
        size = 5

        def __call__(self, much):
            return device.alloc(much * self.size)

    profiler = MemoryProfiler()
    wrapped = profiler.wrap_module(Model())
    kept = wrapped(MIB)
    assert wrapped.size == 5 and kept.bytes == 5 * MIB
    assert [(r.function_name, r.memory_allocated) for r in profiler.profiler.results] == [("Model_forward", 5 * MIB)]
    assert ProfiledModule(Model()).profiler is gpumemprof.get_global_profiler()


def test_the_facade_B56(device, tmp_path):
    with MemoryProfiler(device="cuda:0") as profiler:
        result = profiler.profile(device.alloc, 4 * MIB)
        with profiler.context("block"):
            pass
    assert result.function_name == "alloc" and [r.function_name for r in profiler.profiler.results] == ["alloc", "block"]
    path = tmp_path / "results.json"
    profiler.save_results(str(path))
    kept = profiler.load_results(path)
    assert kept == json.loads(path.read_text()) and list(kept) == ["summary", "results", "snapshots"]
    assert kept["results"] == [r.to_dict() for r in profiler.profiler.results]
    assert list(kept["summary"]) == list(profiler.get_summary()) and kept["snapshots"] == []
    assert [each.name for each in tmp_path.iterdir()] == ["results.json"]
    with pytest.raises(FileNotFoundError):
        profiler.save_results(tmp_path / "no/such/folder")
    profiler.clear()
    assert profiler.get_summary() == {"message": "No profiling results available"}


def test_a_training_is_measured_batch_by_batch_B57(device):
    class Model:
        trains = False

        def train(self):
            self.trains = True

    model, seen, kept = Model(), [], []

    def step(given, batch):
        seen.append((given.trains, batch))
        kept.append(device.alloc(batch * 2 * MIB))
        device.advance(batch * 1_000_000_000)

    results = gpumemprof.profile_model_training(model, [1, 2, 3], epochs=2, step_fn=step)
    assert seen == [(True, batch) for batch in (1, 2, 3, 1, 2, 3)]
    assert list(results) == ["total_epochs", "batch_results", "epoch_summaries", "overall_summary"]
    assert [r["function_name"] for r in results["batch_results"]] == [f"batch_{e}_{b}" for e in (0, 1) for b in (0, 1, 2)]
    assert [r["memory_allocated"] for r in results["batch_results"]] == [2 * MIB, 4 * MIB, 6 * MIB] * 2
    assert [list(s) for s in results["epoch_summaries"]] == [
        ["epoch", "batches_profiled", "total_memory_allocated", "average_batch_time"]] * 2
    assert [(s["epoch"], s["batches_profiled"], s["total_memory_allocated"]) for s in results["epoch_summaries"]] == [
        (0, 3, 12 * MIB), (1, 3, 12 * MIB)]
    assert [s["average_batch_time"] for s in results["epoch_summaries"]] == [pytest.approx(2)] * 2
    assert results["overall_summary"]["total_functions_profiled"] == 1 + 2 + 6
    empty = gpumemprof.profile_model_training(model, [])
    assert empty["epoch_summaries"] == [
        {"epoch": 0, "batches_profiled": 0, "total_memory_allocated": 0, "average_batch_time": 0.0}]


def test_modules_of_the_stand_in_are_those_that_are_wrapped():
    with installed() as torch:
        assert torch.nn.Module is tensors.Module


@pytest.mark.parametrize("name", ["profiler", "context_profiler", "cpu_profiler", "system"])
def test_examples_run(name):
    done = doctest.testmod(importlib.import_module(f"vramscope.compat.gpumemprof.{name}"))
    assert done.attempted and not done.failed
