"""The commands `monitor` and `track`: memory watched while they run (rows B62, B63).

They depart in two places.  A file has the name that was given.  What `monitor` sums up is what it
sampled, where the original tells of measured calls, of which there are none.
"""
from __future__ import annotations

import os
import sys
import time
from _thread import allocate_lock
from contextlib import contextmanager

from vramscope.compat import _printing
from vramscope.compat.gpumemprof.cli import (INTERRUPTED, OK, USAGE, complain, file_format,
                                             gigabytes, known, megabytes)

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["monitor", "track"]

_STATUS_OF_MONITOR, _STATUS_OF_TRACK = 5.0, 10.0  # seconds from line to line
_LONGEST_SLEEP = 1.0
_lines = allocate_lock()  # alerts come on a thread of their own


def _out(text: str) -> None:
    with _lines:
        _printing.out(text)
        if sys.stdout is not None:
            sys.stdout.flush()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A block that Ctrl-C does not cut short, so that files are whole."""
    import signal
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread, which alone is interrupted
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _wait(duration: float | None, every: float, tell: Callable[[float], None]) -> None:
    """Calls tell(seconds) at once and each time so many have passed, until the duration is over."""
    begin, told = time.monotonic(), 0
    while True:
        elapsed = time.monotonic() - begin
        if duration is not None and elapsed >= duration:
            return
        if elapsed >= told * every:
            tell(elapsed)
            told = int(elapsed // every) + 1
        left = told * every - elapsed
        if duration is not None:
            left = min(left, duration - elapsed)
        time.sleep(max(0.0, min(left, _LONGEST_SLEEP)))


def _backend() -> str:
    from vramscope.compat.gpumemprof.collectors import detect_torch_runtime_backend
    return detect_torch_runtime_backend()


def monitor(args: argparse.Namespace) -> int:
    """Samples for a while, prints where memory stands, and what it came to."""
    backend = _backend()
    on_device = backend in ("cuda", "rocm")
    _out(f"Starting memory monitoring for {args.duration} seconds...")
    _out(f"Mode: {f'GPU ({backend})' if on_device else 'CPU'}")
    _out(f"Sampling interval: {args.interval}s")
    _out("Press Ctrl+C to stop early\n")
    member = "allocated_memory" if on_device else "rss"
    size = gigabytes if on_device else megabytes
    profiler = _profiler(args.device, on_device)
    status = OK
    try:
        profiler.start_monitoring(args.interval)
        _wait(args.duration, _STATUS_OF_MONITOR, lambda elapsed: _out(
            f"Elapsed: {elapsed:.1f}s, Current Memory: "
            f"{size(getattr(profiler._take_snapshot(*_OPERATION[on_device]), member))}"))
    except KeyboardInterrupt:
        _out("\nMonitoring stopped by user")
        status = INTERRUPTED
    with _undisturbed():
        profiler.stop_monitoring()
        _sum_up(profiler, member, size)
        if args.output:
            _save_snapshots(args.output, file_format(args), list(profiler.snapshots), on_device)
    return status


_OPERATION: dict[bool, tuple[str, ...]] = {True: ("current",), False: ()}


def _profiler(device: Any, on_device: bool) -> Any:
    from vramscope.compat import gpumemprof
    if on_device:
        return gpumemprof.GPUMemoryProfiler(device, track_tensors=False)
    return gpumemprof.CPUMemoryProfiler()


def _sum_up(profiler: Any, member: str, size: Callable[[int | None], str]) -> None:
    values = [getattr(snapshot, member) for snapshot in profiler.snapshots]
    baseline = getattr(profiler._baseline_snapshot, member)
    _out("\nMonitoring Summary:")
    _out("-" * 30)
    _out(f"Snapshots collected: {len(values)}")
    _out(f"Peak memory usage: {size(max(values, default=None))}")
    _out(f"Memory change from baseline: {size(values[-1] - baseline if values else None)}")


def _save_snapshots(path: str, format: str, snapshots: list[Any], on_device: bool) -> None:
    from vramscope.compat.gpumemprof import visualizer
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    columns = visualizer.SNAPSHOT_COLUMNS if on_device else visualizer.CPU_SNAPSHOT_COLUMNS
    if format == "csv":
        visualizer.write_csv(path, columns, [[getattr(snapshot, name) for name in columns]
                                             for snapshot in snapshots])
    else:
        visualizer.write_json(path, time.strftime("%Y%m%d_%H%M%S"), [], snapshots)
    _out(f"Data saved to: {path}")


def track(args: argparse.Namespace) -> int:
    """Tells events of a device as they come, until the duration is over or Ctrl-C."""
    backend = _backend()
    on_device = backend in ("cuda", "rocm")
    from vramscope import ranks
    identity = {name: getattr(args, name) for name in ranks.FIELDS}
    try:
        _check_identity(identity)
    except ValueError as error:
        complain(str(error))
        return USAGE
    duration = args.duration or None
    _out("Starting real-time memory tracking...")
    _out(f"Device: {'current' if args.device is None else args.device}")
    _out(f"Sampling interval: {args.interval}s")
    _out(f"Duration: {'indefinite' if duration is None else f'{duration}s'}")
    _out("Press Ctrl+C to stop\n")
    make = _tracker if on_device else _host_tracker
    tracker, watchdog = make(args, identity)
    try:
        status = _follow(tracker, duration, on_device, backend)
    finally:
        with _undisturbed():
            tracker.stop_tracking()
            if on_device and tracker.last_oom_dump_path:
                _out(f"OOM flight recorder dump saved to: {tracker.last_oom_dump_path}")
    with _undisturbed():
        _tell_summary(tracker, watchdog, gigabytes if on_device else megabytes)
        if args.output:
            os.makedirs(os.path.dirname(args.output) or ".", exist_ok=True)
            tracker.export_events(args.output, file_format(args))
            _out(f"Events saved to: {args.output}")
    return status


def _check_identity(identity: dict[str, Any]) -> None:
    from vramscope.compat.gpumemprof.telemetry import resolve_distributed_identity
    resolve_distributed_identity(**identity, env=os.environ)


def _tracker(args: argparse.Namespace, identity: dict[str, Any]) -> tuple[Any, Any]:
    """A tracker that tells of alerts, and its watchdog where one is asked for."""
    from vramscope.compat import gpumemprof
    tracker = gpumemprof.MemoryTracker(
        device=args.device, sampling_interval=args.interval, enable_alerts=True,
        enable_oom_flight_recorder=args.oom_flight_recorder, oom_dump_dir=args.oom_dump_dir,
        oom_buffer_size=args.oom_buffer_size, oom_max_dumps=args.oom_max_dumps,
        oom_max_total_mb=args.oom_max_total_mb, **identity)
    if args.oom_flight_recorder:
        _out("OOM flight recorder enabled:")
        _out(f"  Dump directory: {args.oom_dump_dir}")
        _out(f"  Buffer size: {tracker.oom_buffer_size} events")
        _out(f"  Max dumps: {args.oom_max_dumps}")
        _out(f"  Max total size: {args.oom_max_total_mb} MB")
    tracker.set_threshold("memory_warning_percent", args.warning_threshold)
    tracker.set_threshold("memory_critical_percent", args.critical_threshold)
    tracker.add_alert_callback(_tell_alert)
    watchdog = None
    if args.watchdog:
        watchdog = gpumemprof.MemoryWatchdog(tracker)
        _out("Memory watchdog enabled - automatic cleanup activated")
    return tracker, watchdog


def _host_tracker(args: argparse.Namespace, identity: dict[str, Any]) -> tuple[Any, Any]:
    from vramscope.compat import gpumemprof
    tracker = gpumemprof.CPUMemoryTracker(sampling_interval=args.interval, **identity)
    _out("Running CPU memory tracker (no GPU backend available).")
    return tracker, None


def _tell_alert(event: Any) -> None:
    at = time.strftime("%H:%M:%S", time.localtime(event.timestamp))
    _out(f"[{at}] {event.event_type.upper()}: {event.context}")


def _follow(tracker: Any, duration: float | None, on_device: bool, backend: str) -> int:
    """Prints where memory stands until the end; what runs out of memory meanwhile is kept."""
    size = gigabytes if on_device else megabytes

    def tell(elapsed: float) -> None:
        told = tracker.get_statistics()
        used = told.get("memory_utilization_percent") if _knows_size(tracker) else None
        share = known(used, lambda value: f"{value:.1f}%")
        _out(f"Elapsed: {elapsed:.1f}s, Memory: {size(told.get('current_memory_allocated'))} "
             f"({share}), Peak: {size(told.get('peak_memory'))}")
    try:
        tracker.start_tracking()
        if not on_device:
            _wait(duration, _STATUS_OF_TRACK, tell)
        else:
            about = {"command": "track", "runtime_backend": backend}
            with tracker.capture_oom(context="gpumemprof.track", metadata=about):
                _wait(duration, _STATUS_OF_TRACK, tell)
    except KeyboardInterrupt:
        _out("\nTracking stopped by user")
        return INTERRUPTED
    return OK


def _knows_size(tracker: Any) -> bool:
    """Whether a share of the device can be told: its size is 0 where nobody tells it."""
    return bool(getattr(tracker, "total_memory", 0))


def _tell_summary(tracker: Any, watchdog: Any, size: Callable[[int | None], str]) -> None:
    told = tracker.get_statistics()
    _out("\nTracking Summary:")
    _out("-" * 30)
    _out(f"Total events: {told['total_events']}")
    _out(f"Peak memory: {size(told.get('peak_memory'))}")
    if watchdog is not None:
        _out(f"Automatic cleanups: {watchdog.get_cleanup_stats()['cleanup_count']}")
