"""A network that solves an equation, derivatives by autograd in the loss: Adam first, then LBFGS with a closure."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width=256, depth=6):
        super().__init__()
        sizes = [2] + [width] * depth
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def derivative(of, to):
    return torch.autograd.grad(of, to, grad_outputs=torch.ones_like(of), create_graph=True)[0]


def residual(net, points):
    points.requires_grad_(True)
    u = net(points)
    first = derivative(u, points)
    second = derivative(first[:, :1], points)[:, :1]
    return first[:, 1:] - 0.01 * second + u * first[:, :1]


def loss_of_points(net, inside, border):
    return residual(net, inside).pow(2).mean() + net(border).pow(2).mean()


def main(run):
    net = Net().to(run.device)
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(3):
        with run.step():
            inside, border = run.values(16384, 2).to(run.device), run.values(1024, 2).to(run.device)
            adam.zero_grad()
            loss_of_points(net, inside, border).backward()
            adam.step()
    lbfgs = torch.optim.LBFGS(net.parameters(), max_iter=2, history_size=6)
    for _ in range(3):
        with run.step():
            inside, border = run.values(16384, 2).to(run.device), run.values(1024, 2).to(run.device)

            def closure():
                lbfgs.zero_grad()
                loss = loss_of_points(net, inside, border)
                loss.backward()
                return loss

            lbfgs.step(closure)
    run.snapshot()
