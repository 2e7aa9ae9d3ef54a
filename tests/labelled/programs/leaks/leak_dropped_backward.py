"""A list of losses with their graphs: a penalty that is computed and kept, and never goes backward."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"graph-kept": [("history.append(loss_of(model(tokens), targets))",
                          "history.append(loss_of(model(tokens), targets).item())")]}
PLANTED = {"leak": "F.cross_entropy(logits"}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    history = []
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            history.append(loss_of(model(tokens), targets))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
