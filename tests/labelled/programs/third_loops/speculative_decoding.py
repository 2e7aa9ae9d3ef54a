"""A small model drafts four tokens that a large one checks at once; both have caches made at their final length.

Nobody trains: a pass is one round of drafting and checking.  The logits of a round are bound over the next.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class KVCache:
    def __init__(self, batch, heads, max_seq, head_dim, **options):
        self.k_cache = torch.zeros(batch, heads, max_seq, head_dim, **options)
        self.v_cache = torch.zeros(batch, heads, max_seq, head_dim, **options)

    def update(self, start, k, v):
        self.k_cache[:, :, start:start + k.size(2)] = k
        self.v_cache[:, :, start:start + v.size(2)] = v
        return self.k_cache[:, :, :start + k.size(2)], self.v_cache[:, :, :start + v.size(2)]


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.kv_cache = heads, None
        self.wqkv, self.wo = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.w1, self.w2 = nn.Linear(dim, 4 * dim, bias=False), nn.Linear(4 * dim, dim, bias=False)
        self.attention_norm, self.ffn_norm = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x, start):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for t in self.wqkv(self.attention_norm(x)).chunk(3, -1))
        k, v = self.kv_cache.update(start, k, v)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=start == 0)
        x = x + self.wo(y.transpose(1, 2).flatten(2))
        return x + self.w2(F.gelu(self.w1(self.ffn_norm(x))))


class Transformer(nn.Module):
    def __init__(self, vocab, dim, n_layer, heads):
        super().__init__()
        self.tok_embeddings, self.output = nn.Embedding(vocab, dim), nn.Linear(dim, vocab, bias=False)
        self.layers, self.norm = nn.ModuleList(Layer(dim, heads) for _ in range(n_layer)), nn.LayerNorm(dim)
        self.head_dim = dim // heads

    def setup_caches(self, batch, max_seq, device):
        for layer in self.layers:
            layer.kv_cache = KVCache(batch, layer.heads, max_seq, self.head_dim, dtype=self.output.weight.dtype,
                                     device=device)

    def caches(self):
        return [t for layer in self.layers for t in (layer.kv_cache.k_cache, layer.kv_cache.v_cache)]

    def forward(self, idx, start):
        x = self.tok_embeddings(idx)
        for layer in self.layers:
            x = layer(x, start)
        return self.output(self.norm(x))


def speculative_decode(model, draft, cur, start, k):
    drafted = [cur]
    for i in range(k):
        drafted.append(draft(drafted[-1], start + i)[:, -1:].argmax(-1))
    target_logits = model(torch.cat(drafted, dim=1), start)
    accept = (target_logits.softmax(-1).amax(-1) > 0.5).sum().item()
    return target_logits[:, -1:].argmax(-1), accept


@torch.no_grad()
def generate(run, model, draft, prompt, rounds, k=4):
    length = prompt.size(1)
    for one in (model, draft):
        one.setup_caches(prompt.size(0), length + rounds * (k + 1), prompt.device)
        run.label("kv_cache", one.caches())
    with run.prompt():
        cur = model(prompt, 0)[:, -1:].argmax(-1)
        draft(prompt, 0)
    accepts = []
    for i in range(rounds):
        with run.other_pass():
            cur, accept = speculative_decode(model, draft, cur, length + i * (k + 1), k)
            accepts.append(accept)
    return accepts


def main(run):
    model = Transformer(16000, 1024, 10, 16).to(torch.bfloat16).to(run.device).eval()
    draft = Transformer(16000, 384, 3, 6).to(torch.bfloat16).to(run.device).eval()
    generate(run, model, draft, run.tokens(16, 128).to(run.device), 20)
    run.snapshot()
