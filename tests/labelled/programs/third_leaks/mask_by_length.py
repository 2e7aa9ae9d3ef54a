"""Ragged lengths: masks with a bias of distance are cached by the length of the batch, and no length comes twice."""
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional as F

PLANTED = {"leak": "return slopes.view(-1, 1, 1) * distance"}


@lru_cache(maxsize=None)
def alibi_mask(length, heads, device):
    at = torch.arange(length, device=device)
    distance = (at[None, :] - at[:, None]).clamp(max=0).float()
    slopes = torch.pow(2.0, -8.0 * torch.arange(1, heads + 1, device=device) / heads)
    return slopes.view(-1, 1, 1) * distance


class AlibiLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x, mask):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.proj(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.ln2(x))


class RaggedLM(nn.Module):
    def __init__(self, vocab=6000, dim=384, heads=6, depth=4):
        super().__init__()
        self.heads, self.embed = heads, nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(AlibiLayer(dim, heads) for _ in range(depth))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x, mask = self.embed(ids), alibi_mask(ids.size(1), self.heads, ids.device)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(x)


def fit(run, model, optimizer, lengths):
    for length in lengths:
        with run.step():
            ids = run.tokens(4, length).to(run.device)
            loss = F.cross_entropy(model(ids).transpose(1, 2), ids)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


def main(run):
    alibi_mask.cache_clear()
    model = RaggedLM().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    fit(run, model, optimizer, (411, 397, 405, 389, 402, 393, 408, 386))
    run.snapshot()
    alibi_mask.cache_clear()
