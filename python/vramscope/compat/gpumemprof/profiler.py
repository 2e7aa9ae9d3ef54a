"""The profiler of gpumemprof: measured calls, blocks and summaries (rows B01 to B17).

Programs written for it run after changing only the import.  It departs in three places.  Resets of
the peak go through the process's ledger, so that calls inside calls, and other profilers, have the
peaks that they would have alone.  Tensors are counted without a forced collection of garbage.
Monitoring is done by a thread of the core, which reads once for a snapshot, never waits for the
device, and keeps the last million of them.
"""
from __future__ import annotations

import sys
import time
from collections import defaultdict
from contextlib import contextmanager

from vramscope import _core
from vramscope.compat import _device
from vramscope.compat.gpumemprof import host

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from vramscope.compat.gpumemprof.monitoring import Monitor, Snapshots
    from vramscope.compat.gpumemprof.records import MemorySnapshot, ProfileResult
    from vramscope.tracker import Event

__all__ = ["GPUMemoryProfiler"]

_FRAMES = 5
_NS = 1e9


def __getattr__(name: str) -> object:
    """Classes of what is measured, which records.py has: dataclasses are not imported before."""
    if name not in ("MemorySnapshot", "ProfileResult"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof import records
    return getattr(records, name)


def gauge(backend: _core.Backend, number: int, from_reset: bool = False) -> Any:
    """What measures one device: records since the last of them, or first since the last reset."""
    return _core.Profiler(backend=backend, device=number, scope_class=_core.Scope, capacity=1,
                          enabled=True, stats=True, host=False, preserve_torch_peak=False,
                          strict=False, stack=0, synchronize=False, from_reset=from_reset)


def _stack() -> str:
    """The innermost frames of the program, outermost first, as traceback writes them."""
    import traceback
    frame = sys._getframe()
    while frame.f_back is not None and _is_between(frame.f_globals.get("__name__")):
        frame = frame.f_back
    return "".join(traceback.format_stack(frame, _FRAMES))


def _is_between(module: Any) -> bool:
    """Whether a frame is of this package, or of what runs its context managers."""
    return module == "contextlib" or str(module).split(".")[0] == "vramscope"


class _Call:
    """One measured interval, which begins when this is made and ends with `end`."""

    def __init__(self, profiler: GPUMemoryProfiler, name: str) -> None:
        self._profiler, self._name = profiler, name
        self._scope = profiler._calls.scope(str(name))
        profiler._reset_peak()
        self._scope.__enter__()
        self._before = profiler._take_snapshot(f"before_{name}")
        self._counted = profiler._count_tensors()
        self._began_ns = profiler._clock_ns()

    def wait(self) -> None:
        """Waits for the device, once; what went wrong on it is raised here, as in the original."""
        synchronize = getattr(self._profiler._backend.owner, "synchronize", None)
        if synchronize is not None:
            synchronize(self._profiler._number)

    def end(self, *, failed: bool = False) -> ProfileResult:
        """Ends it; where it `failed` nothing counts as allocated.  The result is kept."""
        from vramscope.compat.gpumemprof.records import ProfileResult
        profiler, suffix = self._profiler, f"{self._name}{'_error' if failed else ''}"
        seconds = (profiler._clock_ns() - self._began_ns) / _NS
        after = profiler._take_snapshot(f"after_{suffix}")
        self._scope.__exit__(None, None, None)
        peak = self._peak(after, f"peak_{suffix}")
        born, died = (0, 0) if failed else self._counted()
        grown = 0 if failed else after.allocated_memory - self._before.allocated_memory
        result = ProfileResult(self._name, seconds, self._before, after, peak, max(0, grown),
                               max(0, -grown), max(0, born - died), max(0, died - born))
        profiler.results.append(result)
        profiler.function_stats[self._name].append(result)
        return result

    def _peak(self, after: MemorySnapshot, operation: str) -> MemorySnapshot:
        """A snapshot of the highest values; `after` learns of them, too."""
        from dataclasses import replace
        highest = self._scope.result
        allocated = highest.peak_bytes or after.allocated_memory
        reserved = highest.reserved_peak_bytes or after.reserved_memory
        after.max_memory_allocated, after.max_memory_reserved = allocated, reserved
        return replace(after, allocated_memory=allocated, reserved_memory=reserved,
                       active_memory=highest.active_peak_bytes or after.active_memory,
                       operation=operation)


class GPUMemoryProfiler:
    """Measures calls and blocks on one device: time, memory before and after, and its peak.

    `device`: None for the current one, 0, "cuda:0" or a torch.device.  `track_tensors`: tensors are
    counted before and after each call, which looks at every object of the program.
    `track_cpu_memory`: snapshots have the memory in use on the machine.  `collect_stack_traces`:
    they have the innermost frames of the program.

    Attributes: device; results, of calls in their order; function_stats, the same by name;
    snapshots, of monitoring: the last million, whose `dropped` counts those before them.  Bytes
    that the device does not tell are 0, as in the original.

    Raises RuntimeError where `device` is None and there is none, ValueError for one that is not
    there or is none of CUDA.

    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     profiler = GPUMemoryProfiler()
    ...     result = profiler.profile_function(device.alloc, "20MiB")
    >>> result.memory_allocated, result.memory_after.allocated_memory
    (20971520, 20971520)
    """

    def __init__(self, device: Any = None, track_tensors: bool = True,
                 track_cpu_memory: bool = True, collect_stack_traces: bool = False) -> None:
        self._backend, self._number = _device.bind(device)
        self.device = _device.named("cuda", self._number)
        self.track_tensors = track_tensors
        self.track_cpu_memory = track_cpu_memory
        self.collect_stack_traces = collect_stack_traces
        self.results: list[ProfileResult] = []
        self._monitor: Monitor | None = None
        self.function_stats: dict[str, list[ProfileResult]] = defaultdict(list)
        # Snapshots show the peak since the device's last reset, calls their own.
        self._gauge = gauge(self._backend, self._number, from_reset=True)
        self._calls = gauge(self._backend, self._number)
        self._most_reserved = 0
        self._baseline_snapshot = self._take_snapshot("baseline")

    def _clock_ns(self) -> int:
        """The device's clock where it is a simulated one, else the host's."""
        now = self._backend.clock_ns()
        return time.perf_counter_ns() if now is None else now

    def _count_tensors(self) -> Callable[[], tuple[int, int]]:
        """Begins to count those on all devices; what it returns tells (born, died)."""
        if not self.track_tensors:
            return lambda: (0, 0)
        from vramscope.objects import census
        return census.begin(self._backend, None)

    def _reset_peak(self) -> None:
        self._gauge.reset()
        self._most_reserved = 0

    def _take_snapshot(self, operation: str) -> MemorySnapshot:
        """What the device says now, in one reading, which does not wait for it."""
        from vramscope.compat.gpumemprof.records import MemorySnapshot
        record = self._gauge.checkpoint("gpumemprof")
        self._most_reserved = max(self._most_reserved, record.interval_reserved_peak_bytes or 0)
        return MemorySnapshot(
            timestamp=time.time(),
            allocated_memory=record.allocated_bytes or 0,
            reserved_memory=record.reserved_bytes or 0,
            max_memory_allocated=record.peak_bytes or 0,
            max_memory_reserved=self._most_reserved,
            active_memory=record.active_bytes or 0,
            inactive_memory=record.inactive_split_bytes or 0,
            cpu_memory=host.used() if self.track_cpu_memory else 0,
            device_id=self._number,
            operation=operation,
            stack_trace=_stack() if self.collect_stack_traces else None)

    def profile_function(self, func: Callable[..., Any], *args: Any,
                         **kwargs: Any) -> ProfileResult:
        """Calls func(*args, **kwargs) once and measures it; what it returns is dropped.

        Where it raises, the result is the last of `results`, and the exception passes.
        """
        call = _Call(self, getattr(func, "__name__", str(func)))
        try:
            # Kept until the snapshot after it: what a function returns is not freed by then.
            value = func(*args, **kwargs)  # noqa: F841
            call.wait()
        except BaseException:
            call.end(failed=True)
            raise
        return call.end()

    @contextmanager
    def profile_context(self, name: str = "context") -> Iterator[None]:
        """Measures a block; its result is the last of `results`, also where it raises."""
        call = _Call(self, name)
        try:
            yield
            call.wait()
        finally:
            call.end()

    def _monitoring(self) -> Monitor:
        from vramscope.compat.gpumemprof.monitoring import Monitor
        if self._monitor is None:
            self._monitor = Monitor(self._make_tracker, self._monitored)
        return self._monitor

    @property
    def snapshots(self) -> Snapshots:
        """What monitoring has taken by now: a list."""
        return self._monitoring().snapshots()

    def start_monitoring(self, interval: float = 0.1) -> None:
        """Takes a snapshot each `interval` seconds, 0.001 to 3600, until stop_monitoring.

        A second start is ignored.  Raises ValueError for another interval.
        """
        self._monitoring().start(interval)

    def stop_monitoring(self) -> None:
        """Ends it, after the snapshot under way; ignored where there is none."""
        if self._monitor is not None:
            self._monitor.stop()

    def _make_tracker(self, interval: float) -> _core.Tracker:
        from vramscope.compat.gpumemprof.monitoring import MOST
        return _core.Tracker(backend=self._backend, device=self._number, interval=interval,
                             capacity=MOST, host=self.track_cpu_memory, process=False,
                             samples_only=True)

    def _monitored(self, event: Event) -> MemorySnapshot:
        from vramscope.compat.gpumemprof.records import MemorySnapshot
        self._most_reserved = max(self._most_reserved, event.reserved_bytes or 0)
        return MemorySnapshot(
            timestamp=event.time,
            allocated_memory=event.allocated_bytes or 0,
            reserved_memory=event.reserved_bytes or 0,
            max_memory_allocated=event.peak_bytes or 0,
            max_memory_reserved=self._most_reserved,
            active_memory=event.active_bytes or 0,
            inactive_memory=event.inactive_split_bytes or 0,
            cpu_memory=event.host_used_bytes or 0,
            device_id=self._number,
            operation="monitor")

    def get_summary(self) -> dict[str, Any]:
        """Sums over all results, and by function; a message where there is none."""
        from vramscope.compat.gpumemprof.analyzer import totals
        if not self.results:
            return {"message": "No profiling results available"}
        current = self._take_snapshot("current")
        baseline = self._baseline_snapshot.allocated_memory
        total = totals(self.results)
        return {
            "device": str(self.device),
            "total_functions_profiled": len(self.function_stats),
            "total_function_calls": len(self.results),
            "total_execution_time": total["seconds"],
            "total_memory_allocated": total["allocated"],
            "total_memory_freed": total["freed"],
            "net_memory_change": total["net"],
            "peak_memory_usage": total["peak"],
            "current_memory_usage": current.allocated_memory,
            "baseline_memory_usage": baseline,
            "memory_change_from_baseline": current.allocated_memory - baseline,
            "function_summaries": {name: _of_function(results) for name, results in
                                   self.function_stats.items() if results},
            "monitoring_active": self._monitor is not None and self._monitor.running,
            "snapshots_collected": len(self.snapshots),
        }

    def clear_results(self) -> None:
        """Forgets results and snapshots, and begins anew with a baseline and the peak of now."""
        self.results.clear()
        if self._monitor is not None:
            self._monitor.clear()
        self.function_stats.clear()
        self._reset_peak()
        self._baseline_snapshot = self._take_snapshot("new_baseline")

    def __enter__(self) -> GPUMemoryProfiler:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop_monitoring()


def _of_function(results: list[ProfileResult]) -> dict[str, Any]:
    from vramscope.compat.gpumemprof.analyzer import totals
    total = totals(results)
    return {"call_count": len(results), "total_time": total["seconds"],
            "avg_time": total["mean_seconds"], "total_memory_allocated": total["allocated"],
            "avg_memory_allocated": total["mean_allocated"], "peak_memory": total["peak"]}
