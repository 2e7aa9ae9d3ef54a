"""The mode of a model, which a measurement changes and gives back."""
from __future__ import annotations

import contextlib

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["in_mode"]


@contextlib.contextmanager
def in_mode(model: Any, training: bool) -> Iterator[None]:
    """The model trains or evaluates meanwhile; then each of its parts is in the mode it had."""
    named = getattr(model, "named_modules", None)
    parts = [part for _, part in named()] if callable(named) else [model]
    before = [(part, part.training) for part in parts if hasattr(part, "training")]
    change = getattr(model, "train" if training else "eval", None)
    try:
        if change is not None:
            change()
        yield
    finally:
        for part, mode in before:
            part.training = mode
