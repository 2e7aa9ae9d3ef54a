"""Contiguous buffers of parameters and of gradients, as Megatron-LM keeps them: gradients in 32 bit."""
import torch


class ParamAndGradBuffer:
    def __init__(self, params, device, param_dtype=torch.bfloat16, grad_dtype=torch.float32):
        self.params = list(params)
        numel = sum(p.numel() for p in self.params)
        self.param_data = torch.zeros(numel, dtype=param_dtype, device=device)
        self.grad_data = torch.zeros(numel, dtype=grad_dtype, device=device)
        begin = 0
        for p in self.params:
            end = begin + p.numel()
            with torch.no_grad():
                self.param_data[begin:end].copy_(p.flatten())
                p.data = self.param_data[begin:end].view(p.shape)
            p.main_grad = self.grad_data[begin:end].view(p.shape)
            p.register_post_accumulate_grad_hook(self.add)
            begin = end

    @staticmethod
    def add(p):
        p.main_grad.add_(p.grad)
        p.grad = None

    def reset(self):
        self.grad_data.zero_()
