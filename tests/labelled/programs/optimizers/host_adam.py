"""Parameters in 32 bit and the state of Adam live on the host: gradients go there, new weights come back."""
import torch

from nets.gpt import GPT, loss_of


class HostAdam:
    def __init__(self, params, lr):
        self.params = list(params)
        self.host = [torch.zeros(p.shape).requires_grad_() for p in self.params]
        self.adam = torch.optim.Adam(self.host, lr=lr, foreach=False)

    @torch.no_grad()
    def step(self):
        for host, p in zip(self.host, self.params):
            host.grad = p.grad.cpu()
            p.grad = None
        self.adam.step()
        for host, p in zip(self.host, self.params):
            p.copy_(host.to(p.device))


def main(run):
    model = GPT(layers=2, width=256, vocabulary=4000).to(run.device)
    optimizer = HostAdam(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(32, 256).to(run.device)
            targets = run.tokens(32, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
    run.snapshot()
