"""What a program writes by hand where it has no profiler: the pure Python that the package is measured beside."""
from __future__ import annotations

import collections
import contextlib
import dataclasses
import gc
import marshal
import os
import threading
import time
import types

GIB = 1 << 30
CURVES = ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
          "inactive_split_bytes", "requested_bytes")
POOLS = ("all", "small_pool", "large_pool")
LEAVES = ("current", "peak", "allocated", "freed")


class Disabled:
    """A profiler that is turned off, with the least that a method can do."""

    def __init__(self):
        self.enabled = False

    def checkpoint(self, name, tensor=None, info=None):
        if not self.enabled:
            return


class Checkpoints:
    """Records as dicts in a list; `read` gives bytes now and at most, which not every program asks for."""

    def __init__(self, read=lambda: (0, 0)):
        self.enabled, self.read, self.records, self.highest = True, read, [], 0

    def forget(self):
        self.records.clear()

    def checkpoint(self, name, tensor=None, info=None):
        if not self.enabled:
            return
        self.records.append({"name": name, "current_gb": 0.0, "peak_gb": 0.0, "peak_since_last_gb": 0.0,
                             "timestamp": time.time()})

    def measured(self, name, tensor=None, info=None):
        if not self.enabled:
            return
        now, peak = self.read()
        self.highest = max(self.highest, peak)
        self.records.append({"name": name, "current_gb": now / 1e9, "peak_gb": self.highest / 1e9,
                             "peak_since_last_gb": peak / 1e9, "timestamp": time.time()})

    @contextlib.contextmanager
    def scope(self, name):
        self.checkpoint(name)
        try:
            yield
        finally:
            self.checkpoint(name)


def statistics():
    """The counters of a device as the raw function of torch gives them: 114 leaves."""
    stats = {curve: {pool: dict.fromkeys(LEAVES, GIB) for pool in POOLS} for curve in CURVES}
    return {**stats, "num_alloc_retries": 0, "num_ooms": 0, "num_sync_all_streams": 0, "num_device_alloc": 7,
            "num_device_free": 0, "max_split_size": -1}


def torch():
    """Stands for torch with a device: its raw function makes the dicts anew in C, as the real one does."""
    cuda, raw = types.SimpleNamespace(ready=True), types.SimpleNamespace()
    kept = marshal.dumps(statistics())
    raw._cuda_memoryStats = lambda device: marshal.loads(kept)
    raw._cuda_resetPeakMemoryStats = lambda device: None
    raw._cuda_getDevice = int
    raw._cuda_isInBadFork = bool

    def is_initialized():
        return cuda.ready and not raw._cuda_isInBadFork()

    def memory_stats(device):
        found = []

        def walk(prefix, stats):
            if isinstance(stats, dict):
                for key, below in stats.items():
                    walk(prefix + "." + key if prefix else key, below)
            else:
                found.append((prefix, stats))

        if is_initialized():
            walk("", raw._cuda_memoryStats(device))
        found.sort()
        return collections.OrderedDict(found)

    def figure(key):
        return lambda device=0: memory_stats(device).get(key, 0)

    vars(cuda).update(
        is_initialized=is_initialized, is_available=lambda: True, device_count=lambda: 1, memory_stats=memory_stats,
        memory_allocated=figure("allocated_bytes.all.current"), memory_reserved=figure("reserved_bytes.all.current"),
        max_memory_allocated=figure("allocated_bytes.all.peak"), max_memory_reserved=figure("reserved_bytes.all.peak"),
        reset_peak_memory_stats=raw._cuda_resetPeakMemoryStats, synchronize=lambda device=None: None)
    module = types.ModuleType("torch")
    vars(module).update(cuda=cuda, _C=raw, version=types.SimpleNamespace(cuda="13.0", hip=None), Tensor=Tensor,
                        device=lambda text: text)
    return module


class TensorMeta(type):
    """As the real one has, so that an isinstance takes the way that it takes there."""


class Tensor(metaclass=TensorMeta):
    is_cuda = True


def readings(cuda):
    """Two questions, each of which builds the whole table."""
    return lambda: (cuda.memory_allocated(), cuda.max_memory_allocated())


class Calls:
    """A call measured by tables of statistics, six a snapshot and two for the peak, with a forced collection for each
    count of tensors, if they are counted."""

    def __init__(self, cuda, used, counted=True):
        self.cuda, self.used, self.counted, self.results, self.by_name = cuda, used, counted, [], collections.defaultdict(list)

    def forget(self):
        self.results.clear()
        self.by_name.clear()

    def snapshot(self, operation):
        cuda = self.cuda
        return {"timestamp": time.time(), "allocated_memory": cuda.memory_allocated(),
                "reserved_memory": cuda.memory_reserved(), "max_memory_allocated": cuda.max_memory_allocated(),
                "max_memory_reserved": cuda.max_memory_reserved(),
                "active_memory": cuda.memory_stats(0).get("active_bytes.all.current", 0),
                "inactive_memory": cuda.memory_stats(0).get("inactive_split_bytes.all.current", 0),
                "cpu_memory": self.used(), "device_id": 0, "operation": operation}

    def tensors(self):
        if not self.counted:
            return 0
        gc.collect()
        count = 0
        for thing in gc.get_objects():
            if isinstance(thing, Tensor) and thing.is_cuda:
                count += 1
        return count

    def call(self, function):
        self.cuda.reset_peak_memory_stats(0)
        before, tensors, began = self.snapshot("before"), self.tensors(), time.time()
        function()
        self.cuda.synchronize()
        seconds = time.time() - began
        after, stats = self.snapshot("after"), self.cuda.memory_stats(0)
        peak = {**after, "allocated_memory": stats.get("allocated_bytes.all.peak", 0), "operation": "peak",
                "max_memory_allocated": self.cuda.max_memory_allocated()}
        result = (seconds, before, after, peak, self.tensors() - tensors)
        self.results.append(result)
        self.by_name[function.__name__].append(result)
        return result


@dataclasses.dataclass
class Event:
    """A sample as the profiler of group B keeps it (B22)."""
    timestamp: float
    event_type: str
    memory_allocated: int
    memory_reserved: int
    memory_change: int
    device_id: int
    context: str | None
    job_id: str | None
    rank: int
    local_rank: int
    world_size: int
    metadata: dict
    active_memory: int | None
    inactive_memory: int | None
    device_used: int
    device_free: int
    device_total: int
    backend: str


class Tracked:
    """What the sampling thread of group B does each time (B21 to B24), on the host (B60): the memory of the process
    and of the machine, the event, the statistics and the thresholds."""

    def __init__(self, meminfo):
        self.meminfo, self.lock, self.page = meminfo, threading.Lock(), os.sysconf("SC_PAGE_SIZE")
        self.before = self.highest = self.samples = 0
        self.warning, self.critical, self.leak = 80.0, 95.0, 100 << 20
        self.alerts = []

    def resident(self):
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * self.page

    def read(self):
        now, machine = self.resident(), self.meminfo()
        total, free = machine["MemTotal"], machine["MemAvailable"]
        event = Event(time.time(), "sample", now, now, now - self.before, 0, None, None, 0, 0, 1, {}, now, None,
                      total - free, free, total, "cpu")
        with self.lock:
            self.samples += 1
            self.highest = max(self.highest, now)
            percent = now / total * 100
            if percent >= self.warning or percent >= self.critical or (self.before and now - self.before > self.leak):
                self.alerts.append(event)
            self.before = now
        return event


class Watcher:
    """A thread of Python that takes the figures again and again."""

    def __init__(self, read, interval):
        self.read, self.interval, self.taken, self.ended = read, interval, [], threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.ended.wait(self.interval):
            self.taken.append((time.monotonic(), self.read()))

    def start(self):
        self.thread.start()

    def stop(self):
        self.ended.set()
        self.thread.join()
