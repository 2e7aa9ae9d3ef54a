"""Serving with a paged cache: one pool of blocks a layer, made at the start; requests come and go, and take free blocks.

A pass is one iteration of the scheduler: prefill of what has come, then one token of all that run.
"""
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F

BLOCK = 16


class BlockAllocator:
    def __init__(self, count):
        self.free = deque(range(count))

    def allocate(self, n):
        return [self.free.popleft() for _ in range(n)]

    def release(self, blocks):
        self.free.extend(blocks)


class Request:
    def __init__(self, prompt, max_tokens):
        self.prompt, self.left, self.blocks, self.length = prompt, max_tokens, [], prompt.size(1)


class Attention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.head_dim = heads, hidden // heads
        self.qkv_proj, self.o_proj = nn.Linear(hidden, 3 * hidden, bias=False), nn.Linear(hidden, hidden, bias=False)

    def split(self, x):
        return (t.unflatten(-1, (self.heads, self.head_dim)) for t in self.qkv_proj(x).chunk(3, -1))

    def prefill(self, x, cache, slots):
        q, k, v = self.split(x)
        cache[0].view(-1, self.heads, self.head_dim).index_copy_(0, slots, k[0])
        cache[1].view(-1, self.heads, self.head_dim).index_copy_(0, slots, v[0])
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))

    def decode(self, x, cache, slots, tables):
        q, k, v = self.split(x)
        cache[0].view(-1, self.heads, self.head_dim).index_copy_(0, slots, k[:, 0])
        cache[1].view(-1, self.heads, self.head_dim).index_copy_(0, slots, v[:, 0])
        keys, values = (c[tables].flatten(1, 2).transpose(1, 2) for c in cache)
        return self.o_proj(F.scaled_dot_product_attention(q.transpose(1, 2), keys, values).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.self_attn, self.norm1, self.norm2 = Attention(hidden, heads), nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        self.up_proj, self.down_proj = nn.Linear(hidden, 3 * hidden), nn.Linear(3 * hidden, hidden)

    def forward(self, x, attend):
        x = x + attend(self.self_attn, self.norm1(x))
        return x + self.down_proj(F.silu(self.up_proj(self.norm2(x))))


class Engine:
    def __init__(self, run, hidden=768, heads=12, layers=8, vocab=24000, blocks=640):
        self.run, self.allocator, self.running, self.waiting = run, BlockAllocator(blocks), [], deque()
        self.embed = nn.Embedding(vocab, hidden).half().to(run.device)
        self.layers = nn.ModuleList(Layer(hidden, heads) for _ in range(layers)).half().to(run.device)
        self.norm = nn.RMSNorm(hidden).half().to(run.device)
        self.kv_cache = [torch.empty(2, blocks, BLOCK, heads, hidden // heads, dtype=torch.float16, device=run.device)
                         for _ in range(layers)]
        run.label("kv_cache", self.kv_cache)

    def add_request(self, length, max_tokens):
        self.waiting.append(Request(self.run.tokens(1, length), max_tokens))

    def slots(self, numbers):
        return torch.tensor(numbers).to(self.run.device)

    def sample(self, x):
        return F.linear(self.norm(x[:, -1:]), self.embed.weight).argmax(-1)

    def prefill(self, request):
        request.blocks = self.allocator.allocate(-(-(request.length + request.left) // BLOCK))
        x = self.embed(request.prompt.to(self.run.device))
        slots = self.slots([request.blocks[i // BLOCK] * BLOCK + i % BLOCK for i in range(request.length)])
        for layer, cache in zip(self.layers, self.kv_cache):
            x = layer(x, lambda attn, y: attn.prefill(y, cache, slots))
        return self.sample(x)

    def decode(self):
        longest = max(len(r.blocks) for r in self.running)
        tables = self.slots([r.blocks + [0] * (longest - len(r.blocks)) for r in self.running])
        slots = self.slots([r.blocks[r.length // BLOCK] * BLOCK + r.length % BLOCK for r in self.running])
        x = self.embed(torch.zeros(len(self.running), 1, dtype=torch.int64).to(self.run.device))
        for layer, cache in zip(self.layers, self.kv_cache):
            x = layer(x, lambda attn, y: attn.decode(y, cache, slots, tables))
        return self.sample(x).cpu()

    @torch.no_grad()
    def step(self):
        while self.waiting and len(self.running) < 8:
            request = self.waiting.popleft()
            self.prefill(request).cpu()
            self.running.append(request)
        self.decode()
        for request in list(self.running):
            request.length += 1
            request.left -= 1
            if request.left <= 0:
                self.allocator.release(request.blocks)
                self.running.remove(request)


def main(run):
    engine = Engine(run)
    for i in range(14):
        engine.add_request(100 + 37 * i % 160, 6 + i % 5)
    for _ in range(12):
        with run.other_pass():
            engine.step()
    run.snapshot()
