"""A small GPT as a user writes it: pre-norm blocks, fused attention, a head of its own."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    """`recompute` is None, or use_reentrant of torch.utils.checkpoint."""

    def __init__(self, layers=4, width=512, heads=8, vocabulary=16000, length=256, recompute=None):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.register_buffer("order", torch.arange(length))
        self.recompute = recompute

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(self.order[:tokens.size(1)])
        for block in self.blocks:
            if self.recompute is None:
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=self.recompute)
        return self.head(self.norm(x))


def loss_of(logits, targets):
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def chunked_loss(model, tokens, targets, chunks=8):
    """The same loss with the logits of one chunk of rows alive at a time, forward and backward."""
    head, model.head = model.head, nn.Identity()
    rows = model(tokens).flatten(0, 1)
    model.head = head
    parts = [checkpoint(lambda x, y: F.cross_entropy(head(x), y, reduction="sum"), x, y, use_reentrant=False)
             for x, y in zip(rows.chunk(chunks), targets.flatten().chunk(chunks))]
    return torch.stack(parts).sum() / rows.size(0)
