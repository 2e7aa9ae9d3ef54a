"""A language model under Muon: momenta of matrices are made orthogonal by five products each; Adam takes the rest.

The logits have a soft cap and a loss in 32 bit; the model is in 16 bit.
"""
import torch
import torch.nn.functional as F
from torch import nn

ADVICE = {"logits-loss": [("        return self.loss(norm(x), targets)\n",
                           "        parts = zip(norm(x).chunk(4, 1), targets.chunk(4, 1))\n        return sum("
                           "torch.utils.checkpoint.checkpoint(self.loss, *p, use_reentrant=False) for p in parts) / 4\n")]}
BATCH = 2


def zeropower_via_newtonschulz5(G, steps=5):
    a, b, c = (3.4445, -4.7750, 2.0315)
    X = G.bfloat16()
    if G.size(-2) > G.size(-1):
        X = X.mT
    X = X / (X.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        A = X @ X.mT
        B = b * A + c * A @ A
        X = a * X + B @ X
    return X.mT if G.size(-2) > G.size(-1) else X


class Muon(torch.optim.Optimizer):
    def __init__(self, params, lr=0.02, momentum=0.95, nesterov=True, ns_steps=5):
        super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, ns_steps=ns_steps))

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                g, state = p.grad, self.state[p]
                if "momentum_buffer" not in state:
                    state["momentum_buffer"] = torch.zeros_like(g)
                buf = state["momentum_buffer"]
                buf.lerp_(g, 1 - group["momentum"])
                g = g.lerp_(buf, group["momentum"]) if group["nesterov"] else buf
                g = zeropower_via_newtonschulz5(g, group["ns_steps"])
                p.add_(g, alpha=-group["lr"] * max(1, p.size(-2) / p.size(-1)) ** 0.5)


def norm(x):
    return F.rms_norm(x, (x.size(-1),))


class Rotary(nn.Module):
    def __init__(self, dim, max_seq_len):
        super().__init__()
        theta = torch.outer(torch.arange(max_seq_len, dtype=torch.float32), (1 / 1024) ** torch.linspace(0, 1, dim // 2))
        self.cos, self.sin = nn.Buffer(theta.cos(), persistent=False), nn.Buffer(theta.sin(), persistent=False)

    def forward(self, x):
        cos, sin = self.cos[None, :x.size(-3), None, :], self.sin[None, :x.size(-3), None, :]
        x1, x2 = x.float().chunk(2, dim=-1)
        return torch.cat((x1 * cos + x2 * sin, x1 * -sin + x2 * cos), 3).type_as(x)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.rotary = heads, Rotary(dim // heads, 512)
        self.qkv_w, self.c_proj = nn.Parameter(torch.empty(3 * dim, dim)), nn.Parameter(torch.zeros(dim, dim))
        self.c_fc, self.c_out = nn.Parameter(torch.empty(4 * dim, dim)), nn.Parameter(torch.zeros(dim, 4 * dim))

    def forward(self, x):
        q, k, v = F.linear(norm(x), self.qkv_w).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k = self.rotary(norm(q)), self.rotary(norm(k))
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        x = x + F.linear(y.transpose(1, 2).flatten(2), self.c_proj)
        return x + F.linear(F.relu(F.linear(norm(x), self.c_fc)).square(), self.c_out)


class SpeedrunGPT(nn.Module):
    def __init__(self, vocab=24000, layers=8, heads=8, dim=768):
        super().__init__()
        self.embed, self.lm_head = nn.Embedding(vocab, dim), nn.Linear(dim, vocab, bias=False)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))

    def forward(self, inputs, targets):
        x = norm(self.embed(inputs))
        for block in self.blocks:
            x = block(x)
        return self.loss(norm(x), targets)

    def loss(self, x, targets):
        logits = self.lm_head(x).float()
        logits = 30 * torch.sigmoid(logits / 7.5)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main(run):
    model = SpeedrunGPT().bfloat16().to(run.device)
    hidden = [p for p in model.blocks.parameters() if p.ndim >= 2]
    optimizers = [torch.optim.AdamW([*model.embed.parameters(), *model.lm_head.parameters()], lr=0.3, fused=True),
                  Muon(hidden, lr=0.02)]
    for step in range(4):
        with run.step():
            inputs, targets = run.tokens(4, 512).to(run.device), run.tokens(4, 512).to(run.device)
            model(inputs, targets).backward()
            for opt in optimizers:
                opt.step()
            model.zero_grad(set_to_none=True)
    run.snapshot()
