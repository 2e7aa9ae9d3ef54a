"""Autocast to bfloat16, and a moving average that is a list of clones."""
import torch

from nets.gpt import GPT, loss_of


@torch.no_grad()
def follow(slow, model):
    for mean, p in zip(slow, model.parameters()):
        mean.lerp_(p, 0.01)


def main(run):
    model = GPT().to(run.device)
    slow = [p.detach().clone() for p in model.parameters()]
    run.label("ema", slow)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            follow(slow, model)
    run.snapshot()
