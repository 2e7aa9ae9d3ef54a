"""Meta-learning: four tasks a step, two inner steps each with a graph of the second order, through functional_call.

Adapted weights are no parameters of a module: they live until the backward of their task.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

BATCH = 2


def conv_block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.GroupNorm(8, cout), nn.ReLU(), nn.MaxPool2d(2))


class MiniImagenetNet(nn.Module):
    def __init__(self, ways=5, width=96):
        super().__init__()
        self.features = nn.Sequential(conv_block(3, width), conv_block(width, width), conv_block(width, width),
                                      conv_block(width, width))
        self.classifier = nn.Sequential(nn.Flatten(), nn.Linear(width * 25, 1024), nn.ReLU(), nn.Linear(1024, ways))

    def forward(self, x):
        return self.classifier(self.features(x))


class MetaLearner:
    def __init__(self, run, net, inner_lr=0.01, inner_steps=2):
        self.run, self.net, self.inner_lr, self.inner_steps = run, net, inner_lr, inner_steps
        self.meta_opt = torch.optim.Adam(net.parameters(), lr=1e-3)

    def adapt(self, x_spt, y_spt):
        fast = dict(self.net.named_parameters())
        for _ in range(self.inner_steps):
            loss = F.cross_entropy(functional_call(self.net, fast, (x_spt,)), y_spt)
            grads = torch.autograd.grad(loss, fast.values(), create_graph=True)
            fast = {name: w - self.inner_lr * g for (name, w), g in zip(fast.items(), grads)}
        return fast

    def outer_step(self, tasks=4):
        self.meta_opt.zero_grad()
        losses = []
        for _ in range(tasks):
            x_spt, y_spt = self.run.values(25, 3, 84, 84).to(self.run.device), self.run.tokens(25).to(self.run.device)
            x_qry, y_qry = self.run.values(40, 3, 84, 84).to(self.run.device), self.run.tokens(40).to(self.run.device)
            qry_loss = F.cross_entropy(functional_call(self.net, self.adapt(x_spt, y_spt), (x_qry,)), y_qry)
            (qry_loss / tasks).backward()
            losses.append(qry_loss.item())
        self.meta_opt.step()
        return sum(losses) / tasks


def main(run):
    learner = MetaLearner(run, MiniImagenetNet().to(run.device))
    for _ in range(4):
        with run.step():
            learner.outer_step()
    run.snapshot()
