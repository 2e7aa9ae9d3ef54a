"""The embedding and the head are one tensor, so that two gradients of its size meet in the backward."""
import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"logits-loss": [("loss_of(model(tokens), targets)", "chunked_loss(model, tokens, targets)")]}
BATCH = 2


def main(run):
    model = GPT()
    model.head.weight = model.tokens.weight
    model = model.to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
