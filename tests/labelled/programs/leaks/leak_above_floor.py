"""Rows of 96 KiB are kept each step: over the run just more than a ten-thousandth of the peak."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "kept.append(torch.ones"}


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    kept = []
    for _ in range(8):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            kept.append(torch.ones(24576, device=run.device))
    run.snapshot()
