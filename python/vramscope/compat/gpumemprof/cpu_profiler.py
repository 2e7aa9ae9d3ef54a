"""The profiler of gpumemprof for the process's own memory on the host (row B60)."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from vramscope.compat.gpumemprof.cpu_records import CPUMemorySnapshot, CPUProfileResult

__all__ = ["CPUMemoryProfiler"]


def __getattr__(name: str) -> object:
    """Classes of what is measured, of cpu_records.py: dataclasses are not imported before."""
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
        self.snapshots: list[CPUMemorySnapshot] = []
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

    def clear_results(self) -> None:
        """Forgets results and snapshots; the baseline is taken anew."""
        self.snapshots.clear()
        self.results.clear()
        self._baseline_snapshot = self._take_snapshot()

    def get_summary(self) -> dict[str, Any]:
        """Peak of the snapshots and their change, from the first to the last of them."""
        taken = self.snapshots or [self._baseline_snapshot]
        return {"mode": "cpu", "snapshots_collected": len(self.snapshots),
                "peak_memory_usage": max(snapshot.rss for snapshot in taken),
                "memory_change_from_baseline": taken[-1].rss - taken[0].rss,
                "baseline_rss": self._baseline_snapshot.rss}
