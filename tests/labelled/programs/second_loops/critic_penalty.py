"""Wasserstein: the critic has a penalty on its gradient, and three turns for each of the painter's; RMSprop."""
import torch
from torch import autograd, nn


class Painter(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(64, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 2048),
                         nn.Tanh())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two, self.three = nn.Linear(2048, 1536), nn.Linear(1536, 1536), nn.Linear(1536, 1)

    def forward(self, x):
        x = nn.functional.softplus(self.one(x))
        return self.three(nn.functional.softplus(self.two(x)))


def penalty(critic, real, fake):
    share = torch.rand(real.size(0), 1, device=real.device)
    between = (share * real + (1 - share) * fake).requires_grad_(True)
    scores = critic(between)
    gradients, = autograd.grad(scores, between, torch.ones_like(scores), create_graph=True, retain_graph=True)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def main(run):
    painter, critic = Painter().to(run.device), Critic().to(run.device)
    paint = torch.optim.RMSprop(painter.parameters(), lr=5e-5)
    judge = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
    for _ in range(5):
        with run.step():
            for _ in range(3):
                real = run.values(1024, 2048).to(run.device)
                with torch.no_grad():
                    fake = painter(torch.randn(real.size(0), 64, device=run.device))
                judge.zero_grad()
                cost = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
                cost.backward()
                judge.step()
            for p in critic.parameters():
                p.requires_grad_(False)
            paint.zero_grad()
            (-critic(painter(torch.randn(1024, 64, device=run.device))).mean()).backward()
            paint.step()
            for p in critic.parameters():
                p.requires_grad_(True)
    run.snapshot()
