"""A state space model in the manner of Mamba, its recurrence in a Python loop: each position makes small tensors, and all
of them are saved.

SGD with momentum.  Recomputing each layer is what saves.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint

ADVICE = {"checkpoint": [("            x = layer(x)\n", "            x = checkpoint(layer, x, use_reentrant=False)\n")]}
BATCH = 2


class MambaBlock(nn.Module):
    def __init__(self, d_model=192, d_state=16, d_conv=4, expand=2):
        super().__init__()
        self.d_inner, self.d_state, self.dt_rank = expand * d_model, d_state, d_model // 16
        self.norm = nn.LayerNorm(d_model)
        self.in_proj = nn.Linear(d_model, 2 * self.d_inner, bias=False)
        self.conv1d = nn.Conv1d(self.d_inner, self.d_inner, d_conv, groups=self.d_inner, padding=d_conv - 1)
        self.x_proj = nn.Linear(self.d_inner, self.dt_rank + 2 * d_state, bias=False)
        self.dt_proj = nn.Linear(self.dt_rank, self.d_inner)
        self.A_log = nn.Parameter(torch.zeros(self.d_inner, d_state))
        self.D = nn.Parameter(torch.ones(self.d_inner))
        self.out_proj = nn.Linear(self.d_inner, d_model, bias=False)

    def ssm(self, u):
        delta, B, C = self.x_proj(u).split([self.dt_rank, self.d_state, self.d_state], dim=-1)
        delta, A = F.softplus(self.dt_proj(delta)), -torch.exp(self.A_log)
        h, ys = torch.zeros(u.size(0), self.d_inner, self.d_state, device=u.device), []
        for i in range(u.size(1)):
            dA = torch.exp(delta[:, i, :, None] * A)
            h = dA * h + (delta[:, i] * u[:, i]).unsqueeze(-1) * B[:, i, None, :]
            ys.append((h * C[:, i, None, :]).sum(-1))
        return torch.stack(ys, dim=1) + u * self.D

    def forward(self, x):
        u, res = self.in_proj(self.norm(x)).chunk(2, dim=-1)
        u = F.silu(self.conv1d(u.transpose(1, 2))[..., :x.size(1)].transpose(1, 2))
        return x + self.out_proj(self.ssm(u) * F.silu(res))


class Mamba(nn.Module):
    def __init__(self, vocab=4000, d_model=192, n_layer=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, d_model)
        self.layers = nn.ModuleList([MambaBlock(d_model) for _ in range(n_layer)])
        self.norm_f, self.lm_head = nn.LayerNorm(d_model), nn.Linear(d_model, vocab, bias=False)

    def forward(self, ids):
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.norm_f(x))


def main(run):
    model = Mamba().to(run.device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(4):
        with run.step():
            ids = run.tokens(24, 33).to(run.device)
            loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            loss.backward()
            opt.step()
            opt.zero_grad()
    run.snapshot()
