"""What the machine, its devices and their memory are, as gpumemprof tells it (row B59).

Peaks go through the process's ledger.  Devices are asked as the profiler asks them; where there is
none, dicts have an `error` alone.
"""
from __future__ import annotations

import os
import sys

from vramscope import _core, backends
from vramscope.compat import _device
from vramscope.compat.gpumemprof.utils import format_bytes, suggest_memory_optimization

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["MemoryContext", "check_memory_fragmentation", "get_gpu_info", "get_system_info",
           "memory_summary"]

_NO_DEVICE = {"error": "CUDA is not available"}
_SMI = (("memory_total_mb", "memory.total", int), ("memory_used_mb", "memory.used", int),
        ("memory_free_mb", "memory.free", int), ("gpu_utilization_percent", "utilization.gpu", int),
        ("temperature_c", "temperature.gpu", int), ("power_draw_w", "power.draw", float))


def _bound(device: Any) -> tuple[_core.Backend, int] | None:
    """The backend and the number of a device; None where there is no device at all."""
    _device.import_torch()
    return _device.bind(device) if backends.available(backends.auto()) else None


def _properties(backend: _core.Backend, number: int) -> Any:
    """What torch knows of the device, which initialises CUDA; None on other backends."""
    if backend.name != "torch":
        return None
    return sys.modules["torch"].cuda.get_device_properties(number)


def _total(backend: _core.Backend, number: int, properties: Any) -> int | None:
    total: int | None = backend.memory(number)[1] if properties is None else properties.total_memory
    return total


def get_gpu_info(device: Any = None) -> dict[str, Any]:
    """Name, size and counters of a device; what only torch knows is None without it."""
    bound = _bound(device)
    if bound is None:
        return dict(_NO_DEVICE)
    backend, number = bound
    properties, torch = _properties(backend, number), sys.modules.get("torch")
    stats = backend.stats(number)
    return {
        "device_id": number,
        "device_name": backend.device_name(number),
        "device_capability": properties and (properties.major, properties.minor),
        "total_memory": _total(backend, number, properties),
        "multiprocessor_count": properties and properties.multi_processor_count,
        "cuda_version": getattr(getattr(torch, "version", None), "cuda", None),
        "pytorch_version": getattr(torch, "__version__", None),
        "allocated_memory": stats["allocated_bytes"],
        "reserved_memory": stats["reserved_bytes"],
        "max_memory_allocated": stats["allocated_peak_bytes"],
        "max_memory_reserved": stats["reserved_peak_bytes"],
        "memory_stats": {
            "active_bytes": stats["active_bytes"],
            "inactive_bytes": stats["inactive_split_bytes"],
            "reserved_bytes": stats["reserved_bytes"],
            "num_alloc_retries": stats["retries"],
            "num_ooms": stats["ooms"],
        },
        **_smi(getattr(properties, "uuid", None)),
    }


def _smi(uuid: Any) -> dict[str, Any]:
    """What nvidia-smi says of the device with this UUID, numbers that it has not as None; or {}."""
    import shutil
    program = shutil.which("nvidia-smi") if uuid is not None else None
    if program is None:
        return {}
    import subprocess
    words = [program, "--id=GPU-" + str(uuid).removeprefix("GPU-"), "--format=csv,noheader,nounits",
             "--query-gpu=" + ",".join(query for _, query, _ in _SMI)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    values = done.stdout.strip().split(",")
    if done.returncode != 0 or len(values) != len(_SMI):
        return {}
    return {"nvidia_smi_info": {name: _number(value, kind)
                                for (name, _, kind), value in zip(_SMI, values)}}


def _number(text: str, kind: Any) -> Any:
    try:
        return kind(text)
    except ValueError:  # "[N/A]"
        return None


def check_memory_fragmentation(device: Any = None) -> dict[str, Any]:
    """Counters of a device and their shares; one whose counters are not known is None.

    fragmentation_ratio: free parts of used segments, of what is reserved.  waste_ratio: reserved
    and not allocated, of the device.
    """
    bound = _bound(device)
    if bound is None:
        return dict(_NO_DEVICE)
    backend, number = bound
    stats, total = backend.stats(number), _total(backend, number, _properties(backend, number))
    allocated, reserved = stats["allocated_bytes"], stats["reserved_bytes"]
    told: dict[str, Any] = {
        "device_id": number,
        "total_memory": total,
        "allocated_memory": allocated,
        "reserved_memory": reserved,
        "active_memory": stats["active_bytes"],
        "inactive_memory": stats["inactive_split_bytes"],
        "free_memory": _known(lambda a, b: a - b, total, reserved),
        "fragmentation_ratio": _share(stats["inactive_split_bytes"], reserved),
        "utilization_ratio": _share(allocated, total),
        "reservation_ratio": _share(reserved, total),
        "waste_ratio": _share(_known(lambda a, b: max(0, a - b), reserved, allocated), total),
    }
    texts = {f"{name}_formatted": _known(format_bytes, value) for name, value in told.items()
             if name.endswith("_memory")}
    return {**told, **texts}


def _known(call: Any, *values: Any) -> Any:
    return None if None in values else call(*values)


def _share(part: int | None, whole: int | None) -> float | None:
    share: float | None = _known(lambda a, b: a / b if b > 0 else 0, part, whole)
    return share


def get_system_info() -> dict[str, Any]:
    """Platform, versions, which devices there are, processors and memory of the machine."""
    bound = _bound(None)
    torch, uname = sys.modules.get("torch"), os.uname()
    hip = getattr(getattr(torch, "version", None), "hip", None)
    rocm = bool(bound and hip)
    mps = getattr(getattr(torch, "backends", None), "mps", None)
    mps_available = bool(mps and mps.is_available())
    told: dict[str, Any] = {
        "platform": uname.sysname,
        "architecture": uname.machine,
        "python_version": sys.version,
        "torch_available": torch is not None,
        "cuda_available": bound is not None,
        "rocm_available": rocm,
        "rocm_version": hip if rocm else None,
        "mps_available": mps_available,
        "mps_built": bool(mps and mps.is_built()),
        "detected_backend":
            "rocm" if rocm else "cuda" if bound else "mps" if mps_available else "cpu",
    }
    if bound is not None:
        cudnn = getattr(getattr(torch, "backends", None), "cudnn", None)
        told.update(cuda_device_count=_device.count(bound[0]),
                    cuda_version=getattr(getattr(torch, "version", None), "cuda", None),
                    cudnn_version=cudnn and cudnn.version(), current_device=bound[1])
    return {**told, **_host()}


def _host() -> dict[str, Any]:
    from vramscope.compat.gpumemprof.host import meminfo
    memory = meminfo()
    total, available = memory["MemTotal"], memory["MemAvailable"]
    return {"cpu_count": os.cpu_count(), "cpu_count_logical": os.cpu_count(), "memory_total": total,
            "memory_available": available,
            "memory_percent": round(100 * (total - available) / total, 1)}


def memory_summary(device: Any = None) -> str:
    """A text of several lines: the device, its memory in use, shares, and at most five hints.

    Without a device there are no hints, which would be about memory that nobody has.
    """
    info, memory = get_gpu_info(device), check_memory_fragmentation(device)

    def size(of: dict[str, Any], name: str) -> str:
        if name not in of:  # there is no device
            return "unavailable"
        value = of[name]
        return "unknown" if value is None else format_bytes(value)

    def share(name: str) -> str:
        if name not in memory:
            return "unavailable"
        value = memory[name]
        return "unknown" if value is None else f"{value:.1%}"

    hints = [] if "error" in memory else suggest_memory_optimization(memory)[:5]
    advice = ["Optimization Suggestions:", *(f"  {number}. {hint}"
                                             for number, hint in enumerate(hints, 1)), ""]
    rule = "=" * 60
    return "\n".join([
        rule, "GPU MEMORY SUMMARY", rule,
        f"Device: {info.get('device_name', 'Unknown')} (cuda:{info.get('device_id', 0)})",
        f"Total Memory: {size(info, 'total_memory')}", "",
        "Current Memory Usage:",
        f"  Allocated: {size(memory, 'allocated_memory')}",
        f"  Reserved:  {size(memory, 'reserved_memory')}",
        f"  Free:      {size(memory, 'free_memory')}", "",
        "Memory Ratios:",
        f"  Utilization: {share('utilization_ratio')}",
        f"  Reservation: {share('reservation_ratio')}",
        f"  Fragmentation: {share('fragmentation_ratio')}",
        f"  Waste: {share('waste_ratio')}", "",
        *(advice if hints else []), rule])


class MemoryContext:
    """A block whose memory is measured: at its begin, at its end, and its peak.

    >>> from vramscope import sim
    >>> with sim.Device() as device, MemoryContext("load") as measured:
    ...     kept = device.alloc("20MiB")
    >>> measured.get_summary()["memory_diff_formatted"]
    '20.00 MB'
    """

    def __init__(self, name: str = "memory_context", device: Any = None) -> None:
        self.name = name
        self.device = device
        self.start_memory: int | None = None
        self.end_memory: int | None = None
        self.peak_memory: int | None = None

    def __enter__(self) -> MemoryContext:
        from vramscope.compat.gpumemprof.profiler import gauge
        self._backend, self._number = _device.bind(self.device)
        self._scope = gauge(self._backend, self._number).scope(str(self.name))
        self._scope.__enter__()
        self.start_memory = self._backend.stats(self._number)["allocated_bytes"]
        return self

    def __exit__(self, raised: Any, *error: object) -> None:
        self._backend.synchronize(self._number)
        self._scope.__exit__(raised, *error)
        result = self._scope.result
        self.end_memory, self.peak_memory = result.end_bytes, result.peak_bytes

    def get_summary(self) -> dict[str, Any]:
        """Bytes and texts; an error before the block has ended, or where nothing is known."""
        start, end, peak = self.start_memory, self.end_memory, self.peak_memory
        if start is None or end is None or peak is None:
            return {"error": "Context not properly initialized"}
        told: dict[str, Any] = {
            "name": self.name, "start_memory": start, "end_memory": end, "peak_memory": peak,
            "memory_diff": end - start, "peak_memory_usage": peak - start}
        return {**told, **{f"{name}_formatted": format_bytes(abs(told[name])) for name in
                           ("start_memory", "end_memory", "peak_memory", "memory_diff",
                            "peak_memory_usage")}}
