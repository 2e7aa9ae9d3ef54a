"""A model that was trained before, with its gradients and its optimizer, is still held by a name."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"second-model": [("    model, optimizer = fresh(run)\n    for _ in range(5)",
                            "    del old, state\n    model, optimizer = fresh(run)\n    for _ in range(5)")]}


def fresh(run):
    model = GPT().to(run.device)
    return model, torch.optim.AdamW(model.parameters(), lr=3e-4)


def train(run, model, optimizer):
    tokens = run.tokens(4, 256).to(run.device)
    targets = run.tokens(4, 256).to(run.device)
    loss = loss_of(model(tokens), targets)
    loss.backward()
    optimizer.step()


def main(run):
    old, state = fresh(run)
    with run.other_pass():
        train(run, old, state)
    run.label("idle", [*old.parameters(), *(p.grad for p in old.parameters()), *state.state.values()])
    run.record()
    model, optimizer = fresh(run)
    for _ in range(5):
        with run.step():
            train(run, model, optimizer)
            optimizer.zero_grad()
    run.snapshot()
