"""What reads a device's memory for a tracker, and one reading of it (row B54)."""
from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DeviceMemoryCollector", "DeviceMemorySample"]


@dataclass(frozen=True)
class DeviceMemorySample:
    """One reading, in bytes; None is what the backend does not know."""

    allocated_bytes: int
    reserved_bytes: int
    used_bytes: int | None
    free_bytes: int | None
    total_bytes: int | None
    active_bytes: int | None
    inactive_bytes: int | None
    device_id: int


class DeviceMemoryCollector(ABC):
    """The contract of a backend: derive from it to track a device of another kind."""

    @abstractmethod
    def name(self) -> str:
        """The backend's name: cuda, rocm, sim."""

    @abstractmethod
    def is_available(self) -> bool:
        """Whether it can be read in this process."""

    @abstractmethod
    def sample(self) -> DeviceMemorySample:
        """One reading."""

    @abstractmethod
    def capabilities(self) -> dict[str, Any]:
        """What it can tell, for the metadata of telemetry."""
