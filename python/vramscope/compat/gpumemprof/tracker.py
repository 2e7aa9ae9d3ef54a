"""The tracker of gpumemprof: events and alerts of a device while a program runs (rows B20 to B29).

Programs written for it run after changing only the import.  It departs in five places.  A thread of
the core samples, and never waits for the device; callbacks run on a thread of their own.  What the
device uses is what its driver says, or None.  An alert is told once, until its value has fallen two
points below.  What was allocated before tracking began is no allocation.  The last events go to the
flight recorder when memory runs out, not each when it happens.
"""
from __future__ import annotations

import sys
from contextlib import contextmanager

from vramscope import tracker
from vramscope.compat import _device
from vramscope.compat.gpumemprof.tracking import Identity, Tracking

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from vramscope.compat.gpumemprof.collectors import DeviceMemoryCollector

__all__ = ["MemoryTracker"]

# In the order of the original.
_STATISTICS = ("peak_memory", "total_allocations", "total_deallocations", "total_allocation_bytes",
               "total_deallocation_bytes", "alert_count", "tracking_start_time",
               "last_memory_check", "total_events", "events_last_hour", "backend",
               "oom_flight_recorder_enabled", "last_oom_dump_path", "current_memory_allocated",
               "current_memory_reserved", "memory_utilization_percent", "average_allocation_size",
               "average_deallocation_size", "tracking_duration_seconds", "allocations_per_second",
               "bytes_allocated_per_second")


def __getattr__(name: str) -> object:
    """TrackingEvent, of records.py: dataclasses are not imported before."""
    if name != "TrackingEvent":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof.records import TrackingEvent
    return TrackingEvent


class _Collected:
    """A backend of the core over a collector of the program's."""

    def __init__(self, collector: DeviceMemoryCollector) -> None:
        self._collector = collector

    def count(self) -> int:
        """The collector's device alone."""
        return 1

    def stats(self, device: int) -> dict[str, int]:
        """Its sample, under the keys of torch."""
        sample = self._collector.sample()
        told = {"allocated": sample.allocated_bytes, "reserved": sample.reserved_bytes,
                "active": sample.active_bytes, "inactive_split": sample.inactive_bytes}
        return {f"{name}_bytes.all.current": value for name, value in told.items()
                if value is not None}

    def memory(self, device: int) -> tuple[int | None, int | None]:
        """Free and total bytes."""
        sample = self._collector.sample()
        return sample.free_bytes, sample.total_bytes


class MemoryTracker(Tracking):
    """Samples a device on a thread of its own, and tells growth, peaks and alerts as events.

    `device`: None for the current one, 0, "cuda:0" or a torch.device.  `sampling_interval`: 0.001
    to 3600 seconds.  `max_events`: that are kept.  `enable_oom_flight_recorder`: handle_exception
    writes a bundle into `oom_dump_dir`, where at most `oom_max_dumps` and `oom_max_total_mb` stay.
    `job_id` and ranks: the launcher's variables where they are None.  `collector`: what is read in
    place of the process's backend.

    Attributes: device, backend, thresholds, alert_callbacks, last_oom_dump_path, and those above.

    Raises ValueError for an interval or a number of events that is not above 0, RuntimeError where
    there is no device.

    >>> from vramscope import sim
    >>> with sim.Device("1GiB") as device, MemoryTracker(sampling_interval=60) as tracker:
    ...     kept = device.alloc("900MiB")
    ...     tracker.sample()
    >>> tracker.get_alerts()[0].context
    'WARNING: Memory usage at 87.9%'
    """

    def __init__(self, device: Any = None, sampling_interval: float = 0.1, max_events: int = 10000,
                 enable_alerts: bool = True, enable_oom_flight_recorder: bool = False,
                 oom_dump_dir: str = "oom_dumps", oom_buffer_size: int | None = None,
                 oom_max_dumps: int = 5, oom_max_total_mb: int = 256, job_id: str | None = None,
                 rank: int | None = None, local_rank: int | None = None,
                 world_size: int | None = None, *,
                 collector: DeviceMemoryCollector | None = None) -> None:
        if not sampling_interval > 0:
            raise ValueError("sampling_interval must be > 0")
        if max_events <= 0:
            raise ValueError("max_events must be >= 1")
        backend = self._choose(device, collector)
        identity = Identity(self.backend, job_id=job_id, rank=rank, local_rank=local_rank,
                            world_size=world_size)
        made = tracker.Tracker(self._number, interval=sampling_interval, capacity=max_events,
                               backend=backend, **identity.known)
        made._collector = f"gpumemprof.{self.backend}_tracker"
        super().__init__(made, identity, enable_alerts)
        self.sampling_interval, self.max_events = sampling_interval, max_events
        self.last_oom_dump_path: str | None = None
        size = oom_buffer_size if oom_buffer_size and oom_buffer_size > 0 else max_events
        self._recorder: dict[str, Any] = {
            "enabled": enable_oom_flight_recorder, "dump_dir": oom_dump_dir,
            "buffer_size": size, "max_dumps": oom_max_dumps, "max_total_mb": oom_max_total_mb}

    def _choose(self, device: Any, collector: DeviceMemoryCollector | None) -> Any:
        """The backend to be read; names it and its device."""
        self._collector, self._number = collector, 0
        if collector is not None:
            self.backend = collector.name()
            self.device = getattr(collector, "device", device)
            return _Collected(collector)
        backend, self._number = _device.bind(device)
        self.backend = _kind(backend)
        self.device = _device.named("cuda", self._number)
        return backend

    @property
    def collector(self) -> DeviceMemoryCollector:
        """What the device can be read with by hand: the one given, or the backend's."""
        if self._collector is None:
            from vramscope.compat.gpumemprof import collectors
            build: Any = getattr(collectors, "build_device_memory_collector")
            self._collector = build(self.device)
        made: DeviceMemoryCollector = self._collector
        return made

    @property
    def collector_capabilities(self) -> dict[str, Any]:
        """What the collector can tell."""
        return self.collector.capabilities()

    @property
    def total_memory(self) -> int:
        """Bytes of the device; 0 where nobody tells."""
        told = self._tracker.stats()["device_total_bytes"]
        if told is None:
            told = self._tracker._core.backend.memory(self._number)[1]
        return told or 0

    @property
    def oom_buffer_size(self) -> int:
        """How many of the last events a bundle has."""
        size: int = self._recorder["buffer_size"]
        return size

    def get_statistics(self) -> dict[str, Any]:
        """`stats`, what is kept, present values, and averages.

        Besides those of the original: callback_errors, callback_error, lost_events, lost_callbacks.
        """
        told, total = self._statistics(), self.total_memory
        used = self._tracker.stats()["device_used_bytes"]
        if used is None:
            used = told["current_memory_allocated"]
        told.update({"backend": self.backend,
                     "oom_flight_recorder_enabled": self._recorder["enabled"],
                     "last_oom_dump_path": self.last_oom_dump_path,
                     "memory_utilization_percent": used / total * 100 if total else 0})
        return {name: told[name] for name in (*_STATISTICS, *told)}

    def handle_exception(self, exc: BaseException, context: str | None = None,
                         metadata: Mapping[str, Any] | None = None) -> str | None:
        """Writes a bundle where the exception says that memory ran out; its path, or None.

        None too where the recorder is off, or the bundle cannot be written.
        """
        if not self._recorder["enabled"]:
            return None
        import importlib
        oom_recorder: Any = importlib.import_module("vramscope.compat.gpumemprof.oom_recorder")
        is_oom, reason = oom_recorder.classify_oom_exception(exc)
        if not is_oom:
            return None
        self._add_event("error", 0, f"OOM detected ({reason})", {"oom_reason": reason})
        recorder = oom_recorder.OOMFlightRecorder(
            oom_recorder.OOMFlightRecorderConfig(**self._recorder))
        for event in self.get_events(last_n=self.oom_buffer_size):
            recorder.record(event)
        path: str | None = recorder.dump(reason=reason, exception=exc, context=context,
                                         backend=self.backend,
                                         metadata={**self._told(), **(metadata or {})})
        self.last_oom_dump_path = path or self.last_oom_dump_path
        return path

    def _told(self) -> dict[str, Any]:
        """What a bundle says of the tracker and of the device."""
        last = self.get_events("sample", 1)
        told = {} if not last else {
            "sample_allocated_bytes": last[0].memory_allocated,
            "sample_reserved_bytes": last[0].memory_reserved,
            "sample_used_bytes": last[0].device_used, "sample_free_bytes": last[0].device_free,
            "sample_total_bytes": last[0].device_total, "sample_device_id": last[0].device_id}
        return {"tracker_stats": self.get_statistics(), "total_memory_bytes": self.total_memory,
                "sampling_interval_s": self.sampling_interval, **self._identity.known, **told}

    @contextmanager
    def capture_oom(self, context: str = "runtime",
                    metadata: Mapping[str, Any] | None = None) -> Iterator[None]:
        """A block whose failure for lack of memory leaves a bundle; the exception passes."""
        try:
            yield
        except Exception as error:
            try:
                self.handle_exception(error, context=context, metadata=metadata)
            except Exception as ours:  # which must not stand before the program's
                import logging
                logging.getLogger("vramscope").warning(
                    "no bundle of an out-of-memory error: %s: %s", type(ours).__name__, ours)
            raise


def _kind(backend: Any) -> str:
    """What the original calls the devices of a backend."""
    if backend.name != "torch":
        return str(backend.name)
    version = getattr(sys.modules.get("torch"), "version", None)
    return "rocm" if getattr(version, "hip", None) else "cuda"
