"""6: what monitoring costs a step of training, and that it waits for nothing."""
import random
import time

import device
import torch
import vramscope

step, _ = device.trainer()
profiler = vramscope.Profiler()


def timed(count):
    spent = []
    for _ in range(count):
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        spent.append(time.perf_counter() - begun)
    return spent


timed(20)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as traced:
    profiler.start_sampling(0.05)
    time.sleep(1)
    profiler.stop_sampling()
waits = sum("Synchronize" in event.key for event in traced.key_averages())
times = {"bare": [], "sampled": []}
for kind in random.Random(2).sample(["bare", "sampled"] * 10, 20):
    if kind == "sampled":
        profiler.start_sampling(0.1)
    times[kind] += timed(25)
    profiler.stop_sampling()
device.say(synchronisations=waits, samples=len(profiler.samples()),
           **{f"{kind}_p{q}_ms": device.percentile(spent, q) * 1e3
              for kind, spent in times.items() for q in (50, 99)})
