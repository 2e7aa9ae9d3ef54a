"""Each parameter is stepped by an optimizer of its own as soon as its gradient is there, and the gradient dies."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizers = {p: torch.optim.AdamW([p], lr=3e-4, foreach=False) for p in model.parameters()}

    def step(p):
        optimizers[p].step()
        optimizers[p].zero_grad()

    for p in model.parameters():
        p.register_post_accumulate_grad_hook(step)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss_of(model(tokens), targets).backward()
    run.snapshot()
