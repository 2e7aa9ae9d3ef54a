"""Simulated devices: PyTorch's caching allocator without a GPU, driven by a script.

>>> from vramscope import sim
>>> device = sim.Device("1GiB")
>>> weights = device.alloc("400MiB", tag="weights")
>>> device.stats()["allocated_bytes"]
419430400
>>> device.alloc("800MiB")
Traceback (most recent call last):
vramscope.sim.OutOfMemoryError: CUDA out of memory. Tried to allocate 800.00 MiB. ...

The clock is virtual: it moves by `advance`, and by a microsecond with each event.
"""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, BinaryIO, TypeVar
from weakref import ref

from vramscope import _core, backends, files
from vramscope._core import Handle, OutOfMemoryError

__all__ = ["Device", "Handle", "OutOfMemoryError", "active"]

_Path = TypeVar("_Path", bound=files.Path)


class Device(_core.Sim):
    """One or several simulated devices of `total` bytes, with one virtual clock.

    context: bytes that the process holds beside the allocator. settings: those of
    PYTORCH_CUDA_ALLOC_CONF. history: entries that are recorded of each device, from now on; 0
    leaves that to history_start. clock: nanoseconds that the clock shows at first. Sizes are
    numbers of bytes, or texts such as "24GiB".

    >>> with Device("24GiB", count=2) as device:
    ...     device.alloc("1GiB", device=1).device
    1

    What the driver and the allocator would say, and what can happen around them:

    >>> device = Device("1GiB", history=0)
    >>> device.other("100MiB")
    >>> device.set_util(80, 2)
    >>> device.memory(), device.utilisation()
    ((968884224, 1073741824), 80.0)
    >>> device.advance(5_000_000_000)
    >>> weights = device.alloc("20MiB", stream=0, tag="weights")
    >>> device.record_stream(weights, 1)
    >>> device.free(weights)
    >>> device.stats()["active_bytes"], device.synchronize(), device.stats()["active_bytes"]
    (20971520, None, 0)
    >>> device.empty_cache()
    >>> device.reset_peak()
    >>> device.stats()["reserved_peak_bytes"]
    0

    Failures, and the history:

    >>> observer = device.on_oom(lambda number, bytes, total, free: print("asked for", bytes))
    >>> device.fail_next(1)
    >>> device.history_start(1000, context="all")
    >>> device.mark("step 0")
    >>> device.alloc("2MiB", pool=1)
    Traceback (most recent call last):
    vramscope.sim.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 MiB. ...
    >>> device.history_enabled(), device.history_count()
    (True, (1, 0))
    >>> device.history_stop()

    Raises Error for a size or a device that there is not, ValueError for 0 bytes and for a Handle
    of another device or one that is freed, TypeError for arguments of the wrong type.
    """

    _history_is_ours = False  # begun by this package, not by the program

    def __init__(self, total: int | str = "80GiB", *, count: int = 1, context: int | str = "0",
                 settings: str = "", history: int = 100_000, clock: int = 0) -> None:
        backends.made(self)

    def __enter__(self) -> Device:
        backends.activate(self)
        return self

    def __exit__(self, *error: object) -> None:
        backends.deactivate(self)

    @property
    def backend(self) -> _core.Backend:
        """How a Profiler reads these devices: a Backend."""
        kept: ref[_core.Backend] | None = getattr(self, "_kept_backend", None)
        made = kept() if kept is not None else None
        if made is None:
            made = self._make_backend()
            self._kept_backend = ref(made)
        return made

    def history_dump(self, path: _Path, *, extra: Mapping[str, Any] | None = None) -> _Path:
        """Writes the history and what is allocated as a snapshot of torch; returns the path.

        The file appears whole: it is written beside itself, readable by its owner alone, and
        renamed. extra: more keys of the snapshot's dict, which foreign readers pass over.

        >>> import tempfile, vramscope
        >>> device = Device("1GiB")
        >>> kept = device.alloc("20MiB")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = device.history_dump(folder + "/run.pickle")
        ...     len(vramscope.load(path)["events.size"])
        2
        """
        def write(file: BinaryIO) -> None:
            if extra is None:
                self._dump(file.fileno())
            else:
                import pickle
                pickle.dump({**self.history_snapshot(), **extra}, file, protocol=4)
        files.write_whole(path, write)
        return path

    def history_snapshot(self) -> dict[str, Any]:
        """The same as torch.cuda.memory._snapshot() gives it: a dict.

        >>> sorted(Device().history_snapshot())[:2]
        ['allocator_settings', 'device_traces']
        """
        import pickle
        snapshot: dict[str, Any] = pickle.loads(self._dump(None))
        return snapshot


def active() -> Device | None:
    """The device of the innermost `with device:` that is running, or None.

    >>> with Device() as device:
    ...     active() is device
    True
    """
    return backends.active()
