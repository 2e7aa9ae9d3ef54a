"""The first step of Adam does not find room for its state."""
import torch

from nets.gpt import GPT, loss_of

CAPACITY = 2200 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


def main(run):
    model = GPT(layers=12, width=1024, heads=16).to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    for _ in range(2):
        with run.step():
            tokens = run.tokens(2, 256).to(run.device)
            targets = run.tokens(2, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
