"""A forward hook collects the outputs of the last block, detached, and nobody clears the list."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "return x + self.mlp"}


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    seen = []
    model.blocks[-1].register_forward_hook(lambda module, given, out: seen.append(out.detach()))
    for _ in range(6):
        with run.step():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
