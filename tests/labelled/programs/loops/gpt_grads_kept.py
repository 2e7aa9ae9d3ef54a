"""Gradients are zeroed in place and so live through every forward: zero_grad(set_to_none=False)."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"grad-not-cleared": [("set_to_none=False", "")],
          "held-over-backward": [("            loss.backward()", "            del logits\n            loss.backward()")]}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
    run.snapshot()
