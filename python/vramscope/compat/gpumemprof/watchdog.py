"""What gives cached memory back when a tracker warns (row B30).

It cannot help where live tensors fill the device: each cleanup says how many bytes it returned.
"""
from __future__ import annotations

import time

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MemoryWatchdog"]

_SECONDS_APART = 30.0
_WITH_CACHE = ("cuda", "rocm", "sim")


class MemoryWatchdog:
    """Cleans up when a tracker tells of a warning or of a critical level, 30 s apart at least.

    tracker: calls what `add_alert_callback` was given.  A standard cleanup empties the allocator's
    cache.  An aggressive one also collects garbage and waits for the device first; it follows a
    critical event, and a warning of `aggressive_cleanup_threshold` or more, as a share of the
    device.  A warning below `cleanup_threshold` is left alone.  What each returned is an event of
    kind "cleanup" and a line of the log "vramscope".

    >>> class Alerts:
    ...     backend, device = "cuda", "cuda:0"
    ...     def add_alert_callback(self, call):
    ...         self.call = call
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     device.free(device.alloc("20MiB"))
    ...     watchdog = MemoryWatchdog(Alerts())
    ...     watchdog.force_cleanup()
    ...     device.stats()["reserved_bytes"], watchdog.get_cleanup_stats()["cleanup_count"]
    (0, 1)
    """

    def __init__(self, tracker: Any, auto_cleanup: bool = True, cleanup_threshold: float = 0.9,
                 aggressive_cleanup_threshold: float = 0.95) -> None:
        self.tracker = tracker
        self.auto_cleanup = auto_cleanup
        self.cleanup_threshold = cleanup_threshold
        self.aggressive_cleanup_threshold = aggressive_cleanup_threshold
        self.cleanup_count = 0
        self.last_cleanup_time = 0.0
        self.min_cleanup_interval = _SECONDS_APART
        tracker.add_alert_callback(self._handle_alert)

    def _handle_alert(self, event: Any) -> None:
        """Cleans up if an alert asks for it; the time since the last is that of events."""
        passed = event.timestamp - self.last_cleanup_time
        if not self.auto_cleanup or 0 <= passed < self.min_cleanup_interval:
            return
        share = (event.metadata or {}).get("usage_percent") or 0.0
        critical = event.event_type == "critical"
        if critical or (event.event_type == "warning" and share >= 100 * self.cleanup_threshold):
            self._perform_cleanup(critical or share >= 100 * self.aggressive_cleanup_threshold)
            self.last_cleanup_time = event.timestamp

    def force_cleanup(self, aggressive: bool = False) -> None:
        """Cleans up now."""
        self._perform_cleanup(aggressive)
        self.last_cleanup_time = time.time()

    def get_cleanup_stats(self) -> dict[str, Any]:
        """How many cleanups there were, when the last one was, and the settings."""
        return {"cleanup_count": self.cleanup_count, "last_cleanup_time": self.last_cleanup_time,
                "auto_cleanup_enabled": self.auto_cleanup,
                "cleanup_threshold": self.cleanup_threshold,
                "aggressive_cleanup_threshold": self.aggressive_cleanup_threshold}

    def _perform_cleanup(self, aggressive: bool) -> None:
        self.cleanup_count += 1
        kind = "aggressive" if aggressive else "standard"
        try:
            returned = self._clean(aggressive)
        except Exception as error:
            self._tell("error", f"Cleanup failed: {error}", None)
            return
        amount = "an unknown number of" if returned is None else f"{returned:,}"
        self._tell("cleanup", f"Performed {kind} memory cleanup: {amount} bytes returned",
                   {"cleanup": kind, "returned_bytes": returned})

    def _clean(self, aggressive: bool) -> int | None:
        """The bytes by which the reserved memory shrank; None where that is not known."""
        import gc
        if self.tracker.backend not in _WITH_CACHE:
            if aggressive:
                gc.collect()
            return None
        from vramscope.compat import _device
        backend, number = _device.bind(self.tracker.device)
        before = backend.stats(number)
        if aggressive:
            gc.collect()
            backend.synchronize(number)
        backend.empty_cache(number)
        grown: int | None = backend._changes(before, number)["reserved_bytes"]
        return None if grown is None else max(0, -grown)

    def _tell(self, kind: str, text: str, metadata: dict[str, Any] | None) -> None:
        import logging
        logging.getLogger("vramscope").log(
            logging.WARNING if kind == "error" else logging.INFO, "watchdog: %s", text)
        add = getattr(self.tracker, "_add_event", None)
        if add is not None:
            add(kind, 0, text, metadata)
