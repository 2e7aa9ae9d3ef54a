"""A small decoder-only transformer, with its attention written out."""
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.scale = (width // heads) ** -0.5
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x, mask):
        b, t, d = x.shape
        qkv = self.qkv(x)
        q, k, v = qkv.view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        q = q * self.scale
        scores = q @ k.transpose(-2, -1)
        scores = scores.masked_fill(mask[:t, :t], float("-inf"))
        probs = F.softmax(scores, dim=-1, dtype=torch.float32)
        mixed = probs.to(v.dtype) @ v
        mixed = mixed.transpose(1, 2).reshape(b, t, d)
        return self.out(mixed)


class MLP(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        x = self.up(x)
        x = F.gelu(x)
        return self.down(x)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.RMSNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.RMSNorm(width)
        self.mlp = MLP(width)

    def forward(self, x, mask):
        x = x + self.attention(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class TinyLM(nn.Module):
    def __init__(self, vocabulary, width, heads, layers, longest):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("mask", torch.ones(longest, longest, dtype=torch.bool).triu(1))

    def hidden(self, tokens):
        x = self.tokens(tokens)
        x = x + self.places.weight[:tokens.size(1)]
        for block in self.blocks:
            x = block(x, self.mask)
        return self.norm(x)

    def forward(self, tokens):
        return self.head(self.hidden(tokens))
