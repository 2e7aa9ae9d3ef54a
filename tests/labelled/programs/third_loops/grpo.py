"""Group relative policy optimisation: answers are generated with a growing cache, then one update on all of them.

The cache and the logits of the generation die before the update.  The generation is where torch.cat makes each layer's
keys and values anew for every token, but the update needs more.
"""
import torch
from torch import nn
from torch.nn import functional as F

ADVICE = {"logits-loss": [("    logprobs = per_token_logps(policy, ids)\n", "    logprobs = chunked_logps(policy, ids)\n")]}
BATCH = 2


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class DecoderLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        self.gate, self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)

    def forward(self, x, past=None):
        y = self.norm1(x)
        q, k, v = (p(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.o_proj(y.transpose(1, 2).flatten(2))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), (k, v)


class PolicyLM(nn.Module):
    def __init__(self, vocab=20000, dim=384, layers=4, heads=6):
        super().__init__()
        self.embed, self.norm = nn.Embedding(vocab, dim), RMSNorm(dim)
        self.layers = nn.ModuleList(DecoderLayer(dim, heads) for _ in range(layers))
        self.lm_head = nn.Linear(dim, vocab, bias=False)

    def hidden(self, ids, cache=None):
        x, new = self.embed(ids), []
        for i, layer in enumerate(self.layers):
            x, kv = layer(x, cache[i] if cache else None)
            new.append(kv)
        return self.norm(x), new


@torch.no_grad()
def generate(run, model, prompts, max_new_tokens):
    ids, cache, step = prompts, None, prompts
    for _ in range(max_new_tokens):
        hidden, cache = model.hidden(step, cache)
        run.label("kv_cache", [t for kv in cache for t in kv])
        step = model.lm_head(hidden[:, -1]).argmax(-1, keepdim=True)
        ids = torch.cat([ids, step], dim=1)
    return ids


def per_token_logps(model, ids):
    logits = model.lm_head(model.hidden(ids[:, :-1])[0])
    return torch.gather(logits.log_softmax(-1), -1, ids[:, 1:, None]).squeeze(-1)


def chunked_logps(model, ids, pieces=8):
    def part(h, t):
        return torch.gather(model.lm_head(h).log_softmax(-1), -1, t.unsqueeze(-1)).squeeze(-1)
    hidden = model.hidden(ids[:, :-1])[0]
    return torch.cat([torch.utils.checkpoint.checkpoint(part, h, t, use_reentrant=False)
                      for h, t in zip(hidden.chunk(pieces), ids[:, 1:].chunk(pieces))])


def grpo_step(run, policy, optimizer, prompts, group=8):
    ids = generate(run, policy, prompts.repeat_interleave(group, 0), 12)
    rewards = torch.rand(ids.size(0), device=ids.device).view(-1, group)
    advantages = ((rewards - rewards.mean(1, keepdim=True)) / (rewards.std(1, keepdim=True) + 1e-4)).view(-1, 1)
    logprobs = per_token_logps(policy, ids)
    ratio = torch.exp(logprobs - logprobs.detach())
    loss = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 0.1)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


def main(run):
    policy = PolicyLM().to(run.device)
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-6, betas=(0.9, 0.99), weight_decay=0.1)
    for _ in range(4):
        with run.step():
            grpo_step(run, policy, optimizer, run.tokens(4, 40).to(run.device))
    run.snapshot()
