"""A check fails for each batch; the exceptions are kept, with their frames and what stands in those."""
import torch
from torch import nn

PLANTED = {"leak": "scores = net(features)"}


class TooConfident(Exception):
    pass


def build(device):
    blocks = [nn.Sequential(nn.Linear(1024, 1024), nn.BatchNorm1d(1024), nn.ReLU()) for _ in range(4)]
    return nn.Sequential(nn.Linear(300, 1024), *blocks, nn.Linear(1024, 512)).to(device)


def check(net, features):
    with torch.no_grad():
        scores = net(features)
        if scores.max().item() < 1:
            raise TooConfident(tuple(scores.shape))


def main(run):
    net = build(run.device)
    loss_function = nn.TripletMarginLoss(margin=0.2)
    optimizer = torch.optim.Adagrad(net.parameters(), lr=0.01)
    problems = []
    for _ in range(6):
        with run.step():
            features = run.values(6144, 300).to(run.device)
            anchor, positive, negative = net(features).chunk(3)
            loss = loss_function(anchor, positive, negative)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            try:
                check(net, features)
            except TooConfident as problem:
                problems.append(problem)
    run.snapshot()
