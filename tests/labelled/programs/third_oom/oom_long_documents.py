"""Each document is longer than the last; a window of its keys and values stays for the answers, and lies in what the
document's temporaries left: at last enough is free for a book, but in pieces.
"""
import torch
from torch import nn
from torch.nn import functional as F

CAPACITY = 1120 << 20
PLANTED = {"verdict": "fragmentation", "leak": "kept.append(kv[:, :, :, -window:].clone())"}


class CachedLayer(nn.Module):
    def __init__(self, dim=512, heads=8):
        super().__init__()
        self.heads, self.norm = heads, nn.LayerNorm(dim)
        self.qkv, self.out = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, -1))
        kv = torch.stack([k, v])
        y = F.scaled_dot_product_attention(q, kv[0], kv[1])
        return x + self.out(y.transpose(1, 2).flatten(2)), kv


class Assistant:
    def __init__(self, run, layers=3):
        self.run, self.sessions = run, {}
        self.layers = nn.ModuleList(CachedLayer() for _ in range(layers)).to(run.device).eval()
        self.embed = nn.Embedding(8000, 512).to(run.device)

    @torch.no_grad()
    def read(self, session, length, window=192):
        """The whole document is read; of keys and values the last positions alone are kept for the answers."""
        x, kept = self.embed(self.run.tokens(8, length).to(self.run.device)), []
        for layer in self.layers:
            x, kv = layer(x)
            kept.append(kv[:, :, :, -window:].clone())
        self.run.label("kv_cache", kept)
        self.sessions[session] = kept


def main(run):
    assistant = Assistant(run)
    for session in range(14):
        with run.other_pass():
            assistant.read("chat %d" % session, 512 + 64 * session)
    for session, length in (("contract", 2048), ("report", 2560), ("thesis", 3072), ("book", 3584)):
        with run.other_pass():
            assistant.read(session, length)
    run.snapshot()
