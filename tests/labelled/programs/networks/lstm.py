"""An LSTM over 64 time steps written as a loop of cells, loss outside any module."""
import torch
from torch import nn
from torch.nn import functional as F


def main(run):
    words, cell, head = nn.Embedding(8000, 512), nn.LSTMCell(512, 512), nn.Linear(512, 8000)
    model = nn.ModuleList([words, cell, head]).to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(32, 65).to(run.device)
            h = c = torch.zeros(32, 512, device=run.device)
            states = []
            for t in range(64):
                h, c = cell(words(tokens[:, t]), (h, c))
                states.append(h)
            logits = head(torch.stack(states, 1))
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
