"""A moving average of the weights, a deep copy of the model."""
import copy

import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"logits-loss": [("loss_of(model(tokens), targets)", "chunked_loss(model, tokens, targets)")]}
BATCH = 2


@torch.no_grad()
def follow(ema, model):
    for slow, fast in zip(ema.parameters(), model.parameters()):
        slow.lerp_(fast, 0.01)


def main(run):
    model = GPT().to(run.device)
    ema = copy.deepcopy(model)
    run.label("ema", ema.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            follow(ema, model)
    run.snapshot()
