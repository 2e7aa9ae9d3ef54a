"""The loop of measure_training(): each batch loaded, copied, and trained on, between marks."""
from __future__ import annotations

import contextlib

from vramscope.measuring.clocks import clock_for
from vramscope.measuring.measure import (Measurement, _Busy, _figure, _move, _notes, _ratio, _time,
                               conditions, profiler_range)
from vramscope.profiler import Profiler

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from vramscope.measuring.clocks import Clock

PHASES = ("copy", "forward", "backward", "optimizer")
_NOT_ASKED = ("No batch was measured: the loader ended in the warm-up.",)


class _Loop:
    """One training, and the times of its batches."""

    def __init__(self, model: Any, criterion: Any, optimizer: Any, clock: Clock,
                 profiler: Profiler) -> None:
        self._model, self._criterion, self._optimizer = model, criterion, optimizer
        self._clock, self._profiler = clock, profiler
        self.times: dict[str, list[float]] = {name: [] for name in ("data", *PHASES, "step")}
        self.samples: list[int | None] = []
        self._given: Any = None

    def batch(self, data: Any, target: Any) -> None:
        """Trains on one batch."""
        shape = getattr(data, "shape", None)
        self.samples.append(int(shape[0]) if shape else None)
        self._given = data, target
        marks = [self._clock.mark()]
        for phase, work in zip(PHASES, (self._copy, self._forward, self._backward, self._step)):
            with self._profiler.scope(phase), profiler_range(f"## {phase} ##"):
                work()
            marks.append(self._clock.mark())
        self._clock.wait()
        self._given = None
        for phase, begin, end in zip(PHASES, marks, marks[1:]):
            self.times[phase].append(self._clock.milliseconds(begin, end))
        self.times["step"].append(self._clock.milliseconds(marks[0], marks[-1]))

    def _copy(self) -> None:
        data, target = self._given
        self._given = _move(self._model, data), _move(self._model, target)

    def _forward(self) -> None:
        data, target = self._given
        self._given = self._criterion(self._model(data), target)

    def _backward(self) -> None:
        self._given.backward()

    def _step(self) -> None:
        self._given = None
        self._optimizer.step()
        self._optimizer.zero_grad()


def _throughputs(loop: _Loop, clock: Clock, warmup: int, elapsed_ms: float | None) -> list[Any]:
    """Of the loop, and of its computing alone, by the clock of the device."""
    counts = loop.samples[warmup:]
    samples = None if not counts or None in counts else sum(n for n in counts if n is not None)
    step_ms = _sum(loop.times["step"][warmup:])
    return [
        _figure("throughput", "samples/s", clock.kind,
                _ratio(samples, None if elapsed_ms is None else elapsed_ms / 1000)),
        _figure("throughput_without_loading", "samples/s", clock.kind,
                _ratio(samples, None if step_ms is None else step_ms / 1000)),
        _figure("time_per_batch", "ms", clock.kind, _ratio(elapsed_ms, len(counts))),
        _figure("loading_to_computing", "ratio", None,
                _ratio(_sum(loop.times["data"][warmup:]), step_ms)),
    ]


def _sum(values: list[float]) -> float | None:
    return sum(values) if values else None


@contextlib.contextmanager
def _in_training(model: Any) -> Iterator[None]:
    """The model is in the mode of training meanwhile, and then in that which it had."""
    evaluates = getattr(model, "training", None) is False
    if evaluates:
        model.train()
    try:
        yield
    finally:
        if evaluates:
            model.eval()


def run(model: Any, dataloader: Iterable[Any], criterion: Callable[..., Any], optimizer: Any,
        batches: int, warmup: int) -> Measurement:
    """See measure_training()."""
    clock = clock_for(model)
    busy, ended, under = _Busy(clock), None, None
    with _in_training(model), Profiler(clock.device) as profiler:
        loop = _Loop(model, criterion, optimizer, clock, profiler)
        asked, began = clock.host_ns(), clock.mark()
        loader = iter(dataloader)  # which starts workers: the first batch's
        for number in range(warmup + batches):
            if number == warmup:
                began = clock.mark()
            if number > 0:
                asked = clock.host_ns()
            try:
                data, target = next(loader)
            except StopIteration:
                break
            loop.times["data"].append((clock.host_ns() - asked) / 1e6)
            if under is None:
                under = conditions(model, data, dataloader=dataloader)
            loop.batch(data, target)
            busy.look()
            if number >= warmup:
                ended = clock.mark()
        clock.wait()
        elapsed_ms = None if ended is None else clock.milliseconds(began, ended)
        stats = clock.backend.stats(clock.device)
        phases = profiler.summary().rows
    times = [_time(name, "host" if name == "data" else clock.kind, values, warmup)
             for name, values in loop.times.items()]
    figures = [*_throughputs(loop, clock, warmup, elapsed_ms),
               _figure("inactive_split_ratio", "ratio", None,
                       _ratio(stats["inactive_split_bytes"], stats["reserved_bytes"])),
               *busy.figures()]
    more = () if elapsed_ms is not None else _NOT_ASKED
    return Measurement("training", times, phases, figures, under or conditions(model),
                       _notes(clock, *more))
