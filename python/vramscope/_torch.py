"""All that is used of torch's private functions; where one is gone, the answer is "not there"."""


class _Leaves(dict):
    """Statistics of a device on which nothing was allocated yet."""

    def __init__(self):
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

    def __init__(self, torch):
        self._cuda = torch.cuda
        self._raw = getattr(torch._C, "_cuda_memoryStats", None)
        self._raw_reset = getattr(torch._C, "_cuda_resetPeakMemoryStats", None)
        self._get_device = getattr(torch._C, "_cuda_getDevice", None)
        self._bad_fork = getattr(torch._C, "_cuda_isInBadFork", None)

    def _used(self):
        """Whether CUDA is initialised here."""
        if self._bad_fork is not None and self._bad_fork():
            raise RuntimeError("CUDA was initialised before the fork")
        return self._cuda.is_initialized()

    def available(self):
        """Whether torch finds a device; this may initialise the driver."""
        return self._cuda.is_available()

    def stats(self, device):
        """Statistics of a device: nested, or flat where the raw function is gone."""
        if not self._used():
            return self._zeros
        return self._raw(device) if self._raw is not None else self._cuda.memory_stats(device)

    def reset_peak(self, device):
        """The peaks become the present values."""
        if not self._used():
            return
        if self._raw_reset is not None:
            self._raw_reset(device)
        else:
            self._cuda.reset_peak_memory_stats(device)

    def count(self):
        """The number of devices; None before CUDA is initialised, which this does not do."""
        return self._cuda.device_count() if self._used() else None

    def current(self):
        """The current device; before CUDA is initialised it is the first."""
        if not self._used():
            return 0
        return self._get_device() if self._get_device is not None else self._cuda.current_device()

    def device_name(self, device):
        """The name of a device; None before CUDA is initialised."""
        return self._cuda.get_device_name(device) if self._used() else None

    def memory(self, device):
        """(free, total) bytes as the driver says; None before CUDA is initialised."""
        return tuple(self._cuda.mem_get_info(device)) if self._used() else (None, None)

    def empty_cache(self, device):
        """Gives cached segments of all devices back."""
        if self._used():
            self._cuda.empty_cache()

    def synchronize(self, device):
        """Waits for the device."""
        if self._used():
            self._cuda.synchronize(device)


def open_range(torch, name, *, always):
    """A range of torch's profiler that is open, while torch records memory or `always`; or None."""
    try:
        if not always and not torch._C._cuda_isHistoryEnabled():
            return None
        opened = torch.profiler.record_function(name)
        opened.__enter__()
        return opened
    except Exception:  # no driver, or no such function: there is nothing to be annotated
        return None
