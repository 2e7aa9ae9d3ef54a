"""The losses of three micro-batches a step are kept: 4 bytes each, as the backward gave the graph back."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "loss_of(model(tokens), targets) / 3", "small": True}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(5):
        with run.step():
            for _ in range(3):
                tokens = run.tokens(4, 256).to(run.device)
                targets = run.tokens(4, 256).to(run.device)
                loss = loss_of(model(tokens), targets) / 3
                loss.backward()
                losses.append(loss)
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
