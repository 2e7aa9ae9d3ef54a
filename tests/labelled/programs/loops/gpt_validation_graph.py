"""Two validation batches after each step, no_grad forgotten: their graphs are dropped without a backward."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"no-grad": [("        with run.other_pass():", "        with run.other_pass(), torch.no_grad():")]}


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
            for _ in range(2):
                tokens = run.tokens(8, 256).to(run.device)
                targets = run.tokens(8, 256).to(run.device)
                loss = loss_of(model(tokens), targets)
                total = loss.item()
    run.snapshot()
