"""The method of four phases on a training that runs: measured first, then recorded, then judged.

A baseline without a profiler gives the times and the kind of the bottleneck; a few steps under
torch.profiler the components, the operators, and what to change.  To diagnose is to go through the
method; "method" is the core's answer about what was measured, and a Diagnosis that with all else.
"""
from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, cast

from vramscope import _core, files
from vramscope.measuring import profiled
from vramscope.measuring.arguments import (check_calls, check_counts, check_loader, check_owner,
                                           check_place, check_seconds, check_training, refused)
from vramscope.measuring.clocks import Clock, clock_for
from vramscope.measuring.document import Document
from vramscope.measuring.machine import processors
from vramscope.measuring.measure import Measurement
from vramscope.measuring.mode import in_mode
from vramscope.measuring.training_loop import Batches, Counts, Part, measure, parts_of

__all__ = ["Diagnosis", "diagnose"]

# Of the time that it may take: the baseline may use so much, and the rest is the recording's.
_BASELINE_SHARE = 0.6


class Diagnosis(Document):
    """What diagnose() found: a mapping of its JSON document, with one page of text.

    docs/schema/diagnosis.schema.json describes the document, and save(path) writes it to a file.
    Members: `schema`, `tool`; `measurement`, the baseline as a Measurement has it; `bottleneck`, with
    `kind` ("data", "device", "host", "mixed" or "unknown"), `text`, `evidence` and `threshold`;
    `training`, the times that it was judged by; `trace`, what Trace.report() says of the recorded
    steps, or None; `seconds`, what each part took; `notes`; `checklist`, which phases of the method
    have their evidence (the last, whether a change helped, is what vramscope.compare() tells).

    measurement: the baseline, which vramscope.compare() takes. trace: the opened Trace, for you to
    close; None where nothing was recorded. KeyError is raised for a member that there is not.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     found = vramscope.diagnose(None, [b"batch"] * 30, step=lambda batch: device.advance(2_000_000))
    >>> found.measurement.time("step")["median"], found.trace is None
    (2.0, True)
    >>> found.text(width=100).splitlines()[0], found.json()[0]
    ('training <lambda>', '{')
    """

    def __init__(self, measurement: Measurement, method: _core.Result, trace: _core.Trace | None,
                 seconds: dict[str, float], notes: list[str]) -> None:
        self.measurement, self.trace = measurement, trace
        self._method = method
        document: dict[str, Any] = {
            "schema": "vramscope.diagnosis/1", "tool": _core.version(),
            "measurement": dict(measurement), "bottleneck": method["bottleneck"],
            "training": method["training"],
            "trace": None if trace is None else trace.report().to_dict(),
            "seconds": seconds, "notes": notes}
        document["checklist"] = _checklist(document)
        super().__init__(document, measurement["conditions"])

    @property
    def kind(self) -> str:
        """The kind of bottleneck: "data", "device", "host", "mixed" or "unknown"."""
        return cast(str, self["bottleneck"]["kind"])

    def text(self, **how: Any) -> str:
        """The page for people: baseline, kind, components, operators, what to change, how to verify.

        how: width, ascii and colour, as for Result.text().
        """
        took = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self["seconds"].items()
                         if name != "budget")
        lines = [("time", f"{took}; of {self['seconds']['budget']:g} s that it might take"),
                 *(("note", note) for note in [*self["notes"], *self.measurement["notes"]])]
        width = how.get("width") or 80
        return self._method.text(**how) + "\n".join(
            _labelled(*line, width, bool(how.get("ascii"))) for line in lines)


def _checklist(found: dict[str, Any]) -> dict[str, bool]:
    """Whether each phase of the method has what it needs."""
    training, trace = found["training"], found["trace"] or {}
    return {"baseline": training["steps"] > 0, "kind": found["bottleneck"]["kind"] != "unknown",
            "component": training["forward_ns"] is not None or bool(trace.get("modules")),
            "operation": bool(trace.get("ops"))}


def _labelled(label: str, text: str, width: int, in_ascii: bool) -> str:
    import textwrap
    text = "".join(c if c.isprintable() and not (in_ascii and ord(c) > 126) else ascii(c)[1:-1]
                   for c in text)
    return textwrap.fill(text, width, initial_indent=f"{label:9}", subsequent_indent=" " * 9,
                         break_on_hyphens=False)


class _Teller:
    """Says how far it is: to a function of the caller, or to a terminal."""

    def __init__(self, progress: Callable[[str], object] | bool | None) -> None:
        self._tell: Callable[[str], object] | None = None
        if not (progress is None or isinstance(progress, bool) or callable(progress)):
            raise refused("progress", "a function, True, False or None", progress)
        if callable(progress):
            self._tell = progress
        elif progress or (progress is None and sys.stderr is not None and sys.stderr.isatty()):
            self._tell = _to_terminal

    def __call__(self, text: str) -> None:
        if self._tell is not None:
            self._tell(text)


def _to_terminal(text: str) -> None:
    print(f"vramscope: {text}", file=sys.stderr, flush=True)


def _seconds(measurement: Measurement, name: str, statistic: str = "mean") -> float:
    """Seconds; -1 where it was not measured."""
    try:
        found = measurement.time(name)[statistic]
    except KeyError:
        return -1.0
    return -1.0 if found is None else found / 1000


def _known(value: float | None) -> float:
    return -1.0 if value is None or math.isnan(value) else value


def _shown(measurement: Measurement) -> str:
    """"Net on cuda:0, 32 samples a batch, float16": of what a page is."""
    under = measurement["conditions"]
    words = [under["model"] or "a training"]
    if under["device"] is not None:
        words[0] += f" on {under['device']}"
    if under["batch_size"] is not None:
        one = under["batch_size"] == 1
        words.append(f"{under['batch_size']} {'sample' if one else 'samples'} a batch")
    words += [under["dtype"]] if under["dtype"] else []
    return ", ".join(words).replace("\0", "\\x00")  # which would end a text of C


def _judged(measurement: Measurement, clock: Clock, trace: _core.Trace | None) -> _core.Result:
    under, busy = measurement["conditions"], _known(measurement.figure("utilisation"))
    workers = under["num_workers"]
    return _core._measured(
        _shown(measurement), measurement.time("step")["count"], clock.on_device,
        (_seconds(measurement, "step", "median"), _seconds(measurement, "step"),
         _seconds(measurement, "data"), _seconds(measurement, "copy"),
         _seconds(measurement, "forward"), _seconds(measurement, "backward"),
         _seconds(measurement, "optimizer")),
        _known(measurement.figure("throughput")), busy / 100 if busy >= 0 else -1.0,
        workers if isinstance(workers, int) and workers >= 0 else -1, processors() or -1, trace)


def _parts(model: Any, loader: Any, step: Any, criterion: Any, optimizer: Any) -> list[Part]:
    if step is not None:
        if criterion is not None or optimizer is not None:
            raise ValueError("give step, or criterion and optimizer, which are a step of their own")
        check_owner(model)
        check_loader("loader", loader)
        check_calls(step=step)
        return [("step", step)]
    missing = [name for name, value in (("criterion", criterion), ("optimizer", optimizer))
               if value is None]
    if missing:
        raise ValueError(f"{' and '.join(missing)}: missing; or give step, a function that trains on "
                         "one batch")
    check_training(model, "loader", loader, criterion, optimizer)
    return parts_of(model, criterion, optimizer)


def diagnose(model: Any, loader: Iterable[Any], *, step: Callable[[Any], object] | None = None,
             criterion: Callable[..., Any] | None = None, optimizer: Any = None,
             batches: int = 20, warmup: int = 5, steps: int = 5, seconds: float = 60.0,
             trace: files.Path | None = None,
             progress: Callable[[str], object] | bool | None = None) -> Diagnosis:
    """Trains for a while, and says what slows it down: rows D01, D07, D09, D24, D29.

    First a baseline is measured without a profiler: `warmup` steps, then `batches` more that are
    counted, each with the loading of its batch. Then `steps` steps are recorded by torch.profiler, where PyTorch is. Both
    give one page: the baseline, the kind of bottleneck, the components, the operators, three things
    to change with what each gains at most, and the command that verifies a change.

    model: a module, which tells its device; with criterion and optimizer it is trained, in the mode
    of training meanwhile. Weights change. loader: gives pairs of data and target; it is begun anew
    where it ends. step: instead of criterion and optimizer, a function that trains on whatever the
    loader gives; it has the mode and the device in its own hands. seconds: how long it may take, by
    the host's clock; on a simulated device that is its virtual one, which the program's own time does
    not move. What is under way is ended after the step that it is in. trace: where the recorded trace
    is kept. progress: is told in words how far it is; None tells a terminal, False nobody.

    What the program's parts raise is raised, and workers are ended before. Before anything runs:
    OSError where `trace` cannot be written; ValueError for counts below 1, and where neither step nor
    criterion and optimizer are given; TypeError for arguments of another type.

    >>> import vramscope
    >>> from vramscope import sim
    >>> def slow(device):
    ...     while True:
    ...         device.advance(30_000_000)
    ...         yield b"batch"
    >>> with sim.Device() as device:
    ...     found = vramscope.diagnose(None, slow(device), step=lambda batch: device.advance(2_000_000))
    >>> found.kind, found["bottleneck"]["text"]
    ('data', 'loading a batch takes 30.0 ms in the mean, and the step that follows computes for 2.00 ms')
    """
    check_counts(batches=batches, warmup=warmup, steps=steps)
    check_place("trace", trace)
    check_seconds("seconds", seconds)
    parts, tell = _parts(model, loader, step, criterion, optimizer), _Teller(progress)
    clock = clock_for(model)
    begun, took, notes = clock.host_ns(), dict[str, float](), list[str]()
    loaded = Batches(loader, clock, again=True)

    def until(share: float) -> int:
        return begun + int(seconds * share * 1e9)

    def take(name: str, since: int) -> int:
        now = clock.host_ns()
        took[name] = (now - since) / 1e9
        return now
    try:
        # What step() trains has its mode from whoever wrote it.
        with nullcontext() if step is not None else in_mode(model, training=True):
            tell(f"baseline: {warmup} + {batches} steps, at most {seconds * _BASELINE_SHARE:g} s")
            measurement = measure(parts, step if model is None else model, loaded,
                                  Counts(batches, warmup, until(_BASELINE_SHARE)), clock, loader)
            now = take("baseline", begun)
            found = _record(parts, loaded, loader, steps, clock, until(1), trace, tell, notes)
    finally:
        loaded.close()
    now = take("recording", now)
    tell("reading what was recorded")
    method = _judged(measurement, clock, found)
    made = Diagnosis(measurement, method, found, took, notes)
    take("reading", now)
    took["budget"] = seconds
    return made


def _record(parts: list[Part], loaded: Batches, loader: Iterable[Any], steps: int, clock: Clock,
            until_ns: int, path: files.Path | None, tell: _Teller,
            notes: list[str]) -> _core.Trace | None:
    """The trace of a few steps; None, with a note, where there is none."""
    if profiled.profiler_module() is None:
        notes.append("No operator was recorded: " + profiled.NO_PROFILER + ".")
        return None
    if profiled.is_recording():
        notes.append("No operator was recorded: a profiler of torch runs already, whose recording "
                     "that would have ended.")
        return None
    if clock.host_ns() >= until_ns:
        notes.append("No operator was recorded: the time ran out in the baseline.")
        return None
    tell(f"recording: 1 + {steps} steps under torch.profiler")
    try:
        found, done = profiled.record_steps(parts, loaded, loader, steps=steps, warmup=1, path=path,
                                            may_go_on=lambda: clock.host_ns() < until_ns,
                                            notes=notes)
    except _core.Error as error:  # the baseline stays
        notes.append(f"No operator was recorded: {error}")
        return None
    if found is None:
        notes.append("No operator was recorded: the loader gave no further batch, or the time ran "
                     "out.")
    elif done < steps:
        notes.append(f"{done} of {steps} steps were recorded: the loader gave no further batch, or "
                     "the time ran out.")
    return found
