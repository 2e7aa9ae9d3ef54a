"""The program of toy_mlp_short.pickle: two linear layers under SGD, recorded once model and data are there."""
import torch
from torch import nn


class Toy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu, self.second = nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1)

    def forward(self, x):
        x = self.first(x)
        x = self.relu(x)
        return self.second(x)


def main(run):
    model = Toy().to(run.device)
    inputs, targets = run.values(64, 10).to(run.device), run.values(64, 1).to(run.device)
    loss_of = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    run.record()
    for _ in range(17):
        with run.step():
            outputs = model(inputs)
            loss = loss_of(outputs, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
