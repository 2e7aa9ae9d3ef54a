"""AdaHessian: the diagonal of the Hessian by Hutchinson's method, so that the gradient has a graph of its own.

backward(create_graph=True) would tie gradients to their graph; autograd.grad is used, and p.grad is set by hand.
"""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 2


class AdaHessian(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, betas=(0.9, 0.999), eps=1e-8, hessian_power=1.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, hessian_power=hessian_power))
        for p in self.get_params():
            p.hess = 0.0

    def get_params(self):
        return (p for group in self.param_groups for p in group["params"] if p.requires_grad)

    def set_hessian(self, grads, run):
        params = list(self.get_params())
        zs = [torch.randint(0, 2, p.size(), device=p.device) * 2.0 - 1.0 for p in params]
        run.label("other", zs)
        h_zs = torch.autograd.grad(grads, params, grad_outputs=zs, only_inputs=True)
        for h_z, z, p in zip(h_zs, zs, params):
            p.hess = (h_z * z).detach()

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"], state["exp_hessian_diag_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                state["exp_avg"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                state["exp_hessian_diag_sq"].mul_(beta2).addcmul_(p.hess, p.hess, value=1 - beta2)
                bias1, bias2 = 1 - beta1 ** state["step"], 1 - beta2 ** state["step"]
                denom = (state["exp_hessian_diag_sq"] / bias2).pow_(group["hessian_power"] / 2).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denom, value=-group["lr"] / bias1)
                p.hess = 0.0


class Net(nn.Module):
    def __init__(self, width=1536, depth=5):
        super().__init__()
        self.inp, self.out = nn.Linear(784, width), nn.Linear(width, 10)
        self.mid = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        x = torch.tanh(self.inp(x))
        for layer in self.mid:
            x = x + torch.tanh(layer(x))
        return self.out(x)


def main(run):
    net = Net().to(run.device)
    optimizer = AdaHessian(net.parameters())
    for _ in range(5):
        with run.step():
            data, target = run.values(3072, 784).to(run.device), run.tokens(3072).to(run.device)
            loss = F.cross_entropy(net(data), target)
            grads = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
            optimizer.set_hessian(grads, run)
            for p, g in zip(net.parameters(), grads):
                p.grad = g.detach()
            del grads
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
