"""A cache keyed by the number of the step forgets all but its two newest tables of 16 MiB."""
import torch

from nets.gpt import GPT, loss_of

TABLES = {}


def table(key, device):
    if key not in TABLES:
        TABLES[key] = torch.ones(256, 64, 256, device=device)
        if len(TABLES) > 2:
            del TABLES[min(TABLES)]
    return TABLES[key]


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    TABLES.clear()
    for step in range(7):
        with run.step():
            table(step, run.device)
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
