"""A flat tensor of all parameters in 16 bit, of which this rank steps a quarter in 32 bit."""
import torch

from nets.gpt import GPT, loss_of
from nets.zero import ZeroOptimizer


def main(run):
    model = GPT(layers=6).to(run.device, torch.bfloat16)
    optimizer = ZeroOptimizer(model.parameters(), 4, lr=3e-4)
    run.label("parameter", [optimizer.flat])
    run.label("master", [optimizer.single_partition_of_fp32_groups])
    for _ in range(5):
        with run.step():
            tokens = run.tokens(8, 256).to(run.device)
            targets = run.tokens(8, 256).to(run.device)
            loss = loss_of(model(tokens).float(), targets)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
