"""A cache is keyed by the number of the step, so that each step adds a table of 16 MiB."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "TABLES[key] ="}
TABLES = {}


def table(key, device):
    if key not in TABLES:
        TABLES[key] = torch.ones(256, 64, 256, device=device)
    return TABLES[key]


def main(run):
    TABLES.clear()
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for step in range(6):
        with run.step():
            table(step, run.device)
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
