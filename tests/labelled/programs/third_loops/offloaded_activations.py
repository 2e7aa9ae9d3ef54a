"""Saved tensors wait in the host's memory: hooks copy them there in the forward and back for the backward.

What a layer has made dies as soon as the next no longer needs it; little is alive at the peak beside weights and state.
"""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class OffloadActivations(torch.autograd.graph.saved_tensors_hooks):
    """Tensors above a size go to the host; parameters and small tensors stay."""

    def __init__(self, run, min_bytes=1 << 20):
        self.run, self.min_bytes = run, min_bytes
        super().__init__(self.pack, self.unpack)

    def pack(self, tensor):
        if isinstance(tensor, nn.Parameter) or isinstance(tensor._base, nn.Parameter) or tensor.nbytes < self.min_bytes:
            return tensor
        host = torch.empty(tensor.size(), dtype=tensor.dtype)
        host.copy_(tensor, non_blocking=True)
        return tensor.device, host

    def unpack(self, packed):
        if isinstance(packed, torch.Tensor):
            return packed
        device, host = packed
        back = torch.empty(host.size(), dtype=host.dtype, device=device)
        back.copy_(host, non_blocking=True)
        self.run.label("activation", [back])
        return back


class FeedForward(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(dim, 3 * dim), nn.Linear(3 * dim, dim), nn.Linear(dim, 3 * dim)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.out, self.ff = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), FeedForward(dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))
        return x + self.ff(self.norm2(x))


class ProteinEncoder(nn.Module):
    def __init__(self, tokens=33, dim=640, layers=8, heads=10):
        super().__init__()
        self.embed = nn.Embedding(tokens, dim)
        self.layers = nn.ModuleList(EncoderLayer(dim, heads) for _ in range(layers))
        self.norm, self.lm_head = nn.LayerNorm(dim), nn.Linear(dim, tokens)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm(x))


def main(run):
    model = ProteinEncoder().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.01)
    for _ in range(4):
        with run.step():
            ids = run.tokens(8, 512).to(run.device)
            with OffloadActivations(run):
                loss = F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
