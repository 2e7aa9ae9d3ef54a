"""Counts the device tensors that were born, and those that died, between two moments.

A weak reference on every tensor of the first moment tells which of them died; one scan at the
second tells what was born and survives.  What is born and gone between the two is not seen here:
the device's own counts of allocations have it.
"""
from __future__ import annotations

import gc
import sys
import weakref

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vramscope import _core

__all__ = ["begin", "device_tensors"]


def device_tensors(backend: _core.Backend, device: int | None = None) -> list[Any]:
    """Tensors on a device, or on all, that the collector knows; of a simulated one its Handles."""
    from vramscope._core import Handle, _instances
    if backend.name == "sim":
        return [handle for handle in _instances(gc.get_objects(), Handle)
                if handle.live and device in (None, handle.device)]
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return [] if kind is None else [tensor for tensor in _instances(gc.get_objects(), kind)
                                    if tensor.is_cuda and device in (None, tensor.device.index)]


def begin(backend: _core.Backend, device: int) -> Callable[[], tuple[int, int]]:
    """Begins to count; what it returns ends that: (born, died)."""
    before = {id(thing): weakref.ref(thing) for thing in device_tensors(backend, device)}

    def end() -> tuple[int, int]:
        now = device_tensors(backend, device)
        kept = sum(id(thing) in before and before[id(thing)]() is thing for thing in now)
        return len(now) - kept, len(before) - kept
    return end
