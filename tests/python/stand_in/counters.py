"""A device that only counts: what memory statistics need, and nothing of how memory is laid out; or
a simulated one in its place."""

CURVES = ("allocated", "reserved", "active", "requested", "count")
GIB = 1 << 30


class Counters:
    """Who stands in for a device has `total`, alloc, free, curves and reset_peak, as this one has.

    A curve is [present, peak, gross gained, gross lost].
    """

    def __init__(self, total=80 * GIB, rounded=512):
        self.total, self.rounded, self.live = total, rounded, {}
        self.kept = {name: [0, 0, 0, 0] for name in CURVES}

    def move(self, sign, amounts):
        for curve, amount in zip(self.kept.values(), amounts):
            curve[0] += sign * amount
            curve[1] = max(curve[1], curve[0])
            curve[2 if sign > 0 else 3] += amount

    def alloc(self, size):
        rounded, free = -(-size // self.rounded) * self.rounded, self.total - self.kept["allocated"][0]
        if rounded > free:
            raise MemoryError("CUDA out of memory. Tried to allocate %.2f GiB. GPU 0 has a total capacity of %.2f GiB "
                              "of which %.2f GiB is free." % (size / GIB, self.total / GIB, free / GIB))
        amounts = (rounded, rounded, rounded, size, 1)
        self.move(1, amounts)
        handle = object()
        self.live[handle] = amounts
        return handle

    def free(self, handle):
        self.move(-1, self.live.pop(handle))

    def curves(self):
        return {name: list(curve) for name, curve in self.kept.items()}

    def reset_peak(self):
        for curve in self.kept.values():
            curve[1] = curve[0]


class SimCounters:
    """The first device of a vramscope.sim.Device, as torch's own allocator would tell its counters."""

    def __init__(self, device):
        self.device, self.total = device, device.backend.memory()[1]

    def alloc(self, size):
        return self.device.alloc(size)

    def free(self, handle):
        self.device.free(handle)

    def curves(self):
        stats = self.device.backend.stats()
        kept = {name: [stats[name + "_bytes"], stats[name + "_peak_bytes"], 0, 0] for name in CURVES[:-1]}
        kept["allocated"][2:] = stats["allocated_total_bytes"], stats["freed_total_bytes"]
        return {**kept, "count": [stats["allocations"] - stats["frees"], 0, stats["allocations"], stats["frees"]]}

    def reset_peak(self):
        self.device.backend.reset_peak()
