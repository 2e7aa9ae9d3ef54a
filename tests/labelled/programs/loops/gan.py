"""Two networks and two optimizers, one after the other in each step."""
import torch
from torch import nn
from torch.nn import functional as F

ADVICE = {"optimizer-foreach": [("(make.parameters(), lr=2e-4)", "(make.parameters(), lr=2e-4, foreach=False)"),
                                ("(judge.parameters(), lr=2e-4)", "(judge.parameters(), lr=2e-4, foreach=False)")]}
BATCH = 2


def main(run):
    make = nn.Sequential(nn.Linear(128, 2048), nn.ReLU(), nn.Linear(2048, 3072), nn.Tanh()).to(run.device)
    judge = nn.Sequential(nn.Linear(3072, 2048), nn.LeakyReLU(), nn.Linear(2048, 1)).to(run.device)
    make_optimizer = torch.optim.Adam(make.parameters(), lr=2e-4)
    judge_optimizer = torch.optim.Adam(judge.parameters(), lr=2e-4)
    for _ in range(5):
        with run.step():
            real = run.values(1024, 3072).to(run.device)
            noise = torch.randn(1024, 128, device=run.device)
            made = make(noise)
            judge_optimizer.zero_grad()
            loss = F.softplus(-judge(real)).mean() + F.softplus(judge(made.detach())).mean()
            loss.backward()
            judge_optimizer.step()
            make_optimizer.zero_grad()
            loss = F.softplus(-judge(made)).mean()
            loss.backward()
            make_optimizer.step()
    run.snapshot()
