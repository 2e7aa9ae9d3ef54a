"""Check in CI: a training step is recorded and held to limits; the exit status is the answer.

usage: python check_in_ci.py [MAX_PEAK]

0: every limit holds, 1: one is exceeded, 4: one could not be decided.
"""
import os
import sys
import tempfile

import vramscope
from anywhere import device, tensor


def step(weights):
    activations = [tensor(96) for _ in weights]
    gradients = []
    while activations:
        gradients.append(tensor(32))
        activations.pop()


limits = {"max-peak": sys.argv[1] if len(sys.argv) > 1 else "2GiB", "no-oom": None}
with device(), tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "step.pickle")
    with vramscope.record(path):
        weights = [tensor(32) for _ in range(8)]
        for _ in range(3):
            step(weights)
    answer = vramscope.load(path).check(limits)

print(answer.text())
sys.exit({True: 0, False: 1, None: 4}[answer.verdict])
