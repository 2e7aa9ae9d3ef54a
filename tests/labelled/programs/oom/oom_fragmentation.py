"""Blocks of many sizes stay here and there, so that what is free lies in pieces too small."""
import torch
from torch import nn

CAPACITY = 1040 << 20
PLANTED = {"verdict": "fragmentation", "leak": "self.short(self.wide"}


class Features(nn.Module):
    """Works on a wide row; a short summary of it is what the caller keeps."""

    def __init__(self):
        super().__init__()
        self.wide, self.short = nn.Linear(256, 4096), nn.Linear(4096, 1024)

    def forward(self, x):
        return self.short(self.wide(x).relu_())


def main(run):
    model = Features().to(run.device)
    kept = []
    with torch.no_grad():
        for rows in range(2048, 6144, 256):
            with run.other_pass():
                x = run.values(rows, 256).to(run.device)
                kept.append(model(x))
        for rows in (16384, 20480, 24576, 28672, 32768):
            with run.other_pass():
                model(run.values(rows, 256).to(run.device))
    run.snapshot()
