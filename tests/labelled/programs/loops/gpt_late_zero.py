"""Gradients are cleared after the next forward and so live through it."""
import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"grad-late-zero": [("            optimizer.zero_grad()\n", ""),
                             ("            optimizer.step()\n",
                              "            optimizer.step()\n            optimizer.zero_grad()\n")],
          "logits-loss": [("loss_of(model(tokens), targets)", "chunked_loss(model, tokens, targets)")]}
BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
