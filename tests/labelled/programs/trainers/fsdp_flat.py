"""Each block's parameters are a share of a flat tensor; the whole is gathered for its forward and backward."""
import torch

from nets.fsdp import Sharded
from nets.gpt import GPT, loss_of


def main(run):
    model = GPT(layers=6).to(run.device)
    for number, block in enumerate(model.blocks):
        model.blocks[number] = Sharded(block, 4)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
