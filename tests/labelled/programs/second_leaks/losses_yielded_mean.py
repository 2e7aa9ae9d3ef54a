"""The twin of losses_yielded: whoever asks takes the mean of what is yielded, as a number."""
import torch
from torch import nn
from torch.nn.functional import cross_entropy


class Gated(nn.Module):
    """A causal convolution with a gate, as in WaveNet."""

    def __init__(self, width, dilation):
        super().__init__()
        self.conv = nn.Conv1d(width, 2 * width, 2, dilation=dilation)
        self.mix = nn.Conv1d(width, width, 1)
        self.dilation = dilation

    def forward(self, x):
        a, b = self.conv(nn.functional.pad(x, (self.dilation, 0))).chunk(2, 1)
        return x + self.mix(torch.tanh(a) * torch.sigmoid(b))


def network(device, width=96):
    layers = [Gated(width, 2 ** i) for i in range(6)]
    return nn.Sequential(nn.Embedding(256, width), Channels(), *layers, nn.Conv1d(width, 256, 1)).to(device)


class Channels(nn.Module):
    def forward(self, x):
        return x.transpose(1, 2)


def training(run, net, steps):
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)
    for _ in range(steps):
        with run.step():
            sound = run.tokens(32, 4097).to(run.device)
            each = cross_entropy(net(sound[:, :-1]), sound[:, 1:], reduction="none")
            each.mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            yield each.detach()


def main(run):
    net = network(run.device)
    losses = [loss.mean().item() for loss in training(run, net, 7)]
    run.snapshot()
    del losses
