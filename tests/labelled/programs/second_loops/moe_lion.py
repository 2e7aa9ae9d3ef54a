"""Experts chosen by a router of capacity, and an optimizer of the user's own (the sign of a momentum)."""
import torch
from torch import nn
from torch.nn import functional as F


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.0):
        super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            fast, slow = group["betas"]
            for p in filter(lambda p: p.grad is not None, group["params"]):
                p.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if not state:
                    state["exp_avg"] = torch.zeros_like(p)
                update = state["exp_avg"].clone().mul_(fast).add_(p.grad, alpha=1 - fast).sign_()
                p.add_(update, alpha=-group["lr"])
                state["exp_avg"].mul_(slow).add_(p.grad, alpha=1 - slow)


class Experts(nn.Module):
    """Each expert takes the rows that like it best, as many as its capacity."""

    def __init__(self, width, count, rows):
        super().__init__()
        self.route = nn.Linear(width, count, bias=False)
        self.up = nn.Parameter(torch.empty(count, width, 2 * width))
        self.down = nn.Parameter(torch.empty(count, 2 * width, width))
        self.rows = rows

    def forward(self, x):
        flat = x.flatten(0, 1)
        scores = self.route(flat).softmax(-1)
        weight, chosen = scores.t().topk(flat.size(0) // self.rows, dim=-1)
        inside = flat[chosen.flatten()].unflatten(0, chosen.shape)
        made = torch.bmm(F.gelu(torch.bmm(inside, self.up)), self.down) * weight.unsqueeze(-1)
        out = torch.zeros_like(flat).index_add(0, chosen.flatten(), made.flatten(0, 1))
        return out.view_as(x), scores.mean(0).pow(2).sum()


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.gate = nn.RMSNorm(width), nn.Linear(width, width)
        self.experts = Experts(width, 8, 4)

    def forward(self, x):
        made, balance = self.experts(self.norm(x))
        return x + torch.sigmoid(self.gate(x)) * made, balance


class Model(nn.Module):
    def __init__(self, words=8000, width=384, depth=4):
        super().__init__()
        self.embed, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))

    def forward(self, x):
        x, total = self.embed(x), 0
        for block in self.blocks:
            x, balance = block(x)
            total = total + balance
        return self.head(x), total


def main(run):
    model = Model().to(run.device)
    optimizer = Lion(model.parameters(), lr=1e-4, weight_decay=0.1)
    running = 0.0
    for _ in range(5):
        with run.step():
            tokens = run.tokens(12, 192).to(run.device)
            logits, balance = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten()) + 0.01 * balance
            model.zero_grad()
            loss.backward()
            optimizer.step()
            running = 0.9 * running + 0.1 * loss.item()
    run.snapshot()
