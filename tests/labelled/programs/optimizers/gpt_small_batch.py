"""A batch of one: the peak is in the optimizer, where foreach holds temporaries of all parameters at once."""
import torch

from nets.gpt import GPT, loss_of

BATCH = 2
ADVICE = {"optimizer-foreach": [("lr=3e-4)", "lr=3e-4, foreach=False)")]}


def main(run):
    model = GPT(layers=6, vocabulary=4000).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(1, 128).to(run.device)
            targets = run.tokens(1, 128).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
