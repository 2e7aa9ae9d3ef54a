"""Clocks: the device's, by which its work is timed, else the host's, which says why it is used.

Work that a device was given runs on after the call that gave it has returned, so that the host's
clock says little of it.  A clock is asked for the model whose work is timed.
"""
from __future__ import annotations

import sys
import time

from vramscope import backends

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope import _core

__all__ = ["Clock", "clock_for", "device_of"]


class Clock:
    """Marks of moments, and milliseconds between them.

    kind: "device" or "host"; why: what makes it the host's, else None. backend, device: whose memory
    belongs to what is timed; on_device: whether any does.
    """

    kind: str = "host"
    on_device = True

    def __init__(self, backend: _core.Backend, device: int, why: str | None = None) -> None:
        self.backend, self.device, self.why = backend, device, why

    def host_ns(self) -> int:
        """The host's time, which is the virtual one of a simulated device."""
        found = self.backend.clock_ns()
        return time.perf_counter_ns() if found is None else found

    def mark(self) -> Any:
        """A moment."""
        return self.host_ns()

    def wait(self) -> None:
        """Until the work that was given is done."""

    def milliseconds(self, begin: Any, end: Any) -> float:
        """Between two marks, after `wait`."""
        return float(end - begin) / 1e6


class _Host(Clock):
    """The host's clock, for work on a device that has no events: it waits for the device."""

    on_device = False

    def __init__(self, backend: _core.Backend, device: int, why: str, kind: str | None) -> None:
        super().__init__(backend, device, why)
        self._kind = kind

    def mark(self) -> Any:
        self.wait()
        return self.host_ns()

    def wait(self) -> None:
        torch = sys.modules.get("torch")
        if torch is not None and self._kind is not None:
            from vramscope import _torch
            _torch.wait_for(torch, self._kind)


class _Counted(Clock):
    """The clock of a backend that tells its device's time, as the simulated one."""

    kind = "device"

    def mark(self) -> Any:
        return self.backend.device_ns(self.device)

    def wait(self) -> None:
        self.backend.synchronize(self.device)


class _Events(Clock):
    """Events of torch."""

    kind = "device"

    def __init__(self, backend: _core.Backend, device: int) -> None:
        super().__init__(backend, device)
        from vramscope import _torch
        events = _torch.Events(sys.modules["torch"], device)
        self.mark, self.wait = events.mark, events.wait  # type: ignore[method-assign]
        self.milliseconds = events.milliseconds  # type: ignore[method-assign]


def device_of(model: Any) -> Any:
    """The device of a model's first parameter, else of its first buffer; None where it has none."""
    for name in ("parameters", "buffers"):
        tensors = getattr(model, name, None)
        for tensor in tensors() if callable(tensors) else ():
            return getattr(tensor, "device", None)
    return None


def clock_for(model: Any) -> Clock:
    """The clock of the device that a model is on; of a model without tensors, of the current one.

    A simulated device stands for whatever device the model names. torch may initialise the driver,
    as `torch.cuda.is_available` does.
    """
    backend, place = backends.auto(), device_of(model)
    kind = None if place is None else str(getattr(place, "type", place)).partition(":")[0]
    if not backends.available(backend):
        return _Host(backend, 0, "there is no device", kind)
    number = getattr(place, "index", None)
    if backend.name == "torch":
        if kind not in (None, "cuda"):
            return _Host(backend, backend.current(), f"the model is on {place}", kind)
        sys.modules["torch"].cuda.init()  # what is timed uses it in a moment; before, nothing is known
        return _Events(backend, backend.current() if number is None else number)
    return _Counted(backend, backend.current() if kind != "cuda" or number is None else number)
