"""Fully sharded by hand: each layer's flat parameter is cut among four ranks and gathered in one of two buffers."""
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

RANKS = 4


class Gather(torch.autograd.Function):
    """The whole of a shard, in a buffer that others use too; the gradient of the whole becomes that of the shard."""

    @staticmethod
    def forward(ctx, shard, buffer):
        whole = buffer[:RANKS * shard.numel()]
        whole.view(RANKS, -1).copy_(shard.detach())
        return whole.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad.view(RANKS, -1).mean(0), None


class FlatLayer(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.shapes = [torch.Size(s) for s in ((inner, width), (inner,), (width, inner), (width,))]
        numel = sum(s.numel() for s in self.shapes)
        self.numel = -(-numel // RANKS) * RANKS
        self.shard = nn.Parameter(torch.empty(self.numel // RANKS))

    def forward(self, x, buffer):
        whole, parts, at = Gather.apply(self.shard, buffer), [], 0
        for shape in self.shapes:
            parts.append(whole[at:at + shape.numel()].view(shape))
            at += shape.numel()
        a, b, c, d = parts
        return x + nn.functional.linear(torch.relu(nn.functional.linear(x, a, b)), c, d)


class Stack(nn.Module):
    def __init__(self, width, inner, depth):
        super().__init__()
        self.layers = nn.ModuleList(FlatLayer(width, inner) for _ in range(depth))
        for name in ("even", "odd"):
            self.register_buffer(name, torch.empty(self.layers[0].numel), persistent=False)

    def forward(self, x):
        for number, layer in enumerate(self.layers):
            x = checkpoint(layer, x, self.odd if number % 2 else self.even, use_reentrant=False)
        return x


def main(run):
    model = Stack(768, 3072, 8).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(4):
        with run.step():
            x, y = run.values(1024, 768).to(run.device), run.values(1024, 768).to(run.device)
            loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
