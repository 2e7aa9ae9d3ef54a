"""Twenty-four layers and a small vocabulary: activations of the blocks are nearly all."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"checkpoint": [("vocabulary=2000)", "vocabulary=2000, recompute=False)")]}
BATCH = 2


def main(run):
    model = GPT(layers=24, vocabulary=2000).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(16, 256).to(run.device)
            targets = run.tokens(16, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
