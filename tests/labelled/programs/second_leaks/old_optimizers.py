"""Warm restarts make a new Adam after every second step; the old ones stay in a list, with their state."""
import torch
from torch import nn
from torch.nn import functional as F

PLANTED = {"leak": "optimizers[-1].step()", "every": 2}


class Mixer(nn.Module):
    def __init__(self, tokens, width):
        super().__init__()
        self.a, self.b = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.along = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.across(self.a(x).transpose(1, 2)).transpose(1, 2)
        return x + self.along(self.b(x))


def mixer():
    return nn.Sequential(nn.Conv2d(3, 384, 16, 16), nn.Flatten(2), Turn(), *(Mixer(64, 384) for _ in range(4)), Pool(),
                         nn.Linear(384, 100))


class Turn(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


class Pool(nn.Module):
    def forward(self, x):
        return x.mean(1)


def main(run):
    model = mixer().to(run.device)
    optimizers = []
    for step in range(10):
        if step % 2 == 0:
            optimizers.append(torch.optim.Adam(model.parameters(), lr=1e-3))
        with run.step():
            images, labels = run.values(64, 3, 128, 128).to(run.device), run.tokens(64).to(run.device)
            optimizers[-1].zero_grad(set_to_none=True)
            F.cross_entropy(model(images), labels, label_smoothing=0.1).backward()
            optimizers[-1].step()
    run.snapshot()
