"""Speech recognition: a conformer on features of ragged length, padded within a batch; positions in a table by length.

The table of a length is made once and kept in a dict: there are four lengths, all seen in the first epoch.  The
evaluation keeps hypotheses on the host.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class PositionTable:
    def __init__(self, dim):
        self.dim, self.tables = dim, {}

    def __call__(self, length, device):
        if length not in self.tables:
            position = torch.arange(length, dtype=torch.float32, device=device).unsqueeze(1)
            div_term = torch.exp(torch.arange(0, self.dim, 2, dtype=torch.float32, device=device)
                                 * -(math.log(10000.0) / self.dim))
            self.tables[length] = torch.cat([torch.sin(position * div_term), torch.cos(position * div_term)], -1)
        return self.tables[length]


class ConvModule(nn.Module):
    def __init__(self, dim, kernel=15):
        super().__init__()
        self.norm, self.pointwise1 = nn.LayerNorm(dim), nn.Conv1d(dim, 2 * dim, 1)
        self.depthwise = nn.Conv1d(dim, dim, kernel, padding=kernel // 2, groups=dim)
        self.batch_norm, self.pointwise2 = nn.BatchNorm1d(dim), nn.Conv1d(dim, dim, 1)

    def forward(self, x):
        x = F.glu(self.pointwise1(self.norm(x).transpose(1, 2)), dim=1)
        return self.pointwise2(F.silu(self.batch_norm(self.depthwise(x)))).transpose(1, 2)


class ConformerBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        def feed_forward():
            return nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.SiLU(), nn.Dropout(0.1),
                                 nn.Linear(4 * dim, dim))
        self.ff1, self.ff2, self.conv = feed_forward(), feed_forward(), ConvModule(dim)
        self.norm_attn, self.norm = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        x = x + 0.5 * self.ff1(x)
        y = self.norm_attn(x)
        x = x + self.attn(y, y, y, need_weights=False)[0]
        x = x + self.conv(x)
        return self.norm(x + 0.5 * self.ff2(x))


class Conformer(nn.Module):
    def __init__(self, mels=80, dim=256, layers=6, vocab=1000):
        super().__init__()
        self.subsample = nn.Sequential(nn.Conv2d(1, 64, 3, 2, 1), nn.ReLU(), nn.Conv2d(64, 64, 3, 2, 1), nn.ReLU())
        self.proj, self.positions = nn.Linear(64 * (mels // 4), dim), PositionTable(dim)
        self.blocks = nn.ModuleList(ConformerBlock(dim, 4) for _ in range(layers))
        self.out = nn.Linear(dim, vocab)

    def forward(self, feats):
        x = self.subsample(feats.unsqueeze(1)).transpose(1, 2).flatten(2)
        x = self.proj(x) + self.positions(x.size(1), x.device)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def train_one_epoch(run, model, optimizer, scheduler, lengths):
    model.train()
    meter = []
    for length in lengths:
        with run.step():
            feats, targets = run.values(16, length, 80).to(run.device), run.tokens(16, length // 4).to(run.device)
            log_probs = F.log_softmax(model(feats), dim=-1)
            loss = F.nll_loss(log_probs.transpose(1, 2), targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
            meter.append(loss.item())
    return sum(meter) / len(meter)


@torch.no_grad()
def evaluate(run, model):
    model.eval()
    hypotheses = []
    for length in (400, 560):
        hypotheses.extend(model(run.values(16, length, 80).to(run.device)).argmax(-1).cpu())
    return hypotheses


def main(run):
    model = Conformer().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.98), fused=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-3, total_steps=40)
    for epoch in range(2):
        train_one_epoch(run, model, optimizer, scheduler, (400, 560, 640, 480))
        with run.other_pass():
            evaluate(run, model)
        run.label("other", model.positions.tables.values())
    run.snapshot()
