"""What the functions of the method are given: names of their caller, places of tensors, figures."""
from __future__ import annotations

import math

from vramscope.measuring.clocks import device_of

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from vramscope.measuring.clocks import Clock

GB = 1e9
NO_DEVICE = ("No device was used: the model ran on the host. GPU-bound here means bound by what the "
             "host computes; pinned memory and work on a GPU do not apply.")


def names(scope: dict[str, Any], **given: Any) -> list[Any]:
    """The values, in their order; those that are None are the globals `scope` of the caller.

    >>> names({"optimizer": "theirs"}, criterion="ours", optimizer=None)
    ['ours', 'theirs']
    """
    for name, value in given.items():
        if value is None and name not in scope:
            raise NameError(f"name {name!r} is not defined", name=name)
    return [scope[name] if value is None else value for name, value in given.items()]


def mover(model: Any, clock: Clock) -> Callable[..., Any]:
    """What puts a tensor where the model is: to its device, else to the current one if it is timed.

    What is no tensor stays as it is.
    """
    place = device_of(model)

    def move(value: Any, **how: Any) -> Any:
        if place is not None and hasattr(value, "to"):
            return value.to(place, **how)
        if place is None and clock.kind == "device" and hasattr(value, "cuda"):
            return value.cuda(**how)
        return value
    return move


def array_of(values: Sequence[float]) -> Any:
    """A numpy array, or array("d") where numpy is not installed."""
    import importlib
    try:
        numpy: Any = importlib.import_module("numpy")
    except ImportError:
        import array
        return array.array("d", values)
    return numpy.array(values, dtype=float)


def known(value: float | None) -> float:
    """A figure; NaN where it is not known."""
    return math.nan if value is None else value


def ratio(above: float, below: float) -> float:
    """above / below: infinite over zero, unknown where both are zero."""
    return above / below if below else math.inf if above > 0 else math.nan


def gigabytes(count: int | None) -> float:
    """Bytes in units of 10**9; NaN where they are not known."""
    return math.nan if count is None else count / GB


def device_note(clock: Clock) -> list[str]:
    """The line for texts that speak of a GPU where the model is on none, or none."""
    return [] if clock.on_device else [NO_DEVICE]


def clock_note(clock: Clock) -> list[str]:
    """The line that says that times are the host's, or none."""
    return [] if clock.why is None else [f"Times are the host's: {clock.why}."]
