"""Distances of all pairs of a large set at once: the table alone is larger than the card."""
import torch
from torch import nn

CAPACITY = 2 << 30
PLANTED = {"verdict": "single_request_too_large"}


def embed(run, net, rows):
    with torch.inference_mode():
        with run.other_pass():
            return net(run.values(rows, 784).to(run.device))


def main(run):
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 64)).to(run.device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(3):
        with run.step():
            x = run.values(1024, 784).to(run.device)
            z = net(x)
            loss = torch.relu(1 - (z.unsqueeze(1) - z.unsqueeze(0)).pow(2).mean(-1)).mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    points = embed(run, net, 40000)
    with run.other_pass():
        products = points @ points.t()
        nearest = products.topk(5, dim=1).indices
    run.snapshot()
    del nearest
