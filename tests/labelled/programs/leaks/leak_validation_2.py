"""Losses of a validation after every second step are kept, each with a batch's losses of 2 MiB."""
import torch
from torch.nn import functional as F

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "kept.append"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    kept = []
    for step in range(8):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        if step % 2:
            with run.other_pass(), torch.no_grad():
                tokens = run.tokens(8, 256).to(run.device)
                kept.append(F.softmax(model(tokens), -1)[..., :256].clone())
    run.snapshot()
