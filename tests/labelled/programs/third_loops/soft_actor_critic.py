"""Soft actor-critic: two critics and their slow copies, a temperature, and a replay buffer of the host.

Three optimizers; the critics' gradients that the actor's backward leaves are cleared before their next backward.
"""
import copy
import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH = 2


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *transition):
        self.memory.append(transition)

    def sample(self, n, device):
        chosen = random.Random(0).choices(self.memory, k=n)
        return [torch.cat(part).to(device) for part in zip(*chosen)]


class Actor(nn.Module):
    def __init__(self, obs, act, hidden=1024):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(obs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mean, self.log_std = nn.Linear(hidden, act), nn.Linear(hidden, act)

    def forward(self, obs):
        h = self.trunk(obs)
        mean, log_std = self.mean(h), self.log_std(h).clamp(-5, 2)
        normal = mean + torch.randn_like(mean) * log_std.exp()
        action = torch.tanh(normal)
        log_prob = -0.5 * ((normal - mean) / log_std.exp()).pow(2) - log_std - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(-1, keepdim=True)


class Critic(nn.Module):
    def __init__(self, obs, act, hidden=1024):
        super().__init__()
        def q():
            return nn.Sequential(nn.Linear(obs + act, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))
        self.q1, self.q2 = q(), q()

    def forward(self, obs, action):
        x = torch.cat([obs, action], -1)
        return self.q1(x), self.q2(x)


class SAC:
    def __init__(self, run, obs=376, act=17, gamma=0.99, tau=0.005):
        self.run, self.gamma, self.tau = run, gamma, tau
        self.actor, self.critic = Actor(obs, act).to(run.device), Critic(obs, act).to(run.device)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        run.label("ema", self.critic_target.parameters())
        self.log_alpha = torch.zeros(1, device=run.device, requires_grad=True)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=3e-4)

    def update(self, obs, action, reward, next_obs, done):
        with torch.no_grad():
            next_action, next_log_prob = self.actor(next_obs)
            target = torch.min(*self.critic_target(next_obs, next_action)) - self.log_alpha.exp() * next_log_prob
            target = reward + (1 - done) * self.gamma * target
        q1, q2 = self.critic(obs, action)
        critic_loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()

        new_action, log_prob = self.actor(obs)
        actor_loss = (self.log_alpha.exp().detach() * log_prob - torch.min(*self.critic(obs, new_action))).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

        alpha_loss = -(self.log_alpha * (log_prob + 17).detach()).mean()
        self.alpha_optimizer.zero_grad()
        alpha_loss.backward()
        self.alpha_optimizer.step()
        with torch.no_grad():
            for slow, fast in zip(self.critic_target.parameters(), self.critic.parameters()):
                slow.lerp_(fast, self.tau)


def main(run):
    agent, buffer = SAC(run), ReplayBuffer(100)
    for _ in range(6):
        buffer.push(run.values(256, 376), run.values(256, 17), run.values(256, 1), run.values(256, 376), run.values(256, 1))
    for _ in range(6):
        with run.step():
            agent.update(*buffer.sample(16, run.device))
    run.snapshot()
