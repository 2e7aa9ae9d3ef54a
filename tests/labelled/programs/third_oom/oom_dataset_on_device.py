"""Tabular data that is moved to the device whole: the small set fits and trains, the full one is larger than the card."""
import torch
from torch import nn

CAPACITY = 2 << 30
PLANTED = {"verdict": "single_request_too_large"}


class ResNetTabular(nn.Module):
    def __init__(self, features, width=1024, blocks=3):
        super().__init__()
        self.first, self.last = nn.Linear(features, width), nn.Linear(width, 1)
        self.blocks = nn.ModuleList(nn.Sequential(nn.BatchNorm1d(width), nn.Linear(width, width), nn.ReLU(),
                                                  nn.Dropout(0.2), nn.Linear(width, width)) for _ in range(blocks))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x)
        return self.last(x).squeeze(-1)


class TensorDataset:
    def __init__(self, run, rows):
        self.x, self.y = run.values(rows, 200).to(run.device), run.values(rows).to(run.device)

    def batches(self, size, n):
        for i in range(n):
            yield self.x[i * size:(i + 1) * size], self.y[i * size:(i + 1) * size]


def train(run, model, optimizer, data):
    for xb, yb in data.batches(4096, 4):
        with run.step():
            loss = nn.functional.mse_loss(model(xb), yb)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def main(run):
    model = ResNetTabular(200).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-5)
    small = TensorDataset(run, 200000)
    train(run, model, optimizer, small)
    del small
    train(run, model, optimizer, TensorDataset(run, 3000000))
    run.snapshot()
