"""The tracker of gpumemprof for the process's own memory on the host (row B60)."""
from __future__ import annotations

from vramscope import tracker
from vramscope.compat.gpumemprof.tracking import Identity, Tracking

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CPUMemoryTracker"]


class CPUMemoryTracker(Tracking):
    """Samples the resident memory of the process, and tells growth and peaks as events.

    Its events have the device -1, and the resident bytes as allocated and as reserved.  Job and
    ranks are the launcher's variables where they are None.  Raises ValueError for an interval or a
    number of events that is not above 0.

    >>> with CPUMemoryTracker(sampling_interval=60) as tracker:
    ...     tracker.sample()
    >>> tracker.get_statistics()["mode"]
    'cpu'
    """

    def __init__(self, sampling_interval: float = 0.5, max_events: int = 10_000,
                 enable_alerts: bool = True, job_id: str | None = None, rank: int | None = None,
                 local_rank: int | None = None, world_size: int | None = None) -> None:
        if not sampling_interval > 0:
            raise ValueError("sampling_interval must be > 0")
        if max_events <= 0:
            raise ValueError("max_events must be >= 1")
        identity = Identity("cpu", process=True, job_id=job_id, rank=rank, local_rank=local_rank,
                            world_size=world_size)
        made = tracker.of_process(interval=sampling_interval, capacity=max_events,
                                  **identity.known)
        made._collector = "gpumemprof.cpu_tracker"
        super().__init__(made, identity, enable_alerts)
        self.sampling_interval = sampling_interval

    def get_statistics(self) -> dict[str, Any]:
        """`stats`, what is kept, present values, and averages; bytes are resident ones."""
        return {"mode": "cpu", **self._statistics()}
