"""The twin of leak_loss_graph: the loss is kept as a number."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"held-over-backward": [("            loss.backward()", "            del logits\n            loss.backward()")]}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for _ in range(6):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    run.snapshot()
