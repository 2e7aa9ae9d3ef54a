"""Find a leak: memory is read at the end of each step, and what keeps growing is named.

usage: python find_a_leak.py
"""
import sys

from anywhere import device, tensor
from vramscope import LeakDetector

losses = []


def step():
    activations = [tensor(64) for _ in range(4)]
    losses.append(tensor(20))  # meant to keep a number, keeps a tensor
    return len(activations)


with device(), LeakDetector(use_history=True) as detector:
    for _ in range(8):
        step()
        detector.step()
    leaks = detector.suspects()

print(leaks.text())
sys.exit(1 if leaks.grows else 0)
