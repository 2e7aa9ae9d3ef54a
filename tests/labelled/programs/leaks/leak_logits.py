"""The logits of every step are kept."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"retained-output": [("kept.append(logits.detach())", "del logits")]}
PLANTED = {"leak": "self.head(self.norm"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    kept = []
    for _ in range(6):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            kept.append(logits.detach())
    run.snapshot()
