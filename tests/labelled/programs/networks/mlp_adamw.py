"""A perceptron of three layers with AdamW, four steps.  Nothing is planted."""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


def main(run):
    model = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 4096), nn.GELU(),
                          nn.Linear(4096, 1000)).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(4):
        with run.step():
            x = run.values(512, 1024).to(run.device)
            y = run.tokens(512).to(run.device)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
