"""Seeded random VALID recordings: `make(seed)` gives a dict (or a bare list) as PyTorch would dump it.

A toy allocator runs a random program on each device.  Part of it lies before the window, so
that kept blocks, orphan frees and frees waiting for completion appear as they do in real
files.  Valid means: every invariant of an unedited file holds.  Options are drawn from the
seed, too; `make(seed, **fixed)` fixes some of them.
"""
import random

MIB = 1 << 20
PAGE = {"small": 2 * MIB, "large": 20 * MIB}

STRANGE = ["naïve café ✓", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", 'quote" back\\slash', "%s%n%x", "</script><b>",
           "tab\tnew\nline", "日本語.py", "a" * 300, "nul\0inside", "\u202eabc", "\x7f\x9b31m", "{json}", "'; --"]

USER = [("/home/u/run/train.py", ["main", "train_step", "evaluate"]), ("/home/u/run/model.py", ["forward", "build"]),
        ("/srv/lib/data_tools.py", ["load_batch"]), ("C:\\Users\\u\\proj\\loop.py", ["epoch"])]
LIBRARY = [("/opt/venv/lib/python3.11/site-packages/trainerlib/trainer.py", "fit", 210),
           ("/opt/venv/lib/python3.11/site-packages/blocks/attention_block.py", "attend", 77)]
TORCH = [("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "_wrapped_call_impl", 1511),
         ("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "_call_impl", 1520),
         ("/opt/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", "forward", 114)]
STD = [("/usr/lib/python3.11/threading.py", "run", 975), ("<frozen runpy>", "_run_code", 88)]
NATIVE = ["at::_ops::mm::call(at::Tensor const&, at::Tensor const&)", "at::_ops::empty_memory_format::call(c10::ArrayRef<long>)"]
BACKWARD = ["torch::autograd::generated::MulBackward0::apply(std::vector<at::Tensor>&&)",
            "torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)"]


class Stacks:
    """Frame dicts and frames lists, shared the way the producers share them."""

    def __init__(self, rng, style, strange):
        self.rng, self.style, self.cache = rng, style, {}
        self.stacks = [self.new(strange and k < 3) for k in range(rng.randint(2, 9))]

    def frame(self, name, filename, line):
        key = name, filename, line
        if key not in self.cache:
            self.cache[key] = {"name": name, "filename": filename, "line": line}
        return self.cache[key]

    def new(self, strange):
        rng, frames = self.rng, []
        if self.style == "all":
            if rng.random() < 0.2:
                return [self.frame(rng.choice(BACKWARD), "??", 0)]
            frames.append(self.frame(rng.choice(NATIVE), "??", 0))
        for filename, name, line in rng.sample(TORCH, rng.randint(0, 3)):
            frames.append(self.frame(name, filename, line))
        if rng.random() < 0.5:
            filename, name, line = rng.choice(LIBRARY)
            frames.append(self.frame(name, filename, line))
        for _ in range(rng.randint(1, 3)):
            filename, names = rng.choice(USER)
            frames.append(self.frame(rng.choice(names), filename, rng.randint(1, 40)))
        if strange:
            frames.append(self.frame(rng.choice(STRANGE), rng.choice(STRANGE), 2**64 - 1 if rng.random() < 0.3 else 7))
        filename, name, line = rng.choice(STD)
        return frames + [self.frame(name, filename, line)]

    def pick(self):
        if self.style is None or self.rng.random() < 0.1:
            return []
        return self.rng.choice(self.stacks)


class Segment:
    def __init__(self, address, size, key, expandable, frames):
        self.address, self.size, self.key, self.expandable, self.frames = address, size, key, expandable, frames
        self.blocks = [Block(address, size)]


class Block:
    """`state` is inactive, active_allocated or active_pending_free."""

    def __init__(self, address, size):
        self.address, self.size, self.state = address, size, "inactive"
        self.requested, self.frames = 0, []


class Allocator:
    """Best fit in (pool, stream, class) with splitting; large pieces of a MiB or less stay attached."""

    def __init__(self, rng, base, expandable, divisions, stacks):
        self.rng, self.next, self.expandable = rng, base, expandable
        self.divisions, self.stacks = divisions, stacks
        self.segments, self.events, self.pending = [], [], []
        self.clock = 1_700_000_000_000_000 + rng.randrange(10**9)

    def emit(self, action, addr, size, stream, frames=None, **more):
        self.clock += self.rng.choice((0, 0, 1, 3, 250))
        e = {"action": action, "addr": addr, "size": size, "stream": stream}
        if frames is not None:
            e["frames"] = frames
        e["time_us"] = self.clock
        e.update(more)
        self.events.append(e)

    def round(self, n):
        from models.model import rounded
        return rounded(n, self.divisions)

    def alloc(self, size, pool, stream):
        need = self.round(size)
        kind = "small" if need <= MIB else "large"
        key, frames = (pool, stream, kind), self.stacks.pick()
        free = [(b.size, b.address, s, b) for s in self.segments if s.key == key
                for b in s.blocks if b.state == "inactive" and b.size >= need]
        if free:
            _, _, segment, block = min(free, key=lambda f: f[:2])
        else:
            segment, block = self.grow(need, key, frames)
        least = MIB if kind == "large" and not segment.expandable else 511
        if block.size - need > least:
            rest = Block(block.address + need, block.size - need)
            block.size = need
            segment.blocks.insert(segment.blocks.index(block) + 1, rest)
        block.state, block.requested, block.frames = "active_allocated", size, frames
        self.emit("alloc", block.address, size, stream, frames, pool=pool)
        return segment, block

    def grow(self, need, key, frames):
        pool, stream, kind = key
        page = PAGE[kind]
        mine = [s for s in self.segments if s.key == key and s.expandable]
        if self.expandable and mine and self.rng.random() < 0.8:
            segment = mine[-1]
            tail = segment.blocks[-1]
            if tail.state != "inactive":
                tail = Block(segment.address + segment.size, 0)
                segment.blocks.append(tail)
            more = -(-(need - tail.size) // page) * page
            self.emit("segment_map", segment.address + segment.size, more, stream, frames, pool=pool)
            segment.size += more
            tail.size += more
            return segment, tail
        if self.expandable:
            size, action = -(-need // page) * page, "segment_map"
        else:
            size = 2 * MIB if kind == "small" else 20 * MIB if need < 10 * MIB else -(-need // (2 * MIB)) * 2 * MIB
            action = "segment_alloc"
        segment = Segment(self.next, size, key, self.expandable, frames)
        self.next += size + (1 << 40 if self.expandable else 2 * MIB * self.rng.randint(0, 3))
        self.segments.append(segment)
        self.emit(action, segment.address, size, stream, frames, pool=pool)
        return segment, segment.blocks[0]

    def free(self, segment, block, defer):
        frames = self.stacks.pick()
        pool, stream, _ = segment.key
        self.emit("free_requested", block.address, block.requested, stream, frames, pool=pool)
        block.state = "active_pending_free"
        if defer:
            self.pending.append((segment, block))
        else:
            self.complete(segment, block, frames)

    def complete(self, segment, block, frames):
        pool, stream, _ = segment.key
        self.emit("free_completed", block.address, block.requested, stream, frames, pool=pool)
        block.state, block.frames = "inactive", []
        at = segment.blocks.index(block)
        for i in (at, at - 1):
            if 0 <= i < len(segment.blocks) - 1:
                a, b = segment.blocks[i:i + 2]
                if a.state == b.state == "inactive":
                    a.size += b.size
                    segment.blocks.remove(b)

    def release(self):
        """empty_cache: free segments, and whole free pages of expandable ones."""
        for s in list(self.segments):
            pool, stream, kind = s.key
            for b in [b for b in s.blocks if b.state == "inactive"]:
                if not s.expandable:
                    if b.size == s.size:
                        self.emit("segment_free", s.address, s.size, stream, pool=pool)
                        self.segments.remove(s)
                    continue
                low = s.address + -(-(b.address - s.address) // PAGE[kind]) * PAGE[kind]
                high = s.address + (b.address + b.size - s.address) // PAGE[kind] * PAGE[kind]
                if low < high:
                    self.emit("segment_unmap", low, high - low, stream, pool=pool)
                    self.cut(s, b, low, high)
                    break

    def cut(self, s, b, low, high):
        """A segment with a hole becomes the ranges on both sides of it."""
        self.segments.remove(s)
        before = [x for x in s.blocks if x.address < b.address]
        after = [x for x in s.blocks if x.address > b.address]
        if b.address < low:
            before.append(Block(b.address, low - b.address))
        if high < b.address + b.size:
            after.insert(0, Block(high, b.address + b.size - high))
        for blocks in (before, after):
            if blocks:
                part = Segment(blocks[0].address, sum(x.size for x in blocks), s.key, True, s.frames)
                part.blocks = blocks
                self.segments.append(part)


def run(rng, allocator, steps, pools, streams, extras):
    """A random program of `steps` operations."""
    live = [(s, b) for s in allocator.segments for b in s.blocks if b.state == "active_allocated"]
    for _ in range(steps):
        live = [(find(allocator, b), b) for _, b in live]
        allocator.pending = [(find(allocator, b), b) for _, b in allocator.pending]
        draw = rng.random()
        if draw < 0.5 or not live:
            size = rng.choice((rng.randint(1, 700), rng.randint(700, MIB), rng.randint(MIB, 30 * MIB), 512, 4096))
            live.append(allocator.alloc(size, rng.choice(pools), rng.choice(streams)))
        elif draw < 0.85:
            segment, block = live.pop(rng.randrange(len(live)))
            allocator.free(segment, block, rng.random() < 0.15)
        elif draw < 0.92 and allocator.pending:
            segment, block = allocator.pending.pop(rng.randrange(len(allocator.pending)))
            allocator.complete(segment, block, allocator.stacks.pick())
        elif draw < 0.95:
            allocator.release()
        elif extras:
            used = sum(b.size for s in allocator.segments for b in s.blocks if b.state != "inactive")
            kind = rng.choice(extras)
            if kind == "oom":
                reserved = sum(s.size for s in allocator.segments)
                allocator.emit("oom", None, allocator.round(rng.randint(1, 1 << 33)), rng.choice(streams),
                               allocator.stacks.pick(), device_free=max(0, (40 << 30) - reserved))
            elif kind == "snapshot":
                allocator.emit("snapshot", 0, used, 0, [])
            elif kind == "annotate":
                segment, block = rng.choice(live)
                allocator.emit("annotate", block.address, block.requested, segment.key[1], user_metadata="mark %d" % used)
            else:
                allocator.emit(kind, rng.randrange(1 << 40), rng.randrange(1 << 30), 0, [])


def find(allocator, block):
    return next(s for s in allocator.segments if block in s.blocks)


def dump_segment(rng, device, s, o):
    active = [b for b in s.blocks if b.state != "inactive"]
    held = [b for b in active if b.state == "active_allocated"]
    out = {"device": device, "address": s.address, "total_size": s.size, "allocated_size": sum(b.size for b in held),
           "active_size": sum(b.size for b in active), "requested_size": sum(b.requested for b in active),
           "stream": s.key[1], "segment_type": s.key[2], "segment_pool_id": s.key[0], "is_expandable": s.expandable,
           "frames": s.frames if rng.random() < 0.8 else [], "blocks": [dump_block(rng, b, o) for b in s.blocks]}
    if o["layout"] != "new":
        for key in ("segment_pool_id", "is_expandable", "frames") + (("requested_size",) if o["layout"] == "1.13" else ()):
            del out[key]
    return out


def dump_block(rng, b, o):
    """Old layouts have neither address nor frames, but the history of the place, newest first."""
    stale = rng.randint(0, 4096) if rng.random() < 0.5 else 0
    if o["layout"] == "new":
        return {"address": b.address, "size": b.size, "requested_size": b.requested if b.state != "inactive" else stale,
                "state": b.state if b.state != "active_pending_free" or rng.random() < 0.7 else "active_awaiting_free",
                "frames": b.frames}
    out = {"size": b.size, "state": b.state}
    if o["layout"] == "2.0":
        out["requested_size"] = b.requested if b.state != "inactive" else stale
    if b.state != "inactive" or stale:
        out["history"] = [{"addr": b.address, "real_size": b.requested or stale, "frames": b.frames}]
        if stale:
            out["history"].append({"addr": b.address, "real_size": 77, "cpp_frames": "at::empty"})
    return out


def dump_event(e, o):
    e = dict(e)
    pool = e.pop("pool", None)
    if o["pool_id"] and pool is not None:
        e["pool_id"] = pool
    if e["action"] == "oom":
        del e["addr"]
    if not o["time"]:
        del e["time_us"]
    if o["compile_context"]:
        e["compile_context"] = "N/A" if e["size"] % 3 else "0/1"
    if o["metadata"]:
        e.setdefault("user_metadata", "")
    if o["context"] is None or (o["context"] == "alloc-only" and e["action"] != "alloc"):
        e.pop("frames", None)
    if o["layout"] != "new":
        e.pop("time_us", None)
    return e


def options(rng):
    layout = rng.choice(("new",) * 8 + ("2.0", "1.13"))
    return {"layout": layout, "devices": rng.choice((1, 1, 1, 2, 3)), "gap": rng.random() < 0.15,
            "steps": rng.choice((0, 1, 3, 12, 40, 120)), "before": rng.choice((0, 0, 5, 30)),
            "expandable": layout == "new" and rng.random() < 0.4, "style": rng.choice(("all", "python", "python", None)),
            "context": rng.choice(("all", "all", "alloc-only", None)), "strange": rng.random() < 0.3,
            "pools": rng.choice(([(0, 0)], [(0, 0)], [(0, 0), (1, 0), (0, 2)])) if layout == "new" else [(0, 0)],
            "streams": rng.choice(([0], [0], [0, 7, 94121212121212])), "pool_id": layout == "new" and rng.random() < 0.3,
            "pool_as_list": rng.random() < 0.2, "time": rng.random() < 0.85, "compile_context": rng.random() < 0.3,
            "metadata": rng.random() < 0.3, "settings": rng.random() < 0.6, "divisions": rng.random() < 0.25,
            "annotations": rng.random() < 0.5, "unknown": rng.random() < 0.2, "missing": rng.random() < 0.2,
            "shuffle": rng.random() < 0.4, "extras": rng.choice(((), ("oom", "snapshot"), ("oom", "annotate", "snapshot"))),
            "unknown_actions": rng.random() < 0.1, "high": rng.random() < 0.1}


def make(seed, **fixed):
    rng = random.Random(seed)
    o = dict(options(rng), **fixed)
    divisions = {str(1 << k): rng.choice((0, 2, 4, 8)) for k in range(16)} if o["divisions"] and o["layout"] == "new" else None
    stacks = Stacks(rng, o["style"], o["strange"])
    segments, traces = [], []
    for d in range(o["devices"]):
        base = 0x7F0000000000 + (d << 44) if not o["high"] else 0xFFFF800000000000 + (d << 44)
        allocator = Allocator(rng, base, o["expandable"], divisions, stacks)
        extras = o["extras"] + (("frobnicate",) if o["unknown_actions"] else ())
        if not (o["gap"] and d == 0):
            run(rng, allocator, o["before"], o["pools"], o["streams"], ())
            # The ring begins anywhere, also between a request and its completion.
            kept = rng.randint(0, 3) if o["before"] else 0
            allocator.events = allocator.events[len(allocator.events) - kept:]
            run(rng, allocator, o["steps"], o["pools"], o["streams"], extras)
        segments += [dump_segment(rng, d, s, o) for s in sorted(allocator.segments, key=lambda s: s.address)]
        traces.append([dump_event(e, o) for e in allocator.events])
    if o["layout"] == "1.13":
        return [shuffled(rng, s) for s in segments] if o["shuffle"] else segments
    if o["layout"] == "2.0" and o["steps"] % 2:
        traces = [[] for _ in traces]
    top = {"segments": segments, "device_traces": traces}
    if o["settings"] or divisions:
        top["allocator_settings"] = settings(rng, divisions)
    if o["annotations"]:
        top["external_annotations"] = annotations(rng, traces)
    if o["pool_as_list"]:
        for s in segments:
            if "segment_pool_id" in s:
                s["segment_pool_id"] = list(s["segment_pool_id"])
    if o["missing"]:
        drop(rng, top)
    if o["unknown"]:
        strangers(rng, top)
    return shuffled(rng, top) if o["shuffle"] else top


def settings(rng, divisions):
    s = {"PYTORCH_CUDA_ALLOC_CONF": rng.choice(("", "expandable_segments:True")), "max_split_size": -1,
         "garbage_collection_threshold": 0.0, "expandable_segments": False, "pinned_num_register_threads": 1,
         "release_lock_on_cudamalloc": False, "pinned_use_cuda_host_register": False,
         "roundup_power2_divisions": divisions or {str(1 << k): 0 for k in range(16)}}
    if rng.random() < 0.3:
        s.update(graph_capture_record_stream_reuse=False, trace_alloc_overflowed=False, trace_alloc_max_entries=987654)
    return s


def annotations(rng, traces):
    times = [e["time_us"] for t in traces for e in t if "time_us" in e] or [1_700_000_000_000_000]
    out = []
    for k in range(rng.randint(0, 4)):
        name = rng.choice(("Optimizer.step#AdamW.step", "enumerate(DataLoader)", "ProfilerStep#%d" % k, STRANGE[k]))
        for stage in ("START", "END"):
            out.append({"name": name, "stage": stage, "device": 0, "time_us": rng.choice(times)})
    return sorted(out, key=lambda a: a["time_us"])


def drop(rng, top):
    """Leaves out keys that a reader can do without."""
    def lose(record, keys):
        for key in keys:
            if rng.random() < 0.5:
                record.pop(key, None)

    lose(top, ["allocator_settings", "external_annotations"] if "roundup_power2_divisions" not in top else [])
    for s in top["segments"]:
        lose(s, ("allocated_size", "active_size", "requested_size", "segment_type", "is_expandable", "frames"))
        for b in s["blocks"]:
            lose(b, ("address", "frames"))
    for t in top["device_traces"]:
        for e in t:
            lose(e, ("frames", "compile_context", "user_metadata", "pool_id"))


def strangers(rng, top):
    """Keys of a newer producer, with values of every type."""
    values = [None, True, -5, 1 << 62, 0.5, "text", [], [1, [2, "x"]], {}, {"k": {"frames": []}}, (1, 2, 3)]
    top["new_top_key"] = rng.choice(values)
    for s in top["segments"]:
        if rng.random() < 0.5:
            s["new_segment_key"] = rng.choice(values)
        for b in s["blocks"]:
            if rng.random() < 0.2:
                b["new_block_key"] = rng.choice(values)
    for t in top["device_traces"]:
        for e in t:
            if rng.random() < 0.2:
                e["new_event_key"] = rng.choice(values)


def shuffled(rng, value, memo=None):
    """Dicts with their keys in another order; what was shared stays shared."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)][0]
    if isinstance(value, dict):
        new = {k: shuffled(rng, value[k], memo) for k in rng.sample(list(value), len(value))}
    elif isinstance(value, list):
        new = [shuffled(rng, v, memo) for v in value]
    else:
        return value
    memo[id(value)] = (new, value)
    return new
