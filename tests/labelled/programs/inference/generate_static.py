"""Generation with a cache that was made once at its final length: the twin of gpt_generate_cat."""
import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, cache, at):
        q, k, v = self.qkv(x).chunk(3, -1)
        end = at + x.size(1)
        cache[0][:, at:end], cache[1][:, at:end] = k, v
        heads = (t.unflatten(-1, (8, -1)).transpose(1, 2) for t in (q, cache[0][:, :end], cache[1][:, :end]))
        return x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


def main(run):
    words = nn.Embedding(16000, 1024).to(run.device)
    layers = nn.ModuleList(Layer(1024) for _ in range(6)).to(run.device)
    caches = [[torch.empty(16, 552, 1024, device=run.device) for _ in range(2)] for _ in layers]
    run.label("kv_cache", caches)
    prompt = run.tokens(16, 512).to(run.device)
    at = 0
    with torch.no_grad():
        for token in range(40):
            with run.other_pass() if token else run.prompt():
                given = prompt if token == 0 else prompt[:, :1]
                x = words(given)
                for layer, cache in zip(layers, caches):
                    x = layer(x, cache, at)
                at += given.size(1)
    run.snapshot()
