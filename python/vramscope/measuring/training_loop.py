"""A training between marks: each batch loaded, copied, and trained on, and what that tells."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from vramscope import _core
from vramscope.measuring.clocks import Clock, clock_for
from vramscope.measuring.measure import (Measurement, _Busy, _figure, _move, _notes, _ratio, _time,
                                         conditions, profiler_range)
from vramscope.measuring.mode import in_mode
from vramscope.profiler import Profiler

PHASES = ("copy", "forward", "backward", "optimizer")
_NO_BATCH = "No batch was measured: the loader gave none."
_NONE_MEASURED = "No batch was measured: the loader ended in the warm-up."
_NONE_IN_TIME = "No batch was measured: the time ran out in the warm-up."
_END = object()
_OUT_OF_TIME = "The time ran out after {} of {} batches."


# The parts of a step: a name, and what is done to what the part before has left.
Part = tuple[str, Callable[[Any], Any]]


def parts_of(model: Any, criterion: Callable[..., Any], optimizer: Any) -> list[Part]:
    """The parts of a training on pairs of data and target."""
    def copy(pair: Any) -> Any:
        try:
            if isinstance(pair, (Mapping, str)):  # of two keys, too
                raise TypeError
            data, target = pair
        except (TypeError, ValueError):
            raise TypeError("a batch is a pair of data and target, and the loader gave "
                            f"{type(pair).__name__}; diagnose(step=...) takes any batch") from None
        return _move(model, data), _move(model, target)

    def forward(pair: Any) -> Any:
        return criterion(model(pair[0]), pair[1])

    def backward(loss: Any) -> None:
        loss.backward()

    def update(_: None) -> None:
        optimizer.step()
        optimizer.zero_grad()
    return list(zip(PHASES, (copy, forward, backward, update)))


def batch_size(batch: Any) -> int | None:
    """Samples of a batch: the first dimension of its first tensor; None where that is not known."""
    shape = getattr(first_of(batch), "shape", None)
    return int(shape[0]) if shape else None


def first_of(batch: Any) -> Any:
    """The first of what a batch is made of; a batch that is one thing is that."""
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    return batch[0] if isinstance(batch, (tuple, list)) and batch else batch


class Batches:
    """The batches of a loader, and how long each took to come.

    again: a loader that has ended begins anew, if it can; otherwise it ends the measurement.
    """

    def __init__(self, loader: Iterable[Any], clock: Clock, again: bool) -> None:
        self._loader, self._clock, self._again = loader, clock, again
        self._iterator: Iterator[Any] | None = None
        self._is_new = False
        self.times: list[float] = []
        self.begun = 0  # how often
        self.passes = 0  # that gave a batch
        self.anew_ms = 0.0  # what beginning anew took, with the batch that came then

    def __iter__(self) -> Batches:
        return self

    def __next__(self) -> Any:
        """The next batch, whose time is one more of `times`, but where the loader began anew."""
        asked, anew = self._clock.host_ns(), self._iterator is None and self.begun > 0
        if self._iterator is None:
            self._begin()  # which starts workers: the first batch's
        try:
            batch = next(self._iterator)  # type: ignore[arg-type]
        except StopIteration:
            if not self._again or anew or self._iterator is self._loader:
                raise
            self._iterator = None
            return next(self)
        took_ms = (self._clock.host_ns() - asked) / 1e6
        if anew:
            self.anew_ms += took_ms
        else:
            self.times.append(took_ms)
        self.passes += self._is_new
        self._is_new = False
        return batch

    def _begin(self) -> None:
        self._iterator = iter(self._loader)
        self.begun += 1
        self._is_new = True

    def close(self) -> None:
        """Ends the workers that load, also where who asked was interrupted."""
        iterator, self._iterator = self._iterator, None
        end = getattr(iterator, "_shutdown_workers", None)
        if end is not None and not getattr(self._loader, "persistent_workers", False):
            end()


class _Loop:
    """One training, and the times of its steps."""

    def __init__(self, parts: list[Part], clock: Clock, profiler: Profiler) -> None:
        self._parts, self._clock, self._profiler = parts, clock, profiler
        self.times: dict[str, list[float]] = {name: [] for name, _ in parts}
        self.times.setdefault("step", [])
        self.samples: list[int | None] = []

    def step(self, given: Any) -> None:
        """Trains on one batch."""
        self.samples.append(batch_size(given))
        marks = [self._clock.mark()]
        for name, work in self._parts:
            with self._profiler.scope(name), profiler_range(f"## {name} ##"):
                given = work(given)
            marks.append(self._clock.mark())
        self._clock.wait()
        for (name, _), begin, end in zip(self._parts, marks, marks[1:]):
            self.times[name].append(self._clock.milliseconds(begin, end))
        if len(self._parts) > 1:
            self.times["step"].append(self._clock.milliseconds(marks[0], marks[-1]))


def _throughputs(loop: _Loop, loading: list[float], clock: Clock, warmup: int,
                 elapsed_ms: float | None) -> list[Any]:
    """Of the loop, and of its computing alone, by the clock of the device."""
    counts, steps = loop.samples[warmup:], loop.times["step"][warmup:]
    samples = None if not counts or None in counts else sum(n for n in counts if n is not None)
    return [
        _figure("throughput", "samples/s", clock.kind,
                _ratio(samples, None if elapsed_ms is None else elapsed_ms / 1000)),
        _figure("throughput_without_loading", "samples/s", clock.kind,
                _ratio(samples, sum(steps) / 1000 if steps else None)),
        _figure("time_per_batch", "ms", clock.kind, _ratio(elapsed_ms, len(counts))),
        _figure("loading_to_computing", "ratio", None,
                _ratio(_core._mean(loading), _core._mean(steps))),
    ]


class Counts(NamedTuple):
    """How many batches are measured, how many before them are in no statistics, and until when, by
    the host's clock, another one begins (None: without an end)."""

    batches: int
    warmup: int
    until_ns: int | None = None


class _Trained:
    """How far a training came."""

    under: dict[str, Any] | None = None  # the conditions of its first batch; None: there was none
    loaded_warm = 0  # times of loading that are the warm-up's
    elapsed_ms: float | None = None  # of the loop behind the warm-up; None: no step is counted
    is_over = False  # before all batches that were asked for
    out_of_time = False  # which is why


def _in_time(batches: Batches, count: int, until_ns: int | None, clock: Clock,
             trained: _Trained) -> Iterator[Any]:
    """So many batches; fewer where the loader, or the time, has ended."""
    for _ in range(count):
        trained.out_of_time = until_ns is not None and clock.host_ns() >= until_ns
        batch = _END if trained.out_of_time else next(batches, _END)
        if batch is _END:
            trained.is_over = True
            return
        yield batch


def _train(loop: _Loop, busy: _Busy, batches: Batches, counts: Counts, clock: Clock,
           conditions_of: Callable[[Any], dict[str, Any]]) -> _Trained:
    """Trains on the batches of the warm-up, then on those that count."""
    trained = _Trained()

    def step(batch: Any) -> None:
        if trained.under is None:
            trained.under = conditions_of(batch)
        loop.step(batch)
        busy.look()
    for batch in _in_time(batches, counts.warmup, counts.until_ns, clock, trained):
        trained.loaded_warm = len(batches.times)
        step(batch)
    if not trained.is_over:
        began, ended, anew_ms = clock.mark(), None, batches.anew_ms
        for batch in _in_time(batches, counts.batches, counts.until_ns, clock, trained):
            step(batch)
            ended = clock.mark()
        clock.wait()
        if ended is not None:  # a loader that began anew is no part of the loop
            trained.elapsed_ms = clock.milliseconds(began, ended) - (batches.anew_ms - anew_ms)
    return trained


def _told(trained: _Trained, loop: _Loop, batches: Batches, counts: Counts) -> list[str]:
    """Why fewer batches were measured, and what is in no figure."""
    steps, asked, notes = len(loop.samples), counts.warmup + counts.batches, list[str]()
    if trained.out_of_time:
        notes.append(_OUT_OF_TIME.format(steps, asked))
    if trained.elapsed_ms is None:
        notes.append(_NONE_IN_TIME if trained.out_of_time else _NONE_MEASURED if steps else
                     _NO_BATCH)
    if batches.passes > 1:
        notes.append(f"The loader was gone through {batches.passes} times; beginning anew is in no "
                     "figure.")
    return notes


def measure(parts: list[Part], model: Any, batches: Batches, counts: Counts, clock: Clock,
            dataloader: Any) -> Measurement:
    """Trains on batches by these parts: what measure_training() and diagnose() tell of it."""
    busy = _Busy(clock)
    with Profiler(clock.device) as profiler:
        loop = _Loop(parts, clock, profiler)
        trained = _train(loop, busy, batches, counts, clock, lambda batch: conditions(
            model, first_of(batch), dataloader=dataloader))
        stats = clock.backend.stats(clock.device)
        phases = profiler.summary().rows
    times = [_time("data", "host", batches.times, trained.loaded_warm),
             *(_time(name, clock.kind, values, counts.warmup) for name, values in loop.times.items())]
    figures = [*_throughputs(loop, batches.times[trained.loaded_warm:], clock, counts.warmup,
                             trained.elapsed_ms),
               _figure("inactive_split_ratio", "ratio", None,
                       _ratio(stats["inactive_split_bytes"], stats["reserved_bytes"])),
               *busy.figures()]
    return Measurement("training", times, phases, figures, trained.under or conditions(model),
                       _notes(clock, *_told(trained, loop, batches, counts)))


def run(model: Any, dataloader: Iterable[Any], criterion: Callable[..., Any], optimizer: Any,
        batches: int, warmup: int) -> Measurement:
    """See measure_training()."""
    clock = clock_for(model)
    loaded = Batches(dataloader, clock, again=False)
    try:
        with in_mode(model, training=True):
            return measure(parts_of(model, criterion, optimizer), model, loaded,
                           Counts(batches, warmup), clock, dataloader)
    finally:
        loaded.close()
