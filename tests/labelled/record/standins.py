"""What of PyTorch is replaced while a program is recorded, and put back afterwards.

Modules and optimizers are noted when they are made, backward and `step` when they run; optimizers
take the multi-tensor path and attention the kernel that a GPU would take.
"""
from contextlib import ExitStack, contextmanager
from functools import wraps
from unittest import mock

import torch
from torch.optim import optimizer as optim
from torch.utils import _foreach_utils

from .autocast import autocast_of_meta

ATTENTION = torch.nn.functional.scaled_dot_product_attention


def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """Fused attention as on a GPU: flash for 16 bit without a mask, else the efficient kernel.

    It replaces the function: a function mode would not be there in what the engine calls, such as a
    recomputation.
    """
    if not query.is_meta:
        return ATTENTION(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if enable_gqa:
        repeats = query.size(-3) // key.size(-3)
        key, value = (t.repeat_interleave(repeats, -3) for t in (key, value))
    wants = torch.is_grad_enabled() and query.requires_grad
    if attn_mask is None and query.dtype in (torch.float16, torch.bfloat16):
        return torch.ops.aten._scaled_dot_product_flash_attention(
            query, key, value, dropout_p, is_causal, False, scale=scale)[0]
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(attn_mask, 0)
    return torch.ops.aten._scaled_dot_product_efficient_attention(
        query, key, value, attn_mask, wants, dropout_p, is_causal, scale=scale)[0]


def noted(original, collection):
    """A constructor that also notes what it made."""
    @wraps(original)
    def made(self, *args, **kwargs):
        original(self, *args, **kwargs)
        collection.add(self)
    return made


def module_noted(original, collection):
    @wraps(original)
    def made(self, *args, **kwargs):
        collection.add(self)
        original(self, *args, **kwargs)
    return made


def hooks_noted(original, recorder):
    """Hooks of a program or of a checkpoint hide ours: what they keep as it is, a recomputation's, is saved too."""
    @wraps(original)
    def made(self, pack_hook, unpack_hook):
        def pack(tensor):
            packed = pack_hook(tensor)
            if packed is not tensor and recorder.number_of(packed) == recorder.number_of(tensor):
                recorder.saved(packed)
            return packed
        original(self, pack if pack_hook != recorder.pack else pack_hook, unpack_hook)
    return made


def backward_noted(original, recorder):
    @wraps(original)
    def run(*args, **kwargs):
        recorder.backward_calls += 1
        try:
            return original(*args, **kwargs)
        finally:
            recorder.backward_calls -= 1
            recorder.settle()
            recorder.truth.look()
    return run


def engine_noted(original, recorder):
    @wraps(original)
    def run(*args, **kwargs):
        recorder.backwards.append(len(recorder.events))
        return original(*args, **kwargs)
    return run


@contextmanager
def optimizer_steps(recorder):
    def before(*_):
        recorder.truth.look()
        recorder.optimizer_calls += 1

    def after(*_):
        recorder.optimizer_calls -= 1
        recorder.truth.look()

    hooks = [optim.register_optimizer_step_pre_hook(before), optim.register_optimizer_step_post_hook(after)]
    yield
    for hook in hooks:
        hook.remove()


@contextmanager
def standing_in(recorder):
    """Everything above, for the time of one recording."""
    truth, patch = recorder.truth, mock.patch.object
    foreach = [*_foreach_utils._get_foreach_kernels_supported_devices(), "meta"]
    fused = [*_foreach_utils._get_fused_kernels_supported_devices(), "meta"]
    with ExitStack() as held:
        for one in (
            patch(torch.nn.Module, "__init__", module_noted(torch.nn.Module.__init__, truth.modules)),
            # A copy of a module is made without __init__.
            patch(torch.nn.Module, "__setstate__", module_noted(torch.nn.Module.__setstate__, truth.modules)),
            patch(torch.optim.Optimizer, "__init__", noted(torch.optim.Optimizer.__init__, truth.optimizers)),
            # Values of the host are never looked at: it would draw them until they lie within its bounds.
            patch(torch.nn.init, "_no_grad_trunc_normal_", lambda tensor, *_, **__: tensor),
            patch(torch.autograd, "backward", backward_noted(torch.autograd.backward, recorder)),
            patch(torch.autograd, "grad", backward_noted(torch.autograd.grad, recorder)),
            patch(torch.autograd, "_engine_run_backward",
                  engine_noted(torch.autograd._engine_run_backward, recorder)),
            patch(optim, "_get_foreach_kernels_supported_devices", lambda: foreach),
            patch(_foreach_utils, "_get_foreach_kernels_supported_devices", lambda: foreach),
            patch(optim, "_get_fused_kernels_supported_devices", lambda: fused),
            patch(torch.nn.functional, "scaled_dot_product_attention", attention),
            autocast_of_meta(),
            patch(torch.autograd.graph.saved_tensors_hooks, "__init__",
                  hooks_noted(torch.autograd.graph.saved_tensors_hooks.__init__, recorder)),
            optimizer_steps(recorder),
            torch.autograd.graph.saved_tensors_hooks(recorder.pack, lambda packed: packed),
            recorder,
        ):
            held.enter_context(one)
        yield
