"""An optimizer that calls a closure: forward and backward run inside its step."""
import torch
from torch import nn
from torch.nn import functional as F


def main(run):
    model = nn.Sequential(nn.Linear(1024, 2048), nn.Tanh(), nn.Linear(2048, 2048), nn.Tanh(), nn.Linear(2048, 10))
    model = model.to(run.device)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=1, history_size=4)
    for _ in range(5):
        with run.step():
            x = run.values(4096, 1024).to(run.device)
            y = run.tokens(4096).to(run.device)

            def closure():
                optimizer.zero_grad()
                loss = F.cross_entropy(model(x), y)
                loss.backward()
                return loss

            optimizer.step(closure)
    run.snapshot()
