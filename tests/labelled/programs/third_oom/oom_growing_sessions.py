"""Five conversations in turn: each turn makes its session's cache anew, a little longer, between those of the others.

What the old caches leave behind fits none of the new ones; at last a long document comes, for which enough is free, in
pieces.
"""
import torch
from torch import nn
from torch.nn import functional as F

CAPACITY = 1000 << 20
PLANTED = {"verdict": "fragmentation"}


class CachedLayer(nn.Module):
    def __init__(self, dim=512, heads=8):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x, past):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        kv = torch.stack([k, v])
        if past is not None:
            kv = torch.cat([past, kv], dim=3)
        y = F.scaled_dot_product_attention(q, kv[0], kv[1])
        return x + self.out(y.transpose(1, 2).flatten(2)), kv


class Assistant:
    def __init__(self, run, layers=3):
        self.run, self.sessions = run, {}
        self.layers = nn.ModuleList(CachedLayer() for _ in range(layers)).to(run.device).eval()
        self.embed = nn.Embedding(8000, 512).to(run.device)

    @torch.no_grad()
    def turn(self, session, length):
        x, past = self.embed(self.run.tokens(8, length).to(self.run.device)), self.sessions.get(session)
        new = []
        for i, layer in enumerate(self.layers):
            x, kv = layer(x, past[i] if past else None)
            new.append(kv)
        self.run.label("kv_cache", new)
        self.sessions[session] = new


def main(run):
    assistant = Assistant(run)
    for turn in range(6):
        for session in range(5):
            with run.other_pass():
                assistant.turn(session, 96 + 16 * ((3 * turn + session) % 5))
    for session, length in (("report", 900), ("contract", 1100), ("thesis", 1300), ("book", 1500)):
        with run.other_pass():
            assistant.turn(session, length)
    run.snapshot()
