"""The profiler of gpumemprof for the process's own memory on the host (row B60)."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager

from vramscope import _core, backends
from vramscope.compat.gpumemprof.monitoring import MOST, Monitor, Snapshots

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from vramscope.compat.gpumemprof.cpu_records import CPUMemorySnapshot, CPUProfileResult
    from vramscope.tracker import Event

__all__ = ["CPUMemoryProfiler"]


def __getattr__(name: str) -> object:
    """Classes of cpu_records.py, as dataclasses are not imported before, and the tracker's."""
    if name == "CPUMemoryTracker":
        from vramscope.compat.gpumemprof import cpu_tracker
        return cpu_tracker.CPUMemoryTracker
    if name not in ("CPUMemorySnapshot", "CPUProfileResult"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof import cpu_records
    return getattr(cpu_records, name)


class CPUMemoryProfiler:
    """Measures calls and blocks by the memory of the process: resident (RSS) and mapped (VMS).

    Attributes: results, of calls in their order; snapshots, of monitoring.

    >>> profiler = CPUMemoryProfiler()
    >>> profiler.profile_function(bytearray, 1 << 20).name
    'bytearray'
    """

    def __init__(self) -> None:
        self._monitor = Monitor(_make_tracker, self._monitored)
        self._before: tuple[int, int] | None = None
        self.results: list[CPUProfileResult] = []
        self._last = (time.perf_counter(), time.process_time())
        self._baseline_snapshot = self._take_snapshot()

    def _take_snapshot(self) -> CPUMemorySnapshot:
        from vramscope.compat.gpumemprof.cpu_records import CPUMemorySnapshot
        with open("/proc/self/statm", encoding="ascii") as file:
            mapped, resident = (int(pages) for pages in file.read().split()[:2])
        page = os.sysconf("SC_PAGE_SIZE")
        return CPUMemorySnapshot(time.time(), resident * page, mapped * page, self._cpu_percent())

    def _cpu_percent(self) -> float:
        """Since the snapshot before."""
        before, self._last = self._last, (time.perf_counter(), time.process_time())
        elapsed = self._last[0] - before[0]
        return round(100 * (self._last[1] - before[1]) / elapsed, 1) if elapsed > 0 else 0.0

    def profile_function(self, func: Callable[..., Any], *args: Any,
                         **kwargs: Any) -> CPUProfileResult:
        """Calls func(*args, **kwargs) once and measures it; a call that raises has no result."""
        before, began = self._take_snapshot(), time.perf_counter()
        value = func(*args, **kwargs)  # noqa: F841 - kept until the snapshot after it
        return self._result(getattr(func, "__name__", "cpu_function"), before, began)

    @contextmanager
    def profile_context(self, name: str = "context") -> Iterator[None]:
        """Measures a block; its result is the last of `results`, also where it raises."""
        before, began = self._take_snapshot(), time.perf_counter()
        try:
            yield
        finally:
            self._result(name, before, began)

    def _result(self, name: str, before: CPUMemorySnapshot, began: float) -> CPUProfileResult:
        from vramscope.compat.gpumemprof.cpu_records import CPUProfileResult
        seconds, after = time.perf_counter() - began, self._take_snapshot()
        made = CPUProfileResult(name, seconds, before, after, max(before.rss, after.rss))
        self.results.append(made)
        return made

    @property
    def snapshots(self) -> Snapshots:
        """What monitoring has taken by now: a list of the last million."""
        return self._monitor.snapshots()

    def start_monitoring(self, interval: float = 0.1) -> None:
        """Takes a snapshot each `interval` seconds, 0.001 to 3600; a second start is ignored."""
        self._monitor.start(interval)

    def stop_monitoring(self) -> None:
        """Ends it, after the snapshot under way."""
        self._monitor.stop()

    def _monitored(self, event: Event) -> CPUMemorySnapshot:
        from vramscope.compat.gpumemprof.cpu_records import CPUMemorySnapshot
        before, self._before = self._before, (event.t_ns, event.cpu_ns or 0)
        elapsed = event.t_ns - before[0] if before is not None else 0
        used = self._before[1] - before[1] if before is not None else 0
        return CPUMemorySnapshot(event.time, event.rss_bytes or 0, event.mapped_bytes or 0,
                                 round(100 * used / elapsed, 1) if elapsed > 0 else 0.0)

    def clear_results(self) -> None:
        """Forgets results and snapshots; the baseline is taken anew."""
        self._monitor.clear()
        self.results.clear()
        self._baseline_snapshot = self._take_snapshot()

    def get_summary(self) -> dict[str, Any]:
        """Peak of the snapshots and their change, from the first to the last of them."""
        taken = self.snapshots or [self._baseline_snapshot]
        return {"mode": "cpu", "snapshots_collected": len(self.snapshots),
                "peak_memory_usage": max(snapshot.rss for snapshot in taken),
                "memory_change_from_baseline": taken[-1].rss - taken[0].rss,
                "baseline_rss": self._baseline_snapshot.rss}


def _make_tracker(interval: float) -> _core.Tracker:
    return _core.Tracker(backend=backends.none(), device=0, interval=interval, capacity=MOST,
                         host=True, process=True, samples_only=True)
