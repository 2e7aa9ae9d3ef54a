"""Rows of ever other lengths come and go around summaries that are kept: room enough, but nowhere in one piece."""
import torch
from torch import nn

CAPACITY = 850 << 20
PLANTED = {"verdict": "fragmentation"}


def main(run):
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).to(run.device)
    kept = []
    with torch.no_grad():
        for rows in range(1024, 9216, 512):
            with run.other_pass():
                out = model(run.values(rows, 512).to(run.device))
                kept.append(out[: rows // 2].clone())
                if len(kept) > 6:
                    kept.pop(0)
        for rows in (24576, 28672, 32768):
            with run.other_pass():
                model(run.values(rows, 512).to(run.device))
    run.snapshot()
