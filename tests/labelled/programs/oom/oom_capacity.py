"""The program needs more than the card has: it runs out in the first loss."""
import torch

from nets.gpt import GPT, loss_of

CAPACITY = 2 << 30
PLANTED = {"verdict": "live_exceeds_capacity"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(2):
        with run.step():
            tokens = run.tokens(32, 256).to(run.device)
            targets = run.tokens(32, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
