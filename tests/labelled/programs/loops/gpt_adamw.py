"""A GPT with AdamW, the plainest loop.  The logits are held by a name over the backward and into the next step."""
import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"held-over-backward": [("            loss.backward()", "            del logits\n            loss.backward()")],
          "logits-loss": [("logits = model(tokens)\n            loss = loss_of(logits, targets)",
                          "loss = chunked_loss(model, tokens, targets)")]}
BATCH = 2


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            logits = model(tokens)
            loss = loss_of(logits, targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
