"""Two hundred and fifty tokens with a cache of two layers that torch.cat grows by one each."""
import torch
from torch import nn
from torch.nn import functional as F

ADVICE = {"kv-prealloc": [("caches = [[] for _ in layers]", "caches = [[torch.empty(64, 281, 1024, device=run.device), torch.empty(64, 281, 1024, device=run.device)] for _ in layers]"),
                          ("k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)", "return cache[0], cache[1]")]}


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache):
        q, k, v = self.qkv(x).chunk(3, -1)
        heads = (t.unflatten(-1, (8, -1)).transpose(1, 2) for t in (q, *grown(cache, k, v)))
        return x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


def grown(cache, k, v):
    if cache:
        k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
    cache[:] = [k, v]
    return cache


def main(run):
    words = nn.Embedding(16000, 1024).to(run.device)
    layers = nn.ModuleList(Layer(1024) for _ in range(2)).to(run.device)
    caches = [[] for _ in layers]
    prompt = run.tokens(64, 32).to(run.device)
    with torch.no_grad():
        for token in range(250):
            with run.other_pass() if token else run.prompt():
                x = words(prompt if token == 0 else prompt[:, :1])
                for layer, cache in zip(layers, caches):
                    x = layer(x, cache)
                    run.label("kv_cache", cache)
    run.snapshot()
