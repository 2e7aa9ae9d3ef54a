"""A model in 16 bit whose optimizer has a copy of the weights in 32 bit, written by hand."""
import torch

from nets.gpt import GPT, loss_of


class Wide:
    """AdamW over copies in 32 bit."""

    def __init__(self, params, **options):
        self.narrow = list(params)
        self.wide = [p.detach().float().requires_grad_() for p in self.narrow]
        self.adam = torch.optim.AdamW(self.wide, **options)

    @torch.no_grad()
    def step(self):
        for wide, narrow in zip(self.wide, self.narrow):
            wide.grad = narrow.grad.float()
            narrow.grad = None
        self.adam.step()
        self.adam.zero_grad()
        for wide, narrow in zip(self.wide, self.narrow):
            narrow.copy_(wide)


def main(run):
    model = GPT().to(run.device, torch.bfloat16)
    optimizer = Wide(model.parameters(), lr=3e-4)
    run.label("master", optimizer.wide)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss_of(model(tokens).float(), targets).backward()
            optimizer.step()
    run.snapshot()
