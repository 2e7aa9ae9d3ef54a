"""Profiler: checkpoints and scopes of a running program, over the core.

The first thing to know: the peaks come from the device's own counters. Where one has to be read
anew it is reset, and `torch.cuda.max_memory_allocated()` of the program begins again there. Pass
`preserve_torch_peak=True` where the program needs it; peaks are then lower bounds at times, which
their `state` says.
"""
from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal, TypeVar

from vramscope import _core, backends, files
from vramscope._answer import Answer

TYPE_CHECKING = False  # CPython 3.10 has no Self
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Profiler", "Scope", "checkpoint", "disable", "enable", "get", "phase", "scope", "step"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_Path = TypeVar("_Path", bound="str | bytes | os.PathLike[str] | os.PathLike[bytes]")


class Scope(_core.Scope):
    """A named interval: `with`, `async with`, or a decorator.

    It can be entered again, also while it is open; every entry gives a ScopeResult, the last one
    in `result`. A decorated function runs exactly once for each call; the interval of a generator
    lasts from the first resume until it is exhausted, closed, or raises.

    >>> from vramscope import Profiler, sim
    >>> with sim.Device() as device, Profiler() as p:
    ...     @p.scope("load")
    ...     def load():
    ...         return device.alloc("1MiB")
    ...     weights = load()
    ...     p.scopes()[0].peak_bytes
    1048576
    """

    __slots__ = ()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *error: object) -> Literal[False]:
        return self.__exit__(*error)

    def __call__(self, function: _Function, /) -> _Function:
        """Decorates a function, a coroutine function, or a generator function of either kind."""
        if inspect.isasyncgenfunction(function):
            return _wrap(function, lambda *args, **kwargs: _AsyncGenerator(self, function(*args,
                                                                                          **kwargs)))
        if inspect.iscoroutinefunction(function):
            return _wrap(function, _coroutine(self, function))
        if inspect.isgeneratorfunction(function):
            return _wrap(function, _generator(self, function))

        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)
        return _wrap(function, call)


def _wrap(function: _Function, call: Callable[..., Any]) -> _Function:
    wrapped: Any = functools.wraps(function)(call)
    return wrapped  # type: ignore[no-any-return]


def _coroutine(scope: Scope, function: Callable[..., Awaitable[Any]]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        with scope:
            return await function(*args, **kwargs)
    return call


def _inside(entry: _core.Entry | None, call: Callable[[], Any]) -> Any:
    """Runs a part of a generator's body, in which the entry is the innermost scope."""
    if entry is None:
        return call()
    entry.resume()
    try:
        return call()
    finally:
        entry.pause()


def _generator(scope: Scope, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        body = function(*args, **kwargs)
        entry, resume = scope._open(), functools.partial(body.send, None)
        raised: type[BaseException] | None = None
        try:
            while True:
                try:
                    given = _inside(entry, resume)
                except StopIteration as stop:
                    return stop.value
                try:
                    resume = functools.partial(body.send, (yield given))
                except GeneratorExit:
                    _inside(entry, body.close)
                    return None
                except BaseException as error:
                    resume = functools.partial(body.throw, error)
        except BaseException as error:
            raised = type(error)
            raise
        finally:
            if entry is not None:
                scope._close(entry, raised)
    return call


class _AsyncGenerator:
    """An asynchronous generator whose body runs inside a scope."""

    def __init__(self, scope: Scope, body: Any) -> None:
        self._scope, self._body, self._opened = scope, body, False
        self._entry: _core.Entry | None = None

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    def __anext__(self) -> Awaitable[Any]:
        return self._step(self._body.__anext__)

    def asend(self, value: Any) -> Awaitable[Any]:
        return self._step(self._body.asend, value)

    def athrow(self, *error: Any) -> Awaitable[Any]:
        return self._step(self._body.athrow, *error)

    async def aclose(self) -> None:
        try:
            await self._inside(self._body.aclose)
        finally:
            self._end(None)

    async def _step(self, method: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        if not self._opened:
            self._opened, self._entry = True, self._scope._open()
        try:
            return await self._inside(method, *args)
        except BaseException as error:
            self._end(None if isinstance(error, StopAsyncIteration) else type(error))
            raise

    async def _inside(self, method: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        if self._entry is None:
            return await method(*args)
        self._entry.resume()
        try:
            return await method(*args)
        finally:
            self._entry.pause()

    def _end(self, raised: type[BaseException] | None) -> None:
        entry, self._entry = self._entry, None
        if entry is not None:
            self._scope._close(entry, raised)


class Summary(Answer):
    """What a profiler has measured: `rows`, one for each path, kind and device.

    A row has `path`, `kind` ("scope" or "checkpoint": the interval that a checkpoint ends),
    `device`, `calls`, `raised`, `total_ns`, `longest_ns`, `device_calls` whose time of the device is
    known and `device_ns` of these in all, `start_bytes` of the first interval and `end_bytes` of the
    last, `peak_bytes`, `peak_delta_bytes` above the start of its interval, `growth_bytes`,
    `allocated_total_bytes` and `allocations` in all, `transient_ratio`, the share of them that no
    interval kept, and the number of intervals of each state. Bytes are those of the device's
    counters.

    >>> from vramscope import Profiler, sim
    >>> with sim.Device() as device, Profiler() as p, p.scope("load"):
    ...     weights = device.alloc("1MiB")
    >>> [(row["path"], row["peak_bytes"]) for row in p.summary().rows]
    [(['load'], 1048576)]
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each path, outer ones before those inside them."""
        return list(self["rows"])


class Phase(Scope):
    """A Scope that also opens a range of torch's profiler while torch records memory."""

    __slots__ = ("_range", "_ranges")
    _range: str
    _ranges: list[Any]

    def __enter__(self) -> Self:
        opened = super().__enter__()
        self._ranges = [*getattr(self, "_ranges", ()), _open_range(self.profiler, self._range)]
        return opened

    def __exit__(self, *error: object) -> Literal[False]:
        if self._ranges:
            _close_range(self._ranges.pop())
        return super().__exit__(*error)


def _open_range(profiler: Profiler, name: str) -> Any:
    """A range of torch's profiler, or None where it is not wanted or not possible."""
    torch = sys.modules.get("torch")
    if torch is None or profiler._annotate is False:
        return None
    from vramscope import _torch
    return _torch.open_range(torch, name, always=profiler._annotate is True)


def _close_range(opened: Any) -> None:
    if opened is not None:
        opened.__exit__(None, None, None)


_DEFAULTS: dict[str, Any] = dict(
    enabled=True, capacity=65_536, backend=None, stats=True, host=False, synchronize=False,
    preserve_torch_peak=False, stack=0, track_tensors=False, annotate=None, strict=False)


def _settings(device: Any, *, backend: Any, capacity: int, track_tensors: bool,
              **others: Any) -> dict[str, Any]:
    """What the core is told."""
    if not 1 <= capacity <= 1 << 24:
        raise ValueError(f"a capacity is 1 to {1 << 24} records, not {capacity}")
    count: Any = None
    if track_tensors:
        from vramscope.objects import census
        count = census.begin
    return {"backend": backends.choose(backend), "device": backends.device_number(device),
            "scope_class": Scope, "capacity": capacity, "census": count, **others}


class Profiler(_core.Profiler):
    """Checkpoints and scopes of a running program, with peaks that nesting does not disturb.

    `device`: None for the current one at each call, a number, "cuda:1" or a torch.device.
    `backend`: None or "auto", "torch", "sim", "none", or an object with the methods of a Backend.
    `capacity`: records and results that are kept, 1,024 to 2**24; older ones are counted in
    `losses`, and totals stay right. `stats=False` keeps times alone. `host` adds memory of the
    process. `synchronize` waits for the device before a reading. `preserve_torch_peak` forbids
    resets of the device's peaks: peaks may then be lower bounds. `stack`: innermost frames that a
    record keeps. `track_tensors`: results of scopes have `tensors_born` and `tensors_died`, for
    which all objects of the program are looked at twice, at the end within `duration_ns`.
    `annotate`: None opens ranges of torch's profiler for phases and steps while torch
    records memory, True always, False never. `strict` reads again after a reset, and raises where a
    reading fails.

    The peaks are those of the device, whoever caused them. They come from the device's own
    counters, which are reset where an interval begins below their peak: then
    `torch.cuda.max_memory_allocated()` begins again, too.

    >>> from vramscope import Profiler, sim
    >>> with sim.Device() as device, Profiler() as p:
    ...     with p.scope("load"):
    ...         weights = device.alloc("1GiB")
    ...     p.checkpoint("loaded").allocated_bytes
    1073741824

    Steps with their phases, a call, and what there is afterwards:

    >>> import tempfile
    >>> with sim.Device() as device, Profiler() as p:
    ...     p.watch()
    ...     for _ in range(2):
    ...         record = p.step()
    ...         with p.phase("forward"):
    ...             value, result = p.call(device.alloc, "20MiB")
    ...     p.close()
    >>> len(p.records()), [done.name for done in p.scopes()][:3]
    (2, ['Device.alloc', 'forward', 'step'])
    >>> result.peak_delta_bytes, p.summary().rows[0]["calls"], p.report("csv")[:4]
    (20971520, 2, 'path')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = p.save(folder + "/run.json")
    >>> p.reset()
    Traceback (most recent call last):
    ValueError: closed
    >>> p.finish()

    Raises Error with the status "usage" for a device or a backend that there is not, ValueError for
    a number out of its range and after close(), TypeError for a name that is no str. What fails in
    a hook of ours is counted in `losses`, and the program goes on.
    """

    def __new__(cls, device: Any = None, *, enabled: bool = True, capacity: int = 65_536,
                backend: Any = None, stats: bool = True, host: bool = False,
                synchronize: bool = False, preserve_torch_peak: bool = False, stack: int = 0,
                track_tensors: bool = False, annotate: bool | None = None,
                strict: bool = False) -> Self:
        return super().__new__(cls, **_settings(
            device, enabled=enabled, capacity=capacity, backend=backend, stats=stats, host=host,
            synchronize=synchronize, preserve_torch_peak=preserve_torch_peak, stack=stack,
            track_tensors=track_tensors, strict=strict))

    def __init__(self, device: Any = None, *, enabled: bool = True, capacity: int = 65_536,
                 backend: Any = None, stats: bool = True, host: bool = False,
                 synchronize: bool = False, preserve_torch_peak: bool = False, stack: int = 0,
                 track_tensors: bool = False, annotate: bool | None = None,
                 strict: bool = False) -> None:
        self._annotate = annotate
        self._reset_peaks = not preserve_torch_peak
        self._sampler: _core.Sampler | None = None
        self._sampled: tuple[Any, ...] = ()  # backend, device, interval
        self._capacity = capacity
        self._step_scope: Phase | None = None
        self._steps = 0
        if enabled:
            self.watch()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the step and the sampling, and records nothing any more; what was recorded stays."""
        if not self.closed:
            self.stop_sampling()
            self._end_step()
            self.finish()

    def renew(self, device: Any = None, **settings: Any) -> None:
        """Begins anew with other settings, those of the constructor; forgets what was recorded.

        The object stays the same, so that who holds it goes on with them. Raises ValueError while
        a scope of it is open.

        >>> from vramscope import Profiler, sim
        >>> with sim.Device() as device:
        ...     p = Profiler(enabled=False)
        ...     p.renew(stats=False)
        ...     p.checkpoint("times alone").allocated_bytes is None
        True
        """
        told = {**_DEFAULTS, **settings}
        unknown = sorted(set(told) - set(_DEFAULTS))
        if unknown:
            raise TypeError(f"a Profiler has no setting {unknown[0]!r}")
        self._end_step()
        self.stop_sampling()
        self._renew(**_settings(device, **{n: v for n, v in told.items() if n != "annotate"}))
        Profiler.__init__(self, device, **told)

    def reset(self) -> None:
        """Forgets records, results, totals, the peak so far, and samples."""
        super().reset()
        if self._sampler is not None:
            self._sampler.clear()

    def start_sampling(self, interval: float = 0.1) -> None:
        """Begins to sample the device that is asked now, each `interval` seconds, 0.001 to 3600.

        A thread outside the interpreter does it, which waits for no one; where torch has to be
        read, a thread of Python reads for it at most 20 times a second, and samples between have
        what a checkpoint or a scope read last: `age_ns`. No device is synchronised. While it
        samples a second start is ignored. Samples of another interval or device, of before, are
        forgotten. Raises ValueError for other intervals, Error where the system has no thread.

        >>> from vramscope import Profiler, sim
        >>> with sim.Device() as device, Profiler() as p:
        ...     p.start_sampling(0.001)
        ...     p.stop_sampling()
        ...     p.samples()[-1].allocated_bytes
        0
        """
        backend, device = self.backend, self.device
        sampler, wanted = self._sampler, (backend, device, interval)
        if sampler is not None and sampler.running:
            return
        if sampler is None or self._sampled != wanted:
            sampler = _core.Sampler(backend=backend, device=device, interval=interval,
                                    capacity=self._capacity, reset_peaks=self._reset_peaks)
        sampler.start()
        self._sampler, self._sampled = sampler, wanted

    def stop_sampling(self) -> None:
        """Ends the sampling, and waits for the end of its thread; the samples stay.

        >>> from vramscope import Profiler
        >>> with Profiler(backend="none") as p:
        ...     p.stop_sampling()
        """
        if self._sampler is not None:
            self._sampler.stop()

    def samples(self) -> _core.Samples:
        """The last samples, oldest first: Samples, a sequence of Sample with columns.

        >>> from vramscope import Profiler
        >>> with Profiler(backend="none") as p:
        ...     len(p.samples())
        0
        """
        return _core._rebuild_samples([]) if self._sampler is None else self._sampler.table()

    @property
    def losses(self) -> dict[str, int]:
        """What is missing, by kind: `records`, `scopes` and `samples` that the rings overwrote,
        `skipped_samples` whose time went by, `busy_samples` without a reading of their own;
        `device_times` that were given up because 1,024 later ones were pending; hooks and readings
        that failed; of the process: slots, readings, waits, nested, foreign_resets,
        names.
        """
        counts = self._sampler.counts() if self._sampler is not None else {}
        return {**super().losses, "samples": counts.get("lost", 0),
                "skipped_samples": counts.get("skipped", 0), "busy_samples": counts.get("busy", 0)}

    def phase(self, name: str) -> Phase:
        """A scope of a training step: "data", "forward", "backward", "optimizer", or any name.

        While torch records memory it also opens a range by the name of which snapshots tell phases.
        """
        made = self._scope(Phase, name)
        made._range = f"## {name} ##"
        return made

    def step(self, index: int | None = None) -> _core.Record | None:
        """Ends the step that is open and begins the next; returns a Record, None while disabled.

        Steps are totalled under the name "step"; `index` counts from 0 where it is not given.
        Raises TypeError where it is no number.
        """
        if index is not None and not hasattr(index, "__index__"):
            raise TypeError(f"the number of a step is an int, not {index!r}")
        if not self.enabled:
            return None
        self._end_step()
        if index is None:
            index = self._steps
        self._steps = index + 1
        record = self.checkpoint("step", info=f"step {index}")
        made = self._scope(Phase, "step")
        made._range = f"step {index}"
        self._step_scope = made.__enter__()
        return record

    def _end_step(self) -> None:
        opened, self._step_scope = self._step_scope, None
        if opened is not None:
            opened.__exit__(None, None, None)

    def summary(self) -> Summary:
        """What was measured, by path: a Summary. It has all intervals, also those of lost rows."""
        return Summary(self._measured())

    def report(self, format: str = "text") -> str:
        """The summary in a format: "text", "json", "csv" or "html"."""
        made = self.summary()
        write = {"text": made.text, "json": made.json, "csv": made.csv, "html": made._repr_html_}
        if format not in write:
            raise _core._usage(f"there is no format {format!r}: text, json, csv, html")
        return write[format]()

    def save(self, path: _Path, format: str | None = None) -> _Path:
        """Writes the report to a file, which appears whole, and returns its path.

        The format is that of the name's ending where it is not given: text, .json, .csv, .html.
        """
        if format is None:
            ending = os.path.splitext(os.fsdecode(path))[1].lower().lstrip(".")
            format = ending if ending in ("json", "csv", "html") else "text"
        files.write_whole(path, self.report(format))
        return path

    def call(self, fn: Callable[..., Any], /, *args: Any,
             **kwargs: Any) -> tuple[Any, _core.ScopeResult | None]:
        """Runs fn(*args, **kwargs) once: (its value, the ScopeResult)."""
        with self.scope(getattr(fn, "__qualname__", type(fn).__qualname__)) as made:
            value = fn(*args, **kwargs)
        return value, made.result


Profiler._own_methods()
_the_profiler: Profiler | None = None


def get() -> Profiler:
    """The profiler of the process: the same object for its whole life, disabled at first.

    A program may keep it: `enable` and `disable` work in place. Raises nothing.

    >>> import vramscope
    >>> vramscope.get() is vramscope.get()
    True
    """
    global _the_profiler
    if _the_profiler is None:
        _the_profiler = Profiler(enabled=False)
    return _the_profiler


def enable(device: Any = None, **settings: Any) -> Profiler:
    """Turns the process's profiler on, in place, and begins its interval; returns it.

    It reads the current device of the backend that is active, whose counters its figures are from.
    device and settings: those of Profiler; with any of them it begins anew and forgets what it has
    recorded. Raises ValueError where the profiler was closed, or is to begin anew inside a scope
    of its own.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device():
    ...     vramscope.enable() is vramscope.get()
    True
    >>> vramscope.disable()
    """
    profiler = get()
    if device is not None or settings:
        profiler.renew(device, **settings)
    profiler.enabled = True
    profiler.watch()
    return profiler


def disable() -> None:
    """Turns the process's profiler off, which ends its step; what it has recorded stays.

    >>> import vramscope
    >>> vramscope.disable()
    >>> vramscope.get().enabled
    False
    """
    profiler = get()
    profiler._end_step()
    profiler.enabled = False


def checkpoint(name: str, tensor: Any = None, info: Any = None) -> _core.Record | None:
    """`Profiler.checkpoint` of the process's profiler: a Record, None while it is disabled.

    name: any str. tensor: what its bytes, shape and dtype are taken of; no reference is kept. info:
    anything, kept as text of 1,024 characters at most. The figures, in bytes, are the device's own
    counters. Raises TypeError where the name is no str.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     p = vramscope.enable()
    ...     weights = device.alloc("2MiB")
    ...     vramscope.checkpoint("loaded", info="two MiB").allocated_bytes
    2097152
    >>> vramscope.disable()
    """
    return get().checkpoint(name, tensor, info)


def scope(name: str, *, tensor: Any = None, time_device: bool = False) -> Scope:
    """`Profiler.scope` of the process's profiler: for `with`, `async with`, or as a decorator.

    name: any str. tensor: what its bytes are taken of; no reference is kept. time_device: whether
    the time of the device is measured, in nanoseconds, by its clock or by two events on its current
    stream. Nobody waits for these: `result.device_ns` is None until the device has come to them.
    Raises TypeError where the name is no str.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     p = vramscope.enable()
    ...     with vramscope.scope("load") as load:
    ...         weights = device.alloc("2MiB")
    ...     load.result.delta_bytes
    2097152
    >>> vramscope.disable()
    """
    made: Scope = get().scope(name, tensor=tensor, time_device=time_device)
    return made


def phase(name: str) -> Phase:
    """`Profiler.phase` of the process's profiler: a scope that snapshots know by its name, too.

    name: "data", "forward", "backward", "optimizer", or any str. Raises TypeError where it is none.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     p = vramscope.enable()
    ...     with vramscope.phase("forward") as forward:
    ...         device.free(device.alloc("2MiB"))
    ...     forward.result.peak_delta_bytes, forward.result.delta_bytes
    (2097152, 0)
    >>> vramscope.disable()
    """
    return get().phase(name)


def step(index: int | None = None) -> _core.Record | None:
    """`Profiler.step` of the process's profiler: ends its step, begins the next.

    It is called where a step begins and is no scope for `with`.

    index: the number of the step that begins; None counts on from the last, 0 first. Returns the
    Record of the moment, with the device's counters in bytes; None while the profiler is disabled.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device():
    ...     p = vramscope.enable()
    ...     vramscope.step(7).info
    'step 7'
    >>> vramscope.disable()
    """
    return get().step(index)
