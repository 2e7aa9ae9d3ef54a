"""Records of the host's memory: what is measured of the process itself (row B60)."""
from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["CPUMemorySnapshot", "CPUProfileResult"]


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
