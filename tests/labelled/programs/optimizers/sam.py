"""Two forwards and two backwards a step: the first climbs, the second descends."""
import torch

from nets.gpt import GPT, loss_of


class SAM(torch.optim.Optimizer):
    """Sharpness-aware: climbs to a worse place near by, and steps with the gradients found there."""

    def __init__(self, params, base, rho=0.05, **options):
        super().__init__(params, {"rho": rho})
        self.base = base(self.param_groups, **options)

    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            for p in group["params"]:
                moved = p.grad * group["rho"]
                p.add_(moved)
                self.state[p]["moved"] = moved

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(self.state[p].pop("moved"))
        self.base.step()


def main(run):
    model = GPT().to(run.device)
    optimizer = SAM(model.parameters(), torch.optim.AdamW, lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss_of(model(tokens), targets).backward()
            optimizer.climb()
            optimizer.zero_grad()
            loss_of(model(tokens), targets).backward()
            optimizer.descend()
            optimizer.zero_grad()
    run.snapshot()
