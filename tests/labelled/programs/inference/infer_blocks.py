"""Three forwards of 32 equal blocks under no_grad: three passes, not 96 steps."""
import torch

from nets.gpt import GPT


def main(run):
    model = GPT(layers=32, width=256, vocabulary=8000).to(run.device).eval()
    with torch.no_grad():
        for _ in range(3):
            with run.other_pass():
                logits = model(run.tokens(8, 256).to(run.device))
    run.snapshot()
