"""Which devices are asked: torch's, those of a simulation, or none.

`VRAMSCOPE_BACKEND` is auto, torch, sim or none. Auto, which is the default, takes the simulation
that is active, else torch if it is imported and was built for CUDA or HIP, else none; without a
driver torch's figures are unknown. Nothing here imports torch or initialises a device.
"""
from __future__ import annotations

import os
import sys

from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vramscope.sim import Device

# Simulated devices and their backends, the innermost `with` last.
_active: list[tuple[Device, _core.Backend]] = []
# Who is told of each simulated device that is made.
_watching: list[Callable[[Device], object]] = []
_made: dict[str, Any] = {}  # the backends of torch, of the environment's simulation, and none


def none() -> _core.Backend:
    """The backend of which nothing is known."""
    if "none" not in _made:
        _made["none"] = _core.Backend(object(), name="none")
    found: _core.Backend = _made["none"]
    return found


def torch() -> _core.Backend | None:
    """The backend of torch, or None where torch is not imported or has no CUDA or HIP."""
    module = sys.modules.get("torch")
    version = getattr(module, "version", None)
    if not (getattr(version, "cuda", None) or getattr(version, "hip", None)):
        return None
    if _made.get("torch module") is not module:
        from vramscope import _torch
        _made["torch module"] = module
        _made["torch"] = _core.Backend(_torch.Statistics(module), name="torch")
    found: _core.Backend = _made["torch"]
    return found


def sim() -> _core.Backend:
    """The backend of the active simulation; where there is none, of one of 80 GiB."""
    if _active:
        return _active[-1][1]
    if "sim" not in _made:
        from vramscope import sim as simulation
        _made["sim"] = simulation.Device()
    device: Device = _made["sim"]
    return device.backend


def auto() -> _core.Backend:
    """What is asked where nobody says what."""
    wanted = os.environ.get("VRAMSCOPE_BACKEND") or "auto"
    if _active and wanted in ("auto", "sim"):
        return _active[-1][1]
    return choose(wanted) or torch() or none()


def choose(wanted: Any) -> _core.Backend | None:
    """The backend of a name, or the one given; None means that it is chosen anew at each use."""
    if wanted is None or wanted == "auto":
        return None
    if wanted == "none":
        return none()
    if wanted == "sim":
        return sim()
    if wanted == "torch":
        return torch() or none()
    if isinstance(wanted, _core.Backend):
        return wanted
    if isinstance(wanted, str):
        raise _core._usage(f"there is no backend {wanted!r}: auto, torch, sim, none")
    return _core.Backend(wanted)


def available(backend: _core.Backend) -> bool:
    """Whether there is a device: of torch this may initialise the driver."""
    ask = getattr(backend.owner, "available", None)
    return bool(ask() if ask is not None else backend.count())


def device_number(device: Any) -> int | None:
    """None, or the number of `0`, `"cuda"`, `"cuda:0"` or a torch.device."""
    if device is None or isinstance(device, int) and not isinstance(device, bool):
        return device
    kind: Any
    if isinstance(device, str):
        kind, _, digits = device.partition(":")
        if digits and not digits.isdecimal():
            raise _core._usage(f"there is no device {device!r}: write cuda or cuda:0")
        number = int(digits) if digits else None
    else:
        kind, number = getattr(device, "type", None), getattr(device, "index", None)
        if not isinstance(kind, str) or not isinstance(number, int | None):
            raise TypeError(f"a device is a number, a text or a torch.device, not {device!r}")
    if kind not in ("cuda", "hip"):
        raise _core._usage(f"there is no device {device!s}: memory is counted of cuda devices")
    return number


def active() -> Device | None:
    """The simulated device that is active, or None."""
    return _active[-1][0] if _active else None


def watch(call: Callable[[Device], object]) -> None:
    """call(device) runs for the active simulated devices, and for each made before `unwatch`."""
    _watching.append(call)
    for device, _ in _active:
        call(device)


def unwatch(call: Callable[[Device], object]) -> None:
    """Ends watch(call); ignored where it has ended."""
    if call in _watching:
        _watching.remove(call)


def made(device: Device) -> None:
    """A simulated device was made."""
    for call in tuple(_watching):
        call(device)


def activate(device: Device) -> None:
    """A simulated device becomes the one that is asked, until `deactivate`."""
    _active.append((device, device.backend))
    _core._backend_changed(None)


def deactivate(device: Device) -> None:
    """Ends `activate`; the one before it is asked again."""
    for place in reversed(range(len(_active))):
        if _active[place][0] is device:
            del _active[place]
            break
    _core._backend_changed(None)


_core._backend_changed(auto)
