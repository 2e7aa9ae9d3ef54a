"""The numbers of two validation losses a step are kept, not the losses."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(5):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with run.other_pass(), torch.no_grad():
            for _ in range(2):
                tokens = run.tokens(4, 256).to(run.device)
                targets = run.tokens(4, 256).to(run.device)
                losses.append(loss_of(model(tokens), targets).item())
    run.snapshot()
