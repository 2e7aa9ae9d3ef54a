"""Retrieval: after training, differences of all queries to a whole gallery are made at once by broadcasting."""
import torch
from torch import nn
from torch.nn import functional as F

CAPACITY = 3 << 30
PLANTED = {"verdict": "single_request_too_large"}


class EmbeddingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.convnet = nn.Sequential(nn.Conv2d(1, 32, 5), nn.PReLU(), nn.MaxPool2d(2, 2),
                                     nn.Conv2d(32, 64, 5), nn.PReLU(), nn.MaxPool2d(2, 2))
        self.fc = nn.Sequential(nn.Linear(64 * 16, 256), nn.PReLU(), nn.Linear(256, 128))

    def forward(self, x):
        return self.fc(self.convnet(x).flatten(1))


def contrastive(one, other, same, margin=1.0):
    distances = (other - one).pow(2).sum(1)
    return (same * distances + (1 - same) * F.relu(margin - (distances + 1e-9).sqrt()).pow(2)).mean()


@torch.no_grad()
def extract(run, net, batches):
    return torch.cat([net(run.values(512, 1, 28, 28).to(run.device)) for _ in range(batches)])


def pairwise(queries, gallery):
    return (queries[:, None, :] - gallery[None, :, :]).pow(2).sum(-1)


def main(run):
    net = EmbeddingNet().to(run.device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(4):
        with run.step():
            one, other = (run.values(512, 1, 28, 28).to(run.device) for _ in range(2))
            same = run.values(512).to(run.device)
            loss = contrastive(net(one), net(other), same)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with run.other_pass():
        gallery = extract(run, net, 16)
    with run.other_pass():
        queries = extract(run, net, 2)
    with run.other_pass():
        pairwise(queries, gallery).topk(5, largest=False)
    run.snapshot()
