"""Forwards with gradients on and no backward: the graph of one batch lives through the next batch's forward."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"no-grad": [("    model = GPT().to(run.device)\n", "    model = GPT().to(run.device)\n    torch.set_grad_enabled(False)\n"),
                      ("    run.snapshot()", "    torch.set_grad_enabled(True)\n    run.snapshot()")]}


def main(run):
    model = GPT().to(run.device)
    for _ in range(6):
        with run.other_pass():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
    run.snapshot()
