"""Three parameter groups of one AdamW, with and without weight decay, frozen for the first step."""
import torch

from nets.gpt import GPT, chunked_loss, loss_of  # noqa: F401  (an advice uses it)

ADVICE = {"logits-loss": [("loss_of(model(tokens), targets)", "chunked_loss(model, tokens, targets)")]}


def groups_of(model):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() == 1]
    return [{"params": decayed[:2], "lr": 1e-4, "weight_decay": 0.1}, {"params": decayed[2:], "weight_decay": 0.1},
            {"params": plain, "weight_decay": 0.0}]


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(groups_of(model), lr=3e-4)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda step: step / 10] * 3)
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            loss.backward()
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    run.snapshot()
