"""LeakDetector, which finds memory that keeps growing from step to step.

The core judges the readings, by the rule that leaks of a recording are judged by, and tells which
objects grew.
"""
from __future__ import annotations

import gc
import os
import sys
import warnings
from collections import deque
from typing import Any, Literal

from vramscope import _core, backends, hooks
from vramscope._answer import Answer
from vramscope.history import marks
from vramscope.objects import storages

TYPE_CHECKING = False  # CPython 3.10 has no Self
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["LeakDetector", "LeakError", "Leaks"]

_HISTORY_ENTRIES = 100_000


class Leaks(Answer):
    """What a LeakDetector found: a mapping of its JSON document, `str()` is its text.

    `rows` are the kinds of objects that changed in number or bytes between two steps, those that
    grew most first: `growth_bytes`, bytes and counts before and after, `name` (the tag of a
    simulated allocation), `shape`, `dtype`, `device`.  `sites` is the answer of Recording.leaks()
    where memory history was on: the lines that the growth comes from; else None.

    >>> from vramscope import LeakDetector, sim
    >>> with sim.Device():
    ...     with LeakDetector(steps=2, warmup=0) as detector:
    ...         for _ in range(3):
    ...             detector.step()
    ...         leaks = detector.suspects()
    >>> leaks.grows, leaks.rows, leaks.sites
    (False, [], None)
    """

    def __init__(self, result: _core.Result, sites: _core.Result | None = None) -> None:
        super().__init__(result)
        self.sites = sites

    @property
    def grows(self) -> bool | None:
        """Whether memory grows; None where too few steps, or no memory, are known."""
        return self._result.verdict

    @property
    def freed(self) -> bool:
        """Whether what grew was freed after the last step, before it was asked."""
        return bool(self["freed"])

    @property
    def held_by_cycles(self) -> bool:
        """Whether one collection of garbage, and nothing before it, took the growth away."""
        collection = self["collection"]
        return collection is not None and bool(collection["held_by_cycles"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each kind of objects."""
        return list(self["rows"])

    def text(self, *, width: int = 80, ascii: bool = False, rows: int = 0) -> str:
        """A sentence, then what grew.  rows: how many of the longest table; 0: as many as suit."""
        said = self._result.text(width=width, ascii=ascii, rows=rows)
        if self.sites is not None:
            said += "\n" + self.sites.text(width=width, ascii=ascii, rows=rows)
        return said


class LeakError(AssertionError):
    """Memory grows from step to step; `leaks` is what was found.  A copy is made of its text."""

    def __init__(self, leaks: Leaks | str) -> None:
        super().__init__(str(leaks))
        self.leaks: Leaks | None = leaks if isinstance(leaks, Leaks) else None


def _handles(number: int, owner: Any) -> list[tuple[Any, ...]]:
    """The live allocations of a simulated device, as rows of the core."""
    return [(0, thing.tag or "", "(%d,)" % thing.bytes, "", "cuda:%d" % number, storages.OTHER,
             False, None, None, None, thing.address, thing.bytes, 0)
            for thing in gc.get_objects() if type(thing) is _core.Handle and thing.live
            and thing.owner is owner and thing.device == number]


def _tensors(kind: str, number: int | None) -> list[tuple[Any, ...]]:
    """The tensors on a device, as rows of the core."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    known: dict[type, bool] = {}
    found: dict[int, Any] = {}
    for thing in gc.get_objects():
        cls = type(thing)
        if known.setdefault(cls, tensor in cls.__mro__):
            found[id(thing)] = thing
            # The collector may not list a gradient that Python has not asked for.
            if thing.is_leaf and thing.grad is not None:
                found[id(thing.grad)] = thing.grad
    keep: list[Any] = []
    rows: list[tuple[Any, ...]] = []
    for thing in found.values():
        try:
            if thing.device.type == kind and number in (None, thing.device.index):
                rows += storages.rows(thing, 0, "", storages.OTHER, keep)
        except (AttributeError, NotImplementedError, RuntimeError):
            continue  # a wrapper that cannot be asked: its bytes are among the invisible ones
    return rows


def _grow(sites: _core.Result) -> bool:
    """Whether a line of an answer of Recording.leaks() grows."""
    return any(site["class"] in ("leak", "suspect") for device in sites.to_dict()["devices"]
               for site in (device["result"] or {"sites": ()})["sites"])


class LeakDetector:
    """Watches memory at the ends of training steps; `check()` in a test fails where it grows.

    device: as of Profiler; "cpu" counts tensors of the host, where `backend` tells their bytes.
    steps: so many, 2 at least, are looked at, the last ones; fewer decide nothing.  warmup: steps
    at the beginning that do not count, since what they add, such as the state of an optimizer,
    stays.  min_growth: what grows by less over these steps is no leak; bytes, or a text such as
    "1MiB".  every: only each n-th step is read, and `steps` of those are looked at.  use_history:
    "auto" takes the lines that the growth comes from out of the memory history where it is on;
    True turns it on, until `close()`; False leaves it alone.

    The figures are the requested bytes of the device's counters.  Each step is one reading.  Where
    memory grows and no history is on, the objects on the device are listed once when the growth
    begins and once in `suspects()`, some 30 ms for 100,000 objects.  Raises Error for a size that
    is none, ValueError for other numbers that make no sense.

    >>> from vramscope import LeakDetector, sim
    >>> with sim.Device() as device:
    ...     detector, kept = LeakDetector(use_history=False), []
    ...     for _ in range(8):
    ...         kept.append(device.alloc("20MiB", tag="losses"))
    ...         detector.step()
    ...     [(row["name"], row["last_count"]) for row in detector.suspects().rows]
    ...     detector.close()
    [('losses', 8)]
    """

    def __init__(self, device: Any = None, *, steps: int = 5, warmup: int = 2,
                 min_growth: int | str = "1MiB", every: int = 1,
                 use_history: bool | Literal["auto"] = "auto", backend: Any = None) -> None:
        least = _core.size(min_growth) if isinstance(min_growth, str) else min_growth
        if not 0 <= least < 1 << 63:
            raise ValueError("min_growth is no number of bytes: %r" % min_growth)
        if steps < 2 or warmup < 0 or every < 1:
            raise ValueError("steps is at least 2, warmup at least 0, every at least 1")
        if use_history not in (True, False, "auto"):
            raise ValueError("use_history is True, False or 'auto', not %r" % use_history)
        self._kind = "cpu" if str(device) == "cpu" else "cuda"
        self._number = None if self._kind == "cpu" else backends.device_number(device)
        self._given = backends.choose(backend)
        self._backend: _core.Backend | None = None
        self._wanted, self._warmup, self._every, self._least = steps + 1, warmup, every, least
        self._history = use_history
        self._steps, self._readings = 0, deque[int | None](maxlen=steps + 1)
        self._first: tuple[int, int, list[tuple[Any, ...]]] | None = None
        self._before_first = 0
        self._scanned = 0
        self._marks, self._marked = marks.Marks(), False  # marked: somebody else numbers the steps
        self._began: Any = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def step(self) -> None:
        """A step ends here: one reading."""
        backend = self._resolve()
        self._steps += 1
        self._next_mark()
        if self._steps % self._every != 0:
            return
        before = self._readings[-1] if self._readings else None
        now = self._read(backend)
        if self._steps < self._warmup:
            return
        self._readings.append(now)
        if before is None or now is None:
            return
        if self._first is not None and now <= self._before_first:
            self._first = None
        rested = self._scanned == 0 or self._steps - self._scanned >= self._wanted * self._every
        if self._first is None and now > before and rested and not self._recording():
            self._before_first, self._scanned = before, self._steps
            self._first = self._steps, now, self._census(backend)

    def suspects(self) -> Leaks:
        """Whether memory grows, and what grew: a Leaks.

        Where it grows, and what grew is still there, garbage is collected once; what goes with it
        is "held by reference cycles". What shrank after the last step is not listed; `sites` are
        of the steps, and say nothing of what was freed after them.
        """
        found = self._judge()
        if not found.verdict:
            return Leaks(found)
        backend = self._resolve()
        present = self._read(backend)
        sites = self._sites()
        last = (self._steps - self._steps % self._every, present, self._census(backend)) \
            if sites is None and self._first is not None else None
        found = self._judge(present, None, last)
        if found.to_dict()["freed"]:
            return Leaks(found, sites)
        gc.collect()
        return Leaks(self._judge(present, self._read(backend), last), sites)

    def check(self) -> None:
        """Raises LeakError with the table where memory grows; warns where that is not decided.

        >>> from vramscope import sim
        >>> with sim.Device():
        ...     detector = LeakDetector(steps=2, warmup=0)
        ...     for _ in range(3):
        ...         detector.step()
        ...     detector.check()
        """
        leaks = self.suspects()
        if leaks.grows:
            raise LeakError(leaks)
        if leaks.grows is None:
            warnings.warn(leaks.text().strip(), _core.VramscopeNote, stacklevel=2)

    def close(self) -> None:
        """Stops a memory history that this detector has begun."""
        began, self._began, self._closed = self._began, None, True
        self._marks.end()
        if began is not None:
            began.stop()

    def _resolve(self) -> _core.Backend:
        """The backend, and the device: those that are current at the first step."""
        if self._backend is None:
            self._backend = self._given or backends.auto()
            if self._number is None and self._kind == "cuda":
                self._number = self._backend.current()
            source = self._source()
            if self._history is True and source is not None and not source.enabled():
                source.when_ready(lambda: self._begin(source))
        return self._backend

    def _begin(self, source: Any) -> None:
        """Runs inside the program's initialisation of CUDA, so that nothing may escape."""
        try:
            if not self._closed:
                source.begin(_HISTORY_ENTRIES, "all", "python")
                self._began = source
        except BaseException as error:
            hooks.swallow(error)

    def _read(self, backend: _core.Backend) -> int | None:
        """Requested bytes; allocated ones where torch is too old to know."""
        stats = backend.stats(self._number)
        requested: int | None = stats.get("requested_bytes")
        return requested if requested is not None else stats.get("allocated_bytes")

    def _judge(self, present: int | None = None, collected: int | None = None,
               last: tuple[int, int | None, list[tuple[Any, ...]]] | None = None) -> _core.Result:
        readings = list(self._readings)
        newest = self._steps - self._steps % self._every
        oldest = newest - max(len(readings) - 1, 0) * self._every
        return _core._growth(readings, max(oldest, 0), self._every, self._wanted, self._least,
                             present, collected, self._first if last is not None else None, last)

    def _census(self, backend: _core.Backend) -> list[tuple[Any, ...]]:
        owner = backend.owner
        if isinstance(owner, _core.Sim):
            return _handles(self._number or 0, owner)
        return _tensors(self._kind, self._number)

    def _source(self) -> Any:
        """What records memory history here, or None."""
        from vramscope.history import recording
        recorder: Any = recording
        owner = self._backend.owner if self._backend is not None else None
        if isinstance(owner, _core.Sim):
            return recorder.SimSource(owner)
        return recorder.source()[0] if self._given is None else None

    def _recording(self) -> bool:
        source = self._source() if self._history is not False else None
        return source is not None and bool(source.enabled())

    def _sites(self) -> _core.Result | None:
        """What the memory history says of what grows, where it is on, and where it sees that."""
        if not self._recording():
            return None
        import tempfile
        from vramscope.history import recording
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "steps.pickle")
                recording.write_snapshot(self._source(), path, seconds=recording.NAMES_SECONDS)
                with _core.load(path) as made:
                    found = made.leaks(device=self._number, path="history")
                    return found if _grow(found) else None
        except (OSError, _core.Error) as error:
            recording.log("the memory history was not read: %s" % error)
            return None

    def _next_mark(self) -> None:
        """Numbers the steps in a memory history, unless the program's profiler does."""
        from vramscope import profiler
        self._marks.end()
        other = profiler._the_profiler
        steps = other is not None and other.enabled and other._step_scope is not None
        if not (steps or self._marked) and self._recording() and self._backend is not None:
            self._marks.begin(self._backend.owner, "step %d" % (self._steps + 1))
