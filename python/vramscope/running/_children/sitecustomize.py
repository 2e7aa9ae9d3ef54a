"""Begins recording in a Python process that a program under `vramscope run --children` began."""
from __future__ import annotations

import sys


def _begin() -> None:
    import os
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [place for place in sys.path if os.path.abspath(place or os.curdir) != here]
    above = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    sys.path.insert(0, above)
    try:
        from vramscope.running import run_children
    finally:
        sys.path.remove(above)
    run_children.begin()


def _others() -> None:
    """Runs the sitecustomize that is there without us; where there is none, this is none."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("there is no sitecustomize", name="sitecustomize")
    sys.modules["sitecustomize"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


try:
    _begin()
except Exception:  # a Python without the package, or another than it was built for
    pass
_others()
