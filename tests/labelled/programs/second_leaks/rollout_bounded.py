"""The twin of rollout_kept: the stacked observations of the last two rollouts are kept."""
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F


class ActorCritic(nn.Module):
    def __init__(self, size, actions):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, 1536), nn.Tanh(), nn.Linear(1536, 1536), nn.Tanh())
        self.policy, self.value = nn.Linear(1536, actions), nn.Linear(1536, 1)

    def forward(self, x):
        x = self.body(x)
        return self.policy(x), self.value(x).squeeze(-1)


class World:
    """A batch of games that runs on the host."""

    def __init__(self, run, games, size):
        self.run, self.games, self.size = run, games, size

    def look(self):
        return self.run.values(self.games, self.size).to(self.run.device)


@torch.no_grad()
def rollout(net, world, length):
    seen, acted = [], []
    for _ in range(length):
        state = world.look()
        logits, _ = net(state)
        acted.append(logits.argmax(-1))
        seen.append(state)
    observed = torch.stack(seen)
    return observed, torch.stack(acted)


def update(net, optimizer, observed, acted):
    for part, chosen in zip(observed.chunk(2), acted.chunk(2)):
        logits, values = net(part.flatten(0, 1))
        taken = F.log_softmax(logits, -1).gather(1, chosen.reshape(-1, 1))
        loss = F.smooth_l1_loss(values, torch.ones_like(values)) - taken.mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 0.5)
        optimizer.step()


def main(run):
    net, world = ActorCritic(256, 18).to(run.device), World(run, 512, 256)
    optimizer = torch.optim.Adam(net.parameters(), lr=2.5e-4, eps=1e-5)
    episodes = deque(maxlen=2)
    for _ in range(9):
        with run.step():
            observed, acted = rollout(net, world, 16)
            episodes.append(observed)
            update(net, optimizer, observed, acted)
    run.snapshot()
