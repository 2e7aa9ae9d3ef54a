"""The twin of queue_grows: the queue is made anew from each batch, and cut to 1,024 keys."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


def conv_block(a, b, stride):
    return nn.Sequential(nn.Conv2d(a, b, 3, stride, 1, bias=False), nn.GroupNorm(8, b), nn.SiLU())


def backbone(dim):
    return nn.Sequential(conv_block(3, 32, 1), conv_block(32, 64, 2), conv_block(64, 128, 2), conv_block(128, 256, 2),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, dim))


class MoCo(nn.Module):
    def __init__(self, dim=4096, momentum=0.99, temperature=0.07):
        super().__init__()
        self.query = backbone(dim)
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature
        self.queue = None

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.key.parameters(), self.query.parameters()):
            slow.mul_(self.momentum).add_(fast, alpha=1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue = torch.cat([keys, self.queue[:768]])

    def forward(self, one, other):
        q = F.normalize(self.query(one), dim=1)
        with torch.no_grad():
            self.follow()
            k = F.normalize(self.key(other), dim=1)
        logits = torch.cat([(q * k).sum(1, keepdim=True), q @ self.queue.t()], 1) / self.temperature
        self.enqueue(k)
        return logits


def main(run):
    model = MoCo()
    run_device = run.device
    model = model.to(run_device)
    model.queue = torch.zeros(256, 4096, device=run_device)
    run.label("ema", model.key.parameters())
    optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
    for step in range(9):
        with run.step():
            one, other = run.values(256, 3, 32, 32).to(run_device), run.values(256, 3, 32, 32).to(run_device)
            logits = model(one, other)
            loss = F.cross_entropy(logits, torch.zeros(256, dtype=torch.long, device=run_device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
