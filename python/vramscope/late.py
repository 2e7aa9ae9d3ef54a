"""Tells when a module was imported, without importing it or changing what it is."""
from __future__ import annotations

import sys

from vramscope import hooks

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any


class _Finder:
    """Tells when a module was imported, and leaves no trace of itself in it."""

    def __init__(self, name: str, call: Callable[[], object]) -> None:
        self._name, self._call = name, call

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        place = sys.meta_path.index(self) + 1
        for finder in sys.meta_path[place:]:
            find = getattr(finder, "find_spec", None)
            spec: Any = find(name, path, target) if find is not None else None
            if spec is not None:
                try:
                    self._wrap(spec.loader)
                except Exception as error:  # a loader whose attributes can not be set
                    hooks.swallow(error)
                found: ModuleSpec = spec
                return found
        return None

    def _wrap(self, loader: Any) -> None:
        real = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            real(module)
            del loader.exec_module
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._call()
        loader.exec_module = exec_module


def when_imported(name: str, call: Callable[[], object]) -> None:
    """call() runs when the module was imported."""
    sys.meta_path.insert(0, _Finder(name, call))
