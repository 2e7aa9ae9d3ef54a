"""Trains small models on the CPU; prints as JSON where the profiler's memory timelines of it are, in both forms, and
what its own code says they hold: the rows before they were written."""
import json
import os
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.profiler._memory_profiler import MemoryProfileTimeline


def perceptron():
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8)), lambda: torch.randn(16, 32)


def convolution():
    return nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 4)), lambda: torch.randn(4, 3, 8, 8)


def main(folder):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    told = []
    for make in (perceptron, convolution):
        model, batch = make()
        optimizer = torch.optim.Adam(model.parameters())
        with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True, with_stack=True) as prof:
            for _ in range(3):
                optimizer.zero_grad()
                model(batch()).pow(2).mean().backward()
                optimizer.step()
        paths = {end: os.path.join(folder, make.__name__ + end) for end in (".json", ".json.gz", ".raw.json.gz")}
        for path in paths.values():
            prof.export_memory_timeline(path, device="cpu")
        times, sizes = MemoryProfileTimeline(prof._memory_profile())._coalesce_timeline("cpu")
        told.append({"paths": paths, "times": times, "sizes": sizes})
    none = os.path.join(folder, "none.json")
    prof.export_memory_timeline(none, device="cuda:0")
    print(json.dumps({"runs": told, "none": none}))


main(sys.argv[1])
