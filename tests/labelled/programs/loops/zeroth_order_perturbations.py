"""Zeroth order with several perturbations of every parameter made ahead, as adam_forward.py does."""
import torch

from nets.gpt import GPT, loss_of


def generate_perturbations(model, count):
    return [[torch.randn_like(p) for p in model.parameters()] for _ in range(count)]


def apply(model, perturbation, amount):
    for p, moved in zip(model.parameters(), perturbation):
        p.add_(moved, alpha=amount)


def main(run):
    model = GPT(layers=2, vocabulary=8000).to(run.device)
    with torch.no_grad():
        for _ in range(5):
            with run.step():
                tokens = run.tokens(2, 256).to(run.device)
                targets = run.tokens(2, 256).to(run.device)
                found = []
                perturbations = generate_perturbations(model, 3)
                run.label("other", perturbations)
                for perturbation in perturbations:
                    apply(model, perturbation, 1e-3)
                    found.append(loss_of(model(tokens), targets).item())
                    apply(model, perturbation, -1e-3)
                for perturbation, gain in zip(perturbations, found):
                    apply(model, perturbation, -1e-4 * gain)
                perturbations = perturbation = None
    run.snapshot()
