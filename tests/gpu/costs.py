"""3: what a reading costs, a checkpoint, and the checkpoint that reads twice in Python."""
import time

import device
import torch
import vramscope

torch.zeros(1, device="cuda")
profiler, kept = vramscope.Profiler(), []


def twice():
    now, peak = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    kept.append({"name": "x", "current": now / 1e9, "peak": peak / 1e9, "all": peak / 1e9,
                 "timestamp": time.time()})
    torch.cuda.reset_peak_memory_stats()
    del kept[:-1000]


device.say(torch=torch.__version__, gpu=torch.cuda.get_device_name(),
           memory_allocated_ns=device.median_ns(torch.cuda.memory_allocated),
           checkpoint_ns=device.median_ns(lambda: profiler.checkpoint("x")),
           twice_ns=device.median_ns(twice))
