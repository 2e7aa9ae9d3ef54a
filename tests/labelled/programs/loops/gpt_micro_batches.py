"""Each step has micro-batches of many sizes, and the logits of one are held into the next."""
import torch

from nets.gpt import GPT, loss_of

BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            for rows in (6, 2, 4):
                tokens = run.tokens(rows, 256).to(run.device)
                targets = run.tokens(rows, 256).to(run.device)
                logits = model(tokens)
                loss = loss_of(logits, targets) / 3
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
