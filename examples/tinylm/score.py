"""Score a batch of documents, then read on in chunks with a growing key-value cache."""
import torch
import torch.nn.functional as F
from torch.profiler import record_function

from data import documents
from model import TinyLM

WIDTH, HEADS, LAYERS, BATCH, LENGTH, CHUNKS = 1024, 16, 6, 48, 1024, 12


class Cache:
    """The keys and values of one layer for all tokens that were read."""

    def __init__(self):
        self.keys = self.values = None

    def append(self, keys, values):
        if self.keys is not None:
            keys = torch.cat([self.keys, keys], dim=1)
            values = torch.cat([self.values, values], dim=1)
        self.keys, self.values = keys, values


def attend(attention, x, cache):
    q, k, v = attention.qkv(x).chunk(3, dim=-1)
    cache.append(k.contiguous(), v.contiguous())
    q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in (q, cache.keys, cache.values))
    mixed = F.scaled_dot_product_attention(q, k, v)
    return attention.out(mixed.transpose(1, 2).flatten(2))


def read(model, tokens, caches):
    x = model.tokens(tokens)
    for block, cache in zip(model.blocks, caches):
        x = x + attend(block.attention, block.norm1(x), cache)
        x = x + block.mlp(block.norm2(x))
    return model.norm(x)


def read_all(model, kept):
    caches = [Cache() for _ in range(LAYERS)]
    for number, tokens in enumerate(documents(32000, BATCH, [LENGTH] * CHUNKS)):
        with record_function(f"chunk {number}"):
            states = read(model, tokens.to("cuda"), caches)
            kept.append(states[:, ::4].clone())


def score(model):
    for tokens in documents(32000, BATCH, [LENGTH]):
        with record_function("scores"):
            logits = model(tokens.to("cuda"))
            logs = F.log_softmax(logits.float(), dim=-1)
            return logs.amax(dim=-1)


@torch.no_grad()
def main():
    torch.cuda.memory._record_memory_history()
    model = TinyLM(32000, WIDTH, HEADS, LAYERS, LENGTH).to("cuda", torch.bfloat16)
    kept = [score(model)]
    try:
        read_all(model, kept)
    except torch.cuda.OutOfMemoryError:
        print("out of memory")
    torch.cuda.memory._dump_snapshot("fragmentation.pickle")


if __name__ == "__main__":
    main()
