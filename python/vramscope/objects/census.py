"""Counts how the device tensors that are alive changed between two moments.

A weak reference on every tensor of the first moment tells which of them died.  A scan at the second
finds the new ones: of the collector's two young generations, or of all objects where one of these
was promoted meanwhile.  What is born and gone between the two is not seen here: the device's own
counts of allocations have it.
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

__all__ = ["begin"]


def begin(backend: _core.Backend, device: int | None) -> Callable[[], tuple[int, int]]:
    """Begins to count on a device, or on all; what it returns tells (born, died)."""
    there = _is_on(backend, device)
    # Those elsewhere too: a tensor may move to the device and stay the same object.
    before = {id(thing): (weakref.ref(thing), there(thing))
              for thing in _things(backend, gc.get_objects())}
    promoted = _promotions()

    def end() -> tuple[int, int]:
        arrived = kept = 0
        for ref, was_there in before.values():
            thing = ref()
            if thing is not None and there(thing):
                kept += was_there
                arrived += not was_there
        young = gc.get_objects(0) + gc.get_objects(1)
        objects = young if promoted == _promotions() else gc.get_objects()
        # Once each: a collection between the two lists moves objects from one to the other.
        new = {id(thing): thing for thing in _things(backend, objects)}.values()
        fresh = sum(there(thing) and (id(thing) not in before or before[id(thing)][0]() is not thing)
                    for thing in new)
        return arrived + fresh, sum(was_there for _, was_there in before.values()) - kept
    return end


def _things(backend: _core.Backend, objects: list[Any]) -> list[Any]:
    """The tensors among objects; of a simulation the Handles."""
    from vramscope._core import Handle, _instances
    kind = Handle if backend.name == "sim" else getattr(sys.modules.get("torch"), "Tensor", None)
    return [] if kind is None else _instances(objects, kind)


def _is_on(backend: _core.Backend, device: int | None) -> Callable[[Any], bool]:
    """Tells whether a tensor is on the device, or on any."""
    if backend.name == "sim":
        return lambda handle: handle.live and device in (None, handle.device)
    return lambda tensor: tensor.is_cuda and device in (None, tensor.device.index)


def _promotions() -> object:
    """Equal at two moments: what was made between them is among the young objects at the second.

    Never equal where the collector has other generations than CPython had up to 3.13.
    """
    if sys.version_info >= (3, 14):
        return object()
    return [generation["collections"] for generation in gc.get_stats()[1:]]
