"""A summary of 4 MiB is kept after every third step."""
import torch

from nets.gpt import GPT, loss_of

PLANTED = {"leak": "kept.append(torch.ones", "every": 3}


def main(run):
    model = GPT(layers=2).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    kept = []
    for step in range(15):
        with run.step():
            tokens = run.tokens(2, 256).to(run.device)
            targets = run.tokens(2, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            if step % 3 == 2:
                kept.append(torch.ones(1 << 20, device=run.device))
    run.snapshot()
