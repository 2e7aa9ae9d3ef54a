"""A ResNet-18 of torchvision with mixed pictures, SGD with Nesterov's momentum, a validation every third step."""
import random

import torch
from torch import nn
from torchvision.models import resnet18

BATCH = 2


def mixed(x, y, alpha=0.2):
    share = random.Random(7).betavariate(alpha, alpha)
    order = torch.randperm(x.size(0), device=x.device)
    return share * x + (1 - share) * x[order], y, y[order], share


class Learner:
    def __init__(self, run, model):
        self.run, self.model, self.best = run, model, 0.0
        self.opt = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=5e-4)
        self.sched = torch.optim.lr_scheduler.OneCycleLR(self.opt, 0.2, total_steps=20)
        self.loss_fn = nn.CrossEntropyLoss()

    def fit(self, steps, every):
        for step in range(1, steps + 1):
            with self.run.step():
                self.train_batch()
            if step % every == 0:
                self.evaluate(2)

    def train_batch(self):
        self.model.train()
        x = self.run.values(48, 3, 112, 112).to(self.run.device, non_blocking=True)
        y = self.run.tokens(48).to(self.run.device, non_blocking=True)
        x, a, b, share = mixed(x, y)
        out = self.model(x)
        loss = share * self.loss_fn(out, a) + (1 - share) * self.loss_fn(out, b)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.sched.step()

    @torch.no_grad()
    def evaluate(self, batches):
        self.model.eval()
        hits = 0
        for _ in range(batches):
            with self.run.other_pass():
                x = self.run.values(64, 3, 112, 112).to(self.run.device)
                hits += (self.model(x).argmax(1) == self.run.tokens(64).to(self.run.device)).sum().item()
        self.best = max(self.best, hits / batches / 64)


def main(run):
    Learner(run, resnet18(num_classes=200).to(run.device)).fit(7, 3)
    run.snapshot()
