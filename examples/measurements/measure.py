"""Makes before.json, again.json and after.json: a training on a simulated device, before and after a change.

    python examples/measurements/measure.py

The change made the forward a quarter faster and let it keep less memory; all else is as it was. Before it, the
training was measured twice. Each piece of work varies by some percent, by the same seeds, so that the files come
out the same.
"""
import random
from pathlib import Path

import vramscope
from vramscope import sim

MS, MIB = 1_000_000, 1 << 20


class Batch:
    """64 samples; what loads them takes 1.5 ms."""

    shape = (64, 128)


class Training:
    """A model with its criterion and its optimizer, as measure_training() calls them."""

    training = True

    def __init__(self, device, forward_ms, activation_mib, seed):
        self.device, self.forward_ms, self.activation_mib = device, forward_ms, activation_mib
        self.random, self.kept = random.Random(seed), None
        self.weights = device.alloc(100 * MIB)

    def work(self, ms):
        self.device.advance(int(ms * MS * self.random.gauss(1, 0.03)))

    def loader(self, batches):
        for _ in range(batches):
            self.work(1.5)
            yield Batch(), None

    def __call__(self, data):
        self.kept = self.device.alloc(self.activation_mib * MIB)
        self.work(self.forward_ms)

    def criterion(self, output, target):
        return self

    def backward(self):
        self.work(9)
        self.device.free(self.kept)

    def step(self):
        self.work(2)

    def zero_grad(self):
        pass


def measured(**how):
    with sim.Device("8GiB") as device:
        training = Training(device, **how)
        return vramscope.measure_training(training, training.loader(45), criterion=training.criterion,
                                          optimizer=training, batches=40)


MADE = {"before": {"forward_ms": 6, "activation_mib": 512, "seed": 1},
        "again": {"forward_ms": 6, "activation_mib": 512, "seed": 3},
        "after": {"forward_ms": 4.5, "activation_mib": 384, "seed": 2}}

if __name__ == "__main__":
    folder = Path(__file__).parent
    for name, how in MADE.items():
        (folder / f"{name}.json").write_text(measured(**how).json() + "\n", encoding="utf-8")
