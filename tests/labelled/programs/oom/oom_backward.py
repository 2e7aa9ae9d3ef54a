"""The first backward of a model whose activations fill the card needs more than what is left."""
import torch

from nets.gpt import GPT, loss_of

CAPACITY = 1000 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(2):
        with run.step():
            tokens = run.tokens(12, 256).to(run.device)
            targets = run.tokens(12, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
