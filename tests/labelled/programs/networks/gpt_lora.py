"""Frozen weights with trained updates of low rank."""
import torch
from torch import nn

from nets.gpt import GPT, loss_of

BATCH = 2


class Lora(nn.Module):
    """A frozen linear layer with a trained update of low rank."""

    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, rank, bias=False)
        self.up = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def adapted(model):
    model.requires_grad_(False)
    for block in model.blocks:
        block.attention.qkv = Lora(block.attention.qkv)
        block.attention.out = Lora(block.attention.out)
    return model


def main(run):
    model = adapted(GPT()).to(run.device)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
