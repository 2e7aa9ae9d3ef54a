"""A penalty with its graph is computed each step and never goes backward; the name is bound anew."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"no-grad": [("            penalty = loss_of(", "            with torch.no_grad(): penalty = loss_of(")]}


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            penalty = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
