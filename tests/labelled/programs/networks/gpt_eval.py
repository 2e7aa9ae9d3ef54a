"""Inference alone: ten batches under no_grad, each pass's logits held into the next."""
import torch

from nets.gpt import GPT

ADVICE = {"two-generations": [("logits = model(run.tokens(8, 256).to(run.device))",
                               "model(run.tokens(8, 256).to(run.device))")]}


def main(run):
    model = GPT().to(run.device)
    model.eval()
    with torch.no_grad():
        for _ in range(10):
            with run.other_pass():
                logits = model(run.tokens(8, 256).to(run.device))
    run.snapshot()
