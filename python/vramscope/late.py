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
    """Wraps the loader of one module, and leaves no trace of itself in it.

    There is one for all who wait for a module: two would each take the other's wrapper away.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.calls: list[Callable[[], object]] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != self._name or self not in sys.meta_path:
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
            if vars(loader).get("exec_module") is exec_module:  # others wrap loaders too
                del loader.exec_module
            self._tell()
        loader.exec_module = exec_module

    def _tell(self) -> None:
        calls, self.calls = self.calls, []
        self.leave()
        for call in calls:
            try:
                call()
            except BaseException as error:
                hooks.swallow(error)

    def leave(self) -> None:
        _finders.pop(self._name, None)
        if self in sys.meta_path:
            sys.meta_path.remove(self)


_finders: dict[str, _Finder] = {}  # those that wait, by the name of the module


def when_imported(name: str, call: Callable[[], object]) -> None:
    """call() runs when the module was imported, unless it is forgotten before."""
    finder = _finders.setdefault(name, _Finder(name))
    finder.calls.append(call)
    if finder not in sys.meta_path:
        sys.meta_path.insert(0, finder)


def forget(name: str, call: Callable[[], object]) -> None:
    """Ends when_imported(name, call); ignored where it has run."""
    finder = _finders.get(name)
    if finder is not None and call in finder.calls:
        finder.calls.remove(call)
        if not finder.calls:
            finder.leave()
