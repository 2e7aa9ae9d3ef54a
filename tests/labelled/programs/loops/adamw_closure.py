"""AdamW with a closure, as every run under Lightning's automatic optimization has it."""
import torch

from nets.gpt import GPT, loss_of

BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)

            def closure():
                loss = loss_of(model(tokens), targets)
                optimizer.zero_grad()
                loss.backward()
                return loss

            optimizer.step(closure)
    run.snapshot()
