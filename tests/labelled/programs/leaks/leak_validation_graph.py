"""The losses of two validation batches a step are kept with their graphs."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"graph-kept": [("losses.append(loss)", "losses.append(loss.item())")]}
PLANTED = {"leak": "F.cross_entropy(logits"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with run.other_pass():
            for _ in range(2):
                tokens = run.tokens(8, 256).to(run.device)
                targets = run.tokens(8, 256).to(run.device)
                loss = loss_of(model(tokens), targets)
                losses.append(loss)
    run.snapshot()
