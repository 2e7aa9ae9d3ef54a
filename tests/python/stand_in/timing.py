"""Events of the stand-in's devices, what waits for them, and what else a measurement asks of torch.

The time is that of the simulated device below, where there is one, else it stands still.
"""
import contextlib
import types


class Event:
    """A moment; asked for before the device has come to it, or without timing, it fails as a real one."""

    def __init__(self, times, enable_timing=False, blocking=False, interprocess=False):
        self.times, self.timing, self.number = times, enable_timing, None

    def record(self, stream=None):
        self.number, self.at_ns = self.times.record(), self.times.now_ns()

    def query(self):
        self.times.refuse_in_capture()
        return self.number is None or self.number <= self.times.reached

    def elapsed_time(self, end):
        self.times.refuse_in_capture()
        if not (self.timing and end.timing) or None in (self.number, end.number):
            raise RuntimeError("Both events must be created with timing and recorded")
        if max(self.number, end.number) > self.times.reached:
            raise RuntimeError("CUDA error: device not ready")
        return (end.at_ns - self.at_ns) / 1e6


class Times:
    """How many events were recorded, how many of them the device has come to, and ranges by name."""

    def __init__(self, cuda):
        self.cuda, self.recorded, self.reached, self.ranges, self.capturing = cuda, 0, 0, [], False

    def record(self):
        self.cuda.init()
        self.recorded += 1
        return self.recorded

    def refuse_in_capture(self):
        if self.capturing:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing")

    def now_ns(self):
        return getattr(getattr(self.cuda.devices[0], "device", None), "clock", 0)

    def synchronize(self, device=None):
        self.cuda.init()
        self.reached = self.recorded

    def summary(self, device=None, abbreviated=False):
        return "| the framework's summary of %d bytes |" % self.cuda.stats(device)["allocated_bytes.all.current"]

    def empty_cache(self):
        for device in self.cuda.devices:
            getattr(device, "empty_cache", lambda: None)()

    @contextlib.contextmanager
    def record_function(self, name):
        self.ranges.append(name)
        yield


def add_to(torch, cuda_state):
    """Gives torch.cuda its events and torch its profiler; returns what sys.modules has to know besides."""
    times = Times(cuda_state)
    vars(torch.cuda).update(Event=lambda **how: Event(times, **how), current_stream=lambda device=None: None,
                            synchronize=times.synchronize,
                            is_current_stream_capturing=lambda: times.capturing, memory_summary=times.summary,
                            empty_cache=times.empty_cache, get_device_name=lambda device=None: "stand-in")
    profiler = types.ModuleType("torch.profiler")
    vars(profiler).update(record_function=times.record_function, times=times)
    torch.profiler = profiler
    return {"torch.profiler": profiler}
