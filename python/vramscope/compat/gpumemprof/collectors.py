"""What reads a device's memory for a tracker (rows B54, B67).

It departs in one place: what a device uses is what its driver tells, so that memory of other
processes is seen; where nobody tells a figure it is None, never 0.
"""
from __future__ import annotations

import sys
from abc import ABC, abstractmethod

from vramscope import backends
from vramscope.compat import _device

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope import _core
    from vramscope.compat.gpumemprof.records import DeviceMemorySample

__all__ = ["CudaDeviceCollector", "DeviceMemoryCollector", "DeviceMemorySample",
           "ROCmDeviceCollector", "SimDeviceCollector", "build_device_memory_collector",
           "detect_torch_runtime_backend"]


def __getattr__(name: str) -> object:
    """DeviceMemorySample, which records.py has: dataclasses are not imported before."""
    if name != "DeviceMemorySample":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof.records import DeviceMemorySample
    return DeviceMemorySample


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


class CudaDeviceCollector(DeviceMemoryCollector):
    """Reads a CUDA device by the statistics of torch's allocator, and by the driver.

    device: None for the current one, 0, "cuda:0" or a torch.device.  Raises as a profiler does
    where there is none such.

    >>> from vramscope import sim
    >>> with sim.Device("4GiB") as device:
    ...     kept = device.alloc("20MiB")
    ...     sample = build_device_memory_collector().sample()
    >>> sample.allocated_bytes, sample.total_bytes
    (20971520, 4294967296)
    """

    _name = "cuda"
    _source = "torch's statistics; the driver"

    def __init__(self, device: Any = None) -> None:
        self._backend, self._number = _device.bind(device)
        self.device = _device.named("cuda", self._number)
        self.telemetry_collector = f"gpumemprof.{self._name}_tracker"

    def name(self) -> str:
        """The backend's name."""
        return self._name

    def is_available(self) -> bool:
        """Whether the backend has this device, and is the one that is asked in this process."""
        backend = backends.auto()
        return _kind(backend) == self._name and self._number < _device.count(backend)

    def sample(self) -> DeviceMemorySample:
        """One reading, which does not wait for the device.

        Raises RuntimeError where the allocator tells nothing, as in a forked child: 0 would be
        taken for an empty device.
        """
        from vramscope.compat.gpumemprof.records import DeviceMemorySample
        stats = self._backend.stats(self._number)
        allocated, reserved = stats["allocated_bytes"], stats["reserved_bytes"]
        if allocated is None or reserved is None:
            raise RuntimeError(f"memory of {self.device} is unavailable in this process")
        used, free, total = self._backend._usage(self._number)
        return DeviceMemorySample(
            allocated_bytes=allocated, reserved_bytes=reserved,
            used_bytes=used, free_bytes=free, total_bytes=total,
            active_bytes=stats["active_bytes"], inactive_bytes=stats["inactive_split_bytes"],
            device_id=self._number)

    def capabilities(self) -> dict[str, Any]:
        """The backend, whether the device's size and free bytes are told, and where from."""
        free, total = self._backend.memory(self._number)
        return {"backend": self._name, "supports_device_total": total is not None,
                "supports_device_free": free is not None, "sampling_source": self._source,
                "telemetry_collector": self.telemetry_collector}


class ROCmDeviceCollector(CudaDeviceCollector):
    """The same of a device of ROCm, which torch shows under the names of CUDA."""

    _name = "rocm"
    _source = "torch's statistics (HIP); the driver"


class SimDeviceCollector(CudaDeviceCollector):
    """The same of a simulated device."""

    _name = "sim"
    _source = "simulated device"


_KINDS: dict[str, type[CudaDeviceCollector]] = {
    "cuda": CudaDeviceCollector, "rocm": ROCmDeviceCollector, "sim": SimDeviceCollector}


def _kind(backend: _core.Backend) -> str:
    """The name of a collector for a backend's devices."""
    if backend.name == "sim":
        return "sim"
    version = getattr(sys.modules.get("torch"), "version", None)
    return "rocm" if getattr(version, "hip", None) else "cuda"


def detect_torch_runtime_backend() -> str:
    """"cuda", "rocm", "mps" or "cpu": what torch runs on here; a simulated device is "cuda".

    >>> from vramscope import sim
    >>> with sim.Device():
    ...     detect_torch_runtime_backend()
    'cuda'
    """
    try:
        __import__("torch")  # so that its devices are the ones that are asked
    except ImportError:
        pass
    backend = backends.auto()
    if backends.available(backend):
        return "rocm" if _kind(backend) == "rocm" else "cuda"
    mps = getattr(getattr(sys.modules.get("torch"), "backends", None), "mps", None)
    try:
        return "mps" if mps is not None and mps.is_available() else "cpu"
    except Exception:
        return "cpu"


def build_device_memory_collector(device: Any = None) -> DeviceMemoryCollector:
    """The collector of a device: None for the current one, 0, "cuda:0" or a torch.device.

    Raises RuntimeError where `device` is None and there is none, ValueError for one that is not
    there, or is none of CUDA or ROCm.
    """
    backend, number = _device.bind(device)
    return _KINDS[_kind(backend)](number)
