"""Tells when a module was imported, without importing it or changing what it is."""
import sys


class _Finder:
    """Tells when a module was imported, and leaves no trace of itself in it."""

    def __init__(self, name, call):
        self._name, self._call = name, call

    def find_spec(self, name, path=None, target=None):
        if name != self._name:
            return None
        place = sys.meta_path.index(self) + 1
        for finder in sys.meta_path[place:]:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find is not None else None
            if spec is not None:
                self._wrap(spec.loader)
                return spec
        return None

    def _wrap(self, loader):
        real = loader.exec_module

        def exec_module(module):
            real(module)
            del loader.exec_module
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._call()
        loader.exec_module = exec_module


def when_imported(name, call):
    """call() runs when the module was imported."""
    sys.meta_path.insert(0, _Finder(name, call))
