"""The twin of sessions_kept: the two latest sessions are kept, and the oldest is evicted as a new one comes."""
import itertools

import torch
from torch import nn
from torch.nn import functional as F


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q, self.kv, self.out = nn.Linear(dim, dim), nn.Linear(dim, dim // 2), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.SiLU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        y = self.norm1(x)
        k, v = self.kv(y).chunk(2, -1)
        q = self.q(y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        keys, values = (t.unflatten(-1, (self.heads // 4, -1)).transpose(1, 2) for t in (k, v))
        y = F.scaled_dot_product_attention(q, keys, values, is_causal=True, enable_gqa=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x)), (keys, values)


class ChatModel(nn.Module):
    def __init__(self, vocab=12000, dim=768, layers=6, heads=12):
        super().__init__()
        self.embed, self.norm = nn.Embedding(vocab, dim), nn.LayerNorm(dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))

    def forward(self, ids):
        x, past = self.embed(ids), []
        for block in self.blocks:
            x, kv = block(x)
            past.append(kv)
        return F.linear(self.norm(x[:, -1:]), self.embed.weight), past


class Server:
    def __init__(self, run):
        self.run, self.model = run, ChatModel().to(run.device).eval()
        self.sessions, self.numbers = {}, itertools.count()

    @torch.no_grad()
    def handle(self, prompts):
        session = next(self.numbers)
        self.sessions.pop(session - 2, None)
        logits, past = self.model(prompts.to(self.run.device))
        self.run.label("kv_cache", [t for kv in past for t in kv])
        self.sessions[session] = past
        return session, logits.argmax(-1).cpu()


def main(run):
    server = Server(run)
    for _ in range(9):
        with run.other_pass():
            server.handle(run.tokens(8, 512))
    run.snapshot()
