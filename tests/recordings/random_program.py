"""Seeded random programs, run through the naive allocator: `make(seed)` gives a Recording.

Unlike `random_recording`, whose allocator is a toy that only keeps the invariants of a file, what is
made here follows the rules of the real allocator, address by address.  Options are drawn from the
seed; `make(seed, **fixed)` fixes some of them.
"""
import copy
import random

from models.allocator import DEFAULT_POOL, MIB, NO_END, UNIT, Allocator, Device, OutOfMemory, Settings

BASE = 3 << 48
STREAMS = [0, 0x55d0c0ffee00, 7, -4096]
PYTHON = "/home/u/run/train.py"
MALLOC = {"name": "c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(unsigned long)",
          "filename": "??", "line": 0}
EMPTY = {"native": [{"name": "c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::emptyCache()",
                     "filename": "??", "line": 0}],
         "python": [{"name": "empty_cache", "filename": "/opt/lib/python3.11/site-packages/torch/cuda/memory.py",
                     "line": 170}, {"name": "main", "filename": PYTHON, "line": 90}],
         None: None}
EDGES = [1, 511, 512, 513, 4096, MIB - 1, MIB, MIB + 1, 2 * MIB, 10 * MIB - 512, 10 * MIB - 1, 10 * MIB, 20 * MIB]


class Recording:
    """`start` is the true allocator before the first event; where the window is ragged, that is begins inside a
    step, it is None and `before` is the allocator a few events earlier."""

    def __init__(self, options, settings, allocator, events, start):
        self.options, self.settings, self.allocator = options, settings, allocator
        self.events, self.segments = events, allocator.segments()
        self.before, self.start = start, None if options["window"] and options["ragged"] else start
        self.snapshot = {"segments": self.segments, "device_traces": [events]}
        if options["settings_stored"]:
            self.snapshot["allocator_settings"] = as_stored(settings)
        self.partial_growth, self.partial_releases = allocator.partial_growth, allocator.partial_releases
        self.late_fits, self.new_memory = allocator.late_fits, allocator.new_memory

    def allocs(self):
        return [i for i, e in enumerate(self.events) if e["action"] == "alloc"]

    def reserved_curve(self):
        """Reserved bytes at the start and after every event."""
        change = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
        values = [sum(s["total_size"] for s in self.segments)]
        for e in reversed(self.events):
            values.append(values[-1] - change.get(e["action"], 0) * e["size"])
        return values[::-1]

    def ambiguous(self):
        """Blocks older than the trace of which a file does not tell the size: slack in a large segment,
        taken when the neighbour was in use, which is free now."""
        if self.options["window"] is None:
            return False
        large = [p for p in self.before.pieces() if p.state != "free" and not p.area.expandable and not p.area.key[1]]
        return any(p.size != self.settings.rounded(p.requested) and p.beside(1) and p.beside(1).available for p in large)

    def pending_at_start(self):
        return bool(self.before.pending())

    def base_unknown(self):
        """A reservation was mapped lower than it is before the first event."""
        return any(a.expandable and not a.pieces[0].mapped for a in self.before.areas)

    def holes_at_start(self):
        """Expandable memory was mapped once and is not before the first event, or pages are returned later."""
        mapped = [[p.mapped for p in a.pieces] for a in self.before.areas if a.expandable]
        return self.options["window"] and (any(False in m[:-1] for m in mapped)
                                           or any(e["action"] == "segment_unmap" for e in self.events))


def as_stored(s):
    """The settings dict of a snapshot."""
    text = ["expandable_segments:True"] if s.expandable else []
    text += ["max_split_size_mb:%d" % (s.max_split // MIB)] if s.max_split < NO_END else []
    text += ["max_non_split_rounding_mb:%d" % (s.non_split_rounding // MIB)] if s.non_split_rounding != 20 * MIB else []
    text += ["large_segment_size_mb:%d" % (s.large_segment // MIB)] if s.large_segment != 20 * MIB else []
    return {"PYTORCH_CUDA_ALLOC_CONF": ",".join(text), "max_split_size": s.max_split if s.max_split < NO_END else -1,
            "garbage_collection_threshold": s.gc_threshold, "expandable_segments": s.expandable,
            "pinned_num_register_threads": 1, "release_lock_on_cudamalloc": False,
            "pinned_use_cuda_host_register": False, "graph_capture_record_stream_reuse": False,
            "roundup_power2_divisions": {str(1 << i): d for i, d in enumerate(s.divisions)}}


def random_settings(rng, options):
    s = Settings(expandable=options["expandable"])
    if options["plain"] or not options["settings_stored"]:
        return s
    if rng.random() < 0.3:
        s.divisions = [rng.choice((2, 4, 8, 16))] * 16
    elif rng.random() < 0.2:
        s.divisions = [rng.choice((0, 1, 2, 4, 32)) for _ in range(16)]
    if options["max_split"]:
        s.max_split = rng.choice((20, 32, 64, 100)) * MIB
    if options["unusual"]:
        s.non_split_rounding = rng.choice((20, 24, 40)) * MIB
        s.large_segment = min(rng.choice((12, 20, 32, 64)) * MIB, s.max_split)
    return s


class Program:
    """What a training program does to the allocator, one step at a time."""

    def __init__(self, rng, options, allocator):
        self.rng, self.options, self.a = rng, options, allocator
        self.live, self.waiting = [], []
        self.streams = STREAMS[:options["streams"]]
        self.pools = [DEFAULT_POOL] * 6 + ([(0, 3), (2, 0)] if options["pools"] else [])
        self.sizes = self.clusters()
        self.sites = [self.stack(k) for k in range(rng.randint(3, 8))]
        self.size_of_site = {}
        self.peak = 0

    def clusters(self):
        """Programs ask for the same few sizes again and again."""
        rng = self.rng
        small = [rng.randint(1, 2000) * rng.choice((1, 4, 512)) for _ in range(6)]
        middle = [rng.randint(MIB, 10 * MIB) for _ in range(5)] + [rng.randint(2, 9) * MIB + rng.choice((0, 512))]
        large = [rng.randint(10, 90) * MIB + rng.choice((0, 1, 512, 700_000)) for _ in range(4)]
        return small * 3 + middle * 3 + large * self.options["large"] + rng.sample(EDGES, 4)

    def stack(self, k):
        python = [{"name": "forward", "filename": "/home/u/run/model.py", "line": 10 + k},
                  {"name": "main", "filename": PYTHON, "line": 42}]
        return {"native": [MALLOC] + python, "python": python, None: None}[self.options["stacks"]]

    def step(self):
        rng, a = self.rng, self.a
        full = a.held() / self.options["working_set"]
        choice = rng.random()
        a.context = rng.choice(self.sites)
        if choice < 0.03:
            a.context = EMPTY[self.options["stacks"]]
            a.empty_cache() if rng.random() < self.options["empties"] else a.emit("snapshot", a.held(), 0, 0)
        elif choice < 0.12 and self.options["deferred"]:
            for stream in list(a.queues):
                a.gpu_reaches(stream, rng.randint(0, 3))
        elif self.live and choice < 0.15 + 0.85 * min(0.93, full * full * 0.5):
            self.free()
        else:
            self.alloc()
        self.peak = max(self.peak, a.held())

    def alloc(self):
        rng, a = self.rng, self.a
        request = rng.choice(self.sizes) if rng.random() < 0.9 else int(2 ** rng.uniform(0, 26))
        pool, stream = rng.choice(self.pools), rng.choice(self.streams)
        try:
            self.live.append(a.malloc(request, stream, pool))
        except OutOfMemory:
            # Programs that survive this drop something first.
            for _ in range(min(len(self.live), rng.randint(0, 6))):
                self.free()

    def free(self):
        rng = self.rng
        at = rng.choice((0, len(self.live) - 1, rng.randrange(len(self.live))))
        others = [s for s in self.streams if rng.random() < 0.2] if self.options["deferred"] else []
        self.a.free(self.live.pop(at), others)


def draw(seed, fixed):
    rng = random.Random("program %s" % seed)
    options = {
        "steps": rng.randint(30, 260), "expandable": rng.random() < 0.4, "plain": rng.random() < 0.4,
        "max_split": rng.random() < 0.25, "unusual": rng.random() < 0.2, "streams": rng.choice((1, 1, 2, 3, 4)),
        "pools": rng.random() < 0.15, "deferred": rng.random() < 0.4, "large": rng.randint(0, 3),
        "stacks": rng.choice(("native", "native", "python", None)), "empties": rng.choice((0, 0.5, 0.9)),
        "working_set": rng.choice((40, 150, 400)) * MIB, "capacity": rng.choice((None, 0.6, 0.8, 0.95)),
        "window": rng.choice((None, 0.3, 0.6)), "ragged": rng.choice((0, 0, 1, 2, 3)),
        "order": rng.choice(("descend", "ascend", "anywhere")), "settings_stored": rng.random() < 0.9,
        "pool_ids": rng.random() < 0.5, "moves": False, "reservation": 1 << 44, "gc": False}
    options.update(fixed)
    if options["pools"] and options["max_split"]:
        options["pool_ids"] = True      # a private segment that was given back is known by its events alone
    return rng, options


def make(seed, check=False, **fixed):
    rng, options = draw(seed, fixed)
    settings = random_settings(rng, options)
    capacity = options["capacity"]
    if capacity is not None:
        # A share of what the program would like to hold, so that retries and out-of-memory happen.
        capacity = int(capacity * options["working_set"] * 1.3) // UNIT * UNIT
    if options["gc"]:
        settings.gc_threshold, settings.limit = 0.5, options["working_set"]
    device = Device(capacity, options["order"], low=BASE, high=BASE, rng=random.Random(seed), moves=options["moves"],
                    reservation=options["reservation"], base=BASE + (1 << 46))
    a = Allocator(settings, device)
    program = Program(rng, options, a)
    begins, dropped = int(options["steps"] * (options["window"] or 0)), 0
    start = copy.deepcopy(a)
    for step in range(options["steps"]):
        if step == begins and step > 0:
            dropped, start = len(a.events), copy.deepcopy(a)
            program.peak = a.held()
            a.new_memory = a.retries = a.partial_growth = a.partial_releases = a.late_fits = 0
        program.step()
        if check:
            a.check()
    if options["window"] and options["ragged"]:
        dropped += options["ragged"]
    options["held_peak"] = program.peak
    events = a.events[dropped:]
    for e in events:
        if e["action"] != "oom":
            e.pop("device_free", None)
        if not options["pool_ids"]:
            e.pop("pool_id")
    start.events = []
    return Recording(options, settings, a, events, start)
