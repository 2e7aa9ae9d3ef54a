"""After every second step the weights are judged, and each state that was among the best stays: nothing prunes the list.

The states are cloned on the device.
"""
import torch
from torch import nn
from torch.nn import functional as F

PLANTED = {"leak": "return {k: v.detach().clone()", "every": 2}


class TemporalBlock(nn.Module):
    def __init__(self, cin, cout, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv1, self.conv2 = nn.Conv1d(cin, cout, 3, dilation=dilation), nn.Conv1d(cout, cout, 3, dilation=dilation)
        self.down = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x):
        y = F.relu(self.conv1(F.pad(x, (self.pad, 0))))
        y = F.relu(self.conv2(F.pad(y, (self.pad, 0))))
        return F.relu(y + self.down(x))


class Forecaster(nn.Module):
    def __init__(self, series=64, width=384, levels=5):
        super().__init__()
        self.tcn = nn.Sequential(*[TemporalBlock(series if i == 0 else width, width, 2 ** i) for i in range(levels)])
        self.head = nn.Linear(width, series)

    def forward(self, x):
        return self.head(self.tcn(x)[:, :, -1])


class BestStates:
    def __init__(self):
        self.states = []

    def snapshot(self, model):
        return {k: v.detach().clone() for k, v in model.state_dict().items()}

    def update(self, score, model):
        if not self.states or score <= max(s for s, _ in self.states):
            self.states.append((score, self.snapshot(model)))


def main(run):
    model, best = Forecaster().to(run.device), BestStates()
    optimizer = torch.optim.NAdam(model.parameters(), lr=2e-3)
    for iteration in range(10):
        with run.step():
            x, y = run.values(64, 64, 168).to(run.device), run.values(64, 64).to(run.device)
            loss = F.huber_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if iteration % 2 == 1:
            model.eval()
            with run.other_pass(), torch.no_grad():
                val_loss = F.huber_loss(model(run.values(64, 64, 168).to(run.device)), run.values(64, 64).to(run.device))
                best.update(val_loss.item(), model)
                run.label("ema", best.states[-1][1].values())
            model.train()
    run.snapshot()
