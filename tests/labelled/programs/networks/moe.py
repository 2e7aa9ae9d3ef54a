"""A mixture of eight experts written as a loop; the loss is computed outside any module."""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class Experts(nn.Module):
    def __init__(self, width, count):
        super().__init__()
        self.gate = nn.Linear(width, count)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(count))

    def forward(self, x):
        rows = x.flatten(0, 1)
        weights = self.gate(rows).softmax(-1)
        share = rows.size(0) // len(self.experts)
        parts = []
        for i, expert in enumerate(self.experts):
            chosen = weights[:, i].topk(share).indices
            parts.append(expert(rows[chosen]) * weights[chosen, i:i + 1])
        return x + torch.cat(parts).view_as(x)


def main(run):
    model = nn.Sequential(nn.Embedding(16000, 512), Experts(512, 8), Experts(512, 8), nn.Linear(512, 16000))
    model = model.to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), tokens.flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
