#!/usr/bin/env python3
"""Prints the seconds of a step on a model of PyTorch on the CPU, in a bare loop and as it is measured, as JSON.

usage: training_overhead.py FOLDER, which has the package; run by `package`.  The ways take turns, and the best of each counts.
"""
import json
import sys
import time

sys.path.insert(0, sys.argv[1])
import torch  # noqa: E402
from torch import nn  # noqa: E402

import vramscope  # noqa: E402

STEPS, TURNS = 40, 9
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(16 * 32 * 32, 10))
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.001)
batches = [(torch.randn(8, 3, 32, 32), torch.randint(10, (8,))) for _ in range(STEPS)]


def bare():
    for data, target in batches:
        criterion(model(data), target).backward()
        optimizer.step()
        optimizer.zero_grad()


def measured():
    vramscope.measure_training(model, batches, criterion=criterion, optimizer=optimizer, batches=STEPS, warmup=0)


def called():
    with torch.no_grad():
        for _ in range(STEPS):
            model(batches[0][0])


def latency():
    vramscope.measure_latency(model, batches[0][0], iterations=STEPS, warmup=0)


def seconds_of(way):
    began = time.perf_counter()
    way()
    return (time.perf_counter() - began) / STEPS


ways = (bare, measured, called, latency)
for way in ways:
    way()
turns = [[seconds_of(way) for way in ways] for _ in range(TURNS)]
print(json.dumps({way.__name__: min(column) for way, column in zip(ways, zip(*turns))}))
