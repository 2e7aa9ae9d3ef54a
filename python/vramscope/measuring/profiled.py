"""Work under torch.profiler, whose trace our own core reads: operators, modules, memory, what to change."""
from __future__ import annotations

import _thread
import importlib
import os
import sys
from contextlib import nullcontext

from vramscope import _core
from vramscope.files import write_whole
from vramscope.measuring.arguments import check_calls, check_counts, check_place, check_training
from vramscope.measuring.clocks import clock_for
from vramscope.measuring.measure import _move, no_grad, profiler_range
from vramscope.measuring.mode import in_mode

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from vramscope import files
    from vramscope.measuring.training_loop import Part

__all__ = ["activities", "profile_call", "profile_training", "profiler_module", "record_steps"]

NO_PROFILER = ("torch.profiler alone records operators, and PyTorch is not imported here: run this "
               "where a model of PyTorch is")
_LOADER = "enumerate(DataLoader)#%s.__next__"  # as torch names the ranges of its own
_END = object()
# torch has one profiler for the process, and a second thread that begins one ends the process.
_one_at_a_time = _thread.allocate_lock()


def profiler_module() -> Any:
    """torch.profiler; None where the program has no torch, which is not imported for this."""
    if "torch" not in sys.modules:
        return None
    try:
        return importlib.import_module("torch.profiler")
    except ImportError:
        return None


def activities(profiler: Any, *, host: bool = True) -> list[Any]:
    """What can be recorded: work of devices, and of the host if asked or if there is nothing else."""
    kinds = profiler.ProfilerActivity
    of_devices = [kind for kind in profiler.supported_activities() if kind != kinds.CPU]
    return ([kinds.CPU] if host or not of_devices else []) + sorted(of_devices, key=str)


def _needed() -> Any:
    profiler = profiler_module()
    if profiler is None:
        raise _core._usage(NO_PROFILER)
    return profiler


def is_recording() -> bool:
    """Whether a profiler of torch runs already: another one would end its recording."""
    torch = sys.modules.get("torch")
    enabled = getattr(getattr(torch, "autograd", None), "_profiler_enabled", None)
    return bool(enabled is not None and enabled())


def _recorded(run: Callable[[Any], int], warmup: int, active: int, path: files.Path | None,
              notes: list[str] | None = None) -> tuple[_core.Trace | None, int]:
    """(the trace of what run() does under a profiler, how many steps of it are recorded).

    run: takes the profiler, and returns how many steps it did, of which the first `warmup` are not
    recorded. The trace is None where no other was done. notes: is told why the trace was not kept;
    None: that is raised.
    """
    if is_recording() or not _one_at_a_time.acquire(blocking=False):
        raise _core._usage("a profiler of torch runs already, whose recording this would end")
    try:
        return _record(run, warmup, active, path, notes)
    finally:
        _one_at_a_time.release()


def _record(run: Callable[[Any], int], warmup: int, active: int, path: files.Path | None,
            notes: list[str] | None) -> tuple[_core.Trace | None, int]:
    import shutil
    import tempfile
    profiler = _needed()
    with tempfile.TemporaryDirectory(prefix="vramscope-") as folder:
        # A name that ends so says to torch that it is to be packed.
        packs = path is None or os.fsdecode(path).endswith(".gz")
        at = os.path.join(folder, "run.pt.trace.json" + (".gz" if packs else ""))

        def write(prof: Any) -> None:
            prof.export_chrome_trace(at)
        with profiler.profile(
                activities=activities(profiler), on_trace_ready=write, record_shapes=True,
                schedule=profiler.schedule(wait=0, warmup=warmup, active=active, repeat=1),
                profile_memory=True, with_stack=True) as prof:
            done = run(prof) - warmup
        if done < 1 or not os.path.exists(at):
            return None, 0
        with open(at, "rb") as written:
            try:
                if path is not None:
                    write_whole(path, lambda file: shutil.copyfileobj(written, file))
            except OSError as error:
                if notes is None:
                    raise
                notes.append(f"The trace could not be kept: {error}")
                path = None
            written.seek(0)
            found = _core.load(written if path is None else path)
    if not isinstance(found, _core.Trace):
        raise _core._usage("torch.profiler wrote what is no trace")
    return found, done


class _Loading:
    """Batches, each in a range of its own as torch's loaders have."""

    def __init__(self, batches: Iterator[Any], loader: Any) -> None:
        self._batches = batches
        data = sys.modules.get("torch.utils.data")
        self._named = data is not None and isinstance(loader, data.DataLoader)
        self._range = _LOADER % type(loader).__name__

    def next(self) -> Any:
        """The next one, or _END."""
        if self._named:
            return next(self._batches, _END)
        with profiler_range(self._range):
            return next(self._batches, _END)


def record_steps(parts: list[Part], batches: Iterator[Any], loader: Any, *, steps: int, warmup: int,
                 may_go_on: Callable[[], bool] = lambda: True,
                 path: files.Path | None = None,
                 notes: list[str] | None = None) -> tuple[_core.Trace | None, int]:
    """(a trace of so many steps on batches, how many it has), each part of a step in a range.

    A step of the trace is a step and the loading of the next batch, so that one that is not done
    begins no step: a batch more than is trained on is loaded. loader: whose batches they are.
    may_go_on: whether there is time for another step. notes: as for _recorded().
    """
    loading = _Loading(batches, loader)

    def run(prof: Any) -> int:
        done, given = 0, first
        while given is not _END:
            for name, work in parts:
                # A step of one part is the profiler's own range.
                with profiler_range(f"## {name} ##") if len(parts) > 1 else nullcontext():
                    given = work(given)
            done += 1
            given = loading.next() if may_go_on() else _END
            if given is _END or done == warmup + steps:
                break
            prof.step()
        return done
    first = loading.next() if may_go_on() else _END
    return (None, 0) if first is _END else _recorded(run, warmup, steps, path, notes)


def profile_training(model: Any, dataloader: Iterable[Any], *, criterion: Callable[..., Any],
                     optimizer: Any, steps: int = 5, warmup: int = 3,
                     path: files.Path | None = None) -> _core.Trace:
    """Trains under torch.profiler, and opens the trace: a Trace of so many steps: rows D10, D14.

    model, dataloader, criterion, optimizer: as for measure_training(); weights change. steps: how
    many are recorded, with shapes, memory and Python frames. warmup: steps before them, of which the
    last is under the profiler, whose results are dropped. path: where the trace is kept; None is
    nowhere. The tables of the Trace are those of the framework: ops() as key_averages() has them,
    kernels(), modules(), memory(), findings(), and method(), which says what to look at.

    What the program's parts raise is raised; ValueError where `steps` is below 1 or `warmup` below 0,
    TypeError for arguments of another type, and OSError where `path` cannot be written, before
    anything runs; Error where PyTorch is not imported, or the loader ended before a step was recorded.

    >>> with vramscope.profile_training(model, loader, criterion=criterion,  # doctest: +SKIP
    ...                                 optimizer=optimizer, path="run.pt.trace.json.gz") as trace:
    ...     print(trace.method())
    >>> class Optimizer:
    ...     def step(self): pass
    ...     def zero_grad(self): pass
    >>> vramscope.profile_training(abs, [], criterion=len, optimizer=Optimizer())
    Traceback (most recent call last):
    ...
    vramscope.Error: torch.profiler alone records operators, and PyTorch is not imported here: run \
this where a model of PyTorch is
    """
    from vramscope.measuring.training_loop import Batches, parts_of
    check_counts(steps=steps, warmup=warmup)
    check_place("path", path)
    check_training(model, "dataloader", dataloader, criterion, optimizer)
    _needed()
    parts = parts_of(model, criterion, optimizer)
    batches = Batches(dataloader, clock_for(model), again=True)
    try:
        with in_mode(model, training=True):
            for _, given in zip(range(warmup - 1), batches):
                for _, work in parts:
                    given = work(given)
            found, _ = record_steps(parts, batches, dataloader, steps=steps, warmup=min(warmup, 1),
                                    path=path)
    finally:
        batches.close()
    if found is None:
        raise _core._usage("the loader ended before a step was recorded")
    return found


def profile_call(model: Any, *inputs: Any, iterations: int = 3, warmup: int = 3,
                 path: files.Path | None = None) -> _core.Trace:
    """Calls a model without gradients under torch.profiler, and opens the trace: rows D12, D13, D25, D26.

    model: any callable; one with a mode is in that of evaluation meanwhile, and then in that which
    it had. inputs: what it is called with; tensors go to the model's device. iterations: calls that
    are recorded, each a step of the trace. warmup: calls before them. path: where the trace is kept;
    None is nowhere. ops(by="shapes") has operators by the shapes of their inputs, modules() the time
    of each module, findings() what slows it down.

    What the model raises is raised; ValueError where `iterations` is below 1 or `warmup` below 0,
    TypeError for arguments of another type, and OSError where `path` cannot be written, before
    anything runs; Error where PyTorch is not imported.

    >>> with vramscope.profile_call(model, batch) as trace:  # doctest: +SKIP
    ...     print(trace.ops(by="shapes"))
    >>> vramscope.profile_call(abs, -1)
    Traceback (most recent call last):
    ...
    vramscope.Error: torch.profiler alone records operators, and PyTorch is not imported here: run \
this where a model of PyTorch is
    """
    check_counts(iterations=iterations, warmup=warmup)
    check_place("path", path)
    check_calls(model=model)
    _needed()
    clock, moved = clock_for(model), [_move(model, value) for value in inputs]
    count = min(warmup, 1) + iterations

    def run(prof: Any) -> int:
        for _ in range(count):
            model(*moved)
            clock.wait()
            prof.step()
        return count
    with in_mode(model, training=False), no_grad():
        for _ in range(warmup - 1):
            model(*moved)
        found, _ = _recorded(run, min(warmup, 1), iterations, path)
    if found is None:
        raise _core._usage("torch.profiler wrote no trace")
    return found
