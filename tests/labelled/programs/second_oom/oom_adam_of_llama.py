"""A Llama of Transformers: forward and backward of the first step fit, the state of Adam does not."""
import torch
from transformers import LlamaConfig, LlamaForCausalLM

CAPACITY = 1480 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


class Trainer:
    def __init__(self, run, model, lr):
        self.run, self.model = run, model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: min(1.0, (step + 1) / 10))

    def train(self, steps):
        self.model.train()
        for _ in range(steps):
            with self.run.step():
                inputs = self.run.tokens(2, 128).to(self.run.device)
                self.model(input_ids=inputs, labels=inputs, use_cache=False).loss.backward()
                self.optimizer.step()
                self.schedule.step()
                self.optimizer.zero_grad()


def main(run):
    config = LlamaConfig(vocab_size=12000, hidden_size=1024, intermediate_size=2816, num_hidden_layers=8,
                         num_attention_heads=16, num_key_value_heads=4)
    Trainer(run, LlamaForCausalLM(config).to(run.device), 3e-4).train(3)
    run.snapshot()
