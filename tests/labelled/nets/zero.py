"""ZeRO's second stage by hand: each rank keeps the state of its share of one flat tensor of all parameters."""
import torch


class ZeroOptimizer:
    def __init__(self, params, ranks, lr):
        self.params = list(params)
        numel = -(-sum(p.numel() for p in self.params) // ranks) * ranks
        flat = torch.zeros(numel, dtype=self.params[0].dtype, device=self.params[0].device)
        begin = 0
        for p in self.params:
            with torch.no_grad():
                flat[begin:begin + p.numel()].copy_(p.flatten())
                p.data = flat[begin:begin + p.numel()].view(p.shape)
            begin += p.numel()
        self.flat, self.share = flat, numel // ranks
        self.single_partition_of_fp32_groups = flat[:self.share].clone().float().requires_grad_()
        self.adam = torch.optim.AdamW([self.single_partition_of_fp32_groups], lr=lr, foreach=False)

    @torch.no_grad()
    def step(self):
        averaged = torch.cat([p.grad.flatten() for p in self.params])
        self.single_partition_of_fp32_groups.grad = averaged[:self.share].float()
        del averaged
        self.adam.step()
        self.adam.zero_grad()
        self.flat[:self.share].copy_(self.single_partition_of_fp32_groups)

    def zero_grad(self):
        for p in self.params:
            p.grad = None
