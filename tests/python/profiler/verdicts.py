"""Scripts that die of memory on the simulated device, one for each verdict of `oom`.

Each takes nothing and gives the device, full, and the request that it then refuses.
"""
from vramscope.sim import Device

MIB = 1 << 20


def capacity_limit():
    device = Device("1GiB", settings="per_process_memory_fraction:0.5")
    return device, [device.alloc("400MiB")], {"bytes": 200 * MIB}


def single_request_too_large():
    device = Device("1GiB")
    return device, [device.alloc("100MiB")], {"bytes": 2048 * MIB}


def cached_not_releasable():
    """The device fails, though what is cached would do."""
    device = Device("1GiB")
    device.free(device.alloc("600MiB"))
    device.fail_next()
    return device, [], {"bytes": 700 * MIB}


def fragmentation():
    """A segment of 60 MiB is used in its middle."""
    device = Device("100MiB")
    device.free(device.alloc("60MiB"))
    left, middle, right = (device.alloc("20MiB", tag=name) for name in ("left", "middle", "right"))
    device.free(left)
    device.free(right)
    return device, [middle], {"bytes": 45 * MIB}


def pending_free():
    """Another stream still reads what was freed."""
    device = Device("100MiB")
    handle = device.alloc("60MiB")
    device.record_stream(handle, 1)
    device.free(handle)
    device.fail_next()
    return device, [], {"bytes": 70 * MIB}


def other_stream():
    device = Device("100MiB")
    device.free(device.alloc("60MiB", stream=7))
    return device, [device.alloc("20MiB", stream=7)], {"bytes": 50 * MIB}


def private_pools():
    device = Device("100MiB")
    device.free(device.alloc("60MiB", pool=1))
    return device, [], {"bytes": 50 * MIB}


def outside_pytorch():
    device = Device("8GiB")
    device.other("5GiB")
    return device, [device.alloc("2GiB")], {"bytes": 2048 * MIB}


def live_exceeds_capacity():
    device = Device("100MiB")
    return device, [device.alloc("60MiB", tag="weights")], {"bytes": 60 * MIB}


ALL = (capacity_limit, single_request_too_large, cached_not_releasable, fragmentation, pending_free,
       other_stream, private_pools, outside_pytorch, live_exceeds_capacity)
