"""SGD without momentum: the optimizer allocates nothing."""
import torch

from nets.gpt import GPT, loss_of

BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
