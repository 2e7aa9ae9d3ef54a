"""The tensors that the program can reach, by the storages under them."""
from __future__ import annotations

import gc
import sys
from typing import Any

from vramscope import _core
from vramscope._answer import Answer
from vramscope.objects import storages

__all__ = ["TensorTable", "tensors"]


class TensorTable(Answer):
    """The storages under tensors: `rows`, the largest first, and their sums by `devices`.

    A row has `bytes`, `count` of tensors on it, `kind` (parameter, gradient, optimizer_state,
    buffer, other), `name`, `shape`, `dtype`, `device` and `shared_by`, the names of further tensors
    on it.  A device has `bytes` of tensors, `invisible_bytes` that were requested and belong to no
    tensor that Python can reach (saved tensors, workspaces), and `rounding_bytes`, which together
    are its `allocated_bytes`; these three are None where the allocator was not asked.
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each storage."""
        return list(self["rows"])

    @property
    def devices(self) -> list[dict[str, Any]]:
        """A dict for each device."""
        return list(self["devices"])


class _Roles:
    """What tensors are for, by their identity: (kind, name)."""

    def __init__(self) -> None:
        self.of: dict[int, tuple[int, str]] = {}
        self.more: list[Any] = []  # tensors whose Python objects the collector may not list

    def add(self, tensor: Any, kind: int, name: str) -> None:
        known = self.of.get(id(tensor))
        if known is None or kind < known[0]:
            self.of[id(tensor)] = (kind, name)
            self.more.append(tensor)

    def add_model(self, model: Any) -> None:
        for name, parameter in model.named_parameters():
            self.add(parameter, storages.PARAMETER, name)
            if parameter.is_leaf and parameter.grad is not None:
                self.add(parameter.grad, storages.GRADIENT, name + ".grad")
        for name, buffer in model.named_buffers():
            self.add(buffer, storages.BUFFER, name)

    def add_optimizer(self, optimizer: Any) -> None:
        for parameter, state in optimizer.state.items():
            of = self.of.get(id(parameter), (0, ""))[1]
            for key, value in state.items() if isinstance(state, dict) else ():
                if hasattr(value, "element_size"):
                    told = "%s of %s" % (key, of) if of else str(key)
                    self.add(value, storages.OPTIMIZER_STATE, told)


def _outermost(models: list[Any]) -> list[Any]:
    """The modules that no other of them contains, in their order."""
    inside = {id(child) for model in models for child in model.children()}
    return [model for model in models if id(model) not in inside]


def _reachable(torch: Any) -> tuple[list[Any], list[Any], list[Any]]:
    """Tensors, modules and optimizers that the collector knows; classes only are looked at."""
    wanted = (torch.Tensor, torch.nn.Module, torch.optim.Optimizer)
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    into: dict[type, list[Any] | None] = {}
    for thing in gc.get_objects():
        kind = type(thing)
        if kind not in into:
            into[kind] = next((f for w, f in zip(wanted, found) if issubclass(kind, w)), None)
        known = into[kind]
        if known is not None:
            known.append(thing)
    return found


def _on(torch: Any, device: Any) -> str | None:
    """The name of a device that was asked for."""
    if device is None:
        return None
    try:
        wanted = torch.device("cuda", device) if isinstance(device, int) else torch.device(device)
    except RuntimeError as error:
        why = str(error).splitlines()[0]
        raise ValueError("no device is called %r: %s" % (device, why)) from None
    if wanted.type == "cuda" and wanted.index is None and torch.cuda.is_initialized():
        wanted = torch.device("cuda", torch.cuda.current_device())
    return str(wanted)


def tensors(*, device: Any = None, model: Any = None, optimizer: Any = None,
            collect: bool = False) -> TensorTable:
    """The tensors that Python can reach, one row for each storage under them.

    device: those of one device only ("cuda:0", 0, "cpu"); None: all.  model, optimizer: what tells
    kinds and names; None: those that the collector knows.  collect: whether garbage is collected
    first, which otherwise counts as what it still holds.  One pass over all objects, some 30 ms for
    100,000; no reference is kept.  Where torch was not imported there is no tensor.

    Raises ValueError for a device that torch does not know.

    >>> vramscope.tensors().rows  # of a program that has not imported torch
    []
    """
    torch = sys.modules.get("torch")
    if torch is None:
        return TensorTable(_core.tensors([], []))
    wanted = _on(torch, device)
    if collect:
        gc.collect()
    found, models, optimizers = _reachable(torch)
    roles = _Roles()
    for each in _outermost(models) if model is None else [model]:
        roles.add_model(each)
    for each in optimizers if optimizer is None else [optimizer]:
        roles.add_optimizer(each)
    for tensor in found:
        if isinstance(tensor, torch.nn.Parameter):
            roles.add(tensor, storages.PARAMETER, "")
        if tensor.is_leaf and tensor.grad is not None:
            roles.add(tensor.grad, storages.GRADIENT, "")
    listed: list[tuple[Any, ...]] = []
    keep: list[Any] = []
    for tensor in {id(t): t for t in (*found, *roles.more)}.values():
        kind, name = roles.of.get(id(tensor), (storages.OTHER, ""))
        rows = storages.rows(tensor, 0, name, kind, keep)
        listed += (row for row in rows if wanted in (None, row[4]))
    return TensorTable(_core.tensors(listed, []))
