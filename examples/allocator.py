"""A simple caching allocator in the manner of PyTorch's, for one GPU and one stream.

Rounding, pools, segment sizes, splitting and merging follow PyTorch.  Which free block
serves a request does not: this one takes the FIRST FIT (the lowest address that is large
enough), PyTorch the best fit.  Addresses, and with them fragmentation, are therefore
plausible, not exact; a replay of these recordings by an exact model will disagree with
some addresses.  A later version makes the recordings with the exact allocator.
"""

MIB = 1 << 20
GRAIN = 512              # every block is a multiple of this
SMALL_MAX = MIB          # rounded requests up to here live in the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB
MIN_OWN_SEGMENT = 10 * MIB
LOWEST_SPLIT = MIB       # a large block is split only if more than this remains

# Segments get ever higher addresses, so that first fit means "the oldest segment".
FIRST_ADDRESS = 0x7F5E00000000


class OutOfMemory(Exception):
    pass


def round_up(size, grain):
    return -(-size // grain) * grain


def segment_size(size):
    if size <= SMALL_MAX:
        return SMALL_SEGMENT
    if size < MIN_OWN_SEGMENT:
        return LARGE_SEGMENT
    return round_up(size, SMALL_SEGMENT)


class Segment:
    def __init__(self, address, size, small, frames):
        self.address, self.size, self.small, self.frames = address, size, small, frames
        self.first = None  # its block with the lowest address

    def blocks(self):
        block = self.first
        while block:
            yield block
            block = block.next


class Block:
    def __init__(self, segment, address, size):
        self.segment, self.address, self.size = segment, address, size
        self.requested = 0  # stays after a free, as in PyTorch
        self.used = False
        self.frames = []
        self.previous = self.next = None


class Allocator:
    """`log(action, size, frames, **fields)` receives every event, in trace order."""

    def __init__(self, capacity, log):
        self.capacity, self.log = capacity, log
        self.segments = []
        self.free_blocks = {True: set(), False: set()}  # by "is small"
        self.reserved = 0
        self.next_address = FIRST_ADDRESS

    def malloc(self, requested, frames):
        size = round_up(requested, GRAIN)
        block = self._first_fit(size) or self._grow(size, frames)
        if block is None:
            self.release(frames)
            block = self._grow(size, frames)
        if block is None:
            self.log("oom", size, frames, device_free=self.capacity - self.reserved)
            raise OutOfMemory(size)
        self._split(block, size)
        self.free_blocks[block.segment.small].remove(block)
        block.used, block.requested, block.frames = True, requested, frames
        self.log("alloc", requested, frames, addr=block.address)
        return block

    def free(self, block, frames):
        self.log("free_requested", block.requested, frames, addr=block.address)
        self.log("free_completed", block.requested, frames, addr=block.address)
        block.used, block.frames = False, []
        if block.previous and not block.previous.used:
            block = self._merge(block.previous, block)
        if block.next and not block.next.used:
            self._merge(block, block.next)
        self.free_blocks[block.segment.small].add(block)

    def release(self, frames):
        """Returns every wholly free segment: large ones first, then by size."""
        for small in (False, True):
            free = self.free_blocks[small]
            whole = [b for b in free if not b.previous and not b.next]
            for block in sorted(whole, key=lambda b: (b.size, b.address)):
                free.remove(block)
                self.segments.remove(block.segment)
                self.reserved -= block.size
                self.log("segment_free", block.size, frames, addr=block.address)

    def _first_fit(self, size):
        fits = [b for b in self.free_blocks[size <= SMALL_MAX] if b.size >= size]
        return min(fits, key=lambda b: b.address, default=None)

    def _grow(self, size, frames):
        total = segment_size(size)
        if self.reserved + total > self.capacity:
            return None
        segment = Segment(self.next_address, total, size <= SMALL_MAX, frames)
        self.next_address += total
        self.reserved += total
        segment.first = Block(segment, segment.address, total)
        self.segments.append(segment)
        self.free_blocks[segment.small].add(segment.first)
        self.log("segment_alloc", total, frames, addr=segment.address)
        return segment.first

    def _merge(self, left, right):
        self.free_blocks[left.segment.small] -= {left, right}
        left.size += right.size
        left.next = right.next
        if right.next:
            right.next.previous = left
        return left

    def _split(self, block, size):
        rest = block.size - size
        if rest < GRAIN if block.segment.small else rest <= LOWEST_SPLIT:
            return
        tail = Block(block.segment, block.address + size, rest)
        tail.previous, tail.next = block, block.next
        if tail.next:
            tail.next.previous = tail
        block.next, block.size = tail, size
        self.free_blocks[block.segment.small].add(tail)
