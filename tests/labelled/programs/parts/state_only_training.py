"""The state alone, without events, taken in a backward: parameters, state, gradients and activations are alive."""
import torch

from nets.gpt import GPT, loss_of


def main(run):
    model = GPT().to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for number in range(3):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens), targets)
            if number == 2:
                model.blocks[2].norm1.weight.register_post_accumulate_grad_hook(lambda p: run.snapshot(trace=False))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
