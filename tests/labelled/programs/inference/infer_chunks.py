"""Chunks of a prompt go through six layers whose caches grow by torch.cat; an annotation stands around each."""
import torch
from torch import nn
from torch.nn import functional as F

MARKS = True
ADVICE = {"kv-prealloc": [("Cache(torch.empty(4, 0, 1024, device=run.device), torch.empty(4, 0, 1024, device=run.device))",
                           "Whole(torch.empty(4, 3072, 1024, device=run.device), torch.empty(4, 3072, 1024, device=run.device))")]}


class Cache:
    """Keys and values of one layer so far."""

    def __init__(self, keys, values):
        self.keys, self.values, self.length = keys, values, 0

    def append(self, keys, values):
        self.keys = torch.cat([self.keys, keys], 1)
        self.values = torch.cat([self.values, values], 1)
        return self.keys, self.values


class Whole(Cache):
    """As long as it will ever be."""

    def append(self, keys, values):
        end = self.length + keys.size(1)
        self.keys[:, self.length:end], self.values[:, self.length:end] = keys, values
        self.length = end
        return self.keys[:, :end], self.values[:, :end]


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, -1)
        heads = (t.unflatten(-1, (8, -1)).transpose(1, 2) for t in (q, *cache.append(k, v)))
        return x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


def main(run):
    words = nn.Embedding(16000, 1024).to(run.device)
    layers = nn.ModuleList(Layer(1024) for _ in range(6)).to(run.device)
    caches = [Cache(torch.empty(4, 0, 1024, device=run.device), torch.empty(4, 0, 1024, device=run.device)) for _ in layers]
    with torch.no_grad():
        for chunk in range(12):
            with run.other_pass(), torch.profiler.record_function("chunk %d" % chunk):
                x = words(run.tokens(4, 256).to(run.device))
                for layer, cache in zip(layers, caches):
                    x = layer(x, cache)
                    run.label("kv_cache", [cache.keys, cache.values])
    run.snapshot()
