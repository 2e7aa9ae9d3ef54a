"""Four micro-batches a step, then SGD, which allocates nothing."""
import torch

from nets.gpt import GPT, loss_of

HARMFUL = ("grad-late-zero",)


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
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
