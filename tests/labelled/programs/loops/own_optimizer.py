"""An optimizer of the user's own, a subclass of torch.optim.Optimizer in a file of the project."""
import torch

from nets.gpt import GPT, loss_of


class Momentum(torch.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["mean"] = torch.zeros_like(p)
                state["mean"].mul_(0.9).add_(p.grad)
                p.sub_(group["lr"] * state["mean"].sign())


def main(run):
    model = GPT().to(run.device)
    optimizer = Momentum(model.parameters(), lr=1e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
