"""A language model in the manner of nanoGPT: bfloat16 under autocast, the embedding tied to the head, an epoch of ten
micro batches of which the last step has two in place of four, and an estimate of the loss on two splits every second step.

Nothing is kept.  The logits are returned beside the loss and stay bound over the backward of each micro batch.
"""
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

ADVICE = {"held-over-backward": [("                loss.backward()\n",
                                  "                del logits\n                loss.backward()\n")]}
HARMFUL = ("grad-late-zero",)
BATCH = 2


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.n_head, self.n_embd = n_head, n_embd

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd, bias=False), nn.LayerNorm(n_embd, bias=False)
        self.attn = CausalSelfAttention(n_embd, n_head)
        self.c_fc, self.c_proj = nn.Linear(n_embd, 4 * n_embd, bias=False), nn.Linear(4 * n_embd, n_embd, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.dropout(self.c_proj(F.gelu(self.c_fc(self.ln_2(x)))))


class NanoGPT(nn.Module):
    def __init__(self, vocab_size=12288, block_size=256, n_layer=6, n_head=8, n_embd=512):
        super().__init__()
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(vocab_size, n_embd), wpe=nn.Embedding(block_size, n_embd),
            h=nn.ModuleList([Block(n_embd, n_head) for _ in range(n_layer)]), ln_f=nn.LayerNorm(n_embd, bias=False)))
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.transformer.wte(idx) + self.transformer.wpe(pos)
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    def configure_optimizers(self, weight_decay, learning_rate, betas):
        decay = [p for p in self.parameters() if p.dim() >= 2]
        nodecay = [p for p in self.parameters() if p.dim() < 2]
        groups = [{"params": decay, "weight_decay": weight_decay}, {"params": nodecay, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, fused=True)


def get_lr(it, warmup=2, last=100, most=6e-4, least=6e-5):
    if it < warmup:
        return most * (it + 1) / (warmup + 1)
    return least + 0.5 * (1 + math.cos(math.pi * (it - warmup) / (last - warmup))) * (most - least)


@torch.no_grad()
def estimate_loss(run, model, ctx, get_batch):
    out = {}
    model.eval()
    for split in ("train", "val"):
        losses = torch.zeros(2)
        for k in range(2):
            X, Y = get_batch(split)
            with ctx:
                _, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


def main(run):
    def get_batch(split):
        return run.tokens(8, 256).to(run.device), run.tokens(8, 256).to(run.device)

    ctx = torch.autocast(device_type="cuda", dtype=torch.bfloat16)
    model = NanoGPT().to(run.device)
    optimizer = model.configure_optimizers(0.1, 6e-4, (0.9, 0.95))
    iter_num = 0
    for micro_steps in (4, 4, 2, 4, 4):
        for group in optimizer.param_groups:
            group["lr"] = get_lr(iter_num)
        with run.step():
            for _ in range(micro_steps):
                X, Y = get_batch("train")
                with ctx:
                    logits, loss = model(X, Y)
                    loss = loss / micro_steps
                loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            lossf = loss.item() * micro_steps
        assert lossf == 0
        if iter_num % 2 == 1:
            with run.other_pass():
                estimate_loss(run, model, ctx, get_batch)
        iter_num += 1
    run.snapshot()
