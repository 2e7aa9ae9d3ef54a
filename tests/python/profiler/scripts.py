"""Programs for the simulated device, as profilers meet them: each takes a Device that is fresh.

What a script promises stands in its first line; tests hold it to that, and may use it for whatever
watches the device meanwhile.
"""
import gc
import threading

from vramscope.sim import OutOfMemoryError

MIB = 1 << 20


def plain_call(device):
    """Keeps 4 MiB, and 30 MiB more for a while."""
    kept = device.alloc(4 * MIB, tag="result")
    device.free(device.alloc(30 * MIB, tag="workspace"))
    return kept


def nested_calls(device, depth=5):
    """Each call holds 20 MiB while it calls the next: 100 MiB at the bottom, nothing kept."""
    handle = device.alloc(20 * MIB, tag=f"level {depth}")
    if depth > 1:
        nested_calls(device, depth - 1)
    device.free(handle)


def raising_call(device):
    """Raises with 40 MiB held, which goes with the frame."""
    handle = device.alloc(40 * MIB)
    raise ValueError(f"stopped with {handle.bytes} bytes")


def watched(device, read, times=2000):
    """Calls `read` in a second thread all the while; a sawtooth of 1 to 8 MiB, nothing kept."""
    stop, failures = threading.Event(), []

    def watch():
        while not stop.is_set():
            try:
                read()
            except Exception as why:
                failures.append(why)
                return

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        for i in range(times):
            device.free(device.alloc((1 + i % 8) * MIB, tag="tooth"))
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def threshold_crossings(device, seconds=1):
    """Levels of 70, 81, 79, 81, 77, 96, 94, 96, 10 percent of the device, `seconds` each."""
    unit = device.memory()[1] // 100
    for percent in (70, 81, 79, 81, 77, 96, 94, 96, 10):
        level = device.alloc(percent * unit, tag=f"{percent} %")
        yield percent
        device.advance(int(seconds * 1e9))
        device.free(level)
        device.empty_cache()


def blocks_until_full(device):
    """Blocks of 2 MiB, as segments of 20, until the device refuses: the exception, and the blocks."""
    kept = []
    while True:
        try:
            kept.append(device.alloc(2 * MIB))
        except OutOfMemoryError as why:
            return why, kept


def ranks(device, steps=3):
    """A data-parallel step on every device; the last one holds twice as much."""
    for _ in range(steps):
        held = []
        for number in range(device.count):
            size = (2 if number == device.count - 1 else 1) * 32 * MIB
            held.append(device.alloc(size, tag="activations", device=number))
            held.append(device.alloc(8 * MIB, tag="bucket", stream=1, device=number))
        device.advance(10_000_000)
        for handle in held:
            device.free(handle)


def one_day(device, interval=1.0):
    """24 hours of the virtual clock: a reading's worth of work every `interval` seconds."""
    step, kept = int(interval * 1e9), []
    for i in range(int(24 * 3600 / interval)):
        device.advance(step)
        handle = device.alloc((1 + i % 5) * MIB)
        if i % int(3600 / interval) == 0:
            kept.append(device.alloc(MIB, tag="hourly"))
        device.free(handle)
    return kept


def cyclic_garbage(device):
    """Leaves 16 MiB to the collector, and has it collect."""
    class Node:
        pass

    gc.disable()
    try:
        node = Node()
        node.self, node.memory = node, device.alloc(16 * MIB, tag="in a cycle")
        del node
        held = device.stats()["allocated_bytes"]
        gc.collect()
        return held
    finally:
        gc.enable()


def training(device, steps=4, layers=6):
    """Parameters, then steps of forward, backward and an optimizer whose state comes in the first."""
    parameters = [device.alloc(3 * MIB + 512 * i, tag=f"layer{i}.weight") for i in range(layers)]
    state = []
    for step in range(steps):
        device.mark(f"step {step}")
        activations = [device.alloc(7 * MIB, tag="activation") for _ in parameters]
        gradients = []
        for parameter in reversed(parameters):
            gradients.append(device.alloc(parameter.bytes, tag="gradient"))
            device.free(activations.pop())
        if not state:
            state = [device.alloc(2 * p.bytes, tag="exp_avg") for p in parameters]
        for gradient in gradients:
            device.free(gradient)
        device.advance(1_000_000)
        device.mark(f"step {step}", end=True)
    return parameters, state
