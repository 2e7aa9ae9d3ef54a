"""Much of what is free lies in pieces, but the third step needs more than all of it: the batch was made larger."""
import torch

from nets.gpt import GPT, loss_of

CAPACITY = 1300 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for rows in (3, 5, 8, 24):
        with run.step():
            tokens = run.tokens(rows, 256).to(run.device)
            targets = run.tokens(rows, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
