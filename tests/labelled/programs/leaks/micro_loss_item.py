"""The numbers of three micro-batches' losses are kept, not the losses."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(5):
        with run.step():
            for _ in range(3):
                tokens = run.tokens(4, 256).to(run.device)
                targets = run.tokens(4, 256).to(run.device)
                loss = loss_of(model(tokens), targets) / 3
                loss.backward()
                losses.append(loss.item())
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
