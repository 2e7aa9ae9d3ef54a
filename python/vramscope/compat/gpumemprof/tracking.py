"""The base of gpumemprof's trackers: events, alerts, statistics, files."""
from __future__ import annotations

import os

from vramscope import tracker
from vramscope.compat.gpumemprof import telemetry

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from vramscope.compat.gpumemprof.records import TrackingEvent
    from vramscope.tracker import Event, Handle, Tracker

__all__ = ["Tracking"]

# What the original calls the thresholds of a Tracker, with its defaults.
_THRESHOLDS = {
    "memory_warning_percent": ("warning_percent", 80.0),
    "memory_critical_percent": ("critical_percent", 95.0),
    "memory_leak_threshold": ("growth_bytes", float(100 << 20)),
    "fragmentation_threshold": ("fragmentation_ratio", 0.3),
}
_ALERTS = ("warning", "critical", "error")
_ALERT_BITS = sum(1 << tracker.KINDS.index(kind) for kind in _ALERTS)
_NS = 1e9


class _Thresholds(dict[str, float]):
    """The thresholds by name; what is set here is what the tracker compares with."""

    def __init__(self, apply: Callable[[str, float], None]) -> None:
        super().__init__({name: default for name, (_, default) in _THRESHOLDS.items()})
        self._apply = apply

    def __setitem__(self, name: str, value: float) -> None:
        if name not in _THRESHOLDS:
            raise ValueError(f"Unknown threshold: {name}")
        self._apply(name, value)
        super().__setitem__(name, value)

    def update(self, *others: Any, **values: float) -> None:
        """Sets several of them."""
        for name, value in dict(*others, **values).items():
            self[name] = value


class Identity:
    """Who a tracking process is, and how events of the core become those of the original."""

    def __init__(self, backend: str, *, process: bool = False, **given: Any) -> None:
        self.known = telemetry.resolve_distributed_identity(**given, env=os.environ)
        self.backend, self.process = backend, process

    def event(self, event: Event) -> TrackingEvent:
        """The event as the original has it: 0 where bytes are not known that it has no None for."""
        from vramscope.compat.gpumemprof.records import TrackingEvent
        metadata = dict(event.metadata)
        if event.phase:
            metadata["phase"] = list(event.phase)
        return TrackingEvent(
            timestamp=event.time, event_type=event.kind,
            memory_allocated=event.allocated_bytes or 0, memory_reserved=event.reserved_bytes or 0,
            memory_change=event.change_bytes or 0,
            device_id=-1 if self.process else event.device, context=event.context,
            metadata=metadata or None, active_memory=event.active_bytes,
            inactive_memory=event.inactive_split_bytes, device_used=event.device_used_bytes,
            device_free=event.device_free_bytes, device_total=event.device_total_bytes,
            backend=self.backend, **self.known)


class Tracking:
    """A Tracker under the names of the original."""

    def __init__(self, made: Tracker, identity: Identity, enable_alerts: bool) -> None:
        self._tracker, self._identity = made, identity
        self.alert_callbacks: list[Callable[[TrackingEvent], object]] = []
        self._handles: list[tuple[Callable[[TrackingEvent], object], list[Handle]]] = []
        self._enable_alerts = enable_alerts
        self.thresholds: dict[str, float] = _Thresholds(self._apply)
        self.enable_alerts = enable_alerts

    @property
    def distributed_identity(self) -> dict[str, Any]:
        """Job and ranks."""
        return self._identity.known

    # Running.

    @property
    def is_tracking(self) -> bool:
        """Whether it samples now."""
        return self._tracker.running

    def start_tracking(self) -> None:
        """Begins to sample; ignored where it does already."""
        self._tracker.start()

    def stop_tracking(self) -> None:
        """Ends sampling, and waits for callbacks, a second at most; ignored where it is over."""
        self._tracker.stop()

    def __enter__(self) -> Any:
        self.start_tracking()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop_tracking()

    def sample(self) -> None:
        """Takes one sample now, on this thread, while it tracks."""
        self._tracker.sample()

    def phase(self, name: str, metadata: Mapping[str, Any] | None = None) -> Any:
        """For `with`: events inside have the names of open phases in their metadata, "phase"."""
        return self._tracker.phase(name, metadata)

    def _add_event(self, event_type: str, memory_change: int, context: str,
                   metadata: Mapping[str, Any] | None = None) -> None:
        """An event of the program's, with the figures of a new sample."""
        self._tracker._note(event_type, context, metadata)

    # Events.

    @property
    def events(self) -> list[TrackingEvent]:
        """A list of what is kept, but for samples."""
        return self.get_events()

    def get_events(self, event_type: str | None = None, last_n: int | None = None,
                   since: float | None = None) -> list[TrackingEvent]:
        """Events of a type, since a time in seconds since 1970, and of those the last `last_n`.

        Without a type all but "sample", which every sample has; they are kept beside the others.
        """
        if event_type and event_type not in tracker.KINDS:
            return []
        return self._found(1 << tracker.KINDS.index(event_type) if event_type else 0, last_n, since)

    def _found(self, kinds: int, last_n: int | None, since: float | None) -> list[TrackingEvent]:
        # 0 is no limit, as in the original.
        found = self._tracker._events(kinds, last_n or None, since or None)
        return [self._identity.event(event) for event in found]

    def get_memory_timeline(self, interval: float = 1.0) -> dict[str, list[Any]]:
        """The last values in each stretch of `interval` seconds that has some."""
        line = self._tracker.timeline(interval)
        return {"timestamps": line["time"], "allocated": line["allocated_bytes"],
                "reserved": [value or 0 for value in line["reserved_bytes"]]}

    def export_events(self, filename: str, format: str = "csv") -> None:
        """Writes what is kept, samples too, as telemetry: "csv" or "json"; nothing where none is.

        Raises ValueError for another format.
        """
        if format not in ("csv", "json"):
            raise ValueError(f"Unsupported format: {format}")
        if self._tracker.stats()["events"]:
            self._tracker.export(filename, format)

    def clear_events(self) -> None:
        """Forgets events and statistics; tracking goes on."""
        self._tracker.clear()

    # Alerts.

    @property
    def enable_alerts(self) -> bool:
        """Whether thresholds are looked at."""
        return self._enable_alerts

    @enable_alerts.setter
    def enable_alerts(self, enabled: bool) -> None:
        self._enable_alerts = enabled
        for name, value in self.thresholds.items():
            self._apply(name, value)

    def _apply(self, name: str, value: float) -> None:
        self._tracker._threshold(_THRESHOLDS[name][0], value if self._enable_alerts else None)

    def set_threshold(self, threshold_name: str, value: float) -> None:
        """Sets a threshold, which arms its alert anew; ValueError for an unknown name."""
        self.thresholds[threshold_name] = value

    def add_alert_callback(self, callback: Callable[[TrackingEvent], object]) -> None:
        """callback(event) runs for each warning, critical event and error, on a thread of its own.

        Its exceptions are swallowed, and counted in get_statistics().
        """
        identity = self._identity

        def call(event: Event) -> object:
            return callback(identity.event(event))
        self.alert_callbacks.append(callback)
        self._handles.append((callback, [self._tracker.on(kind, call) for kind in _ALERTS]))

    def remove_alert_callback(self, callback: Callable[[TrackingEvent], object]) -> None:
        """Ends it; one that was not added is ignored."""
        if callback not in self.alert_callbacks:
            return
        self.alert_callbacks.remove(callback)
        place = next(i for i, (other, _) in enumerate(self._handles) if other == callback)
        for handle in self._handles.pop(place)[1]:
            handle.cancel()

    def get_alerts(self, last_n: int | None = None) -> list[TrackingEvent]:
        """Warnings, critical events and errors, the last `last_n` of them."""
        return self._found(_ALERT_BITS, last_n, None)

    # Statistics.

    @property
    def stats(self) -> dict[str, Any]:
        """The sums so far; "allocations" are samples at which more was allocated than before."""
        return _sums(self._tracker.stats())

    def _statistics(self) -> dict[str, Any]:
        """Those that need no device."""
        known = self._tracker.stats()
        sums, seconds = _sums(known), known["duration_ns"] / _NS
        return {
            **sums,
            "total_events": known["events"],
            "events_last_hour": known["events_last_hour"],
            "current_memory_allocated": known["allocated_bytes"] or 0,
            "current_memory_reserved": known["reserved_bytes"] or 0,
            "average_allocation_size":
                sums["total_allocation_bytes"] / max(sums["total_allocations"], 1),
            "average_deallocation_size":
                sums["total_deallocation_bytes"] / max(sums["total_deallocations"], 1),
            "tracking_duration_seconds": seconds,
            "allocations_per_second": sums["total_allocations"] / max(seconds, 1),
            "bytes_allocated_per_second": sums["total_allocation_bytes"] / max(seconds, 1),
            **{name: known[name] for name in ("callback_errors", "callback_error", "lost_events",
                                              "lost_callbacks")},
        }


def _sums(known: Mapping[str, Any]) -> dict[str, Any]:
    return {"peak_memory": known["peak_bytes"] or 0,
            "total_allocations": known["growth_samples"],
            "total_deallocations": known["shrink_samples"],
            "total_allocation_bytes": known["growth_bytes"],
            "total_deallocation_bytes": known["shrink_bytes"],
            "alert_count": known["alerts"],
            "tracking_start_time": known["started"],
            "last_memory_check": known["last_sample"] or 0}
