"""What reads a device's memory for a tracker (row B54)."""
from __future__ import annotations

from abc import ABC, abstractmethod

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope.compat.gpumemprof.records import DeviceMemorySample

__all__ = ["DeviceMemoryCollector"]


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
