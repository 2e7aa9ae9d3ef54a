"""Weights averaged over the last steps by AveragedModel."""
import torch
from torch.optim.swa_utils import AveragedModel

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    average = AveragedModel(model)
    run.label("ema", average.module.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            average.update_parameters(model)
    run.snapshot()
