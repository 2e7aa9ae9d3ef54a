"""The state of a recurrent network goes into the next step with its graph, and every backward keeps all graphs."""
import torch
from torch import nn

PLANTED = {"leak": "h, c = cell(words(tokens[:, t])"}


def main(run):
    words, cell, head = nn.Embedding(2000, 512), nn.LSTMCell(512, 512), nn.Linear(512, 2000)
    model = nn.ModuleList([words, cell, head]).to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    h = c = torch.zeros(128, 512, device=run.device)
    for _ in range(6):
        with run.step():
            tokens = run.tokens(128, 8).to(run.device)
            for t in range(8):
                h, c = cell(words(tokens[:, t]), (h, c))
            loss = head(h).logsumexp(-1).mean()
            loss.backward(retain_graph=True)
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
