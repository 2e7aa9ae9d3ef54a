"""GPUMemoryProfiler on the simulated device: rows B01 to B09 and B11 to B17.

The peaks that a call inside a call, or another profiler, would destroy in the original are those
that each has alone.
"""
import gc
import inspect
import os
import threading

import pytest
import stand_in
from stand_in import installed
from stand_in.counters import SimCounters
from vramscope import sim
from vramscope.compat.gpumemprof import GPUMemoryProfiler, host
from vramscope.compat.gpumemprof.records import MemorySnapshot

MIB = 1 << 20
SUMMARY = ["device", "total_functions_profiled", "total_function_calls", "total_execution_time", "total_memory_allocated",
           "total_memory_freed", "net_memory_change", "peak_memory_usage", "current_memory_usage", "baseline_memory_usage",
           "memory_change_from_baseline", "function_summaries", "monitoring_active", "snapshots_collected"]
OF_FUNCTION = ["call_count", "total_time", "avg_time", "total_memory_allocated", "avg_memory_allocated", "peak_memory"]


@pytest.fixture
def device():
    with sim.Device() as made:
        yield made


def with_spike(device, keeps, spike):
    """A function that needs `spike` for a moment and keeps `keeps`, in MiB; and what it keeps."""
    held = []

    def work(*args, **kwargs):
        device.free(device.alloc(spike * MIB))
        if keeps:
            held.append(device.alloc(keeps * MIB))
        device.advance(250_000_000)
        return args, kwargs
    return work, held


def test_attributes_B01(device):
    kept = device.alloc(20 * MIB)
    profiler = GPUMemoryProfiler()
    assert str(profiler.device) == "cuda:0" and profiler.device.index == 0 and profiler.device.type == "cuda"
    assert (profiler.results, profiler.snapshots, profiler.function_stats) == ([], [], {})
    assert (profiler.track_tensors, profiler.track_cpu_memory, profiler.collect_stack_traces) == (True, True, False)
    baseline = profiler._baseline_snapshot
    assert baseline.operation == "baseline" and baseline.allocated_memory == kept.bytes


class Typed:
    """As much of a torch.device as is looked at."""

    def __init__(self, type, index=None):
        self.type, self.index = type, index


@pytest.mark.parametrize("form, number", [(None, 1), ("cuda:0", 0), ("cuda:2", 2), ("cuda", 1), (0, 0), (2, 2),
                                          (Typed("cuda", 2), 2), (Typed("cuda"), 1)])
def test_forms_of_a_device_B02(form, number):
    with sim.Device(count=3) as device:
        device.current = 1
        kept = device.alloc(20 * MIB, device=number)
        profiler = GPUMemoryProfiler(form)
        assert str(profiler.device) == f"cuda:{number}"
        assert profiler._take_snapshot("x").allocated_memory == kept.bytes
        assert profiler._take_snapshot("x").device_id == number


@pytest.mark.parametrize("form", [3, -1, "cuda:3", "cpu", "cuda:x", "cuda:-1", "", "gpu:0", Typed("cpu"), Typed("cuda", 3), 1.5, [0]])
def test_devices_that_there_are_not_B02(form):
    with sim.Device(count=3), pytest.raises(ValueError):
        GPUMemoryProfiler(form)


def test_no_device_at_all_B02():
    with pytest.raises(RuntimeError, match="CUDA is not available"):
        GPUMemoryProfiler()
    for form in ("cuda", "cuda:0", 0):
        with pytest.raises(ValueError, match="not available"):
            GPUMemoryProfiler(form)
    with installed(driver=False):
        with pytest.raises(RuntimeError, match="CUDA is not available"):
            GPUMemoryProfiler()
        with pytest.raises(ValueError, match="not available"):
            GPUMemoryProfiler("cuda:0")


def test_devices_of_torch_B02():
    """Before CUDA is initialised, which the profiler does not do, the number of devices is asked."""
    with installed(devices=[stand_in.Counters(), stand_in.Counters()]) as torch:
        assert GPUMemoryProfiler(torch.device("cuda:1")).device == torch.device("cuda:1")
        assert isinstance(GPUMemoryProfiler().device, torch.device) and not torch.cuda.is_initialized()
        with pytest.raises(ValueError):
            GPUMemoryProfiler(2)


def test_a_call_B05_B06_B07(device):
    profiler = GPUMemoryProfiler()
    resident = device.alloc(100 * MIB)
    work, held = with_spike(device, 40, 300)
    result = profiler.profile_function(work, 1, two=3)
    assert profiler.results == [result] and profiler.function_stats == {"work": [result]}
    assert (result.function_name, result.memory_allocated, result.memory_freed) == ("work", 40 * MIB, 0)
    assert result.memory_diff() == 40 * MIB and result.peak_memory_usage() == resident.bytes + 300 * MIB
    # A quarter of a second of the device's clock, and a microsecond for each of its events.
    assert 0.25 <= result.execution_time < 0.2501
    assert (result.tensors_created, result.tensors_deleted, result.call_count) == (1, 0, 1)
    freed = profiler.profile_function(lambda: device.free(held.pop()))
    assert (freed.function_name, freed.memory_allocated, freed.memory_freed, freed.memory_diff()) == ("<lambda>", 0, 40 * MIB, -40 * MIB)
    assert (freed.tensors_created, freed.tensors_deleted) == (0, 1)


def test_the_value_of_a_function_lives_until_it_is_measured_B05(device):
    result = GPUMemoryProfiler().profile_function(device.alloc, 20 * MIB)
    assert result.memory_allocated == 20 * MIB and result.tensors_created == 1
    assert device.stats()["allocated_bytes"] == 0


def test_labels_and_snapshots_B03_B04(device):
    profiler = GPUMemoryProfiler()
    resident = device.alloc(100 * MIB)
    device.free(device.alloc(400 * MIB))
    work, held = with_spike(device, 40, 300)
    result = profiler.profile_function(work)
    before, after, peak = result.memory_before, result.memory_after, result.memory_peak
    assert [s.operation for s in (before, peak, after)] == ["before_work", "peak_work", "after_work"]
    assert all(type(s) is MemorySnapshot and s.device_id == 0 and s.stack_trace is None for s in (before, peak, after))
    stats = device.stats()
    assert before.allocated_memory == before.max_memory_allocated == before.active_memory == resident.bytes
    assert after.allocated_memory == stats["allocated_bytes"] and after.reserved_memory == stats["reserved_bytes"]
    assert after.inactive_memory == stats["inactive_split_bytes"] > 0  # 40 of 400 MiB are used: the rest is a split
    assert after.max_memory_allocated == peak.max_memory_allocated == peak.allocated_memory == 400 * MIB
    assert peak.active_memory == 400 * MIB and peak.reserved_memory == after.max_memory_reserved == stats["reserved_bytes"]
    assert before.timestamp <= after.timestamp <= peak.timestamp


def test_snapshots_outside_of_calls_show_the_peak_since_the_last_reset_B04(device):
    device.free(device.alloc(700 * MIB))
    profiler = GPUMemoryProfiler()
    assert profiler._baseline_snapshot.max_memory_allocated == profiler._baseline_snapshot.max_memory_reserved == 700 * MIB
    device.empty_cache()
    profiler.clear_results()
    assert profiler._baseline_snapshot.max_memory_allocated == profiler._baseline_snapshot.max_memory_reserved == 0


def test_a_block_B08(device):
    profiler = GPUMemoryProfiler()
    with profiler.profile_context(name="load") as given:
        kept = device.alloc(30 * MIB)
        device.free(device.alloc(90 * MIB))
    assert given is None
    with profiler.profile_context():
        device.free(kept)
    first, second = profiler.results
    assert (first.function_name, first.memory_allocated, first.peak_memory_usage()) == ("load", 30 * MIB, 120 * MIB)
    assert (second.function_name, second.memory_freed) == ("context", 30 * MIB)
    assert [s.operation for s in (first.memory_before, first.memory_peak, first.memory_after)] == [
        "before_load", "peak_load", "after_load"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_call_that_raises_B09(device, error):
    profiler, kept = GPUMemoryProfiler(), []

    def buggy():
        kept.append(device.alloc(30 * MIB))
        device.free(device.alloc(90 * MIB))
        raise error("of the program")

    with pytest.raises(error, match="of the program") as raised:
        profiler.profile_function(buggy)
    assert raised.value.__context__ is None
    result = profiler.results[-1]
    assert profiler.function_stats["buggy"] == [result]
    assert (result.memory_before.operation, result.memory_after.operation, result.memory_peak.operation) == (
        "before_buggy", "after_buggy_error", "peak_buggy_error")
    assert (result.memory_allocated, result.memory_freed, result.tensors_created, result.tensors_deleted) == (0, 0, 0, 0)
    assert result.memory_after.allocated_memory == 30 * MIB and result.peak_memory_usage() == 120 * MIB


def test_a_block_that_raises_is_measured_B08(device):
    profiler = GPUMemoryProfiler()
    with pytest.raises(KeyError), profiler.profile_context("fails"):
        kept = device.alloc(30 * MIB)
        raise KeyError
    assert (profiler.results[-1].memory_allocated, profiler.results[-1].memory_after.operation) == (kept.bytes, "after_fails")


def test_no_memory_is_an_error_as_any_other_B09():
    with sim.Device("100MiB") as device:
        profiler = GPUMemoryProfiler()
        with pytest.raises(sim.OutOfMemoryError):
            profiler.profile_function(device.alloc, "1GiB")
        assert profiler.results[-1].memory_after.operation == "after_alloc_error"


def test_calls_inside_calls_have_their_own_peaks_B05(device):
    """Fixed: the inner call's reset destroys the outer one's peak in the original."""
    profiler = GPUMemoryProfiler()
    inner, _ = with_spike(device, 0, 10)

    def outer():
        device.free(device.alloc(500 * MIB))
        profiler.profile_function(inner)
        with profiler.profile_context("block"):
            device.free(device.alloc(50 * MIB))

    profiler.profile_function(outer)
    assert [(r.function_name, r.peak_memory_usage() // MIB) for r in profiler.results] == [("work", 10), ("block", 50), ("outer", 500)]
    assert profiler.results[-1].memory_after.max_memory_allocated == 500 * MIB


def test_profilers_and_threads_do_not_disturb_each_other_B05(device):
    """Fixed: each reset of one destroys the peak of the other."""
    profiler, begun, done = GPUMemoryProfiler(), threading.Event(), threading.Event()

    def others():
        mine = GPUMemoryProfiler()
        while not done.is_set():
            mine.profile_function(lambda: None)
            mine.clear_results()
            begun.set()

    thread = threading.Thread(target=others)
    thread.start()
    try:
        assert begun.wait(30)
        work, _ = with_spike(device, 0, 300)
        peaks = {profiler.profile_function(work).peak_memory_usage() for _ in range(50)}
    finally:
        done.set()
        thread.join()
    assert peaks == {300 * MIB}


def test_summary_B11(device):
    profiler = GPUMemoryProfiler()
    assert profiler.get_summary() == {"message": "No profiling results available"}
    work, held = with_spike(device, 40, 300)
    for _ in range(2):
        profiler.profile_function(work)
    with profiler.profile_context("free"):
        device.advance(3_000_000_000)
        device.free(held.pop())
    summary = profiler.get_summary()
    assert list(summary) == SUMMARY and [list(f) for f in summary["function_summaries"].values()] == [OF_FUNCTION] * 2
    seconds = [result.execution_time for result in profiler.results]
    assert sum(seconds) >= 3
    assert summary["function_summaries"]["work"] == {
        "call_count": 2, "total_time": sum(seconds[:2]), "avg_time": sum(seconds[:2]) / 2, "total_memory_allocated": 80 * MIB,
        "avg_memory_allocated": 40 * MIB, "peak_memory": 340 * MIB}
    assert {name: summary[name] for name in SUMMARY if name != "function_summaries"} == {
        "device": "cuda:0", "total_functions_profiled": 2, "total_function_calls": 3, "total_execution_time": pytest.approx(sum(seconds)),
        "total_memory_allocated": 80 * MIB, "total_memory_freed": 40 * MIB, "net_memory_change": 40 * MIB,
        "peak_memory_usage": 340 * MIB, "current_memory_usage": 40 * MIB, "baseline_memory_usage": 0,
        "memory_change_from_baseline": 40 * MIB, "monitoring_active": False, "snapshots_collected": 0}


def test_summary_of_what_was_there_before_and_freed_again_B11(device):
    before = device.alloc(30 * MIB)
    profiler, held = GPUMemoryProfiler(), []

    def step():
        held.append(device.alloc(40 * MIB)) if not held else device.free(held.pop())
    for _ in range(3):
        profiler.profile_function(step)
    summary = profiler.get_summary()
    assert (summary["baseline_memory_usage"], summary["memory_change_from_baseline"]) == (30 * MIB, 40 * MIB)
    assert summary["current_memory_usage"] == 70 * MIB and before.live
    assert summary["function_summaries"]["step"]["total_memory_allocated"] == 80 * MIB


def test_clear_results_B12(device):
    profiler = GPUMemoryProfiler()
    work, held = with_spike(device, 40, 300)
    results = profiler.results
    profiler.profile_function(work)
    profiler.clear_results()
    assert profiler.results is results and (results, profiler.snapshots, profiler.function_stats) == ([], [], {})
    baseline = profiler._baseline_snapshot
    assert (baseline.operation, baseline.allocated_memory, baseline.max_memory_allocated) == ("new_baseline", 40 * MIB, 40 * MIB)
    assert profiler.get_summary() == {"message": "No profiling results available"}


def test_tensors_of_torch_are_counted_B13():
    with installed(devices=[SimCounters(sim.Device())]) as torch:
        torch.cuda.init()
        profiler, kept = GPUMemoryProfiler(), [torch.randn(10).cuda()]
        result = profiler.profile_function(lambda: kept.extend([torch.randn(512).cuda(), torch.randn(512).cuda(), torch.randn(512)]))
        assert (result.tensors_created, result.tensors_deleted, result.memory_allocated) == (2, 0, 4096)
        result = profiler.profile_function(kept.clear)
        assert (result.tensors_created, result.tensors_deleted, result.memory_freed) == (0, 3, 4096 + 512)
        untracked = GPUMemoryProfiler(track_tensors=False).profile_function(lambda: kept.append(torch.randn(10).cuda()))
        assert (untracked.tensors_created, untracked.memory_allocated) == (0, 512)


def test_no_garbage_is_collected_B13(device):
    """Fixed: the original collects before each count."""
    collections = []
    gc.callbacks.append(lambda phase, info: collections.append(info["generation"]))
    try:
        GPUMemoryProfiler().profile_function(lambda: None)
    finally:
        gc.callbacks.pop()
    assert 2 not in collections


class CountingTorch:
    """How often torch is asked for what costs: waiting, tables of statistics, resets."""

    def __init__(self, torch):
        self.counts = {}
        for module, name in ((torch.cuda, "synchronize"), (torch._C, "_cuda_memoryStats"), (torch._C, "_cuda_resetPeakMemoryStats"),
                             (torch.cuda.memory, "memory_stats"), (torch.cuda, "memory_allocated")):
            setattr(module, name, self.counting(name, getattr(module, name)))

    def counting(self, name, call):
        def counted(*args):
            self.counts[name] = self.counts.get(name, 0) + 1
            return call(*args)
        return counted


def test_the_device_is_waited_for_once_B05():
    """After the function; a snapshot is one table, where the original makes six and waits for the device each time."""
    with installed(devices=[SimCounters(sim.Device())]) as torch:
        torch.cuda.init()
        counting = CountingTorch(torch)
        profiler = GPUMemoryProfiler()
        assert counting.counts == {"_cuda_memoryStats": 2}  # one to begin the interval, one for the snapshot
        profiler.profile_function(lambda: None)
        assert counting.counts["synchronize"] == 1 and set(counting.counts) <= {
            "_cuda_memoryStats", "_cuda_resetPeakMemoryStats", "synchronize"}
        assert counting.counts["_cuda_memoryStats"] <= 2 + 5 and "_cuda_resetPeakMemoryStats" not in counting.counts
        with profiler.profile_context():
            pass
        assert counting.counts["synchronize"] == 2


def test_what_fails_on_the_device_is_raised_by_the_call_B09():
    """Kernels run after the function has returned: their errors are known when the device is waited for."""
    with installed(devices=[SimCounters(sim.Device())]) as torch:
        torch.cuda.init()
        profiler = GPUMemoryProfiler()

        def broken(device=None):
            raise RuntimeError("device-side assert triggered")

        torch.cuda.synchronize = broken
        with pytest.raises(RuntimeError, match="device-side"):
            profiler.profile_function(lambda: None)
        with pytest.raises(RuntimeError, match="device-side"), profiler.profile_context("block"):
            pass
        assert [r.memory_after.operation for r in profiler.results] == ["after_<lambda>_error", "after_block"]


def called_from_here(profiler, function):
    return profiler.profile_function(function)


def test_stack_traces_B14(device):
    profiler = GPUMemoryProfiler(collect_stack_traces=True)
    result = called_from_here(profiler, lambda: None)
    with profiler.profile_context():
        pass
    for snapshot in (result.memory_before, result.memory_after):
        assert snapshot.stack_trace.count("  File ") == 5
        assert "return profiler.profile_function(function)" in snapshot.stack_trace.splitlines()[-1]
    block = profiler.results[-1].memory_before.stack_trace
    assert "with profiler.profile_context():" in block.splitlines()[-1] and "contextlib" not in block


def test_memory_of_the_host_B15(device, monkeypatch):
    assert GPUMemoryProfiler(track_cpu_memory=False)._baseline_snapshot.cpu_memory == 0
    total = host.meminfo()["MemTotal"]
    assert total == pytest.approx(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), rel=1e-3)
    assert 0 < GPUMemoryProfiler()._baseline_snapshot.cpu_memory < total
    figures = {"MemTotal": 1000, "MemFree": 300, "Buffers": 50, "Cached": 250, "SReclaimable": 100}
    monkeypatch.setattr(host, "meminfo", lambda: figures)
    assert host.used() == 300
    figures["Cached"] = 900  # pages of shared memory are counted twice: no less than nothing is in use
    assert host.used() == 700


def test_reserved_less_allocated_is_told_apart_B16(device):
    """The original calls all of it fragmentation; a snapshot has the parts."""
    kept, cached = device.alloc(21 * MIB), device.alloc(60 * MIB)
    split = device.alloc(5 * MIB)  # of a segment of 20 MiB
    device.free(cached)
    snapshot = GPUMemoryProfiler()._baseline_snapshot
    record_cached = snapshot.reserved_memory - snapshot.active_memory
    assert record_cached - snapshot.inactive_memory == 60 * MIB and snapshot.inactive_memory > 0
    assert snapshot.active_memory == kept.block_bytes + split.block_bytes


def test_with_B17(device):
    with GPUMemoryProfiler() as profiler:
        assert type(profiler) is GPUMemoryProfiler
        profiler.profile_function(lambda: None)
    assert len(profiler.results) == 1
    with pytest.raises(KeyError), GPUMemoryProfiler():
        raise KeyError


def test_signatures():
    def told(call):
        return str(inspect.signature(call).replace(return_annotation=inspect.Signature.empty, parameters=[
            p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(call).parameters.values()]))
    assert told(GPUMemoryProfiler) == "(device=None, track_tensors=True, track_cpu_memory=True, collect_stack_traces=False)"
    assert told(GPUMemoryProfiler.profile_function) == "(self, func, *args, **kwargs)"
    assert told(GPUMemoryProfiler.profile_context) == "(self, name='context')"
