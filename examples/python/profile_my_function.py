"""Profile my function: what it allocates, keeps, and needs at most, with its parts.

usage: python profile_my_function.py [REPORT.html]
"""
import sys

from anywhere import device, tensor
from vramscope import Profiler

with device(), Profiler() as profiler:
    @profiler.scope("attention")
    def attention(length):
        scores = tensor(length * length >> 16)
        return tensor(len([scores]) * 8)

    def layer(length):
        hidden = attention(length)
        profiler.checkpoint("after attention")
        expanded = tensor(64)
        return hidden if expanded is not None else None

    kept = []
    for length in (1024, 2048, 4096):
        with profiler.phase("forward"):
            kept.append(layer(length))
    result, measured = profiler.call(layer, 8192)

print(profiler.summary())
print(f"one call: {measured.peak_delta_bytes >> 20} MiB at most,",
      f"{measured.delta_bytes >> 20} MiB kept,",
      f"{measured.allocations} allocations, {measured.state}")
if len(sys.argv) > 1:
    print("written to", profiler.save(sys.argv[1]))
