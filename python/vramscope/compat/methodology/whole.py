"""The method as one call, from a baseline to the operators: row D29."""
from __future__ import annotations

import math
import os
import sys

from vramscope import _core, backends
from vramscope.compat._printing import out
from vramscope.compat.methodology import _operators
from vramscope.compat.methodology._given import (clock_note, device_note, known, mover,
                                                 names, ratio)
from vramscope.compat.methodology.bottleneck import (BUSY_PERCENT, UNKNOWN_BUSY, percent_of,
                                                     utilisation_line)
from vramscope.compat.methodology.profiled import trainer
from vramscope.compat.methodology.timing import figures_of, loading_and_computing, phases_of
from vramscope.measuring.clocks import clock_for
from vramscope.measuring.measure import _Busy
from vramscope.measuring.mode import in_mode
from vramscope.measuring.profiled import profiler_module

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

_RULE = "=" * 80
_TRACE = "detailed_trace.json"
_WARMUP, _BASELINE, _COMPARED, _PROFILED = 5, 10, 20, 10
_NO_BATCH = "No batch ran: the loader gave none."


def _banner(text: str) -> str:
    return f"{_RULE}\n{text}\n{_RULE}"


def _placed(model: Any, device: Any) -> list[str]:
    """Moves a model to a device, or says why it stays where it is.

    A simulated device stands for whatever device the model is on.
    """
    backend = backends.auto()
    is_cuda = isinstance(device, int) or str(device).partition(":")[0] == "cuda"
    if is_cuda and not backends.available(backend):
        return [f"There is no device {device}: the model stays where it is."]
    if hasattr(model, "to") and not (is_cuda and backend.name != "torch"):
        model.to(device)
    return []


def _write_trace(prof: Any) -> None:
    """To both of its places: a profile can be exported once."""
    import shutil
    import socket
    import time
    prof.export_chrome_trace(_TRACE)
    os.makedirs(_operators.LOGS, exist_ok=True)
    name = f"{socket.gethostname()}_{os.getpid()}.{time.time_ns()}.pt.trace.json"
    shutil.copyfile(_TRACE, os.path.join(_operators.LOGS, name))


class _Whole:
    """The four phases of the method on one training, each printed as it ends.

    found: what they found, by its name; taken: seconds that each took, by the host's clock.
    """

    def __init__(self, model: Any, dataloader: Iterable[Any], criterion: Any,
                 optimizer: Any) -> None:
        self._model, self._dataloader = model, dataloader
        self._criterion, self._optimizer = criterion, optimizer
        self._clock = clock_for(model)
        self._used_bytes: int | None = None
        self.found: dict[str, float] = {}
        self.taken: dict[str, float] = {}

    def phase(self, name: str, run: Callable[[], None]) -> None:
        """Runs one of them, and takes its time."""
        begin = self._clock.host_ns()
        run()
        self.taken[name] = (self._clock.host_ns() - begin) / 1e9

    def _train(self, count: int,
               look: Callable[[], object] = lambda: None) -> tuple[list[float], list[float]]:
        return loading_and_computing(self._model, self._dataloader, count, self._criterion,
                                     self._optimizer, self._clock, look)

    def baseline(self) -> None:
        """The time of a step, after a warm-up; the device's utilisation is read meanwhile."""
        out(f"\nWarming up ({_WARMUP} iterations)...")
        self._train(_WARMUP)
        out(f"\nMeasuring baseline ({_BASELINE} iterations)...")
        busy = _Busy(self._clock)
        times = self._train(_BASELINE, busy.look)[1]
        percent = percent_of(busy) if times else None
        self._used_bytes = busy.figures()[2]["value"]
        figures = figures_of(times)
        self.found.update(baseline_ms=figures["Mean"], gpu_utilization=known(percent))
        out("\n".join(["", "Baseline Performance:", f" Mean: {figures['Mean']:.2f} ms/iteration",
                       *(f" {label}: {figures[label]:.2f} ms" for label in ("Std", "Median", "P95")),
                       *([] if times else [_NO_BATCH]), *clock_note(self._clock)]))

    def bottleneck(self) -> None:
        """Utilisation in the baseline, loading against computation."""
        out("\n" + _banner("PHASE 2: IDENTIFY BOTTLENECK TYPE"))
        percent = self.found["gpu_utilization"]
        whole = None if math.isnan(percent) else int(percent)
        used = self._used_bytes
        memory = "unknown" if used is None else f"{used >> 20} MB"
        verdict = (UNKNOWN_BUSY if whole is None else
                   "⚠️ LOW GPU UTILIZATION - likely CPU-bound" if whole < BUSY_PERCENT else
                   "✅ GPU utilization healthy - likely GPU-bound")
        out("\n".join(["", utilisation_line(whole), f"GPU Memory Used: {memory}", verdict, "",
                       "Profiling data loading vs computation..."]))
        loading, computing = self._train(_COMPARED)
        data_ms, compute_ms = known(_core._mean(loading)), known(_core._mean(computing))
        self.found.update(data_loading_ms=data_ms, computation_ms=compute_ms)
        slower = "Data loading (CPU-bound)" if data_ms > compute_ms else "Model computation (GPU-bound)"
        out("\n".join(["", f"Data loading: {data_ms:.2f} ms", f"Computation: {compute_ms:.2f} ms",
                       *([f"🎯 BOTTLENECK: {slower}", *device_note(self._clock)] if loading else
                         [_NO_BATCH])]))

    def component(self) -> None:
        """The phases of one step."""
        out("\n" + _banner("PHASE 3: NARROW TO COMPONENT") + "\n\nProfiling training phases...")
        labels = ("forward", "backward", "optimizer")
        times = dict.fromkeys(labels, math.nan)
        for data, target in self._dataloader:
            move = mover(self._model, self._clock)
            times = phases_of(self._model, move(data), move(target), self._criterion, self._clock,
                              self._step)
            break
        self.found.update((f"{label}_ms", times[label]) for label in labels)
        total = sum(times.values())
        lines = [f" {label.capitalize()}: {ms:7.2f} ms ({ratio(ms, total) * 100:5.1f}%)"
                 for label, ms in times.items()]
        out("\n".join(["", "Phase breakdown:", *([_NO_BATCH] if math.isnan(total) else lines)]))

    def _step(self) -> None:
        self._optimizer.step()
        self._optimizer.zero_grad()

    def operation(self) -> None:
        """Operators of three steps, and their trace."""
        out("\n" + _banner("PHASE 4: IDENTIFY OPERATION"))
        profiler = profiler_module()
        if profiler is None:
            out("\n" + _operators.NO_PROFILER)
            return
        out("\nRunning detailed profiler...")
        prof, short = _operators.profiled_training(
            profiler, trainer(self._model, self._criterion, self._optimizer), self._dataloader,
            _PROFILED, 3, _write_trace)
        averages = _operators.averages_of(prof)
        for line in short:
            out(line)
        if len(averages) > 0:
            out("\nTop operations by CUDA time:\n" + _operators.time_table(averages, 15, 60))
            out("\nTop operations by memory:\n" + _operators.memory_table(averages, 10, 60))
            for line in _operators.host_note(averages):
                out(line)


def comprehensive_profiling(model: Any, dataloader: Iterable[Any], device: Any = "cuda", *,
                            criterion: Any = None, optimizer: Any = None) -> dict[str, float]:
    """Trains a while, and prints where the time goes, from the step to its operators: row D29.

    A dict of baseline_ms, gpu_utilization (in whole percent, while the baseline ran), data_loading_ms,
    computation_ms, forward_ms, backward_ms, optimizer_ms; NaN where that is not known. The model stays
    on `device`; it is in the mode of training meanwhile, and then in that which it had. Traces are
    written to detailed_trace.json and below ./profiler_logs. The last lines say how long each took.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    out(_banner("PHASE 1: ESTABLISH BASELINE"))
    for line in _placed(model, device):
        out(line)
    with in_mode(model, training=True):
        whole = _Whole(model, dataloader, criterion, optimizer)
        whole.phase("baseline", whole.baseline)
        whole.phase("bottleneck type", whole.bottleneck)
        whole.phase("component", whole.component)
        whole.phase("operation", whole.operation)
    out("\n" + _banner("PROFILING COMPLETE"))
    out("\n".join(["", "Next steps:", " 1. Review top operations in table above",
                   f" 2. Open chrome://tracing and load {_TRACE}",
                   f" 3. Or view in TensorBoard: tensorboard --logdir={_operators.LOGS}",
                   " 4. Focus optimization on identified bottleneck",
                   " 5. Re-run this profiling after optimization to verify improvement",
                   "", "Time taken:",
                   *(f"  {name:15s}: {seconds:7.2f} s" for name, seconds in whole.taken.items())]))
    return whole.found
