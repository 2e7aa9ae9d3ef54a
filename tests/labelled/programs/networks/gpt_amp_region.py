"""Forward and backward in one region of autocast, which keeps the copies of weights in 16 bit until it ends."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            with torch.autocast("cuda", torch.bfloat16):
                loss = loss_of(model(tokens), targets)
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
