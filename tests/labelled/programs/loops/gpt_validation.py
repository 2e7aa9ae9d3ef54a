"""Two validation batches under no_grad after each step."""
import torch

from nets.gpt import GPT, loss_of

BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with run.other_pass():
            with torch.no_grad():
                for _ in range(2):
                    tokens = run.tokens(8, 256).to(run.device)
                    targets = run.tokens(8, 256).to(run.device)
                    loss = loss_of(model(tokens), targets)
                    total = loss.item()
    run.snapshot()
