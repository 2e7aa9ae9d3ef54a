"""The twin of entropy_curve: a running mean of the entropy, of numbers of the host."""
import torch
from torch import nn
from torch.nn import functional as F


class Encoder(nn.Module):
    def __init__(self, words=8192, width=384, depth=3):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        layer = nn.TransformerEncoderLayer(width, 6, 4 * width, batch_first=True, norm_first=True, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.out = nn.Linear(width, words)

    def forward(self, ids):
        return self.out(self.layers(self.embed(ids)))


class Trainer:
    def __init__(self, model, device):
        self.model, self.device = model, device
        self.optim = torch.optim.NAdam(model.parameters(), lr=1e-3)
        self.mean, self.count = 0.0, 0

    def entropy(self, logits):
        logp = F.log_softmax(logits, dim=-1)
        return -(logp.exp() * logp).sum(-1).mean()

    def training_step(self, ids, labels):
        ids, labels = ids.to(self.device), labels.to(self.device)
        logits = self.model(ids)
        self.count += 1
        self.mean += (self.entropy(logits).item() - self.mean) / self.count
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())

    def fit(self, run, steps):
        for _ in range(steps):
            with run.step():
                loss = self.training_step(run.tokens(16, 128), run.tokens(16, 128))
                self.optim.zero_grad()
                loss.backward()
                self.optim.step()


def main(run):
    trainer = Trainer(Encoder().to(run.device), run.device)
    trainer.fit(run, 6)
    run.snapshot()
