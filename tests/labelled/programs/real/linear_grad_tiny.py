"""The program of linear_grad_tiny.pkl: a large linear layer three times, the graph kept by a name."""
import torch
from torch import nn

WORKSPACE = 33554432


def main(run):
    layer = nn.Linear(10000, 50000, device=run.device)
    for _ in range(3):
        with run.other_pass():
            x = torch.randn(5000, 10000, device=run.device)
            y = layer(x)
    run.snapshot()
