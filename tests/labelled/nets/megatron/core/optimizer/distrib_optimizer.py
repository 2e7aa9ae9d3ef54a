"""AdamW over copies in 32 bit of the parameters of one rank."""
import torch


class DistributedOptimizer:
    def __init__(self, buffer, share, lr):
        self.buffer = buffer
        count = buffer.param_data.numel() // share
        self.model_shard, self.grad_shard = buffer.param_data[:count], buffer.grad_data[:count]
        self.main_shard = self.model_shard.detach().clone().float()
        self.adam = torch.optim.AdamW([self.main_shard], lr=lr, foreach=False)

    @torch.no_grad()
    def step(self):
        self.main_shard.grad = self.grad_shard
        self.adam.step()
        self.main_shard.grad = None
        self.model_shard.copy_(self.main_shard)

    def zero_grad(self):
        self.buffer.reset()
