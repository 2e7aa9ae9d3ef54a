"""All that is used of torch's private functions; where one is gone, the answer is "not there"."""
from __future__ import annotations

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any


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
    not called then, because they raise. In a child of a process that used CUDA nothing is known.
    """

    _zeros = _Leaves()

    def __init__(self, torch: Any) -> None:
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
            return self._zeros
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


def open_range(torch: Any, name: str, *, always: bool) -> Any:
    """A range of torch's profiler that is open, while torch records memory or `always`; or None."""
    try:
        if not always and not torch._C._cuda_isHistoryEnabled():
            return None
        opened = torch.profiler.record_function(name)
        opened.__enter__()
        return opened
    except Exception:  # no driver, or no such function: there is nothing to be annotated
        return None


def storage_of(torch, tensor, kinds=("cuda",)):
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

    def __init__(self, torch):
        self._torch = torch
        self._memory = getattr(torch.cuda, "memory", None)
        self._start = getattr(self._memory, "_record_memory_history", None)
        self._take = getattr(self._memory, "_snapshot", None)
        self._on = getattr(torch._C, "_cuda_isHistoryEnabled", None)
        self._attach = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)

    def refused(self):
        """Why nothing can be recorded, or None."""
        import inspect
        version = getattr(self._torch, "version", None)
        if not (getattr(version, "cuda", None) or getattr(version, "hip", None)):
            return "torch was built without CUDA or HIP"
        if self._start is None or self._take is None:
            return f"torch {self._torch.__version__} has no recorder of memory"
        if "max_entries" not in inspect.signature(self._start).parameters:
            return f"torch {self._torch.__version__} is older than 2.1, the first whose recorder serves"
        return None

    def when_ready(self, call):
        """Runs call() when CUDA is initialised, at once if it is; False where that cannot be had."""
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

    def enabled(self):
        """Whether somebody records; without a driver, which the question needs, nobody does."""
        try:
            return bool(self._on()) if self._on is not None else False
        except Exception:
            return False

    def begin(self, max_entries, context, stacks):
        """Begins to record, with those keywords that this release has."""
        import inspect
        known = inspect.signature(self._start).parameters
        wanted = {"max_entries": max_entries, "stacks": stacks, "context": context}
        self._start(**{name: value for name, value in wanted.items() if name in known})

    def stop(self):
        """Ends recording, and forgets what was recorded."""
        self._start(enabled=None)

    def snapshot(self):
        """What is recorded and what is allocated, as a dict."""
        return self._take()

    def observe(self, observer):
        """observer(device, asked, total, free) runs before each out-of-memory error, for ever."""
        if self._attach is not None:
            self._attach(observer)
        return self._attach is not None
