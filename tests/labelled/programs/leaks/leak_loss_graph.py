"""The loss of each step is kept for a plot; the backward gave its graph back, so 4 bytes stay a step."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "F.cross_entropy(logits", "small": True}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(6):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss)
    run.snapshot()
