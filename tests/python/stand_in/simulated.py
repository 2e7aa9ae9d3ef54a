"""One of the devices of a vramscope.sim.Device, as the stand-in for torch reads it."""

CURVES = ("allocated", "reserved", "active", "requested")


class Simulated:
    """As counters.Counters, on the model of the allocator."""

    def __init__(self, device, number=0):
        self.device, self.number = device, number
        self.total = device.memory(number)[1]

    def alloc(self, size):
        return self.device.alloc(size, device=self.number)

    def free(self, handle):
        self.device.free(handle)

    def curves(self):
        """Gross bytes are known of allocated memory alone."""
        stats = self.device.stats(self.number)
        known = {name: [stats[name + "_bytes"], stats[name + "_peak_bytes"], 0, 0] for name in CURVES}
        known["allocated"][2:] = stats["allocated_total_bytes"], stats["freed_total_bytes"]
        known["count"] = [stats["allocations"] - stats["frees"], 0, stats["allocations"], stats["frees"]]
        return known

    def reset_peak(self):
        self.device.reset_peak(self.number)

    def now_ns(self):
        return self.device.clock

    def empty_cache(self):
        self.device.empty_cache(self.number)
