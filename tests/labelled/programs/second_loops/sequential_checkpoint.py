"""A deep network of residual layers in segments that are recomputed (reentrant); SGD without momentum."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

ADVICE = {"optimizer-foreach": [("lr=0.05)", "lr=0.05, foreach=False)")]}
BATCH = 2


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inside = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.SiLU(),
                                    nn.Linear(2 * width, width))

    def forward(self, x):
        return x + self.inside(x)


def main(run):
    body = nn.Sequential(*(Residual(512) for _ in range(16))).to(run.device)
    enter, leave = nn.Linear(128, 512).to(run.device), nn.Linear(512, 10).to(run.device)
    optimizer = torch.optim.SGD([*enter.parameters(), *body.parameters(), *leave.parameters()], lr=0.05)
    for _ in range(5):
        with run.step():
            x, y = run.values(8192, 128).to(run.device), run.tokens(8192).to(run.device)
            out = leave(checkpoint_sequential(body, 4, enter(x), use_reentrant=True))
            loss = nn.functional.cross_entropy(out, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
