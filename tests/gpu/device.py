"""What the programs share: the device, a small transformer, and the line that each prints."""
import json
import statistics
import time

import torch

GB = 10**9


def say(**figures):
    """The line of figures, which the test reads."""
    print(json.dumps(figures))


def median_ns(call, times=7, loops=10_000):
    """Nanoseconds of one call: the least of `times` loops."""
    best = None
    for _ in range(times):
        begun = time.perf_counter_ns()
        for _ in range(loops):
            call()
        spent = (time.perf_counter_ns() - begun) / loops
        best = spent if best is None else min(best, spent)
    return best


def percentile(values, q):
    return statistics.quantiles(values, n=100)[q - 1]


class Transformer(torch.nn.Module):
    """Two layers over a vocabulary of 1,000 words."""

    def __init__(self, width=256):
        super().__init__()
        self.words = torch.nn.Embedding(1000, width)
        layer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2)
        self.head = torch.nn.Linear(width, 1000)

    def forward(self, batch):
        return self.head(self.layers(self.words(batch)))


def trainer(device="cuda", batch=8, length=64):
    """A function that makes one step of training, and the model."""
    model = Transformer().to(device)
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        words = torch.randint(0, 1000, (batch, length), device=device)
        loss = torch.nn.functional.cross_entropy(model(words).flatten(0, 1), words.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step, model
