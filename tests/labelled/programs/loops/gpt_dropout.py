"""Dropout after every block keeps masks for the backward."""
import torch
from torch import nn

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT()
    for block in model.blocks:
        block.mlp.append(nn.Dropout(0.1))
    model = model.to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
