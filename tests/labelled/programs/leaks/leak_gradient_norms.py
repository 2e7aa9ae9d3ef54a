"""The gradients of the head are cloned for a plot each step and kept."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "shown.append"}


def main(run):
    model = GPT(layers=2, vocabulary=8000).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    shown = []
    for _ in range(6):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            shown.append(model.head.weight.grad[:1024].clone())
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
