"""Two forwards of a language model, recorded when gradients and state of Adam are there; zero_grad lies outside."""
import torch

from nets.gpt import GPT, loss_of

ADVICE = {"grad-late-zero": [("    run.record()\n", "    optimizer.zero_grad()\n    run.record()\n")]}


def main(run):
    model = GPT(layers=6).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(2):
        optimizer.zero_grad()
        loss = loss_of(model(run.tokens(4, 256).to(run.device)), run.tokens(4, 256).to(run.device))
        loss.backward()
        optimizer.step()
    del loss
    run.record()
    for _ in range(2):
        with run.other_pass():
            tokens = run.tokens(4, 256).to(run.device)
            with torch.no_grad():
                logits = model(tokens)
    run.snapshot()
