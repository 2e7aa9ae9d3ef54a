"""Batches grow longer from step to step; nothing is kept."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for length in (128, 144, 160, 176, 192, 208, 224):
        with run.step():
            tokens = run.tokens(8, length).to(run.device)
            targets = run.tokens(8, length).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
