"""Q-learning from pixels: a replay buffer of bytes on the device, and a target network that follows."""
import copy
import random

import torch
from torch import nn
from torch.nn import functional as F


class Replay:
    """A ring, allocated once."""

    def __init__(self, room, device):
        self.now = torch.zeros(room, 4, 84, 84, dtype=torch.uint8, device=device)
        self.after = torch.zeros_like(self.now)
        self.action = torch.zeros(room, dtype=torch.int64, device=device)
        self.reward = torch.zeros(room, device=device)
        self.room, self.at = room, 0

    def put(self, now, action, reward, after):
        for ring, value in ((self.now, now), (self.action, action), (self.reward, reward), (self.after, after)):
            ring[self.at:self.at + len(value)] = value
        self.at = (self.at + len(action)) % self.room

    def draw(self, rows):
        at = torch.randint(0, self.room, (rows,), device=self.now.device)
        return self.now[at], self.action[at], self.reward[at], self.after[at]


def q_network(actions):
    return nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3),
                         nn.ReLU(), nn.Flatten(), nn.Linear(3136, 1024), nn.ReLU(), nn.Linear(1024, actions))


def pixels(frames):
    return frames.float() / 255


@torch.no_grad()
def play(run, net, replay, turns):
    for _ in range(turns):
        now = torch.empty(4, 4, 84, 84, dtype=torch.uint8).to(run.device)
        greedy = net(pixels(now)).argmax(1)
        replay.put(now, greedy, torch.ones(4, device=run.device), now.roll(1, 1))


def learn(net, target, optimizer, batch):
    now, action, reward, after = batch
    with torch.no_grad():
        goal = reward + 0.99 * target(pixels(after)).max(1).values
    value = net(pixels(now)).gather(1, action[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def main(run):
    random.seed(0)
    net = q_network(18).to(run.device)
    target = copy.deepcopy(net)
    run.label("ema", target.parameters())
    optimizer = torch.optim.RMSprop(net.parameters(), lr=2.5e-4, alpha=0.95, eps=0.01, centered=True)
    replay = Replay(4096, run.device)
    for _ in range(6):
        with run.step():
            play(run, net, replay, 3)
            learn(net, target, optimizer, replay.draw(512))
            with torch.no_grad():
                for slow, fast in zip(target.parameters(), net.parameters()):
                    slow.lerp_(fast, 0.005)
    run.snapshot()
