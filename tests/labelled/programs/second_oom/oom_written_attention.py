"""A classifier with attention written out meets a document of 24,576 tokens."""
import torch
from torch import nn

CAPACITY = 4 << 30
PLANTED = {"verdict": "single_request_too_large"}


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        weights = torch.softmax(q @ k.transpose(-1, -2) / q.size(-1) ** 0.5, -1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30000, 256)
        self.layers = nn.ModuleList(Attention(256, 4) for _ in range(2))
        self.out = nn.Linear(256, 20)

    def forward(self, x):
        x = self.words(x)
        for layer in self.layers:
            x = x + layer(x)
        return self.out(x.mean(1))


def main(run):
    model = Classifier().to(run.device)
    optimizer = torch.optim.Adam(model.parameters())
    for length in (256, 700, 1200, 512, 24576, 256):
        with run.step():
            x, y = run.tokens(2, length).to(run.device), run.tokens(2).to(run.device)
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
