"""Attention written out by hand: two batched products around a softmax."""
import torch

from nets.gpt import GPT, loss_of
from nets.written_out import WrittenOut

ADVICE = {"attention-math": [("    for block in model.blocks:\n        block.attention = WrittenOut(block.attention)\n",
                              "")]}
BATCH = 2


def main(run):
    model = GPT(length=1024)
    for block in model.blocks:
        block.attention = WrittenOut(block.attention)
    model = model.to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(4, 1024).to(run.device)
            targets = run.tokens(4, 1024).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
