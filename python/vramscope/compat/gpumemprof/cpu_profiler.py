"""The profiler of gpumemprof for the process's own memory on the host (row B60)."""
from __future__ import annotations

import os
import time
from contextlib import contextmanager
from dataclasses import dataclass

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["CPUMemoryProfiler", "CPUMemorySnapshot", "CPUProfileResult"]


@dataclass
class CPUMemorySnapshot:
    """The memory of the process at one moment, in bytes, and its share of one core in percent."""

    timestamp: float
    rss: int
    vms: int
    cpu_percent: float

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, in their order."""
        return dict(vars(self))


@dataclass
class CPUProfileResult:
    """One measured call or block: seconds, both ends, and the higher of them."""

    name: str
    duration: float
    snapshot_before: CPUMemorySnapshot
    snapshot_after: CPUMemorySnapshot
    peak_rss: int

    def memory_diff(self) -> int:
        """Resident bytes after it less those before it."""
        return self.snapshot_after.rss - self.snapshot_before.rss

    def to_dict(self) -> dict[str, Any]:
        """Figures by name, snapshots as dicts."""
        return {"name": self.name, "duration": self.duration, "memory_diff": self.memory_diff(),
                "peak_rss": self.peak_rss, "before": self.snapshot_before.to_dict(),
                "after": self.snapshot_after.to_dict()}


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
