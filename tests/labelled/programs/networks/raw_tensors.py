"""Weights made by hand, no module and no optimizer: the update is written out."""
import torch


def main(run):
    weights = [torch.randn(2048, 2048, device=run.device, requires_grad=True) for _ in range(4)]
    run.label("parameter", weights)
    for _ in range(4):
        with run.step():
            x = run.values(8192, 2048).to(run.device)
            for weight in weights:
                x = (x @ weight).relu()
            loss = x.square().mean()
            loss.backward()
            with torch.no_grad():
                for weight in weights:
                    run.label("gradient", [weight.grad])
                    weight -= 0.1 * weight.grad
                    weight.grad = None
    run.snapshot()
