"""The gradients of each step are copied for a study of their noise at the end of the run."""
import torch
from torch import nn

PLANTED = {"leak": "p.grad.detach().clone()"}


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.token_mix = nn.Sequential(nn.Linear(tokens, 2 * tokens), nn.GELU(), nn.Linear(2 * tokens, tokens))
        self.channel_mix = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x):
        x = x + self.token_mix(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channel_mix(self.norm2(x))


class MLPMixer(nn.Module):
    def __init__(self, dim=320, depth=5, classes=200):
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 8, 8)
        self.blocks = nn.Sequential(*[MixerBlock(64, dim) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x).flatten(2).transpose(1, 2)).mean(1))


class NoiseScale:
    """The simple noise scale wants the gradients of several steps."""

    def __init__(self, model):
        self.model, self.history = model, []

    def record(self):
        self.history.append([p.grad.detach().clone() for p in self.model.parameters()])


class Learner:
    def __init__(self, run):
        self.run, self.model = run, MLPMixer().to(run.device)
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.noise = NoiseScale(self.model)

    def one_batch(self, xb, yb):
        self.criterion(self.model(xb), yb).backward()
        self.noise.record()
        self.run.label("other", self.noise.history[-1])
        self.opt.step()
        self.opt.zero_grad()

    def fit(self, n):
        for _ in range(n):
            with self.run.step():
                self.one_batch(self.run.values(96, 3, 64, 64).to(self.run.device), self.run.tokens(96).to(self.run.device))


def main(run):
    learner = Learner(run)
    learner.fit(7)
    run.snapshot()
