"""SimCLR: two views of each picture in one batch, the similarities of all pairs, LARS written by the user.

Nothing is kept; the loss is logged as a number.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import resnet18

ADVICE = {"grad-late-zero": [("            optimizer.zero_grad()\n", ""),
                             ("            optimizer.step()\n",
                              "            optimizer.step()\n            optimizer.zero_grad()\n")]}
BATCH = 2


class LARS(torch.optim.Optimizer):
    def __init__(self, params, lr, weight_decay=1e-6, momentum=0.9, eta=0.001):
        super().__init__(params, dict(lr=lr, weight_decay=weight_decay, momentum=momentum, eta=eta))

    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                dp = p.grad
                if dp is None:
                    continue
                if p.ndim > 1:
                    dp = dp.add(p, alpha=g["weight_decay"])
                    param_norm, update_norm = torch.norm(p), torch.norm(dp)
                    one = torch.ones_like(param_norm)
                    q = torch.where(param_norm > 0., torch.where(
                        update_norm > 0, g["eta"] * param_norm / update_norm, one), one)
                    dp = dp.mul(q)
                state = self.state[p]
                if "mu" not in state:
                    state["mu"] = torch.zeros_like(p)
                mu = state["mu"]
                mu.mul_(g["momentum"]).add_(dp)
                p.add_(mu, alpha=-g["lr"])


class SimCLR(nn.Module):
    def __init__(self, encoder, projection_dim, n_features):
        super().__init__()
        self.encoder = encoder
        self.encoder.fc = nn.Identity()
        self.projector = nn.Sequential(nn.Linear(n_features, n_features, bias=False), nn.ReLU(),
                                       nn.Linear(n_features, projection_dim, bias=False))

    def forward(self, x):
        return F.normalize(self.projector(self.encoder(x)), dim=1)


class NTXent(nn.Module):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature

    def forward(self, z):
        n = z.size(0)
        sim = torch.mm(z, z.t()) / self.temperature
        sim = sim.masked_fill(torch.eye(n, dtype=torch.bool, device=z.device), -1e9)
        labels = torch.arange(n, device=z.device).roll(n // 2)
        return F.cross_entropy(sim, labels, reduction="sum") / n


def train(run, loader, model, criterion, optimizer):
    loss_epoch = 0
    for x_i, x_j in loader:
        with run.step():
            x_i, x_j = x_i.to(run.device, non_blocking=True), x_j.to(run.device, non_blocking=True)
            z = model(torch.cat((x_i, x_j), dim=0))
            loss = criterion(z)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            loss_epoch += loss.item()
    return loss_epoch


def main(run):
    model = SimCLR(resnet18(weights=None), 128, 512).to(run.device)
    optimizer = LARS(model.parameters(), lr=0.3)
    for _ in range(2):
        loader = ((run.values(128, 3, 48, 48), run.values(128, 3, 48, 48)) for _ in range(3))
        train(run, loader, model, NTXent(), optimizer)
    run.snapshot()
