"""The norm of all gradients is clipped before each step."""
import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"logits-loss": [("loss_of(model(tokens), targets)", "chunked_loss(model, tokens, targets)")]}


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
