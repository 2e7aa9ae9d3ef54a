"""torch.autocast("cuda") for meta tensors, which PyTorch's own leaves alone.

Products run in 16 bit, normalisations and losses in 32; the copy of a weight in 16 bit is kept until
the region ends, as PyTorch's cache does.  The functions are replaced, so that what runs inside the
engine (a recomputation) finds them too.
"""
import weakref
from contextlib import ContextDecorator, ExitStack, contextmanager
from functools import wraps
from unittest import mock

import torch
from torch.nn import functional as F

LOWER = ((F, "linear"), (F, "conv1d"), (F, "conv2d"), (F, "scaled_dot_product_attention"), (torch, "matmul"),
         (torch, "bmm"), (torch.Tensor, "matmul"), (torch.Tensor, "__matmul__"), (torch.Tensor, "bmm"))
WIDER = ((F, "layer_norm"), (F, "softmax"), (F, "log_softmax"), (F, "cross_entropy"), (F, "mse_loss"),
         (torch.Tensor, "softmax"), (torch, "softmax"))


class Region:
    """The regions that are open, innermost last, and the copies that they keep."""

    def __init__(self):
        self.dtypes, self.copies = [], {}

    def dtype(self):
        return self.dtypes[-1] if self.dtypes else None

    def lower(self, tensor):
        dtype = self.dtype()
        if not isinstance(tensor, torch.Tensor) or not tensor.is_meta or tensor.dtype not in (
                torch.float32, torch.float16, torch.bfloat16) or tensor.dtype == dtype:
            return tensor
        if not (tensor.is_leaf and tensor.requires_grad):
            return tensor.to(dtype)
        kept = self.copies.get(id(tensor))
        if kept is None or kept[0]() is not tensor:
            kept = self.copies[id(tensor)] = (weakref.ref(tensor), tensor.to(dtype))
        return kept[1]

    @staticmethod
    def wider(tensor):
        if isinstance(tensor, torch.Tensor) and tensor.is_meta and tensor.dtype in (torch.float16, torch.bfloat16):
            return tensor.float()
        return tensor


def casting(original, region, cast):
    @wraps(original)
    def run(*args, **kwargs):
        if region.dtype() is None:
            return original(*args, **kwargs)
        return original(*map(cast, args), **{key: cast(value) for key, value in kwargs.items()})
    return run


def made_for(region):
    """The class that stands for torch.autocast."""
    class Autocast(ContextDecorator):
        def __init__(self, device_type="cuda", dtype=None, enabled=True, cache_enabled=None):
            self.dtype = (dtype or torch.float16) if enabled else None

        def __enter__(self):
            region.dtypes.append(self.dtype)
            return self

        def __exit__(self, *_):
            region.dtypes.pop()
            if not region.dtypes:
                region.copies.clear()

    return Autocast


@contextmanager
def autocast_of_meta():
    region = Region()
    with ExitStack() as held:
        for places, cast in ((LOWER, region.lower), (WIDER, region.wider)):
            for home, name in places:
                held.enter_context(mock.patch.object(home, name, casting(getattr(home, name), region, cast)))
        stand_in = made_for(region)
        for home in (torch, torch.amp):
            held.enter_context(mock.patch.object(home, "autocast", stand_in))
        yield
