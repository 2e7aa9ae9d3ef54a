"""The device that a drop-in module is given, as its original takes it: checked, numbered, named."""
from __future__ import annotations

import operator
import sys

from vramscope import backends

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any


class Named:
    """What torch.device is where torch is not installed."""

    def __init__(self, kind: str, index: int | None = None) -> None:
        self.type, self.index = kind, index

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


def import_torch() -> Any:
    """torch, imported so that its devices are the ones that are asked; None where it is not here."""
    try:
        return __import__("torch")  # importlib loads more than all of this
    except ImportError:
        return None


def named(kind: str, index: int | None = None) -> Any:
    """A torch.device, or what stands for it."""
    made, torch = Named(kind, index), import_torch()
    return made if torch is None else torch.device(str(made))


def _parts(device: Any) -> tuple[Any, int | None]:
    """Kind and number of a device as it was written; the number may be None."""
    if hasattr(device, "__index__"):
        return "cuda", operator.index(device)
    if isinstance(device, str):
        kind, colon, number = device.partition(":")
        if colon and not number.isdecimal():
            raise ValueError(f"there is no device {device!r}: write cuda or cuda:0")
        return kind, int(number) if colon else None
    return getattr(device, "type", None), getattr(device, "index", None)


def count(backend: Any) -> int:
    """The number of devices.  Before CUDA is initialised torch is asked, which does not do it."""
    if not backends.available(backend):
        return 0
    known = backend.count()
    asked: int = sys.modules["torch"].cuda.device_count() if known is None else known
    return asked


def bind(device: Any) -> tuple[Any, int]:
    """The backend of the process, and the number of a device: None, 0, "cuda:0" or a torch.device.

    None is the current one, and RuntimeError where there is none.  ValueError for another kind of
    device, and one that does not exist.
    """
    import_torch()
    backend = backends.auto()
    if device is None:
        if not backends.available(backend):
            raise RuntimeError("CUDA is not available: there is no GPU memory to profile")
        return backend, backend.current()
    kind, number = _parts(device)
    if kind != "cuda":
        raise ValueError(f"there is no memory to profile on {device!r}: only CUDA devices have it")
    there = count(backend)
    if number is None and there:
        number = backend.current()
    if number is None or not 0 <= number < there:
        raise ValueError(f"device {device!s} is not available: there are {there}")
    return backend, number
