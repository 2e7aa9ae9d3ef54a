"""The figures of a profiler trace again, by definition: what `vramscope trace --json` has as `figures`.

Slow: an instant is looked up among all events, and sets of time are cut wherever anything begins or ends.
"""
import gzip
import json
import re
from collections import Counter, defaultdict
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise

WORK = ("kernel", "memcpy", "memset")
CALLS = ("runtime", "driver")
RANGES = ("op", "annotation")
CATEGORIES = {
    "op": "cpu_op operator", "annotation": "user_annotation", "gpu_annotation": "gpu_user_annotation",
    "kernel": "kernel", "memcpy": "gpu_memcpy memcpy", "memset": "gpu_memset memset", "runtime": "runtime",
    "driver": "driver", "python": "python_function python", "sync": "cuda_sync", "cuda_event": "cuda_event",
    "overhead": "overhead", "span": "trace",
}
KIND = {category: kind for kind, categories in CATEGORIES.items() for category in categories.split()}
PROCESS_KIND = {"Ascend Hardware": "kernel", "CANN": "runtime"}
CARRIES_WORK = ("ac2g", "async", "async_gpu", "async_cpu_to_gpu", "async_npu")
FLAGS = ("profile_memory", "record_shapes", "with_flops", "with_modules", "with_stack")
UNLISTED = {"profiler::_record_function_enter", "profiler::_record_function_enter_new",
            "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}

COLLECTIVES = ("nccl", "rccl", "hccl", "msccl", "nvshmem", "deep_ep", "cross_device_reduce")
WAITS = tuple(maker + what + "Synchronize" for maker in ("cuda", "hip") for what in ("Device", "Stream", "Event"))
READS_ONE_VALUE = {"cudaMemcpy", "hipMemcpy", "aten::item", "aten::_local_scalar_dense", "aten::nonzero"}
ALLOCATES = ("cudaMalloc", "cudaFree", "hipMalloc", "hipFree", "cuMemAlloc", "cuMemFree", "cuMemCreate", "cuMemRelease",
             "cuMemMap", "cuMemUnmap", "cuMemAddressReserve", "cuMemSetAccess")
# The strongest first.
REASONS = ("dataloader", "sync", "allocator", "module_load", "optimizer", "op", "runtime", "python", "none")

OP_COLUMNS = ["name", "calls", "cpu_total_ns", "self_cpu_ns", "device_total_ns", "self_device_ns"]
STEP_COLUMNS = ["name", "start_after_first_event_ns", "dur_ns", "device_events_launched", "device_ns_launched"]


# What a value of the file means -------------------------------------------------------------

class Decimals(str):
    """A number with a point or an exponent, as it is written."""


def nanoseconds(microseconds):
    if microseconds is None or isinstance(microseconds, bool):
        return None
    try:
        return int((Decimal(microseconds) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP))
    except InvalidOperation:
        return None


def whole(value):
    """An integer, however it is written; None: it is something else."""
    written = str(value).strip()
    return int(written) if not isinstance(value, bool) and re.fullmatch(r"[+-]?\d+", written) else None


def waits(name):
    return name.endswith(WAITS) or "aclrtSynchronize" in name


def communicates(event):
    return event.kind == "kernel" and any(part in event.name.lower() for part in COLLECTIVES)


def reason(event):
    """Why a host that is within this event alone was busy."""
    name = event.name
    if name.startswith(("enumerate(DataLoader)#", "enumerate(DataPipe)#")):
        return "dataloader"
    if waits(name) or name in READS_ONE_VALUE:
        return "sync"
    if name.startswith(ALLOCATES):
        return "allocator"
    if "ModuleLoad" in name or "LibraryLoad" in name:
        return "module_load"
    if name.startswith("Optimizer."):
        return "optimizer"
    return {"op": "op", "runtime": "runtime", "driver": "runtime"}.get(event.kind, "python")


def copy_kind(name):
    """`Memcpy HtoD (Pageable -> Device)` copies as `HtoD Pageable -> Device`."""
    if not name.startswith("Memcpy ") or name == "Memcpy ":
        return name
    way, _, rest = name.removeprefix("Memcpy ").partition(" ")
    memories = rest[1:rest.index(")")] if rest.startswith("(") and ")" in rest else ""
    return (way + " " + memories).strip()


# Events ---------------------------------------------------------------------------------

class Event:
    def __init__(self, index, fields, processes):
        self.index, self.name, self.pid = index, fields.get("name", ""), fields.get("pid")
        self.args = fields["args"] if isinstance(fields.get("args"), dict) else {}
        tid = str(fields.get("tid")).removeprefix("stream ")
        self.tid = tid if whole(tid) is None else whole(tid)
        self.start = nanoseconds(fields.get("ts"))
        self.ns = max(nanoseconds(fields.get("dur")) or 0, 0)
        self.category = (fields.get("cat") or "").lower()
        self.kind = self.kind_among(processes)
        self.external = self.number("External id", self.number("external id"))
        self.correlation = self.number("correlation")
        self.parent = self.launch = self.owner = None

    def kind_among(self, processes):
        if not self.category:
            return PROCESS_KIND.get(processes.get(self.pid), "other")
        ending = self.category.rpartition("_")[2]
        return KIND.get(self.category) or (ending if "_" + ending in self.category and ending in CALLS else "other")

    def number(self, key, otherwise=None):
        return whole(self.args[key]) if key in self.args else otherwise

    @property
    def end(self):
        return self.start + self.ns

    @property
    def order(self):
        return self.start, -self.ns, self.index

    @property
    def thread(self):
        return self.pid, self.tid

    def holds(self, moment):
        return self.start <= moment < self.end


def grow_trees(threads):
    """Gives every event of the threads its parent; (parents left while they ran, depth)."""
    overlaps = deepest = 0
    for events in threads.values():
        running = []
        for event in sorted(events, key=lambda e: e.order):
            while running and not (event.start < running[-1].end and event.end <= running[-1].end):
                overlaps += running.pop().end > event.start
            event.parent = running[-1] if running else None
            running.append(event)
            deepest = max(deepest, len(running))
    return overlaps, deepest


def around(event):
    """An event and what it lies in, from the inside out."""
    while event is not None:
        yield event
        event = event.parent


def by_thread(events, of=lambda e: e.thread):
    threads = defaultdict(list)
    for event in events:
        threads[of(event)].append(event)
    return threads


# Sets of time, as lists of events -------------------------------------------------------------

class Line:
    """The time of one device, cut into pieces within which nothing begins or ends."""

    def __init__(self, events):
        cuts = sorted({moment for e in events for moment in (e.start, e.end)})
        self.pieces = [(start, end, self.what(events, start)) for start, end in pairwise(cuts)]

    @staticmethod
    def what(events, moment):
        running = [e for e in events if e.holds(moment)]
        return frozenset("copies" if e.kind == "memcpy" else "talks" if communicates(e) else "computes"
                         for e in running)

    def ns(self, condition):
        return sum(end - start for start, end, what in self.pieces if condition(what))

    def gaps(self):
        """Between two stretches of work; what idles before the first or behind the last is none."""
        found = []
        for start, end, what in self.pieces:
            if not what and found and found[-1][1] == start:
                found[-1] = (found[-1][0], end)
            elif not what:
                found.append((start, end))
        busy = [p for p in self.pieces if p[2]]
        return [g for g in found if busy and busy[0][0] < g[0] and g[1] < busy[-1][1]]


# The trace ------------------------------------------------------------------------------

class Trace:
    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        top = json.loads(data, parse_float=Decimals)
        self.is_array = isinstance(top, list)
        self.header = {} if self.is_array else top
        self.raw = top if self.is_array else top["traceEvents"]
        processes = {e.get("pid"): e["args"]["name"] for e in self.raw
                     if e.get("ph") == "M" and e.get("name") == "process_name"}
        made = [(e, Event(i, e, processes)) for i, e in enumerate(self.raw)]
        self.events = [event for fields, event in made if fields.get("ph") == "X"]
        self.memory = [event for fields, event in made if fields.get("ph") == "i" and event.name == "[memory]"]
        self.flows = [(fields["ph"], event, str(fields.get("id"))) for fields, event in made
                      if fields.get("ph") in ("s", "f")]
        self.work = self.of(*WORK)
        ran = [e for e in self.events if e.kind != "span"]
        known = [e for e in ran if e.kind != "other"] or ran
        self.first, self.last = min(e.start for e in known), max(e.end for e in known)
        self.find_homes()
        self.overlaps, self.depth = grow_trees(self.threads)
        self.link()

    def of(self, *kinds):
        return [e for e in self.events if e.kind in kinds]

    def first_by(self, events, key):
        found = {}
        for event in events:
            found.setdefault(key(event), event)
        found.pop(None, None)
        return found

    def find_homes(self):
        """A call runs where the operator runs whose external id it has."""
        self.by_external = self.first_by(self.of(*RANGES), lambda e: e.external)
        self.by_external.pop(0, None)
        for event in self.of(*RANGES, *CALLS):
            at = self.by_external.get(event.external, event) if event.kind in CALLS else event
            event.home = at.thread
        self.threads = by_thread(self.of(*RANGES, *CALLS), lambda e: e.home)

    # Links

    def link(self):
        launches = self.first_by(self.of(*CALLS), lambda e: e.correlation)
        least = min(launches, default=None)
        self.before = 0
        for event in self.work:
            event.launch = launches.get(event.correlation)
            event.by_id = self.by_external.get(event.external)
            event.by_nesting = next((e for e in around(event.launch) if e.kind in RANGES), None)
            lost = event.launch is None and event.correlation is not None and least is not None
            self.before += lost and event.correlation < least
        both = [e for e in self.work if e.by_id and e.by_nesting]
        self.agree = sum(e.by_id is e.by_nesting for e in both)
        self.differ = len(both) - self.agree
        trusted = self.differ * 20 <= len(both)
        for event in self.work:
            event.owner, event.rung = self.owner(event, trusted)

    def owner(self, event, trusted):
        rungs = [(event.by_id, "external_id"), (event.by_nesting, "launch_nesting")]
        ladder = rungs if trusted else rungs[::-1]
        found = next((r for r in ladder if r[0]), (self.by_flow(event), "flow"))
        return found if found[0] else (None, "none")

    def by_flow(self, event):
        ends = [(e.category, id) for ph, e, id in self.flows
                if ph == "f" and e.category in CARRIES_WORK and (e.pid, e.start) == (event.pid, event.start)]
        starts = [e for ph, e, id in self.flows if ph == "s" and ends and (e.category, id) == ends[0]]
        if not starts:
            return None
        moment = starts[-1].start
        inside = [e for e in self.threads.get(starts[-1].thread, ()) if e.kind == "op"
                  and (e.holds(moment) or e.start == moment == e.end)]
        return max(inside, key=lambda e: e.order, default=None)

    def links(self):
        of_a_launch = Counter(e.correlation for e in self.work if e.correlation is not None)
        return {
            "device_events": len(self.work), "with_launch": sum(e.launch is not None for e in self.work),
            "before_window": self.before, "rungs": dict(Counter(e.rung for e in self.work)),
            "id_and_nesting_agree": self.agree, "id_and_nesting_differ": self.differ,
            "max_device_events_per_launch": max(of_a_launch.values(), default=0),
            "attributed_ns": sum(e.ns for e in self.work if e.owner), "device_ns": sum(e.ns for e in self.work),
        }

    # What the file has

    def file(self):
        written = [e.get("ts") for e in self.raw]
        forms = ["none" if t is None else "int" if type(t) is int else "text_or_decimal" for t in written]
        return {
            "form": "array" if self.is_array else "object", "events": len(self.raw),
            "ph": dict(Counter(str(e.get("ph")) for e in self.raw)),
            "flags": [f for f in FLAGS if self.header.get(f)], "base_ns": self.header.get("baseTimeNanoseconds"),
            "ts_form": dict(Counter(forms)), "devices_listed": len(self.header.get("deviceProperties", [])),
            "kinds": dict(Counter(e.kind for e in self.events)),
            "other_categories": dict(Counter(e.category or "(none)" for e in self.of("other"))),
            "ooms": sum(e.get("name") == "[OutOfMemory]" for e in self.raw), "span_ns": self.last - self.first,
        }

    def call_tree(self):
        """On trees of their own, without ranges: this runs last, since it plants every event anew."""
        frames = self.of("python", "op", *CALLS)
        threads = by_thread(frames)
        overlaps, depth = grow_trees(threads)
        paths = {(e.thread, *(a.name for a in around(e))) for e in frames}
        return {
            "threads": len(threads), "partial_overlaps": overlaps, "max_depth": depth, "distinct_paths": len(paths),
            "roots": sum(e.parent is None for e in frames),
            "module_frames": sum(e.kind == "python" and e.name.startswith("nn.Module: ") for e in frames),
        }

    # Devices

    def reason_at(self, thread, moment):
        """The strongest reason among what the thread was within; `begun` is what it began last."""
        begun = max((e for e in self.threads[thread] if e.start <= moment), key=lambda e: e.order, default=None)
        found = {reason(e) for e in around(begun) if e.end > moment}
        return next((r for r in REASONS if r in found), "none")

    def blame(self, thread, start, end):
        cuts = {m for e in self.threads[thread] for m in (e.start, e.end) if start < m < end}
        found = Counter()
        for a, b in pairwise(sorted({start, end, *cuts})):
            found[self.reason_at(thread, a)] += b - a
        return found

    def gap_classes(self, events, gaps):
        classes, blame = defaultdict(lambda: [0, 0]), Counter()

        def add(name, ns):
            classes[name][0] += 1
            classes[name][1] += ns

        for start, end in gaps:
            launch = min((e for e in events if e.start == end), key=lambda e: (e.ns, e.index)).launch
            if launch is None:
                add("no_launch", end - start)
            elif launch.start <= start:
                add("queued_under_10us" if end - start < 10_000 else "queued", end - start)
            else:
                until = min(launch.start, end)
                add("host_late", until - start)
                add("slow_launch" if launch.ns >= 100_000 else "launch_latency", end - until)
                blame += self.blame(launch.home, start, until)
        return {"gap_classes": dict(classes), "host_late_blame_ns": dict(+blame)}

    def device(self, pid):
        events = [e for e in self.work if e.pid == pid]
        line = Line(events)
        gaps = line.gaps()
        span = max(e.end for e in events) - min(e.start for e in events)
        found = {"pid": pid, "streams": len({e.tid for e in events})}
        for kind in WORK:
            durations = [e.ns for e in events if e.kind == kind]
            found[kind + "s"], found[kind + "_ns"] = len(durations), sum(durations)
        edges = [0, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, float("inf")]
        found |= {
            "span_ns": span, "busy_ns": line.ns(bool), "idle_ns": span - line.ns(bool),
            "sum_ns": sum(e.ns for e in events),
            "computation_ns": line.ns(lambda what: "computes" in what),
            "exposed_communication_ns": line.ns(lambda what: "talks" in what and "computes" not in what),
            "exposed_memcpy_ns": line.ns(lambda what: what == {"copies"}),
            "communication_ns": line.ns(lambda what: "talks" in what),
            "communication_hidden_ns": line.ns(lambda what: {"talks", "computes"} <= what),
            "gaps": len(gaps), "longest_gap_ns": max((b - a for a, b in gaps), default=0),
            "gap_histogram": [sum(low <= b - a < high for a, b in gaps) for low, high in pairwise(edges)],
        }
        return found | self.gap_classes(events, gaps)

    # Tables

    def named(self, events):
        """name -> [ns, calls]"""
        rows = defaultdict(lambda: [0, 0])
        for event in events:
            rows[event.name][0] += event.ns
            rows[event.name][1] += 1
        return rows

    def largest(self, rows):
        return [[name[:80], *row] for name, row in sorted(rows.items(), key=lambda r: (-r[1][0], r[0]))[:5]]

    def copies(self):
        rows = defaultdict(lambda: [0, 0, 0])
        for event in self.of("memcpy"):
            row = rows[copy_kind(event.name)]
            for i, more in enumerate((event.ns, 1, event.number("bytes") or 0)):
                row[i] += more
        return dict(rows)

    def operators(self):
        table = Operators(self)
        order = lambda column: sorted(table.rows, key=lambda r: (-r[column], r[0]))[:5]
        short = lambda rows: [[r[0][:80], *r[1:]] for r in rows]
        return {
            "merged_duplicates": table.merged, "op_rows": len(table.rows), "self_cpu_ns": table.self_ns,
            "self_device_ns": sum(e.ns for e in self.work), "op_columns": OP_COLUMNS,
            "top_self_cpu": short(order(3)), "top_self_device": short(r for r in order(5) if r[5] > 0),
        }

    def calls(self):
        calls = self.of(*CALLS)
        total = lambda events: [len(events), sum(e.ns for e in events)]
        delays = sorted(e.start - e.launch.end for e in self.work if e.launch)
        return {
            "runtime_calls": self.largest(self.named(calls)), "sync": total([e for e in calls if waits(e.name)]),
            "launch_calls": total([e for e in calls if "launch" in e.name.lower()]),
            "launch_delay_ns": [delays[0], delays[(len(delays) - 1) // 2], delays[-1]] if delays else None,
        }

    def steps(self):
        ranges, rows = self.of(*RANGES), []
        for step in sorted(ranges, key=lambda e: (e.start, e.index)):
            if re.fullmatch(r"ProfilerStep#[0-9]+", step.name):
                mine = [e for e in self.work if e.launch and step.holds(e.launch.start)]
                rows.append([step.name, step.start - self.first, step.ns, len(mine), sum(e.ns for e in mine)])
        framework = defaultdict(lambda: [0, 0])
        for event in ranges:
            if event.name.startswith(("Optimizer.", "enumerate(Data")):
                row = framework[re.sub(r"#[0-9]+\Z", "", event.name)]
                row[0], row[1] = row[0] + event.ns, row[1] + 1
        pairs = Counter(ph for ph, e, id in self.flows if e.category in ("fwdbwd", "forward_backward"))
        return {"steps": rows, "step_columns": STEP_COLUMNS, "framework_ranges": dict(framework),
                "fwdbwd": [pairs["s"], pairs["f"]]}

    # Memory

    def allocator(self, device, events):
        events = sorted(events, key=lambda e: (e.start, e.index))
        sizes = [e.number("Bytes") for e in events]
        totals = [e.number("Total Allocated") for e in events]
        told = None not in totals
        if not told:
            sums = [sum(sizes[:i + 1]) for i in range(len(sizes))]
            totals = [s - min(0, *sums) for s in sums]
        base = totals[0] - sizes[0]
        curve = [base, *totals]
        peak = max(curve)
        at = curve.index(peak)
        found = {
            "device_type": device[0], "device_id": device[1], "events": len(events), "has_totals": told,
            "allocs": sum(s > 0 for s in sizes), "frees": sum(s < 0 for s in sizes),
            "alloc_bytes": sum(s for s in sizes if s > 0), "free_bytes": -sum(s for s in sizes if s < 0),
            "base": base, "final": curve[-1], "peak": peak,
            "peak_after_first_event_ns": events[at - 1].start - self.first if at > 0 else 0,
            "chain_breaks": sum(a + s != b for (a, b), s in zip(pairwise(curve), sizes)),
        }
        if told:
            found["peak_reserved"] = max(e.number("Total Reserved") or 0 for e in events)
        if all("Addr" in e.args for e in events):
            found |= self.blocks(events, sizes)
        return found

    def blocks(self, events, sizes):
        live, orphans, twice = {}, 0, 0
        for event, size in zip(events, sizes):
            was = live.pop(event.number("Addr"), None)
            orphans += size <= 0 and was is None
            twice += size > 0 and was is not None
            if size > 0:
                live[event.number("Addr")] = size
        return {"free_without_alloc": orphans, "alloc_on_live_address": twice, "alive_at_end": len(live),
                "alive_at_end_bytes": sum(live.values())}

    def memories(self):
        devices = by_thread(self.memory, lambda e: (e.number("Device Type"), e.number("Device Id")))
        return [self.allocator(device, devices[device]) for device in sorted(devices, key=str)]

    @cached_property
    def figures(self):
        kernels = self.named(self.work)
        return {
            **self.file(), "host_threads": len(self.threads), "partial_overlaps": self.overlaps,
            "max_depth": self.depth, "link": self.links(),
            "devices": [self.device(pid) for pid in sorted({e.pid for e in self.work}, key=str)],
            "kernel_names": len(kernels), "top_kernels": self.largest(kernels), "memcpy": self.copies(),
            **self.operators(), **self.calls(), **self.steps(), "memory": self.memories(),
            "call_tree": self.call_tree(),
        }


class Operators:
    """The framework's table: an only child with its parent's name is absorbed, one after the other."""

    def __init__(self, trace):
        self.nodes = dict.fromkeys(e for events in trace.threads.values() for e in events)
        self.children = defaultdict(list)
        self.work = defaultdict(list)
        for event in self.nodes:
            self.children[event.parent].append(event)
        for event in trace.work:
            self.work[event.owner].append(event)
        self.merged = 0
        while self.absorb():
            self.merged += 1
        self.self_ns = sum(self.self_of(e) for e in self.nodes)
        self.rows = self.table()

    def absorb(self):
        """Lets one parent absorb its child; false when there is none left."""
        for parent in self.nodes:
            if len(self.children[parent]) == 1 and self.children[parent][0].name == parent.name:
                gone = self.children[parent][0]
                self.children[parent], self.work[parent] = self.children[gone], self.work[gone]
                del self.nodes[gone]
                return True
        return False

    def self_of(self, event):
        return event.ns - sum(c.ns for c in self.children[event])

    def device_total(self, event):
        return sum(w.ns for w in self.work[event]) + sum(self.device_total(c) for c in self.children[event])

    def table(self):
        rows = {}
        for event in self.nodes:
            if event.name in UNLISTED:
                continue
            name = re.sub(r"\AProfilerStep#[0-9]+\Z", "ProfilerStep*", event.name)
            row = rows.setdefault(name, [name, 0, 0, 0, 0, 0])
            more = (1, event.ns, self.self_of(event), self.device_total(event), sum(w.ns for w in self.work[event]))
            row[1:] = [a + b for a, b in zip(row[1:], more)]
        return list(rows.values())


def figures(data):
    return Trace(data).figures
