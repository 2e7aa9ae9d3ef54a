"""Begins recording in a Python process that a program under `vramscope run --children` began."""
from __future__ import annotations

import sys

LINE_MOST = 500


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


def _tell(error: Exception) -> None:
    """One line for the outermost process, which says at its end who is not recorded.

    What fails here has nobody left to be told, and the program is not to notice.
    """
    try:
        import os
        line = ascii(f"{os.getpid()}: {type(error).__name__}: {error}")[1:-1][:LINE_MOST] + "\n"
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW
        file = os.open(os.environ["VRAMSCOPE_UNRECORDED"], how, 0o600)
        try:
            os.write(file, line.encode("ascii"))
        finally:
            os.close(file)
    except Exception:
        pass


def _try() -> None:
    try:
        _begin()
    except Exception as error:  # a Python without the package, or another than it was built for
        _tell(error)


def _others() -> None:
    """Runs the sitecustomize that is there without us; where there is none, this is none."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize")
    if spec is None or spec.loader is None:
        raise ImportError("there is no sitecustomize", name="sitecustomize")
    sys.modules["sitecustomize"] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


_try()
_others()
