"""A cache that torch.cat grows is there twice while it is copied: the card is too small by that copy."""
import torch
from torch import nn
from torch.nn import functional as F

CAPACITY = 720 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}
ADVICE = {"kv-prealloc": [("caches = [[] for _ in layers]",
                           "caches = [[torch.empty(8, 2048, 1024, device=run.device) for _ in range(2)] for _ in layers]"),
                          ("k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)", "return cache")]}


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, -1)
        heads = (t.unflatten(-1, (8, -1)).transpose(1, 2) for t in (q, *append(cache, k, v)))
        return x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


def append(cache, k, v):
    if cache:
        k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
    cache[:] = [k.contiguous(), v.contiguous()]
    return cache


def main(run):
    words = nn.Embedding(8000, 1024).to(run.device)
    layers = nn.ModuleList(Layer(1024) for _ in range(4)).to(run.device)
    caches = [[] for _ in layers]
    with torch.no_grad():
        for _ in range(16):
            with run.other_pass():
                x = words(run.tokens(8, 128).to(run.device))
                for layer, cache in zip(layers, caches):
                    x = layer(x, cache)
                    run.label("kv_cache", cache)
    run.snapshot()
