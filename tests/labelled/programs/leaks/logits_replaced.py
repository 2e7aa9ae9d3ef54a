"""The twin of leak_logits: only those of the last two steps are kept."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    kept = []
    for _ in range(7):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            kept = kept[-1:] + [logits.detach()]
    run.snapshot()
