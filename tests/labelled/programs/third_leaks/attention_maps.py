"""Attention is written out, and a debug flag keeps each step's maps of the last layer, under the number of the step."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

PLANTED = {"leak": "attn = F.softmax(scores, dim=-1)"}


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, debug=False):
        super().__init__()
        self.n_heads, self.debug, self.last_attn = n_heads, debug, None
        self.w_q, self.w_k, self.w_v = (nn.Linear(d_model, d_model) for _ in range(3))
        self.fc = nn.Linear(d_model, d_model)

    def forward(self, x):
        q, k, v = (w(x).unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        scores = torch.matmul(q / math.sqrt(q.size(-1)), k.transpose(2, 3))
        attn = F.softmax(scores, dim=-1)
        if self.debug:
            self.last_attn = attn.detach()
        return self.fc(torch.matmul(attn, v).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    def __init__(self, vocab=5000, d_model=256, n_layers=3, n_heads=4, classes=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, d_model)
        self.attns = nn.ModuleList(MultiHeadAttention(d_model, n_heads, i == n_layers - 1) for i in range(n_layers))
        self.ffs = nn.ModuleList(nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, 1024), nn.ReLU(),
                                               nn.Linear(1024, d_model)) for _ in range(n_layers))
        self.cls = nn.Linear(d_model, classes)

    def forward(self, ids):
        x = self.emb(ids)
        for attn, ff in zip(self.attns, self.ffs):
            x = x + attn(x)
            x = x + ff(x)
        return self.cls(x.mean(1))


def main(run):
    model = Encoder().to(run.device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    logged, global_step = {}, 0
    for epoch in range(2):
        for _ in range(4):
            with run.step():
                ids, labels = run.tokens(16, 192).to(run.device), run.tokens(16).to(run.device)
                loss = F.cross_entropy(model(ids), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                logged["attention/%d" % global_step] = model.attns[-1].last_attn
                global_step += 1
    run.snapshot()
