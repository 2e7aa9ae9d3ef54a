"""13: the device's time of a scope, which nobody waits for, and a capture beside it."""
import time

import device
import torch
import vramscope

torch.cuda.init()
torch.cuda._sleep(1000)
torch.cuda.synchronize()
with vramscope.Profiler() as profiler:
    begun = time.perf_counter_ns()
    with profiler.scope("sleep", time_device=True) as slept:
        torch.cuda._sleep(200_000_000)
    at_once = slept.result.device_ns
    torch.cuda.synchronize()
    host_ns = time.perf_counter_ns() - begun
    with profiler.scope("before", time_device=True) as before:
        ones = torch.ones(1 << 20, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with profiler.scope("captured", time_device=True) as captured:
            twos = ones + ones
        in_capture = before.result.device_ns
    graph.replay()
    torch.cuda.synchronize()
device.say(at_once=at_once, device_ns=slept.result.device_ns, host_ns=host_ns, in_capture=in_capture,
           captured=captured.result.device_ns, before=before.result.device_ns, twos=float(twos[0].item()),
           hooks=profiler.losses["hooks"])
