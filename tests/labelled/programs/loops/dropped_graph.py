"""A second forward a step is looked at and dropped: its graph dies without a backward."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"no-grad": [("check = model(tokens[:2]).argmax(-1)",
                       "with torch.no_grad(): check = model(tokens[:2]).argmax(-1)")]}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            check = model(tokens[:2]).argmax(-1)
            accuracy = (check == targets[:2]).float().mean().item()
    run.snapshot()
