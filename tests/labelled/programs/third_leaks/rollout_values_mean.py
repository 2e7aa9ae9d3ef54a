"""The twin of rollout_values: a number of the host is kept of each rollout, and the graph of its forward dies without a
backward.
"""
import torch
import torch.nn.functional as F
from torch import nn


class ValueNet(nn.Module):
    def __init__(self, obs, hidden=1024, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(obs if i == 0 else hidden, hidden) for i in range(depth))
        self.value = nn.Linear(hidden, 1)

    def forward(self, out):
        for layer in self.layers:
            out = torch.tanh(layer(out))
        return self.value(out).squeeze(-1)


class Agent:
    def __init__(self, run, obs=96, actions=8):
        self.run = run
        self.critic = ValueNet(obs).to(run.device)
        self.actor = nn.Sequential(nn.Linear(obs, 512), nn.ReLU(), nn.Linear(512, actions)).to(run.device)
        self.optimizer = torch.optim.RMSprop([*self.critic.parameters(), *self.actor.parameters()], lr=7e-4, alpha=0.99)
        self.explained = []

    def collect(self):
        obs = self.run.values(2048, 96).to(self.run.device)
        values = self.critic(obs)
        with torch.no_grad():
            actions = self.actor(obs).argmax(-1)
            returns = values + 0.99 * torch.rand_like(values)
        self.explained.append(1 - ((returns - values).var() / returns.var()).item())
        return obs, actions, returns

    def update(self, obs, actions, returns):
        advantage = returns - self.critic(obs)
        log_probs = F.log_softmax(self.actor(obs), -1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = advantage.pow(2).mean() - (log_probs * advantage.detach()).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.critic.parameters(), 0.5)
        self.optimizer.step()


def main(run):
    agent = Agent(run)
    for _ in range(8):
        with run.step():
            agent.update(*agent.collect())
    run.snapshot()
