"""The state alone, without events: a small model, and a large cache that a validation left behind."""
import torch

from nets.gpt import GPT


def main(run):
    model = GPT(layers=2).to(run.device)
    with torch.no_grad():
        with run.other_pass():
            model(run.tokens(32, 256).to(run.device))
    run.snapshot(trace=False)
