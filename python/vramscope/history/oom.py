"""on_oom(): what happened when device memory ran out, told at once and kept in a folder.

An observer runs inside the failing request, before the exception is raised; it writes a snapshot
and returns.  The verdict is printed when the exception leaves the program.  The exception itself
is never touched.
"""
from __future__ import annotations

import itertools
import os
import sys
import time
import weakref

from vramscope.hooks import Hooks, say, swallow

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType, TracebackType
    from typing import Any, Protocol

    from vramscope.history.named import Names
    from vramscope.history.recording import Source
    from vramscope.sim import Device

    _Path = str | os.PathLike[str]

    class Handler(Protocol):
        """Who is told of a failure, in the process that it belongs to."""

        pid: int

        def heard(self, event: Event) -> None: ...

__all__ = ["Event", "Handle", "on_oom", "recognise"]

CAUSES_MOST = 16
EVENTS_MOST = 1000
LARGEST_NAMES = 3
# What files of a line that fails again and again may cost together before they are paced, the least
# time between two of them then, and how much more time than it costs passes before the next.
UNPACED_SECONDS, PACE_SECONDS, PACE_SHARE = 1.0, 1.0, 20
PHRASES = ("out of memory", "resource exhausted", "failed to allocate", "allocation failed")

_handlers: list[Handler] = []
_numbers = itertools.count(1)  # of bundles, which several handles may write into one folder
_events: list[Event] = []  # the newest EVENTS_MOST
_counted = 0
_observed: weakref.WeakSet[object] = weakref.WeakSet()  # what has the observer
_busy = False
_line_of: int | None = None  # the process at whose end the line of caught failures is said
run_is_here = False  # it says that line, and more


def chain(error: BaseException | None) -> list[BaseException]:
    """The exception and what it was raised from."""
    found: list[BaseException] = []
    while error is not None and len(found) < CAUSES_MOST:
        found.append(error)
        error = error.__cause__
    return found


def recognise(error: BaseException | None) -> Exception | None:
    """The exception of a chain by which device memory ran out, or None."""
    for one in chain(error):
        if isinstance(one, MemoryError) or not isinstance(one, Exception):
            continue  # memory of the host
        names = {cls.__name__ for cls in type(one).__mro__}
        if "OutOfMemoryError" in names or any(n.endswith("ResourceExhaustedError") for n in names):
            return one
        try:
            text = str(one).lower()
        except Exception:
            continue
        if isinstance(one, RuntimeError) and any(phrase in text for phrase in PHRASES):
            return one
    return None


class Event:
    """A request that failed: what the observer was told, and the file that was written of it."""

    def __init__(self, from_source: Source, device: int, asked: int, total: int,
                 free: int) -> None:
        threading = sys.modules.get("threading")
        import _thread
        ident = _thread.get_ident()
        self.source, self.device = from_source, device
        self.asked, self.total, self.free = asked, total, free
        self.time = time.time()
        # None: a thread that Python did not begin, such as one of torch's backward pass
        self.thread = ident if threading is None or ident in threading._active else None
        self.site = call_site()
        self.allocated, self.reserved = from_source.usage(device)
        self.path: str | None = None
        self.largest: list[dict[str, Any]] = []  # tensors with a name
        self.message: str | None = None  # the exception's text, when it is told
        self.verdict: str | None = None  # what its verdict is called, likewise
        self.told: int | None = None  # the id of the exception that it was told of
        self.counts = False  # whether it is to be said at the end, if it is caught
        self.later: Callable[[], object] | None = None  # writes the file that limits put off
        self.is_late = False  # its file was written when it was told
        self.lost: str | None = None  # why there is no file of it, and the last that there is

    def keep_largest(self, names: Names | None) -> None:
        """All of them would be held for as long as the event is kept."""
        self.largest = [] if names is None else names.tensors[:LARGEST_NAMES]


def call_site() -> tuple[str, int] | None:
    """(file, line) of the innermost frame outside this package and torch."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if module not in ("vramscope", "torch"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def observe(from_source: Source) -> bool:
    """Attaches the observer to a source, once: it can not be detached."""
    key = getattr(from_source, "device", None) or type(from_source)
    if key in _observed:
        return True
    attached = from_source.observe(lambda *what: _heard(from_source, *what))
    if attached:
        _observed.add(key)
    return attached


def _heard(from_source: Source, device: int, asked: int, total: int, free: int) -> None:
    """The observer: returns normally, whatever happens."""
    global _busy, _counted
    pid = os.getpid()  # in a forked child those of the parent are silent
    handlers = [handler for handler in _handlers if handler.pid == pid]
    if not handlers or _busy:
        return
    _busy = True
    try:
        event = Event(from_source, device, asked, total, free)
        _counted += 1
        _events.append(event)
        del _events[:-EVENTS_MOST]
        for handler in handlers:
            try:
                handler.heard(event)
            except BaseException as error:
                swallow(error)
    except BaseException as error:
        swallow(error)
    finally:
        _busy = False


def event_of(error: BaseException | None) -> tuple[Exception | None, Event | None]:
    """(the exception by which memory ran out, the newest Event that is its); each may be None."""
    import _thread
    found = recognise(error)
    if found is None:
        return None, None
    here = _thread.get_ident()
    of_device = "OutOfMemoryError" in {cls.__name__ for cls in type(found).__mro__}
    for event in reversed(_events if of_device else ()):
        if event.thread in (None, here):
            return found, event if event.told in (None, id(found)) else None
    return found, None


def write_late(event: Event) -> None:
    """Writes the file of an event that is told and that limits put off.

    The verdict is about the newest request that failed, which therefore must be this one.
    """
    later, event.later = event.later, None
    if later is None or event.path is not None:
        return
    for other in reversed(_events):
        if other is event:
            event.is_late = True
            later()
            return
        if other.source is event.source:
            event.lost = "later failures came before it was told"
            return


def untold() -> list[Event]:
    """Events that the program caught."""
    return [event for event in _events if event.told is None]


def _at_exit() -> None:
    """What on_oom kept and nobody was told of is one line."""
    try:
        if _line_of == os.getpid() and not run_is_here:
            from vramscope.history import telling
            caught = [event for event in untold() if event.counts]
            folders = [os.path.dirname(event.path) for event in caught if event.path is not None]
            telling.tell_caught(caught, [folder for folder in folders if os.path.isdir(folder)])
    except BaseException as error:
        swallow(error)


class Limits:
    """How many files there may be, and how large: the oldest of our own go first."""

    def __init__(self, max_dumps: int, max_bytes: int | str, min_seconds: float,
                 remove: Callable[[str], object]) -> None:
        from vramscope import _core
        self.max_dumps, self.min_seconds = max_dumps, min_seconds
        self.max_bytes = _core.size(max_bytes) if isinstance(max_bytes, str) else int(max_bytes)
        self._remove = remove
        self._kept: list[tuple[str, int, tuple[str, int] | None]] = []  # path, size, line
        self._last: dict[tuple[str, int] | None, float] = {}
        self._again_seconds = 0.0  # what lines that failed again have cost
        self._cost = self._end = 0.0  # of the newest file

    def take(self, event: Event, write: Callable[[], tuple[str, int] | None]) -> bool:
        """Calls write(), which returns (path, size) of what it wrote; whether it was called.

        A line that fails again within min_seconds has its oldest file replaced, at a pace; what the
        pace puts off is written if the failure turns out to be the one that is told.
        """
        if self.max_dumps < 1:
            event.lost = "no snapshots are kept"
            return False
        now, before = time.monotonic(), self._last.get(event.site)
        again = before is not None and now - before < self.min_seconds
        if again and self._is_too_soon(now):
            event.lost = "its line fails too often for a snapshot of each"
            event.later = lambda: self._write(event, write, True)
            return False
        if not again:
            self._last[event.site] = now
        self._write(event, write, again)
        return True

    def _is_too_soon(self, now: float) -> bool:
        pause = max(PACE_SECONDS, PACE_SHARE * self._cost)
        return self._again_seconds >= UNPACED_SECONDS and now - self._end < pause

    def _write(self, event: Event, write: Callable[[], tuple[str, int] | None],
               again: bool) -> None:
        begun = time.monotonic()
        try:
            written = write()
        finally:
            self._end = time.monotonic()
            self._cost = self._end - begun
            self._again_seconds += self._cost if again else 0
        if written is None:
            event.lost = "it could not be written"
        else:
            self._keep(*written, event.site, again)

    def _keep(self, path: str, size: int, site: tuple[str, int] | None, again: bool) -> None:
        """A file was written: older ones that are too many go, the newest stays."""
        older = [kept for kept in self._kept if kept[2] == site]
        self._kept.append((path, size, site))
        if again and older:
            self._drop(older[0])
        while len(self._kept) > 1 and (len(self._kept) > self.max_dumps or
                                       sum(kept[1] for kept in self._kept) > self.max_bytes):
            self._drop(self._kept[0])

    def _drop(self, kept: tuple[str, int, tuple[str, int] | None]) -> None:
        self._kept.remove(kept)
        self._remove(kept[0])

    @property
    def kept(self) -> list[str]:
        return [kept[0] for kept in self._kept]


class Handle:
    """Made by on_oom(): `with`, or cancel().  `dumps`: the folders that are kept."""

    def __init__(self, folder: _Path, max_entries: int, limits: Limits, verdict: bool,
                 snapshot: bool) -> None:
        self._dir, self._entries, self._limits = folder, max_entries, limits
        self._verdict, self._snapshot = verdict, snapshot
        self.pid = os.getpid()
        self._hooks: Hooks | None = None
        self.refused: str | None = None

    @property
    def dumps(self) -> list[str]:
        return self._limits.kept

    def start(self) -> Handle:
        global _line_of
        from vramscope import backends
        if _line_of != self.pid:
            import atexit
            atexit.unregister(_at_exit)
            atexit.register(_at_exit)
            _line_of = self.pid
        _handlers.append(self)
        backends.watch(self._watch)
        if "torch" in sys.modules:
            self._torch_is_here()
        else:
            from vramscope import late
            late.when_imported("torch", self._torch_is_here)
        return self

    def _torch_is_here(self) -> None:
        """Queues the beginning, so that CUDA is not initialised by it."""
        try:
            from vramscope import _torch
            from vramscope.history import recording
            there = _torch.Recorder(sys.modules["torch"])
            self.refused = there.refused()
            if self.refused is not None:
                recording.log(f"on_oom: {self.refused}")
            elif not there.when_ready(lambda: self._begin(there)):
                self.refused = "this torch tells nobody when CUDA is initialised"
        except BaseException as error:
            swallow(error)

    def _watch(self, device: Device) -> None:
        from vramscope.history import recording
        if self in _handlers:
            self._begin(recording.SimSource(device))

    def _begin(self, there: Source) -> None:
        try:
            if self not in _handlers or os.getpid() != self.pid:
                return
            if self._snapshot:
                from vramscope.history import recording
                self.refused = recording.begin(there, self._entries, "all", "python")
            observe(there)
        except BaseException as error:
            swallow(error)

    def cancel(self) -> None:
        """Ends it: later failures are not told to it."""
        from vramscope import backends, late
        if self in _handlers:
            _handlers.remove(self)
        backends.unwatch(self._watch)
        late.forget("torch", self._torch_is_here)
        if self._hooks is not None:
            self._hooks.remove()

    def hook(self) -> Handle:
        """Verdicts are printed when an exception leaves the program."""
        self._hooks = Hooks(self._tell)
        self._hooks.install()
        return self

    def _tell(self, error: BaseException | None) -> None:
        if self._verdict and self in _handlers:
            from vramscope.history import telling
            telling.tell(error, refused=self.refused, kept=self._limits.kept)

    def heard(self, event: Event) -> None:
        event.counts = event.counts or self._verdict
        if self._snapshot:
            self._limits.take(event, lambda: self._write(event))

    def _write(self, event: Event) -> tuple[str, int] | None:
        """(folder, its size) of a bundle; None where it can not be."""
        from vramscope.history import recording
        number = next(_numbers)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(event.time))
        kind = "sim" if isinstance(event.source, recording.SimSource) else "cuda"
        name = f"oom_dump_{stamp}_{self.pid}_{kind}_{number}"
        folder = os.path.join(os.fsdecode(self._dir), name)
        part = os.path.join(os.fsdecode(self._dir), f".{name}.part")
        try:
            os.makedirs(part, 0o700)
            _, names = recording.write_snapshot(event.source, os.path.join(part, "snapshot.pickle"),
                                                seconds=recording.NAMES_SECONDS)
            event.keep_largest(names)
            write_facts(part, event, kind)
            os.rename(part, folder)
        except OSError as error:
            remove_folder(part)
            say(f"vramscope: {folder}: {error.strerror}\n")
            return None
        except BaseException:
            remove_folder(part)
            raise
        event.path = os.path.join(folder, "snapshot.pickle")
        return folder, sum(entry.stat().st_size for entry in os.scandir(folder))

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            if error is not None:
                self._tell(error)
        except BaseException as failure:
            swallow(failure)
        self.cancel()


def remove_folder(path: str) -> None:
    import shutil
    shutil.rmtree(path, ignore_errors=True)


def versions() -> dict[str, str | None]:
    """What is running, by name; None: it is not imported, or built without."""
    import platform
    from vramscope import _core
    torch = sys.modules.get("torch")
    built = getattr(torch, "version", None)
    version: str | None = getattr(torch, "__version__", None)
    return {"python": platform.python_version(), "vramscope": _core.version(),
            "torch": None if version is None else str(version),
            "cuda": getattr(built, "cuda", None), "hip": getattr(built, "hip", None)}


def allocator_settings() -> str | None:
    """Those of torch's allocator; 2.9 has a second name for them."""
    names = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
    return next((os.environ[name] for name in names if name in os.environ), None)


def device_names(there: Source) -> list[str | None] | None:
    """None where the devices do not say."""
    try:
        return there.devices()
    except Exception as error:
        swallow(error)
        return None


def write_facts(folder: str, event: Event, kind: str) -> None:
    """What stands beside the snapshot: metadata, environment, events, and the list of all."""
    import json
    from vramscope import ranks
    from vramscope.history import recording
    try:
        identity = ranks.identity()
    except ValueError:
        identity = dict.fromkeys(ranks.FIELDS)
    documents: dict[str, Any] = {
        "metadata.json": {"schema_version": 1, "backend": kind, "device": event.device,
                          "asked_bytes": event.asked, "total_bytes": event.total,
                          "free_bytes": event.free, "allocated_bytes": event.allocated,
                          "reserved_bytes": event.reserved, "time": event.time, "site": event.site,
                          "pid": os.getpid(), **identity},
        "environment.json": {**versions(), "allocator": allocator_settings(),
                             "devices": device_names(event.source),
                             "variables": ranks.variables()},
        "events.json": [{"device": e.device, "asked_bytes": e.asked, "free_bytes": e.free,
                         "time": e.time, "site": e.site} for e in _events],
    }
    files = ["snapshot.pickle", *documents]
    documents["manifest.json"] = {"schema_version": 1, "files": sorted([*files, "manifest.json"])}
    for name, document in documents.items():
        text = json.dumps(document, indent=1) + "\n"
        recording.write_text(os.path.join(folder, name), text)


def on_oom(dir: _Path = "oom_dumps", *, max_entries: int = 100_000, max_dumps: int = 5,
           max_bytes: int | str = "256MiB", verdict: bool = True, snapshot: bool = True,
           min_seconds: float = 60) -> Handle:
    """From now on, or in a `with` block, failures for lack of device memory are kept and explained.

    dir: where a folder of each is written, at most max_dumps of max_bytes (bytes, or a size such as
    "256MiB") together, older ones are removed; of a line of the program that fails again within
    min_seconds the newest takes the place of its oldest, where that comes to seconds of work one a
    second at most, and the failure that is told has its own in any case. snapshot: whether they hold one, of the newest max_entries
    events of each device.
    verdict: it is printed when the exception leaves the program or the block; failures that the
    program caught are one line at its end. Returns a Handle with cancel(). Nothing of this changes
    the exception.

    >>> import tempfile, vramscope
    >>> from vramscope import sim
    >>> with tempfile.TemporaryDirectory() as folder, sim.Device("1GiB") as device:
    ...     with vramscope.on_oom(folder, verdict=False) as handle:
    ...         try:
    ...             device.alloc("2GiB")
    ...         except sim.OutOfMemoryError:
    ...             pass
    ...     len(handle.dumps)
    1
    """
    from vramscope.history import recording
    recording.check_path("dir", dir)
    recording.check_count("max_entries", max_entries, 1)
    recording.check_count("max_dumps", max_dumps, 0)
    if not isinstance(max_bytes, str):
        recording.check_count("max_bytes", max_bytes, 0)
    if not min_seconds >= 0:  # also what is no number
        raise ValueError(f"min_seconds is at least 0, not {min_seconds}")
    limits = Limits(max_dumps, max_bytes, min_seconds, remove_folder)
    return Handle(dir, max_entries, limits, verdict, snapshot).start().hook()
