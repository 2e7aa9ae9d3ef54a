"""Arguments of what measures, looked at before anything runs: an error names the wrong one."""
from __future__ import annotations

import math
import operator
import os

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_calls", "check_counts", "check_loader", "check_optimizer", "check_owner",
           "check_place", "check_seconds", "check_training", "refused"]

_PLAIN = (bool, int, float, str, bytes, type(None))


def refused(name: str, wanted: str, value: object) -> TypeError:
    """The error for an argument of a wrong type: its name, what it is, and what was given."""
    import reprlib
    got = (reprlib.repr(value) if isinstance(value, _PLAIN) else
           f"the class {value.__name__}" if isinstance(value, type) else
           f"an object of {type(value).__name__}")
    return TypeError(f"{name} is {wanted}, not {got}")


def _calls(value: Any) -> bool:
    """Whether a call of it does work: that of a class makes an object."""
    return callable(value) and not isinstance(value, type)


def _has(value: Any, *methods: str) -> bool:
    return not isinstance(value, type) and all(callable(getattr(value, name, None))
                                               for name in methods)


def check_counts(**counts: Any) -> None:
    """ValueError for a warm-up below 0, or another count below 1; TypeError for what is no count."""
    for name, count in counts.items():
        least = 0 if name == "warmup" else 1
        try:
            is_less = operator.index(count) < least
        except TypeError:
            raise refused(name, f"a whole number of at least {least}", count) from None
        if isinstance(count, bool):
            raise refused(name, f"a whole number of at least {least}", count)
        if is_less:
            raise ValueError(f"{name} is {least} at least, not {count!r}")


def check_seconds(name: str, value: Any, *, or_none_at_all: bool = False) -> None:
    """ValueError for seconds below 0 or without end, and for 0; TypeError for what is no real number.

    or_none_at_all: whether 0 will do.
    """
    wanted = "a finite number " + ("of at least 0" if or_none_at_all else "above 0")
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise refused(name, wanted, value)
    if not 0 <= value < math.inf or (value == 0 and not or_none_at_all):
        raise ValueError(f"{name} is {wanted}, not {value!r}")


def check_calls(**functions: Any) -> None:
    """TypeError for what is no function: what cannot be called, and a class."""
    for name, value in functions.items():
        if not _calls(value):
            raise refused(name, "a function, or a module", value)


def check_owner(model: Any) -> None:
    """TypeError for what tells no device and is not None: a model that something else calls."""
    if not (model is None or _calls(model) or _has(model, "parameters")):
        raise refused("model", "a module, or None", model)


def check_loader(name: str, loader: Any) -> None:
    """TypeError for what gives no batches."""
    if isinstance(loader, (str, bytes)) or not (_has(loader, "__iter__") or
                                                _has(loader, "__getitem__")):
        raise refused(name, "what gives batches, as a DataLoader, a list or a generator", loader)


def check_optimizer(optimizer: Any) -> None:
    """TypeError for what cannot update weights."""
    if not _has(optimizer, "step", "zero_grad"):
        raise refused("optimizer", "an object with step() and zero_grad(), as those of torch.optim",
                      optimizer)


def check_training(model: Any, loader_name: str, loader: Any, criterion: Any,
                   optimizer: Any) -> None:
    """TypeError for a training that could not run."""
    check_calls(model=model)
    check_loader(loader_name, loader)
    check_calls(criterion=criterion)
    check_optimizer(optimizer)


def check_place(name: str, path: Any) -> None:
    """OSError where a file could not be written; ValueError for a NUL in its name; TypeError for what
    is no path. None is no file."""
    import errno
    if path is None:
        return
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise refused(name, "the path of a file, or None", path)
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} is the path of a file, and {os.fsdecode(path)!r} has a NUL in it")
    place = os.path.realpath(os.fsdecode(path))
    folder = os.path.dirname(place)
    if os.path.isdir(place):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)
