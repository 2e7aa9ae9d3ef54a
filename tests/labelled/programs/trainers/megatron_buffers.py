"""Parameters and gradients in contiguous buffers, gradients in 32 bit, an optimizer of a half of them."""
import torch

from nets.gpt import GPT, loss_of
from nets.megatron.core.distributed.param_and_grad_buffer import ParamAndGradBuffer
from nets.megatron.core.optimizer.distrib_optimizer import DistributedOptimizer


def main(run):
    model = GPT(layers=6).to(run.device, torch.bfloat16)
    buffer = ParamAndGradBuffer(model.parameters(), run.device)
    optimizer = DistributedOptimizer(buffer, 2, lr=3e-4)
    run.label("parameter", [buffer.param_data])
    run.label("master", [optimizer.main_shard])
    run.label("gradient", [buffer.grad_data])
    for _ in range(5):
        with run.step():
            optimizer.zero_grad()
            for _ in range(2):
                tokens = run.tokens(4, 256).to(run.device)
                targets = run.tokens(4, 256).to(run.device)
                loss = loss_of(model(tokens).float(), targets) / 2
                loss.backward()
            optimizer.step()
    run.snapshot()
