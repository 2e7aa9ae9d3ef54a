"""A naive model of PyTorch's caching allocator for one device: plain lists, linear searches.

    Device(capacity, ...)       gives memory and addresses; says no when there is none left
    Allocator(settings, device) malloc, free, empty_cache; writes `events` as a trace has them
    Allocator.check()           the invariants that hold between any two calls

Memory is a list of areas: what one cudaMalloc gave, or the reservation of expandable memory.
An area is cut into pieces without gaps.  Nothing is remembered that can be searched for.
"""
import copy
from dataclasses import dataclass, field

MIB = 1 << 20
UNIT = 512
SMALL_MAX, SMALL_SEGMENT, OWN_SEGMENT = MIB, 2 * MIB, 10 * MIB
NO_END = 1 << 62
DEFAULT_POOL = (0, 0)


@dataclass
class Settings:
    divisions: list = field(default_factory=lambda: [0] * 16)
    max_split: int = NO_END
    non_split_rounding: int = 20 * MIB
    large_segment: int = 20 * MIB
    gc_threshold: float = 0.0
    expandable: bool = False
    limit: int = None               # of a memory fraction, in bytes

    def changed(self, **changes):
        other = copy.deepcopy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other

    def rounded(self, n):
        if n < UNIT:
            return UNIT
        power = n.bit_length() - 1
        d = self.divisions[min(max(power - 20, 0), 15)]
        if d > 1 and n > UNIT * d:
            step = (1 << power) // d
            return n if n == 1 << power else up(n, step)
        return up(n, UNIT)

    def segment(self, rounded):
        if rounded <= SMALL_MAX:
            return SMALL_SEGMENT
        return self.large_segment if rounded < OWN_SEGMENT else up(rounded, SMALL_SEGMENT)

    def page(self, small):
        return SMALL_SEGMENT if small else self.large_segment


def up(n, unit):
    return (n + unit - 1) // unit * unit


def down(n, unit):
    return n // unit * unit


class Piece:
    """`state` is free, used or pending; what is not mapped is free and can not be handed out."""

    def __init__(self, area, address, size, mapped=True):
        self.area, self.address, self.size, self.mapped = area, address, size, mapped
        self.state, self.requested, self.frames, self.site = "free", 0, None, None
        self.waits_for, self.entered = 0, 0

    @property
    def end(self):
        return self.address + self.size

    @property
    def available(self):
        return self.state == "free" and self.mapped

    def beside(self, step):
        at = self.area.pieces.index(self) + step
        return self.area.pieces[at] if 0 <= at < len(self.area.pieces) else None

    @property
    def split(self):
        return len(self.area.pieces) > 1

    def growth(self):
        """Bytes it could have without a neighbour being freed."""
        after = self.beside(1)
        return self.size + (after.size if after and not after.mapped else 0)


class Area:
    def __init__(self, key, address, size, expandable):
        self.key, self.address, self.expandable = key, address, expandable
        self.pieces = [Piece(self, address, size, mapped=not expandable)]

    def cut(self, piece, size):
        """Leaves `size` bytes in the piece; the rest is a piece like it behind it."""
        rest = Piece(self, piece.address + size, piece.size - size, piece.mapped)
        piece.size = size
        self.pieces.insert(self.pieces.index(piece) + 1, rest)
        return rest

    def merge(self, piece):
        """Joins a free piece with its free neighbours of the same kind."""
        for step in -1, 1:
            other = piece.beside(step)
            if other and other.state == "free" and other.mapped == piece.mapped:
                piece.address, piece.size = min(piece.address, other.address), piece.size + other.size
                self.pieces.remove(other)


class Device:
    """Where new memory comes from.  Segments lie ever lower, ever higher, or anywhere."""

    def __init__(self, capacity=None, order="descend", low=3 << 48, high=3 << 48, reservation=1 << 44, base=1 << 54,
                 rng=None, moves=False):
        self.capacity, self.order, self.low, self.high, self.rng = capacity, order, low, high, rng
        self.reservation, self.base, self.bases, self.moves = reservation, base, {}, moves

    def fits(self, bytes_in_all):
        return self.capacity is None or bytes_in_all <= self.capacity

    def place(self, size):
        gap = self.rng.choice((0, 0, 1, 9)) * SMALL_SEGMENT if self.rng else 0
        if self.order == "descend" or self.order == "anywhere" and self.rng.random() < 0.5:
            self.low -= size + gap
            return self.low
        self.high += size + gap
        return self.high - size

    def reserve(self, key, taken):
        """The driver gives a range again that was given back, unless it is told to move on."""
        if key in self.bases and self.bases[key] not in taken and not self.moves:
            return self.bases[key]
        self.bases[key] = self.base
        self.base += 1 << 44
        return self.bases[key]


class OutOfMemory(Exception):
    def __init__(self, size):
        super().__init__(size)
        self.size = size


class Allocator:
    def __init__(self, settings, device):
        self.settings, self.device = settings, device
        self.areas, self.queues, self.searches = [], {}, {}
        self.events, self.context, self.clock = [], None, 0
        self.new_memory = self.retries = 0
        # What a trace does not show: maps of an attempt that failed, releases that are no full ones, memory
        # asked for although the completions of the retry before it made a block that fits.
        self.partial_growth = self.partial_releases = self.late_fits = 0
        self.on_reserve = self.on_complete = lambda *_: None    # somebody may want to watch

    # What there is ----------------------------------------------------------------------

    def pieces(self):
        return [p for area in self.areas for p in area.pieces]

    def reserved(self):
        return sum(p.size for p in self.pieces() if p.mapped)

    def held(self):
        """Bytes of blocks in use or pending."""
        return sum(p.size for p in self.pieces() if p.state != "free")

    def requested(self):
        return sum(p.requested for p in self.pieces() if p.state != "free")

    def pending(self):
        return [p for p in self.pieces() if p.state == "pending"]

    def free_pieces(self, key):
        found = [p for area in self.areas if area.key == key for p in area.pieces if p.available]
        return sorted(found, key=lambda p: (p.size, p.address))

    def emit(self, action, size, stream, address=None, pool=DEFAULT_POOL, **more):
        event = {"action": action, "size": size, "stream": stream, "pool_id": pool, **more}
        if address is not None:
            event["addr"] = address
        if self.context is not None:
            event["frames"] = self.context
        self.clock += 7
        event["time_us"] = 1_700_000_000_000_000 + self.clock
        self.events.append(event)

    # Allocation -------------------------------------------------------------------------

    def malloc(self, request, stream=0, pool=DEFAULT_POOL, capturing=False):
        if not capturing:
            self.process_completions()
        n = self.settings.rounded(request)
        piece = self.obtain(n, (pool, n <= SMALL_MAX, stream), capturing)
        if piece is None:
            free = None if self.device.capacity is None else self.device.capacity - self.reserved()
            self.emit("oom", n, stream, pool=pool, device_free=free)
            raise OutOfMemory(n)
        if self.splits(piece, n):
            self.enters(piece.area.cut(piece, n))
        piece.state, piece.requested, piece.frames = "used", request, self.context
        self.emit("alloc", request, stream, piece.address, pool)
        return piece

    def obtain(self, n, key, capturing=False):
        piece = self.best_fit(n, key)
        if piece is None and self.collects_garbage():
            self.collect_garbage()
        piece = piece or self.grow(n, key)
        if piece is None and self.release_oversize(n, key):
            piece = self.grow(n, key)
        if piece is None and not capturing:
            self.retries += 1
            self.release_all()
            self.late_fits += self.best_fit(n, key) is not None
            piece = self.grow(n, key)
        return piece

    def best_fit(self, n, key):
        s = self.settings
        if self.collects_garbage():
            self.searches[key[:2]] = self.searches.get(key[:2], 0) + 1
        fitting = [p for p in self.free_pieces(key) if p.size >= n]
        if not fitting:
            return None
        piece = fitting.pop(0)
        if piece.area.expandable and s.expandable:
            while piece.area.expandable and fitting and fitting[0].growth() < piece.growth():
                piece = fitting.pop(0)
        while piece.area.expandable and not s.expandable:
            if not fitting:
                return None
            piece = fitting.pop(0)
        if n < s.max_split <= piece.size:
            return None
        if n >= s.max_split and piece.size >= n + s.non_split_rounding:
            return None
        return piece

    def splits(self, piece, n):
        rest = piece.size - n
        if piece.area.key[1] or self.settings.expandable:
            return rest >= UNIT
        return n < self.settings.max_split and rest > SMALL_MAX

    def grow(self, n, key):
        """New memory; a piece of n bytes or more, or None."""
        s, size = self.settings, self.settings.segment(n)
        if s.limit is not None and self.reserved() + size > s.limit:
            return None
        if s.expandable:
            piece = self.grow_reservation(n, key)
        elif self.device.fits(self.reserved() + size):
            area = Area(key, self.device.place(size), size, expandable=False)
            self.areas.append(area)
            piece, = area.pieces
            self.enters(piece)
            self.emit("segment_alloc", size, key[2], area.address, key[0])
        else:
            piece = None
        self.new_memory += piece is not None
        self.on_reserve()
        return piece

    # Freeing ----------------------------------------------------------------------------

    def free(self, piece, other_streams=()):
        pool, _, stream = piece.area.key
        self.emit("free_requested", piece.requested, stream, piece.address, pool)
        piece.state, piece.waits_for = "pending", len(other_streams)
        for other in other_streams:
            self.queues.setdefault(other, []).append([piece, False])
        if not other_streams:
            self.complete(piece)

    def complete(self, piece):
        self.on_complete(piece)
        pool, _, stream = piece.area.key
        self.emit("free_completed", piece.requested, stream, piece.address, pool)
        piece.state, piece.requested, piece.frames, piece.site = "free", 0, None, None
        piece.area.merge(piece)
        self.enters(piece)

    def enters(self, piece):
        piece.entered = self.searches.get(piece.area.key[:2], 0)

    def gpu_reaches(self, stream, count=1):
        """The oldest `count` events of a stream's queue are done; the allocator has not looked yet."""
        for entry in self.queues.get(stream, [])[:count]:
            entry[1] = True

    def process_completions(self, wait=False):
        for queue in self.queues.values():
            while queue and (wait or queue[0][1]):
                piece, _ = queue.pop(0)
                piece.waits_for -= 1
                if piece.waits_for == 0:
                    self.complete(piece)

    # Giving back ------------------------------------------------------------------------

    def returnable(self):
        """What a full release would give back, in order: (area, first byte, bytes)."""
        found = []
        for small in False, True:
            keys = {a.key for a in self.areas if a.key[0] == DEFAULT_POOL and a.key[1] == small}
            free = [p for key in sorted(keys, key=lambda k: k[2] % (1 << 64)) for p in self.free_pieces(key)]
            found += [(p.area, p.address, p.size) for p in free if not p.area.expandable and not p.split]
            page = self.settings.page(small)
            for p in free:
                if p.area.expandable:
                    base = p.area.address
                    first, end = base + up(p.address - base, page), base + down(p.end - base, page)
                    if first < end:
                        found.append((p.area, first, end - first))
        return found

    def release_all(self):
        self.process_completions(wait=True)
        for area, address, size in self.returnable():
            if area.expandable:
                self.unmap(area, address, size)
            else:
                self.return_segment(area)

    empty_cache = release_all

    def return_segment(self, area):
        self.areas.remove(area)
        self.emit("segment_free", area.pieces[0].size, area.key[2], area.address, area.key[0])

    def release_oversize(self, n, key):
        s = self.settings
        if s.max_split >= NO_END:
            return False
        least, got = max(n, s.max_split), 0
        free = [p for p in self.free_pieces(key) if not p.area.expandable]
        chosen = [p for p in free if p.size >= least][:1]
        if not chosen:
            while free and free[-1].size >= s.max_split and got < least:
                chosen.append(free.pop())
                got += chosen[-1].size
        for piece in chosen:
            # A piece of a segment that is split can not be given back; only a start under other
            # settings has such pieces.
            if not piece.split:
                self.return_segment(piece.area)
                self.partial_releases += 1
        return sum(p.size for p in chosen) >= least

    def collects_garbage(self):
        return self.settings.limit is not None and 0 < self.settings.gc_threshold < 1

    def collect_garbage(self):
        above = self.settings.gc_threshold * self.settings.limit
        target, reclaimed = self.reserved() - above, 0
        if target <= 0:
            return
        pool = (DEFAULT_POOL, False)
        released = True
        while reclaimed < target and released:
            free = [p for p in self.pieces() if p.area.key[:2] == pool and p.available and not p.split]
            if not free:
                return
            free.sort(key=lambda p: (p.area.key[2] % (1 << 64), p.size, p.address))
            ages = {id(p): self.searches.get(pool, 0) - p.entered for p in free}
            cut = sum(ages.values()) / len(free)
            released = [p for p in free if ages[id(p)] >= cut and not p.area.expandable]
            for piece in released:
                self.return_segment(piece.area)
                self.partial_releases += 1
            reclaimed += sum(p.size for p in released)

    # Expandable memory ------------------------------------------------------------------

    def find_room(self, n, key):
        """The free or unmapped piece from which n bytes without a used one can be had."""
        unmapped = [p for a in self.areas if a.key == key for p in a.pieces if not p.mapped]
        for start in sorted(unmapped, key=lambda p: p.address):
            before = start.beside(-1)
            first = before if before and before.state == "free" else start
            total, piece = 0, first
            while piece and piece.state == "free" and total < n:
                total, piece = total + piece.size, piece.beside(1)
            if total >= n:
                return first
        return None

    def grow_reservation(self, n, key):
        piece = self.find_room(n, key)
        if piece is None:
            taken = {a.address for a in self.areas}
            base = self.device.reserve(key, taken)
            self.areas.append(Area(key, base, up(self.device.reservation, self.settings.page(key[1])), expandable=True))
            piece = self.find_room(n, key)
            if piece is None:
                return None
        mapped = 0
        if not piece.mapped:
            piece = self.map(piece, min(piece.size, n))
            mapped += piece is not None
        while piece and piece.size < n:
            more = piece.beside(1)
            piece = self.map(more, min(n - piece.size, more.size))
            mapped += piece is not None
        if piece is None:
            self.partial_growth += mapped > 0
            self.areas = [a for a in self.areas if any(p.mapped for p in a.pieces)]
        return piece

    def map(self, unmapped, bytes_wanted):
        area = unmapped.area
        size = up(bytes_wanted, self.settings.page(area.key[1]))
        if not self.device.fits(self.reserved() + size):
            return None
        if size < unmapped.size:
            area.cut(unmapped, size)
        unmapped.mapped = True
        self.emit("segment_map", size, area.key[2], unmapped.address, area.key[0])
        area.merge(unmapped)
        self.enters(unmapped)
        self.on_reserve()
        return unmapped

    def unmap(self, area, address, size):
        piece, = [p for p in area.pieces if p.address <= address and address + size <= p.end]
        if piece.address < address:
            piece = area.cut(piece, address - piece.address)
        if piece.size > size:
            self.enters(area.cut(piece, size))
        piece.mapped = False
        area.merge(piece)
        self.emit("segment_unmap", size, area.key[2], address, area.key[0])
        if not any(p.mapped for p in area.pieces):
            self.areas.remove(area)

    # Invariants -------------------------------------------------------------------------

    def check(self):
        end = 0
        for area in sorted(self.areas, key=lambda a: a.address):
            at = area.address
            assert at >= end, "areas overlap"
            for p, after in zip(area.pieces, area.pieces[1:] + [None]):
                assert p.area is area and p.address == at and p.size > 0 and p.size % UNIT == 0, "a gap or an overlap"
                assert p.mapped or p.state == "free", "in use without memory"
                assert p.state == "free" or p.requested <= p.size
                assert not (after and p.state == after.state == "free" and p.mapped == after.mapped), "not merged"
                assert (p.state == "pending") == (p.waits_for > 0)
                at = p.end
            assert area.expandable or all(p.mapped for p in area.pieces)
            assert any(p.mapped for p in area.pieces), "an area without memory"
            end = at if not area.expandable else area.pieces[-1].address
        free = sum(p.size for p in self.pieces() if p.available)
        assert self.reserved() == self.held() + free
        assert self.device.fits(self.reserved())

    # The state as a snapshot shows it ---------------------------------------------------

    def segments(self, device=0):
        """One segment for each cudaMalloc, one for each contiguous mapped range."""
        states = {"free": "inactive", "used": "active_allocated", "pending": "active_pending_free"}
        found = []
        for area in self.areas:
            ranges, run = [], []
            for p in area.pieces + [None]:
                if p is not None and p.mapped:
                    run.append(p)
                elif run:
                    ranges.append(run)
                    run = []
            for run in ranges:
                blocks = [{"address": p.address, "size": p.size, "requested_size": p.requested,
                           "state": states[p.state], "frames": p.frames or []} for p in run]
                active = [p for p in run if p.state != "free"]
                found.append({
                    "device": device, "address": run[0].address, "total_size": sum(p.size for p in run),
                    "allocated_size": sum(p.size for p in run if p.state == "used"),
                    "active_size": sum(p.size for p in active), "requested_size": sum(p.requested for p in active),
                    "stream": area.key[2], "segment_type": "small" if area.key[1] else "large",
                    "segment_pool_id": area.key[0], "is_expandable": area.expandable, "frames": [], "blocks": blocks})
        return sorted(found, key=lambda s: s["address"])
