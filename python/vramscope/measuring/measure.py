"""Time and memory of a model, measured: each figure with its unit, its clock, and its state.

Statistics are of batches after a warm-up, by the device's clock; where there is none by the
host's, which each figure and a note say.
"""
from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator

from vramscope import _core, backends
from vramscope.measuring.arguments import (check_calls, check_counts, check_owner, check_seconds,
                                           check_training)
from vramscope.measuring.clocks import Clock, clock_for, device_of
from vramscope.measuring.document import Document

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Measurement", "conditions", "measure_latency", "measure_training",
           "measure_utilisation", "memory_summary", "no_grad", "profiler_range"]

STEADY_SHARE = 0.05
# A time is called steady where so many values are from there on: one alone always is.
STEADY_COUNT = 3
_READ_NS = 100_000_000  # between two readings of the utilisation, which cost as much as a batch may
_MOST_STEPS = 100_000  # where a virtual clock stands still
_MOST_VALUES = 4096  # of a row that the document has; more are thinned out


def no_grad() -> contextlib.AbstractContextManager[Any]:
    """torch.no_grad(), or nothing where torch is not imported."""
    made = getattr(sys.modules.get("torch"), "no_grad", None)
    return contextlib.nullcontext() if made is None else made()


@contextlib.contextmanager
def profiler_range(name: str) -> Iterator[None]:
    """A range of torch's profiler around a block, where torch is there."""
    torch = sys.modules.get("torch")
    opened = None
    if torch is not None:
        from vramscope import _torch
        opened = _torch.open_range(torch, name, always=True)
    try:
        yield
    finally:
        if opened is not None:
            opened.__exit__(None, None, None)


def memory_summary(backend: _core.Backend | None = None, device: int | None = None) -> str:
    """The table that torch prints of a device's memory; of another backend, its counters."""
    backend = backends.auto() if backend is None else backend
    device = backend.current() if device is None else device
    torch = sys.modules.get("torch")
    if torch is not None and backend.name == "torch":
        from vramscope import _torch
        return _torch.memory_summary(torch, device)
    stats = backend.stats(device)
    if stats["allocated_bytes"] is None:
        return "There is no memory summary: there is no device whose memory is known."
    lines = [f"Memory of {backend.device_name(device)}, in bytes",
             f"{'':14}{'now':>20}{'peak':>20}"]
    lines += [f"{curve:14}{stats[curve + '_bytes']:20,}{stats[curve + '_peak_bytes']:20,}"
              for curve in ("allocated", "reserved", "active")]
    return "\n".join([*lines, f"{'inactive split':14}{stats['inactive_split_bytes']:20,}"])


def conditions(model: Any, batch: Any = None, *, dataloader: Any = None) -> dict[str, Any]:
    """Under what a measurement was made, as a dict that `json` can write: row D05.

    model: a module, or any callable. batch: a tensor, whose first dimension is the batch's size;
    None leaves both unknown. dataloader: whose `num_workers` is told. Keys: model, batch_size,
    input_shape, device, dtype, mode ("train" or "eval", as the model is), num_workers,
    cudnn_benchmark, gpu; None is what is not known. It asks no device that is not in use.

    >>> import vramscope
    >>> class Model:
    ...     training = True
    >>> vramscope.conditions(Model())["mode"]
    'train'
    """
    torch = sys.modules.get("torch")
    place, backend = device_of(model), backends.auto()
    workers = getattr(dataloader, "num_workers", None)
    shape = [int(size) for size in getattr(batch, "shape", ())]
    training = getattr(model, "training", None)
    dtype: Any = next((getattr(p, "dtype", None) for p in _parameters(model)), None)
    benchmark = None
    if torch is not None:
        from vramscope import _torch
        kind = str(getattr(place, "type", "cuda"))
        dtype = _torch.autocast_dtype(torch, kind) or dtype
        benchmark = _torch.cudnn_benchmark(torch)
    on_host = backend.name == "torch" and getattr(place, "type", "cuda") != "cuda"
    return {
        "model": getattr(model, "__name__", None) or type(model).__name__,
        "batch_size": shape[0] if shape else None,
        "input_shape": shape[1:] if shape else None,
        "device": None if place is None else str(place),
        "dtype": None if dtype is None else str(dtype).removeprefix("torch."),
        "mode": None if training is None else "train" if training else "eval",
        "num_workers": workers if isinstance(workers, int) else None,
        "cudnn_benchmark": benchmark,
        "gpu": None if on_host else backend.device_name(getattr(place, "index", None)),
    }


def _parameters(model: Any) -> Iterable[Any]:
    parameters = getattr(model, "parameters", None)
    return parameters() if callable(parameters) else ()


class Measurement(Document):
    """What was measured: a mapping of its JSON document, with a text.

    docs/schema/measurement.schema.json describes the document, and save(path) writes it to a file.
    Members: `schema`, `tool`, `what`; `times`, a row for each thing that was timed, with its
    `values` after the warm-up (of more than 4096 so many, spread evenly); `phases`, rows of memory
    as Profiler.summary() has them; `figures`, each with `name`, `unit`, `clock` ("device", "host",
    or None where no clock is in it) and `value`; `conditions`; `notes`. None is unknown.

    >>> from vramscope import Measurement
    >>> made = Measurement("nothing", [], [], [], {}, ["it was only an example"])
    >>> made.json()[0], made.text() == str(made)
    ('{', True)
    >>> rows = [{"name": "forward", "value": 7}]
    >>> timed = Measurement("an example", rows, [], rows, {}, [])
    >>> timed.time("forward")["value"], timed.figure("forward")
    (7, 7)
    >>> made["what"], str(made).splitlines()[-1]
    ('nothing', 'it was only an example')
    """

    def __init__(self, what: str, times: list[dict[str, Any]], phases: list[dict[str, Any]],
                 figures: list[dict[str, Any]], under: dict[str, Any], notes: list[str]) -> None:
        super().__init__({"schema": "vramscope.measurement/1", "tool": _core.version(),
                          "what": what, "times": times, "phases": phases, "figures": figures,
                          "conditions": under, "notes": notes}, under)

    def time(self, name: str) -> dict[str, Any]:
        """The row of `times` of a name; KeyError where there is none."""
        return self._named("times", name)

    def figure(self, name: str) -> Any:
        """The value of a figure; KeyError where there is none."""
        return self._named("figures", name)["value"]

    def _named(self, rows: str, name: str) -> dict[str, Any]:
        for row in self[rows]:
            if row["name"] == name:
                found: dict[str, Any] = row
                return found
        there = ", ".join(row["name"] for row in self[rows]) or "none"
        raise KeyError(f"there is no {name!r} among the {rows}: {there}")

    def text(self) -> str:
        """Tables for people."""
        from vramscope.measuring import measure_text
        return measure_text.text_of(self._document)


def _values(times: list[float]) -> list[float]:
    """All of them, or of many a part that is spread over the measurement.

    Of each stretch one is drawn, since every k-th might be one that workers give out at once.
    """
    count = len(times)
    if count <= _MOST_VALUES:
        return times
    import random
    draw = random.Random(count).randrange
    ends = [i * count // _MOST_VALUES for i in range(_MOST_VALUES + 1)]
    return [times[draw(begin, end)] for begin, end in zip(ends, ends[1:])]


def _time(name: str, clock: str, times: list[float], warmup: int) -> dict[str, Any]:
    """The row of a series in milliseconds, whose first `warmup` values are in no statistics."""
    kept, steady = times[warmup:], _core._steady(times, STEADY_SHARE)
    enough = steady is not None and len(times) - steady >= STEADY_COUNT
    return {
        "name": name, "unit": "ms", "clock": clock, "count": len(kept), "warmup": warmup,
        "first": times[0] if times else None,
        "median": _core._percentile(kept, 0.5), "mean": _core._mean(kept),
        "deviation": _core._deviation(kept), "least": _core._percentile(kept, 0),
        "most": _core._percentile(kept, 1), "p95": _core._percentile(kept, 0.95),
        "p99": _core._percentile(kept, 0.99), "steady_from": steady if enough else None,
        "values": _values(kept),
    }


def _figure(name: str, unit: str, clock: str | None, value: float | None) -> dict[str, Any]:
    if value is not None and not math.isfinite(value):
        value = None
    return {"name": name, "unit": unit, "clock": clock, "value": value}


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


class _Busy:
    """Readings of a device's utilisation while it works, at most ten a second."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._last, self._found = clock, clock.host_ns(), list[float]()

    def look(self, *, now: bool = False) -> None:
        """Makes a reading if the last is a while ago, or `now`."""
        at = self._clock.host_ns()
        if now or at - self._last >= _READ_NS:
            self._last = at
            percent = self._clock.backend.utilisation(self._clock.device)
            if percent is not None:
                self._found.append(percent)

    def figures(self) -> list[dict[str, Any]]:
        """The mean, the number of readings, and the memory that all processes use."""
        if not self._found:
            self.look(now=True)
        used, _, _ = self._clock.backend._usage(self._clock.device)
        return [_figure("utilisation", "percent", "device", _core._mean(self._found)),
                _figure("utilisation_readings", "count", None, len(self._found)),
                _figure("device_used_bytes", "bytes", None, used)]


def _notes(clock: Clock, *more: str) -> list[str]:
    return [*([] if clock.why is None else [f"Times are the host's: {clock.why}."]), *more]


def _move(model: Any, value: Any) -> Any:
    place = device_of(model)
    return value.to(place) if place is not None and hasattr(value, "to") else value


def measure_latency(model: Any, *inputs: Any, iterations: int = 100,
                    warmup: int = 10) -> Measurement:
    """Times calls of a model without gradients: a Measurement with the time "latency": rows D03, D22.

    model: any callable; one with a mode is in that of evaluation meanwhile, and then in that which
    it had. inputs: what it is called with; tensors go to the model's device. iterations: calls that
    are counted. warmup: calls before them, which are in no statistics; `first` and `steady_from`
    are of all. Times are in ms, of the device's events, or the host's clock.

    What the model raises is raised; ValueError where `iterations` is below 1 or `warmup` below 0, and
    TypeError for arguments of another type, before anything runs.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     made = vramscope.measure_latency(lambda: device.advance(2_000_000), iterations=5)
    >>> made.time("latency")["median"], made.time("latency")["clock"]
    (2.0, 'device')
    """
    from vramscope.measuring.mode import in_mode
    check_counts(iterations=iterations, warmup=warmup)
    check_calls(model=model)
    clock = clock_for(model)
    moved = [_move(model, value) for value in inputs]
    times, busy = [], _Busy(clock)
    with in_mode(model, training=False), no_grad():
        under = conditions(model, inputs[0] if inputs else None)
        for _ in range(warmup + iterations):
            begin = clock.mark()
            output = model(*moved)
            end = clock.mark()
            clock.wait()
            times.append(clock.milliseconds(begin, end))
            busy.look()
            del output
    return Measurement("latency", [_time("latency", clock.kind, times, warmup)], [],
                       busy.figures(), under, _notes(clock))


def measure_utilisation(step: Callable[[], object], *, seconds: float = 1.0,
                        model: Any = None) -> Measurement:
    """Runs step() for a while, and tells how busy the device was meanwhile: row D06.

    step: what keeps the device busy, as a step of training. seconds: how long, by the host's clock;
    on a simulated device that is its virtual one. At most 100000 steps run, since that may stand still.
    model: on whose device; None is the current one. The figure "utilisation" is the mean of
    readings in percent, at most ten a second; "device_used_bytes" the memory that all processes use.
    Both are None where the driver does not tell them.

    What step() raises is raised; ValueError where `seconds` is below 0, infinite or NaN, and
    TypeError for arguments of another type, before anything runs.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     device.set_util(87, seconds=60)
    ...     made = vramscope.measure_utilisation(lambda: device.advance(50_000_000))
    >>> made.text().splitlines()[0]
    'GPU Utilization: 87%, Memory: 0 MB'
    """
    check_seconds("seconds", seconds, or_none_at_all=True)
    check_calls(step=step)
    check_owner(model)
    clock = clock_for(model)
    busy, begin = _Busy(clock), clock.host_ns()
    for _ in range(_MOST_STEPS):
        step()
        busy.look()
        if clock.host_ns() - begin >= seconds * 1e9:
            break
    clock.wait()
    return Measurement("utilisation", [], [], busy.figures(),
                       conditions(step if model is None else model), [])


def measure_training(model: Any, dataloader: Iterable[Any], *, criterion: Callable[..., Any],
                     optimizer: Any, batches: int = 50, warmup: int = 5) -> Measurement:
    """Trains on batches, and tells where time and memory go: rows D02, D08, D11, D18, D30.

    model, criterion, optimizer: as a training has them; weights change. dataloader: gives pairs of
    data and target; one that ends early ends the measurement. batches: how many are counted.
    warmup: batches before them, which are in no statistics. Times in ms: "data" is the loading, by
    the host's clock; "copy", "forward" with the loss, "backward", "optimizer" and "step", which is
    the four, are the device's. `first` of "data" holds the start of the loader's workers. `phases`
    has the memory of each, in bytes: the peak above its begin, what it kept, what it got in all.
    Figures: "throughput" of the loop with its loading, "throughput_without_loading",
    "loading_to_computing", the share of reserved bytes that is split and can not be given back.

    What the program's parts raise is raised; ValueError where `batches` is below 1 or `warmup`
    below 0, and TypeError for arguments of another type, before anything runs.

    >>> import vramscope
    >>> from vramscope import sim
    >>> class Loss:
    ...     def backward(self): device.advance(4_000_000)
    >>> class Optimizer:
    ...     def step(self): device.advance(1_000_000)
    ...     def zero_grad(self): pass
    >>> def model(data):
    ...     device.advance(2_000_000)
    >>> with sim.Device() as device:
    ...     made = vramscope.measure_training(model, [(b"data", b"target")] * 10, optimizer=Optimizer(),
    ...                                       criterion=lambda output, target: Loss())
    >>> [(row["name"], row["median"]) for row in made["times"][2:]]
    [('forward', 2.0), ('backward', 4.0), ('optimizer', 1.0), ('step', 7.0)]
    """
    from vramscope.measuring import training_loop
    check_counts(batches=batches, warmup=warmup)
    check_training(model, "dataloader", dataloader, criterion, optimizer)
    return training_loop.run(model, dataloader, criterion, optimizer, batches, warmup)
