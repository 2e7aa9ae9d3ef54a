"""record(): a recording of what a block of a program does with device memory.

What records is torch's own recorder, or the history of a simulated device: one of them is a source,
which has refused, when_ready, enabled, begin, stop, ours, snapshot, time_us, devices, usage
and observe.
"""
from __future__ import annotations

import errno
import functools
import os
import sys
import time

from vramscope import files

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any, BinaryIO, Literal, ParamSpec, Protocol, TypeVar

    from vramscope._core import Recording
    from vramscope.history.named import Names
    from vramscope.sim import Device

    _P = ParamSpec("_P")
    _T = TypeVar("_T")
    _Path = str | os.PathLike[str]
    _Observer = Callable[[int, int, int, int], object]
    _Context = Literal["state", "alloc", "all"] | None
    _Stacks = Literal["python", "all"]
    _Compression = Literal["gzip"] | None

    class Source(Protocol):
        """What records."""

        def refused(self) -> str | None: ...
        def when_ready(self, call: Callable[[], object]) -> bool: ...
        def enabled(self) -> bool: ...
        def begin(self, max_entries: int, context: _Context, stacks: _Stacks) -> None: ...
        def stop(self) -> None: ...
        def ours(self) -> bool: ...
        def snapshot(self) -> Any: ...
        def time_us(self) -> int: ...
        def devices(self) -> list[str | None]: ...
        def usage(self, device: int) -> tuple[int | None, int | None]: ...
        def observe(self, observer: _Observer) -> bool: ...

__all__ = ["Recorder", "record", "source", "write_snapshot", "write_whole"]

NAMES_SECONDS = 2.0
ALREADY = "already on"
# Recorders of this process that are open and began to record, the outermost first.
_begun: list[Recorder] = []


class SimSource:
    """A simulated device as a source."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def refused(self) -> str | None:
        return None

    def when_ready(self, call: Callable[[], object]) -> bool:
        call()
        return True

    def enabled(self) -> bool:
        return self.device.history_enabled()

    def begin(self, max_entries: int, context: _Context, stacks: _Stacks) -> None:
        self.device.history_start(max_entries, context=context, stacks=stacks)
        self.device._history_is_ours = True

    def stop(self) -> None:
        self.device.history_stop()
        self.device._history_is_ours = False

    def ours(self) -> bool:
        return self.device._history_is_ours

    def snapshot(self) -> dict[str, Any]:
        return self.device.history_snapshot()

    def time_us(self) -> int:
        """The earliest time that an event from now on can have; those before have earlier ones."""
        return self.device.clock // 1000 + 1

    def devices(self) -> list[str | None]:
        return [self.device.backend.device_name(number) for number in range(self.device.count)]

    def usage(self, device: int) -> tuple[int | None, int | None]:
        stats = self.device.stats(device)
        return stats["allocated_bytes"], stats["reserved_bytes"]

    def observe(self, observer: _Observer) -> bool:
        self.device.on_oom(observer)
        return True


def source() -> tuple[Source | None, str | None]:
    """(the source that is there, None) or (None, why there is none)."""
    from vramscope import backends
    wanted = os.environ.get("VRAMSCOPE_BACKEND") or "auto"
    device = backends.active() if wanted in ("auto", "sim") else None
    if device is not None:
        return SimSource(device), None
    torch = sys.modules.get("torch") if wanted in ("auto", "torch") else None
    if torch is None:
        return None, "torch is not imported and no simulated device is active"
    from vramscope import _torch
    made = _torch.Recorder(torch)
    refused = made.refused()
    return (made, None) if refused is None else (None, refused)


def begin(there: Source, max_entries: int, context: _Context, stacks: _Stacks) -> str | None:
    """Begins to record, when the device is ready; returns None, or why it was not begun."""
    if there.enabled():
        return ALREADY
    refused = there.refused()
    if refused is None:
        there.begin(max_entries, context, stacks)
    return refused


def log(text: str) -> None:
    """One line to the logger `vramscope`."""
    import logging
    logging.getLogger("vramscope").warning(text)


def check_path(name: str, given: _Path) -> None:
    """Raises where no file can have this path, which else would show when there is one to write."""
    try:
        path = os.fsdecode(given)
    except TypeError:
        raise TypeError(f"{name} is a path, not {type(given).__name__}") from None
    if not path or "\0" in path:
        raise ValueError(f"{name} is a path, not {path!r}")


def check_count(name: str, given: int, least: int) -> None:
    """Raises where it is no int, or less than the least."""
    import operator
    try:
        number = operator.index(given)
    except TypeError:
        raise TypeError(f"{name} is an int, not {type(given).__name__}") from None
    if number < least:
        raise ValueError(f"{name} is at least {least}, not {number}")


def unwritable(folder: str) -> int | None:
    """The errno of why no file can be made in a folder, as far as that shows without making one."""
    try:
        is_read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
    except OSError as error:
        return error.errno
    if not os.path.isdir(folder):
        return errno.ENOTDIR
    if not os.access(folder, os.W_OK | os.X_OK):
        return errno.EROFS if is_read_only else errno.EACCES
    return None


def write_whole(path: _Path, write: Callable[[BinaryIO], object]) -> _Path:
    """write(file) fills a file that appears at the path only when it is whole; returns the path."""
    files.write_whole(path, write)
    return path


def write_text(path: _Path, text: str) -> _Path:
    """The same for a text."""
    files.write_whole(path, text)
    return path


def extra(from_source: Source, names: Names | None) -> dict[str, Any]:
    """The key `vramscope` of a snapshot: names, and whose settings its recording has."""
    from vramscope.history import named
    begun_by = "vramscope" if from_source.ours() else "program" if from_source.enabled() else None
    return {"schema": named.SCHEMA, **({} if names is None else names.to_dict()),
            **({} if begun_by is None else {"recorder": {"begun_by": begun_by}})}


def write_snapshot(from_source: Source, path: _Path, *, compression: _Compression = None,
                   seconds: float | None = None) -> tuple[_Path, Names | None]:
    """Writes a snapshot with names; returns (path, Names or None where they were not to be had).

    The collector is paused: a snapshot is millions of objects, none of which is garbage.
    """
    import gc
    import pickle
    from vramscope.history import named
    found = None
    try:
        found = named.find(seconds=seconds, source=from_source)
    except Exception as error:
        log(f"names of tensors were not found: {type(error).__name__}: {error}")
    paused = gc.isenabled()
    gc.disable()
    try:
        snapshot = from_source.snapshot()
        snapshot["vramscope"] = extra(from_source, found)

        def write(file: BinaryIO) -> None:
            if compression == "gzip":
                import gzip
                with gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
                    pickle.dump(snapshot, packed, 4)
            else:
                pickle.dump(snapshot, file, 4)
        return write_whole(path, write), found
    finally:
        if paused:
            gc.enable()


def free_path(path: str) -> str:
    """The path, or where it is taken the same with _1, _2, ... before its endings."""
    folder, name = os.path.split(path)
    stem, dot, ending = name.partition(".")
    number, free = 0, path
    while os.path.lexists(free):
        number += 1
        free = os.path.join(folder, f"{stem}_{number}{dot}{ending}")
    return free


def default_path(compression: _Compression = None) -> str:
    """<host>_<time>[_rank<r>].pickle in the working folder."""
    import socket
    from vramscope import ranks
    rank = ranks.own_rank()
    name = f"{socket.gethostname()}_{time.strftime('%Y%m%d-%H%M%S')}"
    name += "" if rank is None else f"_rank{rank}"
    return free_path(name + ".pickle" + (".gz" if compression == "gzip" else ""))


def failure_of(error: BaseException) -> str:
    """What a dump failed by, as a sentence."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return str(error)


class Recorder:
    """Made by record(): a context manager and a decorator.

    refused: why nothing is recorded, "already on" where somebody else records, or None.
    """

    def __init__(self, path: _Path | None, max_entries: int, context: _Context, stacks: _Stacks,
                 compression: _Compression, strict: bool) -> None:
        self._path, self._options = path, (max_entries, context, stacks)
        self._compression: _Compression = compression
        self._strict, self._began, self._inner = strict, False, False
        self._source: Source | None = None
        self._pid: int | None = None
        self.refused: str | None = None
        self.path: _Path | None = None

    def __enter__(self) -> Recorder:
        self._pid, self.refused, self.path = os.getpid(), None, None
        self._source, why = source()
        if self._source is None:
            self._refuse(why)
        elif any(other._source_key() == self._source_key() for other in _begun):
            self._inner = True  # the outer one stops
        else:
            self._start(self._source)
        self._check_path()
        return self

    def _check_path(self) -> None:
        """A place that can not be written is known before the block has worked for hours."""
        if self._path is None:
            return
        path = os.path.abspath(os.fsdecode(self._path))
        why = unwritable(os.path.dirname(path))
        if why is None and os.path.isdir(path):
            why = errno.EISDIR
        if why is not None:
            log(f"nothing can be kept: {path}: {os.strerror(why)}")

    def _source_key(self) -> object:
        return getattr(self._source, "device", None) or type(self._source)

    def _start(self, there: Source) -> None:
        _begun.append(self)
        import atexit
        atexit.register(self._end)
        if not there.when_ready(lambda: self._begin(there)):
            self._end()  # where strict raises nobody else does
            self._refuse("this torch tells nobody when CUDA is initialised")

    def _begin(self, there: Source) -> None:
        """Runs inside the program's initialisation of CUDA, so that nothing may escape."""
        try:
            if self not in _begun or os.getpid() != self._pid:
                return
            self.refused = begin(there, *self._options)
            self._began = self.refused is None
        except BaseException as error:
            self.refused = f"{type(error).__name__}: {error}"

    def _refuse(self, why: str | None) -> None:
        self.refused = why
        if self._strict:
            raise RuntimeError(f"nothing can be recorded: {why}")
        log(f"nothing is recorded: {why}")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if self._source is not None and (self._began or self._inner or
                                             self.refused == ALREADY):
                self.dump()
        except BaseException as failure:
            if kind is None and self._strict:
                raise
            log(f"the recording was not written: {failure_of(failure)}")
        finally:
            self._end()

    def _end(self) -> None:
        """Stops, if this one began; also at the end of the interpreter."""
        if self in _begun:
            _begun.remove(self)
            import atexit
            atexit.unregister(self._end)
        if self._began and self._source is not None and os.getpid() == self._pid:
            self._began = False
            self._source.stop()

    def __call__(self, function: Callable[_P, _T]) -> Callable[_P, _T]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _T:
            with Recorder(self._path, *self._options, self._compression, self._strict):
                return function(*args, **kwargs)
        return call

    def dump(self, path: _Path | None = None) -> _Path:
        """Writes what is recorded by now, and names; returns the path."""
        if self._source is None:
            raise RuntimeError(f"nothing is recorded: {self.refused}")
        if path is None:
            path = self._path if self._path is not None else default_path(self._compression)
        self.path = write_snapshot(self._source, path, compression=self._compression)[0]
        return self.path

    @property
    def recording(self) -> Recording | None:
        """The last dump as a Recording, or None."""
        if self.path is None:
            return None
        from vramscope import _core
        return _core.load(self.path)


def record(path: _Path | None = None, *, max_entries: int = 100_000, context: _Context = "all",
           stacks: _Stacks = "python", compression: _Compression = None,
           strict: bool = False) -> Recorder:
    """Records memory of all devices while a block or a function runs, and writes a snapshot.

    path: None makes a name of host, time and rank. max_entries: the newest events of each device
    are kept. context: "all", "alloc" or "state": which events have stacks, as torch's recorder
    takes it. stacks: "python" or "all", which is slow. compression: None or "gzip". Where nothing
    can be recorded the block runs, and `refused` says why; strict=True raises RuntimeError instead.
    A recording that somebody else has begun goes on as he began it.

    >>> import tempfile, vramscope
    >>> from vramscope import sim
    >>> with tempfile.TemporaryDirectory() as folder, sim.Device("1GiB", history=0) as device:
    ...     with vramscope.record(folder + "/run.pickle") as recorder:
    ...         kept = device.alloc("20MiB")
    ...     len(recorder.recording["events.size"])
    2
    """
    if path is not None:
        check_path("path", path)
    check_count("max_entries", max_entries, 1)
    for name, given, known in (("compression", compression, (None, "gzip")),
                               ("context", context, (None, "state", "alloc", "all")),
                               ("stacks", stacks, ("python", "all"))):
        if given not in known:
            raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {given!r}")
    return Recorder(path, max_entries, context, stacks, compression, strict)
