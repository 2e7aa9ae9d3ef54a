"""Fully sharded layers by hand: a rank keeps a share of each layer's flat parameter and gathers the rest to use it.

The shares of other ranks are copies of this one; sizes and times of life are those of several ranks.
"""
import torch
from torch import nn


def all_gather(shard, ranks):
    whole = torch.empty(ranks * shard.numel(), dtype=shard.dtype, device=shard.device)
    for part in whole.chunk(ranks):
        part.copy_(shard)
    return whole


def reduce_scatter(whole, ranks):
    return torch.empty_like(whole[:whole.numel() // ranks]).copy_(whole[:whole.numel() // ranks])


class FlatParameter(torch.autograd.Function):
    """The whole parameter of a layer; it is gathered again in the backward of the layer, not here."""

    @staticmethod
    def forward(ctx, shard, ranks):
        ctx.ranks = ranks
        return all_gather(shard, ranks)

    @staticmethod
    def backward(ctx, gradient):
        return reduce_scatter(gradient, ctx.ranks), None


class Sharded(nn.Module):
    """Runs a layer with parameters that live only while it runs, forward and backward (it is checkpointed)."""

    def __init__(self, layer, ranks):
        super().__init__()
        self.shapes = {name: p.shape for name, p in layer.named_parameters()}
        flat = torch.cat([p.detach().flatten() for p in layer.parameters()])
        self.flat_param, self.ranks = nn.Parameter(flat[:-(-flat.numel() // ranks)].clone()), ranks
        for p in layer.parameters():
            p.data = torch.empty(0, device=p.device)  # the layer's own are never used
        self.layer = (layer,)

    def run(self, x):
        whole, begin, named = FlatParameter.apply(self.flat_param, self.ranks), 0, {}
        for name, shape in self.shapes.items():
            named[name] = whole[begin:begin + shape.numel()].view(shape)
            begin += shape.numel()
        return torch.func.functional_call(self.layer[0], named, (x,))

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.run, x, use_reentrant=False)
