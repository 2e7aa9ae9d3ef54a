"""Snapshots that a thread of the core takes: a list of bounded length, made when asked for."""
from __future__ import annotations

from vramscope import _core, tracker

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Monitor", "Snapshots"]

MOST = 1_000_000
_KINDS = sum(1 << tracker.KINDS.index(kind) for kind in ("sample", "start"))


class Snapshots(list["Any"]):
    """The last snapshots; `dropped` counts those before them."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped = 0


class Monitor:
    """Takes snapshots of one device, or of the process, between `start` and `stop`.

    make(interval) gives the tracker of the core; convert(event) a snapshot.
    """

    def __init__(self, make: Callable[[float], _core.Tracker],
                 convert: Callable[[tracker.Event], object], most: int = MOST) -> None:
        self._make, self._convert, self._most = make, convert, most
        self._core: _core.Tracker | None = None
        self._end: Any = None
        self._next = 0  # index of the first event that was not looked at
        self._since = 0.0
        self._lost = 0
        self._kept = Snapshots()

    @property
    def running(self) -> bool:
        """Whether snapshots are taken."""
        return self._core is not None and self._core.running

    def start(self, interval: float) -> None:
        """Begins; ignored where it runs."""
        if self.running:
            return
        self.snapshots()
        core = self._make(interval)
        if self._end is not None:
            self._end.detach()  # which else keeps the tracker before, and its samples
        self._end = tracker.end_with(self, core)
        self._core, self._next, self._since, self._lost = core, 0, 0.0, 0
        tracker.begin(core)

    def stop(self) -> None:
        """Waits for the snapshot under way; ignored where it does not run."""
        if self._core is not None and self._core.running:
            self._core.stop(False, False)

    def snapshots(self) -> Snapshots:
        """The list, with all that was taken by now."""
        core = self._core
        if core is None:
            return self._kept
        lost = core.stats()["lost_samples"]
        self._kept.dropped += lost - self._lost
        self._lost = lost
        for row in core.events(_KINDS, round(self._since * 1e6), -1):
            event = tracker.event_of(row)
            if event.index >= self._next:
                self._next, self._since = event.index + 1, event.time
                self._kept.append(self._convert(event))
        over = len(self._kept) - self._most
        if over > 0:
            del self._kept[:over]
            self._kept.dropped += over
        return self._kept

    def clear(self) -> None:
        """Forgets what was taken."""
        self.snapshots().clear()
        self._kept.dropped = 0
