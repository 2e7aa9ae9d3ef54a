"""A sweep over learning rates: each trial's result keeps its model and its optimizer, and the fourth trial has no room."""
import torch
from torch import nn
from torch.nn import functional as F

CAPACITY = 1620 << 20
PLANTED = {"verdict": "live_exceeds_capacity", "leak": "model = Classifier().to(run.device)", "every": 3}


class Classifier(nn.Module):
    def __init__(self, vocab=12000, dim=512, depth=5):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.encoder = nn.ModuleList(nn.TransformerEncoderLayer(dim, 8, 4 * dim, batch_first=True, norm_first=True)
                                     for _ in range(depth))
        self.out = nn.Linear(dim, 20)

    def forward(self, x):
        x = self.emb(x)
        for layer in self.encoder:
            x = layer(x)
        return self.out(x[:, 0])


def objective(run, lr, steps=3):
    model = Classifier().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    for _ in range(steps):
        with run.step():
            x, y = run.tokens(12, 128).to(run.device), run.tokens(12).to(run.device)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
    return {"lr": lr, "loss": loss.item(), "model": model, "optimizer": optimizer}


def main(run):
    trials = []
    for lr in (1e-3, 3e-4, 1e-4, 3e-5, 1e-5):
        trials.append(objective(run, lr))
        model, state = trials[-1]["model"], trials[-1]["optimizer"].state
        if len(trials) < 4:  # the fourth is at work when memory runs out
            run.label("idle", [[p, p.grad, *state[p].values()] for p in model.parameters()])
    best = min(trials, key=lambda trial: trial["loss"])
    assert best["lr"]
    run.snapshot()
