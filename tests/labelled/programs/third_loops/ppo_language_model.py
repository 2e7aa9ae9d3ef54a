"""PPO of a language model: a rollout is scored by a reward model and a reference, then two epochs of two minibatches.

A step is a rollout and its updates.  The rollout's tensors replace those of the rollout before.
"""
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from nets.gpt import GPT

ADVICE = {"grad-late-zero": [("            optimizer.zero_grad()\n", ""),
                             ("            optimizer.step()\n",
                              "            optimizer.step()\n            optimizer.zero_grad()\n")]}
BATCH = 2


class WithValueHead(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base, self.v_head = base, nn.Linear(base.head.in_features, 1)

    def forward(self, ids):
        x = self.base.tokens(ids) + self.base.places(self.base.order[:ids.size(1)])
        for block in self.base.blocks:
            x = block(x)
        x = self.base.norm(x)
        return self.base.head(x), self.v_head(x).squeeze(-1)


class RewardModel(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.embed = nn.Embedding(8000, width)
        self.rnn, self.score = nn.GRU(width, width, num_layers=2, batch_first=True), nn.Linear(width, 1)

    def forward(self, ids):
        return self.score(self.rnn(self.embed(ids))[0][:, -1]).squeeze(-1)


@dataclass
class Rollout:
    ids: torch.Tensor
    logprobs: torch.Tensor
    values: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor


def logprobs_of(logits, ids):
    return torch.log_softmax(logits[:, :-1], -1).gather(2, ids[:, 1:, None]).squeeze(2)


def gae(rewards, values, gamma=1.0, lam=0.95):
    last, reversed_advantages = 0, []
    for t in reversed(range(rewards.size(1))):
        following = values[:, t + 1] if t < rewards.size(1) - 1 else 0.0
        last = rewards[:, t] + gamma * following - values[:, t] + gamma * lam * last
        reversed_advantages.append(last)
    return torch.stack(reversed_advantages[::-1], dim=1)


@torch.no_grad()
def make_experience(run, policy, reference, reward_model):
    ids = run.tokens(32, 64).to(run.device)
    logits, values = policy(ids)
    logprobs, values = logprobs_of(logits, ids), values[:, :-1]
    del logits
    reference_logprobs = logprobs_of(reference(ids), ids)
    rewards = -0.05 * (logprobs - reference_logprobs)
    rewards[:, -1] += reward_model(ids)
    advantages = gae(rewards, values)
    return Rollout(ids, logprobs, values, advantages, advantages + values)


def ppo_update(policy, optimizer, batch, epochs=2, minibatches=2):
    for _ in range(epochs):
        for part in torch.arange(batch.ids.size(0), device=batch.ids.device).chunk(minibatches):
            ids = batch.ids[part]
            logits, values = policy(ids)
            new = logprobs_of(logits, ids)
            ratio = torch.exp(new - batch.logprobs[part])
            advantage = batch.advantages[part]
            pg_loss = torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()
            vf_loss = F.mse_loss(values[:, :-1], batch.returns[part])
            optimizer.zero_grad()
            (pg_loss + 0.1 * vf_loss).backward()
            optimizer.step()


def main(run):
    policy = WithValueHead(GPT(layers=6, vocabulary=8000)).to(run.device)
    reference = GPT(layers=6, vocabulary=8000).to(run.device).eval().requires_grad_(False)
    run.label("ema", reference.parameters())
    reward_model = RewardModel().to(run.device).eval()
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-5)
    for _ in range(4):
        with run.step():
            experience = make_experience(run, policy, reference, reward_model)
            ppo_update(policy, optimizer, experience)
    run.snapshot()
