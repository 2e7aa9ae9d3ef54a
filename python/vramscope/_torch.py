"""All that is used of torch's private functions; where one is gone, the answer is "not there"."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any


# What a driver brings, by the kind of build: a look at a name initialises nothing.
_DRIVERS = {
    "cuda": ("/dev/nvidiactl", "/dev/nvidia0", "/proc/driver/nvidia/version", "/dev/nvgpu",
             "/dev/nvhost-gpu", "/dev/dxg"),
    "hip": ("/dev/kfd", "/dev/dxg"),
}


def has_driver(torch: Any) -> bool:
    """Whether a driver is here that torch was built for; it is not initialised."""
    kind = "hip" if getattr(torch.version, "hip", None) else "cuda"
    if sys.platform == "win32":
        name = "amdhip64.dll" if kind == "hip" else "nvcuda.dll"
        root = os.environ.get("SystemRoot", r"C:\Windows")
        return os.path.exists(os.path.join(root, "System32", name))
    return any(map(os.path.exists, _DRIVERS[kind]))


class _Leaves(dict):  # type: ignore[type-arg]
    """Statistics of a device on which nothing was allocated yet."""

    def __init__(self) -> None:
        zeros = dict.fromkeys(("current", "peak", "allocated", "freed"), 0)
        groups = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes",
                  "inactive_split_bytes", "allocation", "segment", "active")
        super().__init__({group: {"all": zeros} for group in groups},
                         num_alloc_retries=0, num_ooms=0)


class Statistics:
    """The counters of torch's allocator, as the methods of a Backend.

    Before CUDA is initialised nothing is allocated, so that zeros are exact; the raw functions are
    not called then, because they raise. Without a driver nothing will be, and nothing is known, as
    in a child of a process that used CUDA.
    """

    _zeros = _Leaves()

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._driver: bool | None = None  # not asked yet
        self._cuda = torch.cuda
        self._raw = getattr(torch._C, "_cuda_memoryStats", None)
        self._raw_reset = getattr(torch._C, "_cuda_resetPeakMemoryStats", None)
        self._get_device = getattr(torch._C, "_cuda_getDevice", None)
        self._bad_fork = getattr(torch._C, "_cuda_isInBadFork", None)

    def _used(self) -> bool:
        """Whether CUDA is initialised here."""
        if self._bad_fork is not None and self._bad_fork():
            raise RuntimeError("CUDA was initialised before the fork")
        return bool(self._cuda.is_initialized())

    def available(self) -> bool:
        """Whether torch finds a device; this may initialise the driver."""
        return bool(self._cuda.is_available())

    def stats(self, device: int) -> Any:
        """Statistics of a device: nested, or flat where the raw function is gone."""
        if not self._used():
            if self._driver is None:
                self._driver = has_driver(self._torch)
            return self._zeros if self._driver else None
        return self._raw(device) if self._raw is not None else self._cuda.memory_stats(device)

    def reset_peak(self, device: int) -> None:
        """The peaks become the present values."""
        if not self._used():
            return
        if self._raw_reset is not None:
            self._raw_reset(device)
        else:
            self._cuda.reset_peak_memory_stats(device)

    def count(self) -> Any:
        """The number of devices; None before CUDA is initialised, which this does not do."""
        return self._cuda.device_count() if self._used() else None

    def current(self) -> Any:
        """The current device; before CUDA is initialised it is the first."""
        if not self._used():
            return 0
        return self._get_device() if self._get_device is not None else self._cuda.current_device()

    def device_name(self, device: int) -> Any:
        """The name of a device; None before CUDA is initialised."""
        return self._cuda.get_device_name(device) if self._used() else None

    def driver_id(self, device: int) -> str | None:
        """What the driver knows a device by: its UUID, else its PCI address, never its number."""
        if not self._used():
            return None
        told = self._cuda.get_device_properties(device)
        uuid, bus = getattr(told, "uuid", None), getattr(told, "pci_bus_id", None)
        if uuid is not None:
            return f"GPU-{uuid}"
        if bus is None:
            return None
        domain, place = getattr(told, "pci_domain_id", 0), getattr(told, "pci_device_id", 0)
        return f"{domain:08X}:{bus:02X}:{place:02X}.0"

    def memory(self, device: int) -> tuple[Any, ...]:
        """(free, total) bytes as the driver says; None before CUDA is initialised."""
        return tuple(self._cuda.mem_get_info(device)) if self._used() else (None, None)

    def empty_cache(self, device: int) -> None:
        """Gives cached segments of all devices back."""
        if self._used():
            self._cuda.empty_cache()

    def synchronize(self, device: int) -> None:
        """Waits for the device."""
        if self._used():
            self._cuda.synchronize(device)

    def event(self, device: int) -> _Moment | None:
        """A moment on the device's current stream; None before CUDA is initialised.

        None too while a graph is captured, in which no time passes.
        """
        if not self._used() or _capturing(self._cuda):
            return None
        return _Moment(self._cuda, device)


def _capturing(cuda: Any) -> bool:
    """Whether the current stream is in a capture, which a question about an event would end."""
    ask = getattr(cuda, "is_current_stream_capturing", None)
    return bool(ask()) if ask is not None else False


def _recorded(cuda: Any, device: int) -> Any:
    """An event of torch that the device comes to when what it was given before is done."""
    event = cuda.Event(enable_timing=True)
    event.record(cuda.current_stream(device))
    return event


class _Moment:
    """An event of torch that may be asked for at any time, also inside a capture."""

    __slots__ = ("_cuda", "_event")

    def __init__(self, cuda: Any, device: int) -> None:
        self._cuda, self._event = cuda, _recorded(cuda, device)

    def query(self) -> bool:
        """Whether the device has come to it; False where that cannot be asked now."""
        return not _capturing(self._cuda) and bool(self._event.query())

    def elapsed_time(self, later: _Moment) -> float:
        """Milliseconds until a later one; the device has come to both."""
        return float(self._event.elapsed_time(later._event))


class Events:
    """Moments on the stream that is current on a device, as torch's own events tell them."""

    def __init__(self, torch: Any, device: int) -> None:
        self._cuda, self._device = torch.cuda, device

    def mark(self) -> Any:
        """An event that is recorded now; the device comes to it when what is before it is done."""
        return _recorded(self._cuda, self._device)

    def wait(self) -> None:
        """Until the device has done all that it was given."""
        self._cuda.synchronize(self._device)

    def milliseconds(self, begin: Any, end: Any) -> float:
        """Between two events that the device has come to."""
        return float(begin.elapsed_time(end))


def wait_for(torch: Any, kind: str) -> None:
    """Until devices of a kind that is not CUDA's, as "mps", have done what they were given."""
    wait = getattr(getattr(torch, kind, None), "synchronize", None)
    if wait is not None and kind != "cpu":
        wait()


def memory_summary(torch: Any, device: int) -> str:
    """torch's own table; a sentence where it has none, as before CUDA is used, when it raises."""
    if not torch.cuda.is_initialized():
        return "There is no memory summary: CUDA is not in use yet."
    return str(torch.cuda.memory_summary(device))


def autocast_dtype(torch: Any, kind: str) -> Any:
    """The dtype of automatic mixed precision on devices of a kind; None where it is off."""
    try:
        return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
    except (AttributeError, RuntimeError, TypeError):  # releases before 2.4, or a stand-in
        return None


def cudnn_benchmark(torch: Any) -> bool | None:
    """Whether cuDNN tries algorithms out, which makes first iterations slow."""
    found = getattr(getattr(getattr(torch, "backends", None), "cudnn", None), "benchmark", None)
    return None if found is None else bool(found)


def open_range(torch: Any, name: str, *, always: bool) -> Any:
    """A range of torch's profiler that is open, while torch records memory or `always`; or None."""
    try:
        if not always and not (torch.cuda.is_initialized() and torch._C._cuda_isHistoryEnabled()):
            return None
        opened = torch.profiler.record_function(name)
        opened.__enter__()
        return opened
    except Exception:  # no driver, or no such function: there is nothing to be annotated
        return None


def storage_of(torch: Any, tensor: Any,
               kinds: Collection[str] = ("cuda",)) -> tuple[int, int, int] | None:
    """(device, address, bytes) of a tensor's storage; None where it has none on such a device."""
    try:
        if tensor.device.type not in kinds:
            return None
        storage = tensor.untyped_storage()
        address = getattr(torch._C, "_data_address", None)
        if address is not None:  # unlike data_ptr it makes no copy of a lazily cloned storage
            start = address(tensor) - tensor.storage_offset() * tensor.element_size()
        else:
            start = storage.data_ptr()
        size = storage.nbytes()
        return (tensor.device.index or 0, start, size) if start > 0 and size > 0 else None
    except Exception:  # a wrapper without memory: what it wraps is a tensor of its own
        return None


class Recorder:
    """torch's recorder of memory history and its observers of failures.

    `when_ready` queues what is done when CUDA is initialised, so that nothing here does that.
    """

    _begun_in: Any = None  # the torch in which this package began to record, and did not stop

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._memory = getattr(torch.cuda, "memory", None)
        self._start: Any = getattr(self._memory, "_record_memory_history", None)
        self._take: Any = getattr(self._memory, "_snapshot", None)
        self._on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
        self._attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)

    def refused(self) -> str | None:
        """Why nothing can be recorded, or None."""
        import inspect
        version = getattr(self._torch, "version", None)
        if not (getattr(version, "cuda", None) or getattr(version, "hip", None)):
            return "torch was built without CUDA or HIP"
        if self._start is None or self._take is None:
            return f"torch {self._torch.__version__} has no recorder of memory"
        if "max_entries" not in inspect.signature(self._start).parameters:
            return (f"torch {self._torch.__version__} is older than 2.1, the first whose recorder "
                    f"serves")
        name = self.allocator()
        if name is not None and name != "native":
            return f"the allocator {name} keeps no history"
        return None

    def allocator(self) -> str | None:
        """The name of the allocator, "native" where it is torch's own; None where nobody knows."""
        ask = getattr(self._torch._C, "_cuda_getAllocatorBackend", None)
        try:
            return str(ask()) if ask is not None else None
        except Exception:  # as of the other raw functions, without a driver
            return None

    def devices(self) -> list[str | None]:
        """The names of the devices, when CUDA is initialised."""
        statistics = Statistics(self._torch)
        return [statistics.device_name(number) for number in range(statistics.count() or 0)]

    def usage(self, device: int) -> tuple[int | None, int | None]:
        """(bytes allocated, bytes reserved) of a device now."""
        try:
            stats = Statistics(self._torch).stats(device)
            nested = [stats[curve]["all"]["current"] if curve in stats else
                      stats.get(curve + ".all.current")
                      for curve in ("allocated_bytes", "reserved_bytes")]
            return nested[0], nested[1]
        except Exception:  # an older release has other names
            return None, None

    def when_ready(self, call: Callable[[], object]) -> bool:
        """Runs call() when CUDA is initialised, at once if it is; False where it never will be."""
        cuda = self._torch.cuda
        if cuda.is_initialized():
            call()
            return True
        queue = getattr(cuda, "_lazy_call", None)
        if queue is not None:
            queue(call)
            return True
        calls = getattr(cuda, "_queued_calls", None)
        if calls is not None:
            calls.append((call, []))
        return calls is not None

    def enabled(self) -> bool:
        """Whether somebody records; without a driver, which the question needs, nobody does."""
        try:
            return self._on is not None and has_driver(self._torch) and bool(self._on())
        except Exception:
            return False

    def begin(self, max_entries: int, context: str | None, stacks: str) -> None:
        """Begins to record, with those keywords that this release has."""
        import inspect
        known = inspect.signature(self._start).parameters
        wanted = {"max_entries": max_entries, "stacks": stacks, "context": context}
        self._start(**{name: value for name, value in wanted.items() if name in known})
        Recorder._begun_in = self._torch

    def stop(self) -> None:
        """Ends recording, and forgets what was recorded."""
        self._start(enabled=None)
        Recorder._begun_in = None

    def ours(self) -> bool:
        """Whether what records was begun by this package; that the program ended it is not seen."""
        return Recorder._begun_in is self._torch

    def snapshot(self) -> Any:
        """What is recorded and what is allocated, as a dict."""
        return self._take()

    def time_us(self) -> int:
        """Now, by the clock of the recorder's events."""
        import time
        return time.time_ns() // 1000

    def observe(self, observer: Callable[[int, int, int, int], object]) -> bool:
        """observer(device, asked, total, free) runs before each out-of-memory error, for ever."""
        if self._attach is not None:
            self._attach(observer)
        return self._attach is not None

    def keywords(self) -> list[str]:
        """What the recorder can be told, by name; empty where there is none."""
        import inspect
        return [] if self._start is None else list(inspect.signature(self._start).parameters)

    def observes(self) -> bool:
        """Whether an observer can be attached."""
        return self._attach is not None


# By the module that has them; what else could be had instead is asked where one of them is gone.
_PRIVATE = {
    "_C": ("_cuda_memoryStats", "_cuda_resetPeakMemoryStats", "_cuda_getDevice",
           "_cuda_isInBadFork", "_cuda_isHistoryEnabled",
           "_cuda_attach_out_of_memory_observer", "_data_address"),
    "cuda": ("_lazy_call",),
    "cuda.memory": ("_record_memory_history", "_snapshot"),
}


def gone(torch: Any) -> list[str]:
    """The private functions that this torch does not have."""
    lacks = []
    for place, names in _PRIVATE.items():
        module = torch
        for part in place.split("."):
            module = getattr(module, part, None)
        lacks += [f"torch.{place}.{name}" for name in names if not hasattr(module, name)]
    return lacks
