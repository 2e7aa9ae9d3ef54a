"""A shared encoder with two heads and two loaders of unlike sizes; first a search of the learning rate, then training.

The search keeps a copy of the weights to put back, and lets it go.  The validation of both tasks runs with gradients on.
"""
import copy

import torch
from torch import nn
from torch.nn import functional as F

ADVICE = {"no-grad": [("            with self.run.other_pass():\n", "            with self.run.other_pass(), torch.no_grad():\n")]}
BATCH = 2


class SqueezeExcite(nn.Module):
    def __init__(self, ch, r=4):
        super().__init__()
        self.fc = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(ch, ch // r, 1), nn.ReLU(), nn.Conv2d(ch // r, ch, 1),
                                nn.Sigmoid())

    def forward(self, x):
        return x * self.fc(x)


def stage(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, 2, 1, bias=False), nn.BatchNorm2d(cout), nn.Hardswish(),
                         nn.Conv2d(cout, cout, 3, 1, 1, groups=cout, bias=False), nn.BatchNorm2d(cout), nn.Hardswish(),
                         SqueezeExcite(cout))


class MultiTaskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(stage(3, 64), stage(64, 160), stage(160, 320), stage(320, 640))
        self.heads = nn.ModuleDict({"depth": nn.Sequential(nn.Conv2d(640, 256, 3, padding=1), nn.ReLU(), nn.Conv2d(256, 1, 1)),
                                    "scene": nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(640, 67))})

    def forward(self, x, task):
        return self.heads[task](self.encoder(x))


class Trainer:
    def __init__(self, run):
        self.run, self.model = run, MultiTaskNet().to(run.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.loss_fns = {"depth": F.l1_loss, "scene": F.cross_entropy}

    def batch(self, task):
        if task == "depth":
            return self.run.values(24, 3, 128, 128).to(self.run.device), self.run.values(24, 1, 8, 8).to(self.run.device)
        return self.run.values(40, 3, 96, 96).to(self.run.device), self.run.tokens(40).to(self.run.device)

    def loss(self, task):
        x, y = self.batch(task)
        return self.loss_fns[task](self.model(x, task), y)

    def step(self, tasks):
        with self.run.step():
            self.optimizer.zero_grad()
            for task in tasks:
                self.loss(task).backward()
            self.optimizer.step()

    def lr_find(self, rates):
        saved = copy.deepcopy(self.model.state_dict())
        self.run.label("ema", saved.values())
        for lr in rates:
            self.optimizer.param_groups[0]["lr"] = lr
            self.step(["depth"])
        self.model.load_state_dict(saved)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rates[len(rates) // 2])

    def validate(self):
        self.model.eval()
        scores = {}
        for task in self.loss_fns:
            with self.run.other_pass():
                x = torch.cat([self.batch(task)[0] for _ in range(3)])
                scores[task] = self.model(x, task).mean().item()
        self.model.train()
        return scores

    def fit(self, epochs):
        for _ in range(epochs):
            for _ in range(3):
                self.step(("depth", "scene"))
            self.validate()


def main(run):
    trainer = Trainer(run)
    trainer.lr_find([1e-5, 1e-4, 1e-3])
    trainer.fit(2)
    run.snapshot()
