"""How large a model is, module by module, and what a forward of it returns.

Parameters and buffers are collected here and added up by the core: a storage is counted once, with
the first module that has it in the order of `named_modules`, and rows add up to the total.
"""
from __future__ import annotations

import sys
from typing import Any

from vramscope import _core
from vramscope._answer import Answer
from vramscope.objects import storages

__all__ = ["ModelSize", "ModelSummary", "model_size", "summary"]


class ModelSize(Answer):
    """The size of a model: `rows`, one for each module, and their `total`.

    A row has `path` and `type`, what the module owns itself (`parameters`, `trainable`,
    `parameter_bytes`, `buffer_bytes`, `storage_bytes`, `full_bytes` of all shards), `all_bytes`
    with all modules inside, and `shared_with`: tensors of other rows that it has too, which are
    counted there.  `own` is true where the module has modules inside: its text is "PATH (own)".
    What is not known is None.
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each module, in the order of `named_modules`."""
        return list(self["rows"])

    @property
    def total(self) -> dict[str, int]:
        """The sums of the rows."""
        return dict(self["total"])

    @property
    def at_least(self) -> bool:
        """Whether a lazy tensor has no size yet, so that the total is a lower bound."""
        return bool(self["at_least"])


class ModelSummary(ModelSize):
    """The size of a model, with the `calls` and `output_bytes` of each module in one forward."""


def _packed(module: Any) -> list[tuple[str, Any]]:
    """Weight and bias of a quantised module, which are no parameters but packed for its kernels."""
    unpack = getattr(module, "_weight_bias", None)
    if not callable(unpack) or not hasattr(module, "_packed_params"):
        return []
    # Both the module and the holder inside it unpack; the holder owns them.
    if hasattr(module._packed_params, "_weight_bias"):
        return []
    return [(name, t) for name, t in zip(("weight", "bias"), unpack()) if t is not None]


def _collect(model: Any, keep: list[Any]) -> tuple[list[tuple[str, str]], list[tuple[Any, ...]]]:
    modules: list[tuple[str, str]] = []
    tensors: list[tuple[Any, ...]] = []
    for number, (path, module) in enumerate(model.named_modules()):
        modules.append((path, type(module).__name__))
        owned = [(name, t, storages.PARAMETER)
                 for name, t in module.named_parameters(recurse=False)]
        owned += [(name, t.detach(), storages.PARAMETER) for name, t in _packed(module)]
        owned += [(name, t, storages.BUFFER) for name, t in module.named_buffers(recurse=False)]
        for name, tensor, kind in owned:
            full_name = path + "." + name if path else name
            tensors += storages.rows(tensor, number, full_name, kind, keep)
    return modules, tensors


def _check(model: Any, depth: int | None, call: str) -> None:
    if not hasattr(model, "named_modules"):
        raise TypeError("%s() takes a module of torch, not %s" % (call, type(model).__name__))
    if depth is not None and depth < 0:
        raise ValueError("depth is at least 0")


def _sized(model: Any, depth: int | None,
           outputs: list[tuple[int, int, int | None]] | None) -> _core.Result:
    keep: list[Any] = []
    modules, tensors = _collect(model, keep)
    return _core.model_size(modules, tensors, outputs, 0 if depth is None else depth + 1)


def model_size(model: Any, *, depth: int | None = None) -> ModelSize:
    """The parameters and buffers of a model of torch, in bytes, every storage counted once.

    depth: modules further inside are counted in the one around them; None: each has a row.
    Tensors on the meta device have the size they would have; sparse ones that of their indices and
    values; quantised ones that of their own elements; of a DTensor the local shard counts, and
    `full_bytes` is all of it; a lazy parameter has none yet, and the total is "at least".

    Raises TypeError for what is no module, ValueError for a depth below 0.

    >>> class Empty:
    ...     def named_modules(self): return [("", self)]
    ...     def named_parameters(self, recurse): return []
    ...     def named_buffers(self, recurse): return []
    >>> vramscope.model_size(Empty()).total["parameters"]
    0
    """
    _check(model, depth, "model_size")
    return ModelSize(_sized(model, depth, None))


def _tensors_in(value: Any, depth: int = 8) -> list[Any]:
    """The tensors of what a module returns: in tuples, lists, mappings and objects of data."""
    if depth == 0 or value is None or isinstance(value, (str, bytes, int, float)):
        return []
    if hasattr(value, "element_size") and hasattr(value, "numel"):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dataclass_fields__"):
        value = [getattr(value, name) for name in value.__dataclass_fields__]
    if not isinstance(value, (list, tuple)):
        return []
    return [t for item in value for t in _tensors_in(item, depth - 1)]


class _Forward:
    """Runs a model once, so that afterwards it is as before: hooks, modes, random numbers,
    gradients, and with a backward the buffers too."""

    def __init__(self, model: Any, backward: bool) -> None:
        self.torch, self.model, self.backward = sys.modules["torch"], model, backward
        self.outputs: list[tuple[int, int, int | None]] = []
        self.calls = 0

    def _hook(self, number: int) -> Any:
        def returned(module: Any, args: Any, output: Any) -> None:
            found: list[int | None] = [_core._tensor_bytes(t) for t in _tensors_in(output)]
            self.outputs += [(number, self.calls, size) for size in found or [None]]
            self.calls += 1
        return returned

    def _differentiate(self, output: Any) -> None:
        ends = [t for t in _tensors_in(output) if t.requires_grad]
        if ends:
            self.torch.autograd.backward(ends, [self.torch.ones_like(t) for t in ends])

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        torch, model = self.torch, self.model
        modes = [(module, module.training) for module in model.modules()]
        given = _tensors_in([args, kwargs])
        leaves = [t for t in (*model.parameters(), *given)
                  if not storages.is_lazy(t) and t.is_leaf]
        gradients = [(t, t.grad) for t in leaves] if self.backward else []
        buffers = [(b, b.detach().clone()) for b in model.buffers()
                   if self.backward and not storages.is_lazy(b)]
        cpu = torch.random.get_rng_state()
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
        hooks: list[Any] = []
        try:
            for number, (_, module) in enumerate(model.named_modules()):
                hooks.append(module.register_forward_hook(self._hook(number)))
            if not self.backward:
                model.eval()
            for t, _ in gradients:
                t.grad = None
            with torch.set_grad_enabled(self.backward):
                output = model(*args, **kwargs)
                if self.backward:
                    self._differentiate(output)
        finally:
            for hook in hooks:
                hook.remove()
            for module, training in modes:
                module.training = training
            for t, gradient in gradients:
                t.grad = gradient
            with torch.no_grad():
                for buffer, before in buffers:
                    buffer.copy_(before)
            torch.random.set_rng_state(cpu)
            if cuda:
                torch.cuda.set_rng_state_all(cuda)


def summary(model: Any, *args: Any, depth: int | None = 3, backward: bool = False,
            **kwargs: Any) -> ModelSummary:
    """Calls `model(*args, **kwargs)` once: its size, and what each module returned.

    Without `backward` the model runs in eval mode and without gradients; with it, in the mode it is
    in, and the gradients of all that it returned are computed.  depth: as of `model_size`.
    Afterwards training flags, random numbers, gradients and, after a backward, buffers are as
    before, also where the model raises; lazy modules have been initialised.

    Raises what the model raises, TypeError for what is no module, ValueError for a depth below 0.

    >>> vramscope.summary("a name")
    Traceback (most recent call last):
    TypeError: summary() takes a module of torch, not str
    """
    _check(model, depth, "summary")
    forward = _Forward(model, backward)
    forward.run(args, kwargs)
    return ModelSummary(_sized(model, depth, forward.outputs))
