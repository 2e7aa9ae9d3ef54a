"""Seeded random profiler traces, as each period's profiler wrote them, and other orders of what they say.

    make(seed, period)       a trace: an object, or a list of events; periods are the keys of PERIODS
    shuffled(top, rng)       its events in another order; those of equal time keep theirs
    turned(top)              the args of each event first, the list of events first among the keys, the rest behind it
    as_json(top)             JSON text; a Literal is written as it is
    loaded(data)             JSON that as_json writes back with the same numbers

Hosts run trees of operators, ranges, calls and frames on some threads, and launch device work that comes later.
Options are drawn from the seed: a grid so coarse that many times are equal, spans that overlap, ids that stand twice.
"""
import json
import random
from dataclasses import dataclass


class Literal(str):
    """A number as it is to stand in the file."""


@dataclass(frozen=True)
class Period:
    """How a profiler of some years, or of some maker, wrote."""
    op: str = "cpu_op"
    annotation: str = "user_annotation"
    gpu_annotation: str = "gpu_user_annotation"
    runtime: str = "cuda_runtime"
    driver: str = "cuda_driver"
    kernel: str = "kernel"
    memcpy: str = "gpu_memcpy"
    memset: str = "gpu_memset"
    python: str = "python_function"
    flow: str = "ac2g"
    pairs: str = "fwdbwd"
    external: str = "External id"       # of device work and calls
    calls: str = "cuda"                 # how the runtime's functions begin
    clock: str = "us"                   # us, decimal, text
    base: int = 0                       # ns that times count from; 0: since 1970
    origin: int = 1_700_000_000_000_000_000
    quoted_threads: bool = False        # "123", and "stream 7"
    totals: bool = True                 # of memory, and addresses
    own_numbers: bool = False           # External ids of device work are correlations
    huge: bool = False                  # ids beyond 64 bits
    first_device: int = 0
    array: bool = False


PERIODS = {
    "2021": Period(op="Operator", annotation="Operator", gpu_annotation="", runtime="Runtime", driver="",
                   kernel="Kernel", memcpy="Memcpy", memset="Memset", python="", flow="async", pairs="forward_backward",
                   external="external id", quoted_threads=True, totals=False, origin=1_623_142_623_460_016_000),
    "2022": Period(own_numbers=True, driver="", origin=1_666_149_715_033_200_000),
    "2024": Period(clock="decimal"),
    "2024-base": Period(clock="decimal", base=1_700_000_000_000_000_000),
    "2025": Period(clock="decimal", base=1_767_189_312_000_000_000, origin=1_774_353_536_529_498_833, huge=True),
    "rocm": Period(clock="decimal", base=1_735_632_360_000_000_000, origin=1_739_835_969_603_018_756, calls="hip",
                   driver="", first_device=2),
    "ascend": Period(clock="text", flow="async_npu", runtime="", driver="", kernel="", memcpy="", memset="",
                     gpu_annotation="", array=True, totals=False, first_device=800),
    "other": Period(op="operator", memcpy="memcpy", memset="memset", runtime="privateuse1_runtime", driver="xpu_driver",
                    python="Python", flow="async_gpu", clock="us"),
}

OPS = ["aten::mm", "aten::add_", "aten::to", "aten::item", "aten::nonzero", "aten::is_leaf", "aten::_version",
       "aten::linear", "autograd::engine::evaluate_function: AddmmBackward0", "opération ✓ \\ \"quoted\"", "x" * 90, "é" * 85]
RANGES = ["forward", "Optimizer.step#Adam.step", "Optimizer.zero_grad#Adam.zero_grad",
          "enumerate(DataLoader)#iter.__next__", "enumerate(DataLoader)#iter.__next__#%d", "enumerate(DataPipe)#pipe",
          "ProfilerStep#%d", "ProfilerStep#"]
CALLS = ["LaunchKernel", "LaunchKernel", "MemcpyAsync", "Memcpy", "StreamSynchronize", "DeviceSynchronize", "Malloc",
         "Free", "EventQuery", "GraphLaunch"]
DRIVER = ["cuLaunchKernel", "cuLaunchKernelEx", "cuMemMap", "cuModuleLoadData", "cuMemcpyAsync"]
FRAMES = ["nn.Module: Linear_0", "nn.Module: Block_1", "train.py(12): step", "<built-in method mm>"]
KERNELS = ["gemm_128x64", "void at::native::elementwise<float>(int)", "ncclDevKernel_AllReduce_Sum", "NCCL_broadcast",
           "k" * 100]
COPIES = ["Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)",
          "Memcpy DtoD", "Memcpy", "CopyDeviceToHost"]
HUGE = 1 << 64


class Maker:
    def __init__(self, seed, period):
        self.rng = rng = random.Random("%s %s" % (period, seed))
        self.period, self.events = PERIODS[period], []
        self.grid = rng.choice([1, 1, 10, 1000]) if self.period.clock != "us" else 1000
        self.overlaps = rng.random() < 0.3
        self.twice = rng.random() < 0.2     # an id may stand twice
        self.pid, self.threads = rng.choice([3914, 25738]), rng.sample(range(3914, 3999), rng.randint(1, 3))
        self.devices = [self.period.first_device + i for i in range(rng.choice([0, 1, 1, 1, 2]))]
        self.correlation, self.external, self.flow = rng.randint(10, 9999), rng.choice([0, 1, 512]), 1
        self.step = rng.randint(0, 99)
        self.now = 0
        self.length = self.grid * rng.choice([40, 400, 4000])

    # How things are written

    def time(self, ns):
        ns += self.period.origin - self.period.base
        if self.period.clock == "us":
            return ns // 1000
        text = "%d.%03d" % divmod(ns, 1000)
        return text if self.period.clock == "text" else Literal(text)

    def duration(self, ns):
        text = "%d.%03d" % divmod(ns, 1000)
        texts = [text, text.rstrip("0") + "0", text + "00000001", text + "5", text + "4999"]
        return ns // 1000 if self.period.clock == "us" else Literal(self.rng.choice(texts))

    def tid(self, tid, stream=False):
        if not self.period.quoted_threads or self.rng.random() < 0.2:
            return tid
        return "stream %d" % tid if stream else str(tid)

    def put(self, ph, name, pid, tid, start, **more):
        event = {"ph": ph, "name": name, "pid": pid, "tid": tid, "ts": self.time(start), **more}
        if not event.get("cat", "none"):
            del event["cat"]
        self.events.append(event)
        return event

    def span(self, category, name, pid, tid, start, end, args):
        return self.put("X", name, pid, tid, start, cat=category, dur=self.duration(end - start), args=args)

    def between(self, low, high):
        return low + self.grid * self.rng.randint(0, max(high - low, 0) // self.grid)

    def number(self, value):
        """An id as it stands in the file."""
        if self.period.huge and value % 3 == 0:
            return HUGE + value
        return str(value) if self.rng.random() < 0.05 else value

    # Hosts

    def next_external(self):
        self.external += self.rng.choice([0, 1, 1, 1]) if self.twice else 1
        return self.external

    def tree(self, tid, start, end, depth, external):
        """Children of what runs in [start, end); siblings may overlap where the trace is of that sort."""
        at = start
        for _ in range(self.rng.randint(0, 4)):
            first = self.between(at, end)
            last = self.between(first, end)
            if self.rng.random() < 0.15:
                last = first                     # empty
            if self.rng.random() < 0.1:
                first, last = start, end         # as long as what is around
            self.host(tid, first, last, depth, external)
            at = last if not self.overlaps or self.rng.random() < 0.7 else self.between(first, last)

    def host(self, tid, start, end, depth, external):
        rng, kind = self.rng, self.rng.choice(["op", "op", "op", "annotation", "call", "call", "python"])
        where = self.pid, self.tid(tid)
        if kind == "call":
            self.call(tid, start, end, external)
            return
        if kind == "python":
            if self.period.python:
                self.span(self.period.python, rng.choice(FRAMES), *where, start, end, {"Python id": len(self.events)})
            own = external
        else:
            own = self.next_external()
            name = rng.choice(OPS) if kind == "op" else rng.choice(RANGES).replace("%d", str(self.step))
            self.step += 1
            args = {"External id": self.number(own)} if rng.random() < 0.9 else {}
            if rng.random() < 0.2:
                args = {"Input Dims": [[1, 2], []], "Call stack": "a;b\\n", **args, "finished": True}
            self.span(getattr(self.period, kind), name, *where, start, end, args)
        if depth < 7:
            self.tree(tid, start, end, depth + 1, own)
            if rng.random() < 0.1 and kind == "op":   # an only child of the same name
                self.span(self.period.op, self.events[-1]["name"], *where, start, end, {})

    # Devices

    def call(self, tid, start, end, external):
        rng, period = self.rng, self.period
        self.correlation += rng.choice([0, 1, 1, 1]) if self.twice else 1
        correlation, driver = self.correlation, bool(period.driver) and rng.random() < 0.2
        name = rng.choice(DRIVER) if driver else period.calls + rng.choice(CALLS)
        args = {"correlation": self.number(correlation)} if rng.random() < 0.95 else {}
        if rng.random() < 0.8:
            args[period.external] = self.number(correlation if period.own_numbers else external or 0)
        pid = self.pid
        if not period.runtime:
            name, pid = "AscendCL@aclrt" + rng.choice(["SynchronizeStream", "LaunchKernel", "Malloc"]), self.pid + 1
        self.span(period.driver if driver else period.runtime, name, pid, self.tid(tid), start, end, args)
        if self.devices and rng.random() < 0.7:
            for _ in range(rng.choice([1, 1, 1, 1, 4])):
                self.work(tid, start, end, correlation, external or 0)

    def work(self, tid, start, end, correlation, external):
        """One event of a device that a call in [start, end) launched."""
        rng, period = self.rng, self.period
        first = max(self.between(end, end + self.length // rng.choice([4, 40])), self.now if rng.random() < 0.8 else 0)
        if rng.random() < 0.05:
            first = self.between(start, end)       # clocks that disagree
        last = self.between(first, first + self.length // 20)
        self.now = last
        device, stream = rng.choice(self.devices), rng.choice([7, 7, 7, 20])
        args = {"device": device, "stream": stream}
        if rng.random() < 0.9:
            args["correlation"] = self.number(correlation)
        if rng.random() < 0.8:
            wrong = rng.random() < 0.04
            args[period.external] = self.number(correlation if period.own_numbers else external + wrong)
        kind = rng.choice(["kernel", "kernel", "kernel", "memcpy", "memset"])
        names = {"kernel": KERNELS, "memcpy": COPIES, "memset": ["Memset (Device)"]}
        if kind != "kernel":
            args["bytes"] = rng.choice([512, "2560", 0, 1 << 33])
            if period.calls == "hip" and rng.random() < 0.5:
                args.pop("bytes")
        elif period.calls == "hip":
            args["kind"] = "Dispatch Kernel"
        self.span(getattr(period, kind), rng.choice(names[kind]), device, self.tid(stream, True), first, last, args)
        if rng.random() < 0.6:
            begun = self.pid, self.tid(tid), self.between(start, end)
            self.arrow(period.flow, begun, (device, self.tid(stream, True), first))
        if period.array and rng.random() < 0.5:
            self.arrow("HostToDevice", (self.pid + 1, self.tid(tid), start), (device, self.tid(stream, True), first))

    def arrow(self, category, start, finish):
        self.flow += 1
        for ph, (pid, tid, at) in (("s", start), ("f", finish)):
            self.put(ph, category, pid, tid, at, cat=category, id=self.flow)

    # What else there is

    def memory(self):
        rng, live = self.rng, {}
        total = rng.choice([0, 1 << 20])
        device = rng.choice([(0, -1), (1, 0), (1, 1), (20, 0)])
        for _ in range(rng.randint(0, 12)):
            at = self.between(0, self.length)
            free = bool(live) and rng.random() < 0.5
            address, size = live.popitem() if free else (rng.randint(1, 30) * 512, rng.randint(1, 99) * 512)
            if not free and rng.random() < 0.8:
                live[address] = size
            size = -size if free else size
            total += size
            args = {"Device Type": device[0], "Device Id": device[1], "Bytes": size}
            if self.period.totals:
                args |= {"Addr": address, "Total Allocated": total + (rng.random() < 0.1), "Total Reserved": 1 << 21}
                if rng.random() < 0.03:
                    del args["Total Allocated"]
            category = {"cat": "cpu_instant_event"} if self.period.totals else {}
            self.put("i", "[memory]", self.pid, self.threads[0], at, s="t", args=args, **category)

    def lost_work(self):
        """Work without a launch, some of it launched before the recording began."""
        for _ in range(self.rng.randint(0, 3)):
            device, start = self.rng.choice(self.devices), self.between(0, self.length)
            end = self.between(start, start + self.length // 9)
            correlation = {"correlation": self.rng.choice([1, 5, 10**7])} if self.rng.random() < 0.7 else {}
            self.span(self.period.kernel, "early", device, self.tid(7, True), start, end, correlation)

    def rest(self):
        rng, period = self.rng, self.period
        start, end = -self.grid * rng.randint(0, 5), self.length + self.grid
        self.span("Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", start, end, {"Op count": 0})
        self.put("i", "Record Window End", "", "", end, s="g")
        self.put("i", "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", 0, s="g")
        for category in ("overhead", "cuda_sync", "cuda_event", "Enqueue", "strange", period.gpu_annotation):
            if rng.random() < 0.4 and category:
                first = self.between(0, self.length)
                last = self.between(first, self.length)
                self.span(category, "what else", rng.choice([-1, *self.devices]), 7, first, last, {})
        if rng.random() < 0.3:
            self.put("i", "[OutOfMemory]", self.pid, self.threads[0], 1, s="t", args={"Bytes": 1 << 40})
        if rng.random() < 0.5:
            self.arrow(period.pairs, (self.pid, self.threads[0], 0), (self.pid, self.threads[-1], self.length))

    def metadata(self):
        named = [(self.pid, "python"), (self.pid + 1, "CANN" if self.period.array else "python")]
        named += [(d, "Ascend Hardware" if self.period.array else "python") for d in self.devices]
        for pid, name in named:
            for key, of in (("process_name", "name"), ("process_labels", "labels")):
                event = {"name": key, "ph": "M", "pid": pid, "tid": 0, "args": {of: name}}
                if not self.period.array:
                    event["ts"] = self.time(0)
                self.events.append(event)

    def header(self):
        rng, top = self.rng, {"schemaVersion": 1}
        if rng.random() < 0.8:
            top["deviceProperties"] = [{"id": d, "name": "Some GPU", "totalGlobalMem": 1 << 34, "computeMajor": 9,
                                        "computeMinor": 0, "numSms": 132} for d in self.devices]
        if rng.random() < 0.3:
            top["distributedInfo"] = {"rank": 1, "world_size": 8, "backend": "nccl", "pg_config": [{"ranks": [0, 1]}]}
        for flag in ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules"):
            if rng.random() < 0.4:
                top[flag] = rng.choice([0, 1, 1, True])
        if self.period.base:
            top["baseTimeNanoseconds"] = self.period.base
        return top | {"displayTimeUnit": "ms", "traceName": "./a\\b \"c\".json"}

    def top(self):
        for tid in self.threads:
            at = 0
            for _ in range(self.rng.randint(1, 4)):
                at = self.between(at, self.length)
                end = self.between(at, self.length)
                self.host(tid, at, end, 0, None)
                at = end
        if self.devices:
            self.lost_work()
        self.memory()
        self.memory()
        self.rest()
        if not self.period.array or self.rng.random() < 0.5:
            self.rng.shuffle(self.events)
        at = self.rng.choice([0, len(self.events)])
        told, self.events = self.events, []
        self.metadata()
        events = told[:at] + self.events + told[at:]
        return events if self.period.array else {**self.header(), "traceEvents": events}


def make(seed, period):
    return Maker(seed, period).top()


# Other orders ---------------------------------------------------------------------------

def shuffled(top, rng):
    """Only the order among events of one time means something; those without one are of one."""
    if isinstance(top, dict):
        return {**top, "traceEvents": shuffled(top["traceEvents"], rng)}
    order = list(range(len(top)))
    rng.shuffle(order)
    places = {}
    for place, of in enumerate(order):
        places.setdefault(str(top[of].get("ts")), []).append(place)
    found = [None] * len(top)
    for event in top:
        found[places[str(event.get("ts"))].pop(0)] = event
    return found


def turned(top):
    if isinstance(top, list):
        return [{**({"args": e["args"]} if "args" in e else {}), **dict(reversed(e.items()))} for e in top]
    rest = {k: v for k, v in top.items() if k != "traceEvents"}
    return {"traceEvents": turned(top["traceEvents"]), **rest}


# JSON -----------------------------------------------------------------------------------

def text_of(value):
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(json.dumps(k) + ": " + text_of(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(text_of, value)) + "]"
    return json.dumps(value)


def as_json(top):
    return text_of(top).encode()


def loaded(data):
    return json.loads(data, parse_float=Literal)
