"""Charts of what a profiler has measured, and its figures as files (row B58).

Scales, ticks, means and bins are made in C; pages need no plotting package and no network.  It
departs in two places.  A path that `export_data` returns is that of a file it has written.
Pictures in pixels are not made: a name that ends in .png is refused.
"""
from __future__ import annotations

from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike
    from typing import Any

    from vramscope.compat.gpumemprof.figure import Figure
    from vramscope.compat.gpumemprof.records import MemorySnapshot, ProfileResult

__all__ = ["MemoryVisualizer"]

_LINES, _POINTS, _BARS, _HISTOGRAM, _HEAT = range(5)
_COUNT, _BYTES, _SECONDS = range(3)
_WHOLE, _PANEL = (940, 0), (640, 360)
_NO_LABEL = ("", _COUNT)
# Metric: title, label and unit, whether a function's largest value is shown and not its mean.
_METRICS = {
    "memory_allocated": ("Mean memory allocated by function", ("mean of its calls", _BYTES), False),
    "execution_time": ("Mean execution time by function", ("mean of its calls", _SECONDS), False),
    "peak_memory": ("Peak memory by function", ("highest of its calls", _BYTES), True),
}
_RESULT_COLUMNS = ("function_name", "execution_time", "memory_allocated", "memory_freed",
                   "peak_memory", "memory_diff", "tensors_created", "tensors_deleted")
SNAPSHOT_COLUMNS = ("timestamp", "operation", "allocated_memory", "reserved_memory",
                    "active_memory", "inactive_memory", "device_id")
CPU_SNAPSHOT_COLUMNS = ("timestamp", "rss", "vms", "cpu_percent")


def _metric(result: ProfileResult, name: str) -> Any:
    return result.peak_memory_usage() if name == "peak_memory" else getattr(result, name)


def _row(result: ProfileResult) -> list[Any]:
    special = {"peak_memory": result.peak_memory_usage, "memory_diff": result.memory_diff}
    return [special[name]() if name in special else getattr(result, name)
            for name in _RESULT_COLUMNS]


def _numbered(names: Iterable[str]) -> tuple[list[str], list[int]]:
    """Names in the order of their first appearance, and the number of each."""
    ids: dict[str, int] = {}
    numbers = [ids.setdefault(str(name), len(ids)) for name in names]
    return list(ids), numbers


def _series(name: str, x: Any, y: Any, *, labels: Any = None, filled: bool = False) -> Any:
    return (name, _COUNT, False, filled, x, y, None, labels)


def _timeline(results: Iterable[ProfileResult], snapshots: Iterable[MemorySnapshot],
              size: tuple[int, int], title: str) -> str:
    moments = [(snapshot, snapshot.operation or "monitor") for snapshot in snapshots]
    for result in results:
        moments.append((result.memory_before, f"before_{result.function_name}"))
        moments.append((result.memory_after, f"after_{result.function_name}"))
    times = [moment.timestamp for moment, _ in moments]
    labels = [str(label) for _, label in moments]
    lines = [_series(name, times, [getattr(moment, member) for moment, _ in moments],
                     labels=labels, filled=member == "allocated_memory")
             for name, member in (("allocated", "allocated_memory"),
                                  ("reserved", "reserved_memory"))]
    return _core._chart(_LINES, title, ("time (s)", _SECONDS), ("", _BYTES), size, [], lines, [])


def _comparison(results: Sequence[ProfileResult], metric: str, size: tuple[int, int]) -> str:
    title, label, most = _METRICS[metric]
    functions, numbers = _numbered(result.function_name for result in results)
    values = [_metric(result, metric) for result in results]
    return _core._chart(_BARS, title, _NO_LABEL, label, size, functions,
                        [(metric, label[1], most, False, None, values, numbers, None)], [])


class MemoryVisualizer:
    """Draws what a profiler measured; each picture is a Figure, saved where a path is given.

    profiler: taken for its `results` and `snapshots` where a call is given none.  A path ends in
    .html, or in .svg where there is one chart.

    >>> from vramscope import sim
    >>> from vramscope.compat.gpumemprof import GPUMemoryProfiler
    >>> with sim.Device() as device:
    ...     profiler = GPUMemoryProfiler()
    ...     kept = profiler.profile_function(device.alloc, "20MiB")
    >>> MemoryVisualizer(profiler).plot_memory_timeline().title
    'Memory over time'
    """

    def __init__(self, profiler: Any = None) -> None:
        self.profiler = profiler

    def _given(self, values: Iterable[Any] | None, name: str) -> list[Any]:
        if values is None and self.profiler:
            values = getattr(self.profiler, name)
        return list(values or ())

    def _figure(self, title: str, charts: list[str],
                save_path: str | PathLike[str] | None) -> Figure:
        from vramscope.compat.gpumemprof.figure import Figure
        figure = Figure(title, charts)
        if save_path is not None:
            figure.save(save_path)
        return figure

    def plot_memory_timeline(self, results: Iterable[ProfileResult] | None = None,
                             snapshots: Iterable[MemorySnapshot] | None = None,
                             save_path: str | PathLike[str] | None = None,
                             interactive: bool = True) -> Figure:
        """Allocated and reserved memory over time, of snapshots and of both ends of each call.

        interactive: either way points tell their texts under the pointer.  Raises ValueError where
        there is nothing to draw.
        """
        results = self._given(results, "results")
        snapshots = self._given(snapshots, "snapshots")
        if not results and not snapshots:
            raise ValueError("No data available for plotting")
        title = "Memory over time"
        return self._figure(title, [_timeline(results, snapshots, _WHOLE, title)], save_path)

    def plot_function_comparison(self, results: Iterable[ProfileResult] | None = None,
                                 metric: str = "memory_allocated",
                                 save_path: str | PathLike[str] | None = None,
                                 interactive: bool = True) -> Figure:
        """Functions side by side, the largest first.

        metric: memory_allocated or execution_time, the mean of a function's calls; or peak_memory,
        the highest of them.  Raises ValueError for another, and where there is nothing to draw.
        """
        results = self._given(results, "results")
        if not results:
            raise ValueError("No results available for comparison")
        if metric not in _METRICS:
            raise ValueError(f"Unknown metric: {metric}")
        return self._figure(_METRICS[metric][0], [_comparison(results, metric, _WHOLE)], save_path)

    def plot_memory_heatmap(self, results: Iterable[ProfileResult] | None = None,
                            save_path: str | PathLike[str] | None = None) -> Figure:
        """Time, memory and peak of each function, the mean of its calls, shaded by column.

        Raises ValueError where there is nothing to draw.
        """
        results = self._given(results, "results")
        if not results:
            raise ValueError("No results available for heatmap")
        functions = sorted({str(result.function_name) for result in results})
        places = {name: place for place, name in enumerate(functions)}
        numbers = [places[str(result.function_name)] for result in results]
        columns: list[Any] = [
            (name, unit, False, False, None, [_metric(result, member) for result in results],
             numbers, None)
            for name, unit, member in (("execution time", _SECONDS, "execution_time"),
                                       ("memory allocated", _BYTES, "memory_allocated"),
                                       ("memory freed", _BYTES, "memory_freed"),
                                       ("peak memory", _BYTES, "peak_memory"))]
        title = "Functions and their memory"
        foot = ("mean of a function's calls; the darkest cell of a column is its largest", _COUNT)
        return self._figure(title, [_core._chart(_HEAT, title, _NO_LABEL, foot, _WHOLE, functions,
                                                 columns, [])], save_path)

    def create_dashboard(self, results: Iterable[ProfileResult] | None = None,
                         snapshots: Iterable[MemorySnapshot] | None = None,
                         save_path: str | PathLike[str] | None = None) -> Figure:
        """Four charts: memory over time, functions, how much calls allocate, time against peak."""
        results = self._given(results, "results")
        snapshots = self._given(snapshots, "snapshots")
        allocated = [result.memory_allocated for result in results]
        seconds = [result.execution_time for result in results]
        peaks = [result.peak_memory_usage() for result in results]
        names = [str(result.function_name) for result in results]
        charts = [
            _timeline(() if snapshots else results, snapshots, _PANEL, "Memory over time"),
            _comparison(results, "memory_allocated", _PANEL),
            _core._chart(_HISTOGRAM, "Memory allocated by a call", ("allocated", _BYTES),
                         ("calls", _COUNT), _PANEL, [], [_series("calls", None, allocated)], []),
            _core._chart(_POINTS, "Execution time against peak memory",
                         ("execution time (s)", _SECONDS), ("peak", _BYTES), _PANEL, [],
                         [_series("calls", seconds, peaks, labels=names)], [])]
        return self._figure("Memory of a profiled program", charts, save_path)

    def plot_cross_rank_timeline(self, events: Iterable[Any],
                                 save_path: str | PathLike[str] | None = None) -> Figure:
        """Memory used on the device of each rank of a job, on one clock, and who jumped first.

        Raises ValueError where no event has the memory used on the device.
        """
        from vramscope.compat.gpumemprof.analyzer import MemoryAnalyzer
        events = list(events)
        if not events:
            raise ValueError("No telemetry events available for cross-rank plotting")
        found = MemoryAnalyzer().analyze_cross_rank_timeline(events)
        lines = _rank_lines(events, found)
        if not lines:
            raise ValueError("No timeline points available for cross-rank plotting")
        title = "Device memory of ranks"
        if found["job_id"]:
            title += f" ({found['job_id']})"
        chart = _core._chart(_LINES, title, ("aligned time (s)", _SECONDS), ("device used", _BYTES),
                             _WHOLE, [], lines, _rank_marks(found, lines))
        return self._figure(title, [chart], save_path)

    def export_data(self, results: Iterable[ProfileResult] | None = None,
                    snapshots: Iterable[MemorySnapshot] | None = None, format: str = "csv",
                    save_path: str = "memory_profile_data") -> str:
        """Writes figures to files whose names begin with `save_path`; returns the first's path.

        format: "csv", a file of results and one of snapshots, as far as there are any; or "json",
        one file.  Names end in the time; one that is taken gets a number.  Raises ValueError for
        another format, and for csv where there is nothing to write.
        """
        import time
        from vramscope.history.recording import free_path
        results = self._given(results, "results")
        snapshots = self._given(snapshots, "snapshots")
        stamp = time.strftime("%Y%m%d_%H%M%S")
        if format == "json":
            return write_json(free_path(f"{save_path}_{stamp}.json"), stamp, results, snapshots)
        if format != "csv":
            raise ValueError(f"Unsupported format: {format}")
        tables = {"results": (_RESULT_COLUMNS, [_row(result) for result in results]),
                  "snapshots": (SNAPSHOT_COLUMNS,
                                [[getattr(snapshot, name) for name in SNAPSHOT_COLUMNS]
                                 for snapshot in snapshots])}
        written = [write_csv(free_path(f"{save_path}_{name}_{stamp}.csv"), columns, rows)
                   for name, (columns, rows) in tables.items() if rows]
        if not written:
            raise ValueError("No data available for export")
        return written[0]

    def show(self, fig: Figure) -> None:
        """Shows a figure in a notebook, else in a browser."""
        fig.show()


def _rank_lines(events: Sequence[Any], found: dict[str, Any]) -> list[Any]:
    """A line for each rank that has points, on the clock of the first."""
    from vramscope.compat.gpumemprof import analyzer
    lines = []
    for rank in found["participating_ranks"]:
        offset = found["alignment_offsets_ns"][str(rank)]
        points = [(analyzer._time_ns(event) - offset, used) for event in events
                  if (event.rank or 0) == rank and _is_of_job(event, found["job_id"])
                  and (used := analyzer._attribute(event, analyzer._OF_EVENTS["used"])) is not None]
        if points:
            lines.append(_series(f"rank {rank}", [_seconds(at) for at, _ in points],
                                 [used for _, used in points]))
    return lines


def _is_of_job(event: Any, job: str | None) -> bool:
    return job is None or event.job_id == job


def _seconds(ns: int) -> float:
    return ns / 1e9


def _rank_marks(found: dict[str, Any], lines: Sequence[Any]) -> list[Any]:
    """When the first ranks jumped, and the one that is suspected most."""
    marks: list[Any] = []
    if found["cluster_onset_timestamp_ns"] is not None:
        marks.append((_seconds(found["cluster_onset_timestamp_ns"]), None, "onset"))
    for suspect in found["first_cause_suspects"][:1]:
        name, at = f"rank {suspect['rank']}", _seconds(suspect["aligned_first_spike_timestamp_ns"])
        for line in lines:
            if line[0] == name and at in line[4]:
                marks.append((at, line[5][line[4].index(at)],
                              f"{name}: first cause ({suspect['confidence']})"))
    return marks


def write_csv(path: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table as a file that appears whole; returns the path."""
    import csv
    import io
    from vramscope import files
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    files.write_whole(path, text.getvalue())
    return path


def write_json(path: str, stamp: str, results: Sequence[ProfileResult],
                snapshots: Sequence[MemorySnapshot]) -> str:
    """Results and snapshots as one file that appears whole; returns the path."""
    import json
    from vramscope import files
    document = {"metadata": {"export_time": stamp, "num_results": len(results),
                             "num_snapshots": len(snapshots)},
                "results": [result.to_dict() for result in results],
                "snapshots": [snapshot.to_dict() for snapshot in snapshots]}
    files.write_whole(path, json.dumps(document, indent=2, default=str) + "\n")
    return path
