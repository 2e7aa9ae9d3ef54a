"""A critic that is trained five times before each step of the generator."""
import torch
from torch import nn


def main(run):
    make = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 3072), nn.Tanh()).to(run.device)
    critic = nn.Sequential(nn.Linear(3072, 1024), nn.LeakyReLU(), nn.Linear(1024, 1)).to(run.device)
    make_optimizer = torch.optim.Adam(make.parameters(), lr=2e-4)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-4)
    for _ in range(5):
        with run.step():
            for _ in range(5):
                real = run.values(512, 3072).to(run.device)
                with torch.no_grad():
                    fake = make(torch.randn(512, 128, device=run.device))
                loss = critic(fake).mean() - critic(real).mean()
                loss.backward()
                critic_optimizer.step()
                critic_optimizer.zero_grad()
            loss = -critic(make(torch.randn(512, 128, device=run.device))).mean()
            loss.backward()
            make_optimizer.step()
            make_optimizer.zero_grad()
            critic_optimizer.zero_grad()
    run.snapshot()
