"""A base in 4 bits, two to a byte, that is made whole for each product and again for its backward; adapters are trained.

What is made whole lives for a moment.  Each block is recomputed in the backward.
"""
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

BATCH = 2


def dequantize(packed, absmax, shape):
    low, high = packed & 15, packed >> 4
    codes = torch.stack([low, high], dim=-1).view(-1, 64)
    return ((codes.to(torch.bfloat16) - 8) * absmax[:, None]).view(shape)


class MatMul4Bit(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, packed, absmax, shape):
        ctx.save_for_backward(packed, absmax)
        ctx.shape = shape
        return F.linear(x, dequantize(packed, absmax, shape))

    @staticmethod
    def backward(ctx, grad_output):
        packed, absmax = ctx.saved_tensors
        return grad_output @ dequantize(packed, absmax, ctx.shape), None, None, None


class Linear4Bit(nn.Module):
    def __init__(self, fan_in, fan_out, r=16):
        super().__init__()
        self.shape = (fan_out, fan_in)
        self.register_buffer("packed", torch.empty(fan_in * fan_out // 2, dtype=torch.uint8))
        self.register_buffer("absmax", torch.empty(fan_in * fan_out // 64, dtype=torch.bfloat16))
        self.lora_A = nn.Parameter(torch.empty(r, fan_in, dtype=torch.bfloat16))
        self.lora_B = nn.Parameter(torch.zeros(fan_out, r, dtype=torch.bfloat16))
        self.dropout = nn.Dropout(0.05)

    def forward(self, x):
        out = MatMul4Bit.apply(x, self.packed, self.absmax, self.shape)
        return out + F.linear(F.linear(self.dropout(x), self.lora_A), self.lora_B) * 2.0


class LlamaBlock(nn.Module):
    def __init__(self, dim, heads, kv_heads):
        super().__init__()
        self.heads, self.kv_heads, head = heads, kv_heads, dim // heads
        self.q_proj, self.o_proj = Linear4Bit(dim, dim), Linear4Bit(dim, dim)
        self.k_proj, self.v_proj = Linear4Bit(dim, kv_heads * head), Linear4Bit(dim, kv_heads * head)
        self.gate_proj, self.up_proj, self.down_proj = Linear4Bit(dim, 3 * dim), Linear4Bit(dim, 3 * dim), Linear4Bit(
            3 * dim, dim)
        self.norm1, self.norm2 = nn.RMSNorm(dim, dtype=torch.bfloat16), nn.RMSNorm(dim, dtype=torch.bfloat16)

    def forward(self, x):
        y = self.norm1(x)
        q = self.q_proj(y).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        k, v = (p(y).unflatten(-1, (self.kv_heads, -1)).transpose(1, 2) for p in (self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        x = x + self.o_proj(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down_proj(F.silu(self.gate_proj(y)) * self.up_proj(y))


class Llama4Bit(nn.Module):
    def __init__(self, vocab=16000, dim=1536, layers=8, heads=12, kv_heads=4):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim, dtype=torch.bfloat16).requires_grad_(False)
        self.layers = nn.ModuleList(LlamaBlock(dim, heads, kv_heads) for _ in range(layers))
        self.lm_head = nn.Linear(dim, vocab, bias=False, dtype=torch.bfloat16).requires_grad_(False)

    def forward(self, ids):
        x = self.embed_tokens(ids).requires_grad_()
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False)
        return self.lm_head(x)


def main(run):
    model = Llama4Bit().to(run.device)
    for norm in (m for m in model.modules() if isinstance(m, nn.RMSNorm)):
        norm.requires_grad_(False)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    for _ in range(4):
        with run.step():
            for micro in range(2):
                ids = run.tokens(2, 384).to(run.device)
                logits = model(ids)
                loss = F.cross_entropy(logits[:, :-1].float().flatten(0, 1), ids[:, 1:].flatten()) / 2
                del logits
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
