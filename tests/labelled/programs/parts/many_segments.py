"""As older_gradients, with gradients on, and the ring of events was too small: older blocks have their stacks."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT(layers=6).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_of(model(run.tokens(4, 256).to(run.device)), run.tokens(4, 256).to(run.device))
        loss.backward()
        optimizer.step()
    run.record(keeps_stacks=True)
    for _ in range(2):
        with run.other_pass():
            tokens = run.tokens(4, 256).to(run.device)
            targets = run.tokens(4, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
    run.snapshot()
