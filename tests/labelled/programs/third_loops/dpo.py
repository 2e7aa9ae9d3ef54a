"""Direct preference optimisation: a policy and a frozen copy that is the reference, chosen and rejected in one batch.

The log probabilities are gathered from float copies of all logits; the policy's stay bound over the backward, which
keeps nothing that the graph does not keep too.
"""
import copy

import torch
import torch.nn.functional as F
from transformers import GPT2Config, GPT2LMHeadModel

ADVICE = {"checkpoint": [("    policy.train()\n", "    policy.train()\n    policy.gradient_checkpointing_enable()\n")]}
BATCH = 2


def get_batch_logps(logits, labels):
    labels, logits = labels[:, 1:].clone(), logits[:, :-1, :]
    loss_mask = (labels != -100).float()
    per_token_logps = torch.gather(logits.log_softmax(-1), dim=2, index=labels.unsqueeze(2)).squeeze(2)
    return (per_token_logps * loss_mask).sum(-1)


def preference_loss(policy_chosen, policy_rejected, reference_chosen, reference_rejected, beta=0.1):
    logits = (policy_chosen - policy_rejected) - (reference_chosen - reference_rejected)
    return -F.logsigmoid(beta * logits).mean()


class DPOTrainer:
    def __init__(self, run, policy, reference):
        self.run, self.policy, self.reference = run, policy, reference
        self.optimizer = torch.optim.RMSprop(policy.parameters(), lr=5e-7)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / 151))
        self.metrics = []

    def concatenated_forward(self, model, batch):
        logits = model(input_ids=batch, use_cache=False).logits
        return get_batch_logps(logits, batch).chunk(2)

    def train_step(self):
        batch = self.run.tokens(8, 192).to(self.run.device)
        with torch.no_grad():
            reference_chosen, reference_rejected = self.concatenated_forward(self.reference, batch)
        chosen, rejected = self.concatenated_forward(self.policy, batch)
        loss = preference_loss(chosen, rejected, reference_chosen, reference_rejected)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 10.0).item()
        self.optimizer.step()
        self.scheduler.step()
        self.optimizer.zero_grad()
        self.metrics.append((loss.item(), norm, (chosen > rejected).float().mean().item()))

    def train(self, n):
        for _ in range(n):
            with self.run.step():
                self.train_step()


def main(run):
    config = GPT2Config(vocab_size=10000, n_embd=512, n_layer=8, n_head=8, n_positions=256)
    policy = GPT2LMHeadModel(config).to(run.device)
    policy.train()
    reference = copy.deepcopy(policy).eval().requires_grad_(False)
    run.label("ema", reference.parameters())
    trainer = DPOTrainer(run, policy, reference)
    trainer.train(5)
    run.snapshot()
