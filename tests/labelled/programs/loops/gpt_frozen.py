"""Linear probing: the body is frozen and runs under no_grad, the head alone is trained."""
import torch
from torch import nn

from nets.gpt import GPT, loss_of


def main(run):
    body = GPT().to(run.device).requires_grad_(False)
    body.head = nn.Identity()
    head = nn.Linear(512, 1000).to(run.device)
    optimizer = torch.optim.AdamW(head.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(16, 256).to(run.device)
            targets = run.tokens(16, 256).to(run.device)
            with torch.no_grad():
                seen = body(tokens)
            loss = loss_of(head(seen), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
