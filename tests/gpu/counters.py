"""1: 10,000 checkpoints between random allocations, beside torch's own figures."""
import random

import device
import torch
import vramscope
from vramscope.compat.vram_profiler import VRAMProfiler

random.seed(1)
held, differ, count = [], 0, 10_000
seed = VRAMProfiler()
with vramscope.Profiler() as profiler:
    for number in range(count):
        if held and random.random() < 0.5:
            held.pop(random.randrange(len(held)))
        else:
            held.append(torch.empty(random.randrange(1, 4 << 20), dtype=torch.uint8, device="cuda"))
        peak, now = torch.cuda.max_memory_allocated(), torch.cuda.memory_allocated()
        record = profiler.checkpoint("x")
        differ += record.allocated_bytes != now or record.interval_peak_bytes < now
        seed.checkpoint("x")
        last = seed.checkpoints[-1]
        differ += last["current_gb"] != now / 1e9 or last["peak_gb"] * 1e9 < peak - 1
device.say(checkpoints=count, differ=differ)
