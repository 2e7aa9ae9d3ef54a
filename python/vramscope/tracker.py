"""Tracker: watches a device over time, and tells growth, peaks and alerts as events.

A thread of the core samples; it needs no lock of the interpreter. Callbacks run on a thread of
Python, `vramscope-events`, never on that one and never on the program's.
"""
from __future__ import annotations

import math
import os
import sys
import weakref

from vramscope import _core, backends, ranks

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from threading import Thread
    from typing import Any, Literal

    from typing_extensions import Self

    from vramscope.files import Path

__all__ = ["Event", "Handle", "KINDS", "Thresholds", "Tracker", "runs"]

KINDS: tuple[str, ...] = _core._event_kinds()
_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}
_METADATA_BYTES = 4096  # of JSON, which the core keeps as a name
_SECONDS_WAITED = 60.0  # at a time, by the thread of events
_SECONDS_BETWEEN_LINES = 0.5
_SECONDS_JOINED = 1.0


def _kind_bit(kind: str) -> int:
    if kind not in _NUMBERS:
        raise _core._usage(f"there is no kind of event {kind!r}: {', '.join(KINDS)}")
    return 1 << _NUMBERS[kind]


class Event:
    """One moment of a tracker: what happened, and what the device's counters said; immutable.

    Bytes that are not known are None. `peak_bytes`: the most allocated since tracking began.
    `change_bytes`: since the sample before. `device_used_bytes`: of all processes together, as the
    driver says. `rss_bytes` is of the process; `mapped_bytes`, `host_used_bytes` and `cpu_ns` are
    told by trackers of the host alone. `phase`: names of the open phases from outside in.
    `context`: the event in words. `metadata`: of an alert its value, else what was given with it.
    """

    __slots__ = ("index", "kind", "t_ns", "time", "device", "allocated_bytes", "reserved_bytes",
                 "active_bytes", "requested_bytes", "inactive_split_bytes", "peak_bytes",
                 "change_bytes", "device_used_bytes", "device_free_bytes", "device_total_bytes",
                 "rss_bytes", "mapped_bytes", "host_used_bytes", "cpu_ns", "phase", "context",
                 "metadata")
    index: int
    kind: str
    t_ns: int
    time: float
    device: int
    allocated_bytes: int | None
    reserved_bytes: int | None
    active_bytes: int | None
    requested_bytes: int | None
    inactive_split_bytes: int | None
    peak_bytes: int | None
    change_bytes: int | None
    device_used_bytes: int | None
    device_free_bytes: int | None
    device_total_bytes: int | None
    rss_bytes: int | None
    mapped_bytes: int | None
    host_used_bytes: int | None
    cpu_ns: int | None
    phase: tuple[str, ...]
    context: str | None
    metadata: dict[str, Any]

    def __init__(self, values: Any) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of an Event cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of an Event cannot be deleted")

    def to_dict(self) -> dict[str, Any]:
        """The members by name, in their order."""
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        if type(other) is not Event:
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Event, (tuple(self.to_dict().values()),)

    def __repr__(self) -> str:
        return (f"<Event {self.index} {self.kind}: allocated_bytes={self.allocated_bytes} "
                f"change_bytes={self.change_bytes}>")


def event_of(row: tuple[Any, ...]) -> Event:
    """Of a row of the core, whose last two are the alert and the text of the metadata."""
    *figures, alert, text = row
    metadata: dict[str, Any] = {}
    if alert is not None:
        name, value = alert
        metadata[name] = True if name == "large_allocation" else value
    if text is not None and text.startswith("{"):
        import json
        metadata.update(json.loads(text))
    return Event((*figures, metadata))


class Thresholds:
    """When a tracker warns; None is never.

    `warning_percent` and `critical_percent` of the device are allocated; `growth_bytes` more in one
    sample; `fragmentation_ratio` of what is reserved is not allocated. The first two are reached,
    the others exceeded. An alert is given once, until the value lies two points below (hundredths
    of the growth).

    >>> Thresholds(warning_percent=70, growth_bytes="1GiB").growth_bytes
    1073741824
    """

    __slots__ = ("warning_percent", "critical_percent", "growth_bytes", "fragmentation_ratio")

    def __init__(self, warning_percent: float | None = 80.0,
                 critical_percent: float | None = 95.0,
                 growth_bytes: int | str | None = "100MiB",
                 fragmentation_ratio: float | None = 0.3) -> None:
        if isinstance(growth_bytes, str):
            growth_bytes = _core.size(growth_bytes)
        self.warning_percent, self.critical_percent = warning_percent, critical_percent
        self.growth_bytes, self.fragmentation_ratio = growth_bytes, fragmentation_ratio
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"{name} is a number of at least 0, not {value!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not Thresholds:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"Thresholds({told})"


class _Callbacks:
    """Who is called for which kind, and the thread that calls: it knows no Tracker."""

    def __init__(self, core: _core.Tracker) -> None:
        self.core = core
        self.by_kind: dict[str, list[Callable[[Event], object]]] = {}
        self.errors = 0
        self.first_error: str | None = None
        self.thread: Thread | None = None
        self.process = 0

    def add(self, kind: str, call: Callable[[Event], object]) -> None:
        self.by_kind.setdefault(kind, []).append(call)
        self.begin()

    def remove(self, kind: str, call: Callable[[Event], object]) -> None:
        # By identity: two equal callbacks are two.
        self.by_kind[kind] = [other for other in self.by_kind.get(kind, ()) if other is not call]
        self.core.subscribe(self._wanted())

    def _wanted(self) -> int:
        return sum(_kind_bit(kind) for kind, calls in self.by_kind.items() if calls)

    def begin(self) -> None:
        """The thread runs from now on, if anybody is to be called."""
        wanted = self._wanted()
        if not wanted:
            return
        self.core.subscribe(wanted)
        if self.thread is None or not self.thread.is_alive() or self.process != os.getpid():
            import threading
            self.process = os.getpid()
            self.thread = threading.Thread(target=self._serve, name="vramscope-events",
                                           daemon=True)
            self.thread.start()

    def end(self) -> None:
        """Lets it call for what waits, a second at most, and end."""
        thread = self.thread
        self.core.hush()
        if thread is not None and self.process == os.getpid():
            import threading
            if thread is not threading.current_thread():
                thread.join(_SECONDS_JOINED)

    def _serve(self) -> None:
        while (rows := self.core.take(_SECONDS_WAITED)) is not None:
            for row in rows:
                event = event_of(row)
                for call in tuple(self.by_kind.get(event.kind, ())):
                    try:
                        call(event)
                    except BaseException as error:  # of the program; it must not end the others
                        self.errors += 1
                        if self.first_error is None:
                            self.first_error = f"{type(error).__name__}: {error}"


class Handle:
    """A callback that is called until `cancel`."""

    def __init__(self, callbacks: _Callbacks, kind: str,
                 call: Callable[[Event], object]) -> None:
        self._callbacks, self._kind = callbacks, kind
        self._call = call

    def cancel(self) -> None:
        """It is called no more, but for an event that is being told; a second time is ignored."""
        self._callbacks.remove(self._kind, self._call)


class _Line:
    """The status line of a terminal, rewritten at most twice a second."""

    def __init__(self, core: _core.Tracker) -> None:
        self._core, self._next, self._open = core, 0.0, False

    def __call__(self, event: Event) -> None:
        import time
        now = time.monotonic()
        if now >= self._next:
            self._next, self._open = now + _SECONDS_BETWEEN_LINES, True
            sys.stderr.write(f"\r{self._core.line()}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        if self._open:
            self._open = False
            sys.stderr.write("\n")


class _Phase:
    """A named stretch of time, inside those that are open."""

    def __init__(self, core: _core.Tracker, name: str, metadata: str | None) -> None:
        self._core, self._name, self._metadata = core, name, metadata
        self._numbers: list[int] = []

    def __enter__(self) -> Self:
        self._numbers.append(self._core.enter(self._name, self._metadata))
        return self

    def __exit__(self, *error: object) -> None:
        self._core.leave(self._numbers.pop())


def _plain(value: Any) -> Any:
    """What JSON has no word for, as NaN, as a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value


def _json(metadata: Mapping[str, Any] | None) -> str | None:
    """A JSON object of what is given with an event."""
    if not metadata:
        return None
    import json
    text = json.dumps(_plain(dict(metadata)), default=str)
    if len(text.encode("utf-8", "replace")) > _METADATA_BYTES:
        raise ValueError(f"the metadata of an event are at most {_METADATA_BYTES} bytes of JSON")
    return text


def begin(core: _core.Tracker) -> None:
    """Starts it, and the thread that reads for it where that has to be one of Python."""
    core.start()
    if core.needs_reader:
        import threading
        threading.Thread(target=core.serve, name="vramscope-reader", daemon=True).start()


def end_with(owner: object, core: _core.Tracker) -> weakref.finalize[Any, Any]:
    """When the owner is forgotten, or the program ends, no device is read any more."""
    return weakref.finalize(owner, _end, core)


def _end(core: _core.Tracker) -> None:
    core.hush()
    if core.running:
        core.stop(True, False)


class Tracker:
    """Samples a device every `interval` seconds, 0.001 to 3600, and tells what happens as events.

    `device`, `backend`: as of a Profiler; both are chosen once, here. `capacity`: events that are
    kept, and as many samples, which have the kind "sample" and displace no others. `thresholds`:
    when it warns. `sink`: a folder to which every event is added as a record of telemetry while it
    runs, so that a killed program leaves all but the last two seconds. `live`: a status line on
    stderr, where that is a terminal. `job_id`, `rank`, `local_rank`, `world_size`: those of the
    launcher's variables, read by `start`, where they are None.

    Nothing waits for the device, and its peaks are not reset. Raises ValueError for an interval or
    a capacity out of range.

    >>> from vramscope import Tracker, sim
    >>> with sim.Device("10GiB") as device, Tracker(interval=3600) as tracker:
    ...     weights = device.alloc("9GiB")
    ...     tracker.sample()
    >>> [event.kind for event in tracker.events()]
    ['start', 'peak', 'allocation', 'warning', 'warning', 'stop']
    >>> tracker.events("warning")[0].context
    'WARNING: Memory usage at 90.0%'

    What happens is told to who asks, and stays:

    >>> import tempfile
    >>> with sim.Device("10GiB") as device:
    ...     tracker = Tracker(interval=3600)
    ...     handle = tracker.on("peak", lambda event: None)
    ...     tracker.start()
    ...     with tracker.phase("load"):
    ...         weights = device.alloc("1GiB")
    ...         tracker.sample()
    ...     tracker.stop()
    ...     handle.cancel()
    >>> tracker.stats()["peak_bytes"], tracker.timeline(bucket=3600)["allocated_bytes"]
    (1073741824, [1073741824])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tracker.export(folder + "/events.csv", format="csv")
    >>> tracker.clear()
    """

    def __init__(self, device: Any = None, *, interval: float = 0.1, capacity: int = 10_000,
                 thresholds: Thresholds | None = None, backend: Any = None,
                 sink: Path | None = None, live: bool = False, job_id: str | None = None,
                 rank: int | None = None, local_rank: int | None = None,
                 world_size: int | None = None) -> None:
        if thresholds is not None and not isinstance(thresholds, Thresholds):
            raise TypeError(f"thresholds are Thresholds or None, not {thresholds!r}")
        self._begin(_core.Tracker(backend=backends.choose(backend),
                                  device=backends.device_number(device), interval=interval,
                                  capacity=capacity, host=False, process=False,
                                  samples_only=False))
        self.thresholds = thresholds if thresholds is not None else Thresholds()
        for name in Thresholds.__slots__:
            self._threshold(name, getattr(self.thresholds, name))
        self._given = {"job_id": job_id, "rank": rank, "local_rank": local_rank,
                       "world_size": world_size}
        self._sink, self._live = sink, live

    def _begin(self, core: _core.Tracker) -> None:
        self._core = core
        self._callbacks = _Callbacks(core)
        self._line: _Line | None = None
        self._collector: str | None = None
        self._source: str | None = None
        end_with(self, core)

    def _threshold(self, name: str, value: float | None) -> None:
        self._core.threshold(Thresholds.__slots__.index(name),
                             math.nan if value is None else value)

    @property
    def running(self) -> bool:
        """Whether it samples now."""
        return self._core.running

    def _identify(self) -> None:
        launched = ranks.identity()
        who: dict[str, Any] = {name: launched[name] if value is None else value
                               for name, value in self._given.items()}
        rank, world_size = who["rank"], who["world_size"]
        if rank is not None and world_size is not None and not 0 <= rank < world_size:
            raise ValueError(f"rank {rank} is none of {world_size}")
        rank, local_rank, world_size = (-1 if who[name] is None else who[name]
                                        for name in ranks.FIELDS[1:])
        self._core.identify(who["job_id"], rank, local_rank, world_size, self._collector,
                            self._core.backend.name, self._source)

    def start(self) -> None:
        """Begins to sample, which the event "start" says; ignored where it does already."""
        if self.running:
            return
        self._identify()
        if self._sink is not None:
            os.makedirs(self._sink, exist_ok=True)
            self._core.files(self._sink)
        if self._live and self._line is None and sys.stderr is not None and sys.stderr.isatty():
            self._line = _Line(self._core)
            self._callbacks.by_kind.setdefault("sample", []).append(self._line)
        self._callbacks.begin()
        begin(self._core)

    def stop(self) -> None:
        """Takes a last sample and ends, which the event "stop" says; waits for callbacks, a second.

        The files of the sink are complete then. Ignored where it does not run.
        """
        self._stop(interrupted=False)

    def _stop(self, interrupted: bool) -> None:
        if self.running:
            self._core.stop(interrupted, True)
            self._callbacks.end()
            if self._line is not None:
                self._line.end()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *error: object) -> Literal[False]:
        self._stop(interrupted=error[0] is not None)
        return False

    def _note(self, kind: str, text: str, metadata: Mapping[str, Any] | None = None) -> None:
        _kind_bit(kind)
        self._core.note(_NUMBERS[kind], text, _json(metadata))

    def sample(self) -> None:
        """Takes one sample now, on this thread, while it runs: for virtual clocks, and tests."""
        self._core.sample()

    def on(self, kind: str, callback: Callable[[Event], object]) -> Handle:
        """Calls callback(event) for each event of a kind from now on, on a thread of its own.

        At most 1,000 events wait for it; further ones are counted in `stats()`. An exception of a
        callback is counted there, too, and the text of the first one kept.
        """
        _kind_bit(kind)
        if not callable(callback):
            raise TypeError(f"a callback can be called, unlike {callback!r}")

        def call(event: Event) -> object:
            return callback(event)
        self._callbacks.add(kind, call)
        return Handle(self._callbacks, kind, call)

    def events(self, kind: str | None = None, last: int | None = None,
               since: float | None = None) -> list[Event]:
        """The events that are kept, oldest first; without `kind` all but samples.

        `since`: seconds since 1970. `last`: only so many of those that are left.
        """
        return self._events(0 if kind is None else _kind_bit(kind), last, since)

    def _events(self, kinds: int, last: int | None, since: float | None) -> list[Event]:
        if last is not None and last < 0:
            raise ValueError(f"the last {last} events are none")
        us = 0 if since is None or since <= 0 else round(since * 1e6)
        return [event_of(row) for row in self._core.events(kinds, us, -1 if last is None else last)]

    def timeline(self, bucket: float = 1.0) -> dict[str, list[Any]]:
        """The last values in each bucket of so many seconds that has some, counted from the first.

        A dict of equal lists: `time`, the bucket's begin in seconds since 1970, `allocated_bytes`,
        `reserved_bytes`.
        """
        if not 1e-9 <= bucket <= 1e9:
            raise ValueError(f"a bucket is a number of seconds, not {bucket!r}")
        time, allocated, reserved = self._core.timeline(round(bucket * 1e9))
        return {"time": time, "allocated_bytes": allocated, "reserved_bytes": reserved}

    def stats(self) -> dict[str, Any]:
        """Totals by name; None is what is not known.

        Present values; `peak_bytes`; samples at which more or less was allocated than before, and
        by how much (`growth_samples`, `shrink_samples`, …); real allocations by the allocator's
        counters since the start (`allocations`, `allocated_total_bytes`, …); `alerts`; what was
        lost (`lost_events`, `lost_samples`, `lost_callbacks`, `sink_dropped`, …);
        `callback_errors` and the first `callback_error`.
        """
        return {**self._core.stats(), "callback_errors": self._callbacks.errors,
                "callback_error": self._callbacks.first_error}

    def phase(self, name: str, metadata: Mapping[str, Any] | None = None) -> _Phase:
        """For `with`: events inside have the name in their `phase`, as have its own two.

        `metadata`: what the event "phase_enter" has, of 4,096 bytes of JSON at most.
        """
        return _Phase(self._core, name, _json(metadata))

    def export(self, path: Path, format: str = "jsonl") -> Any:
        """Writes what is kept, samples too, as telemetry: "jsonl", "json" or "csv"; the path.

        The file appears whole.
        """
        return self._core.export(format, path)

    def clear(self) -> None:
        """Forgets events, samples and totals; it goes on as it was."""
        self._core.clear()


def of_process(*, interval: float, capacity: int, **given: Any) -> Tracker:
    """A Tracker of this process's resident memory, on the host; drop-in modules have it.

    >>> of_process(interval=1, capacity=10).running
    False
    """
    made = Tracker.__new__(Tracker)
    made._begin(_core.Tracker(backend=backends.none(), device=0, interval=interval,
                              capacity=capacity, host=True, process=True, samples_only=False))
    made._given = {name: given.get(name) for name in ranks.FIELDS}
    made._sink, made._live = None, False
    made.thresholds = Thresholds()
    return made


def runs(folder: Path) -> list[dict[str, Any]]:
    """The runs that trackers have left in a folder, oldest first: their manifests, as dicts.

    The status is "completed", "interrupted" (by an exception or the program's end), "incomplete"
    (records are missing, or the process is no more) or "running". A manifest that cannot be read is
    left out, with a VramscopeNote that names its file.
    """
    import warnings
    found: list[dict[str, Any]] = []
    text = os.fsdecode(folder)
    for name in sorted(os.listdir(text)):
        if not name.endswith(".manifest.json"):
            continue
        path = os.path.join(text, name)
        try:
            found.append(_manifest(path))
        except (OSError, OverflowError, RecursionError, ValueError) as error:
            warnings.warn(f"a run was left out: {path}: {error}", _core.VramscopeNote, stacklevel=2)
    return sorted(found, key=lambda manifest: (manifest["began_us"], manifest["run_id"]))


_MANIFEST: dict[str, type] = {"status": str, "host": str, "pid": int, "began_us": int,
                              "run_id": str}


def _manifest(path: str) -> dict[str, Any]:
    """Of a file; ValueError where that is no manifest."""
    import json
    import socket
    with open(path, encoding="utf-8") as file:
        manifest: dict[str, Any] = json.load(file)
    if not isinstance(manifest, dict):
        raise ValueError("it is no manifest of a run")
    for name, kind in _MANIFEST.items():
        if not isinstance(manifest.get(name), kind):
            raise ValueError(f"it is no manifest of a run: {name!r} is missing or wrong")
    if manifest["status"] == "running" and manifest["host"] == socket.gethostname() \
            and not _lives(manifest["pid"]):
        manifest["status"] = "incomplete"
    return manifest


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
