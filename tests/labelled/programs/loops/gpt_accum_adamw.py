"""Four micro-batches a step, then AdamW."""
import torch

from nets.gpt import GPT, loss_of

HARMFUL = ("grad-late-zero",)
BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            for _ in range(4):
                tokens = run.tokens(4, 256).to(run.device)
                targets = run.tokens(4, 256).to(run.device)
                loss = loss_of(model(tokens), targets) / 4
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
