"""10: what the driver says of the device in a sample, beside torch and a long kernel."""
import time

import device
import torch
import vramscope

kept = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
big = torch.randn(8192, 8192, device="cuda")
with vramscope.Profiler() as profiler:
    profiler.start_sampling(0.1)
    end = time.monotonic() + 3
    while time.monotonic() < end:
        big @ big
        torch.cuda.synchronize()
    profiler.stop_sampling()
    samples = [sample.to_dict() for sample in profiler.samples()]
free, total = torch.cuda.mem_get_info()
device.say(used=samples[-1]["device_used_bytes"], torch_used=total - free, kept=kept.nbytes,
           utilisation=max((s["utilisation"] or 0) for s in samples), samples=len(samples))
