"""What a training waits for, by its times and the device's utilisation: rows D09, D24."""
from __future__ import annotations

import sys

from vramscope import _core
from vramscope.compat._printing import out
from vramscope.compat.methodology._given import (clock_note, device_note, known, mover,
                                                 names)
from vramscope.compat.methodology.timing import (loading_and_computing, loading_lines, phase_lines,
                                                 phases_of)
from vramscope.measuring.clocks import clock_for, device_of
from vramscope.measuring.machine import processors
from vramscope.measuring.measure import _Busy
from vramscope.measuring.mode import in_mode

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from vramscope.measuring.clocks import Clock

BUSY_PERCENT = 70
UNKNOWN_BUSY = "Whether the device is busy is not known: the driver does not tell its utilisation."
# The first of them is a warm-up, and counts only where it is alone.
_BATCHES = 6
_WORKING_BATCHES = 50
_COPIES = 5
_COPIED_BYTES = 128 << 20  # more than what a device caches


def percent_of(busy: _Busy) -> int | None:
    """The utilisation while it worked, in whole percent; None where the driver does not tell it."""
    found = busy.figures()[0]["value"]
    return None if found is None else round(found)


def utilisation_line(percent: int | None) -> str:
    """The line that tells it."""
    return f"GPU Utilization: {'unknown' if percent is None else f'{percent}%'}"


class _Phases:
    """Milliseconds of what each batch of a training goes through, and how busy the device was."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._busy, self._batches = clock, _Busy(clock), list[dict[str, float]]()
        self.percent: int | None = None

    def run(self, model: Any, dataloader: Iterable[Any], criterion: Any, optimizer: Any) -> None:
        """Trains on a few batches."""
        move, batches = mover(model, self._clock), iter(dataloader)

        def step() -> None:
            optimizer.step()
            if self._batches:  # what the driver tells in the first is of the time before
                self._busy.look()
        for _ in range(_BATCHES):
            asked = self._clock.host_ns()
            try:
                data, target = next(batches)
            except StopIteration:
                break
            loaded = self._clock.host_ns()
            data, target = move(data), move(target)
            optimizer.zero_grad()
            phases = phases_of(model, data, target, criterion, self._clock, step)
            self._batches.append({"data_loading": (loaded - asked) / 1e6, **phases})
        if self._batches:
            self.percent = percent_of(self._busy)

    def means(self) -> dict[str, float]:
        """By phase, without the warm-up; empty where no batch ran."""
        kept = self._batches[1:] or self._batches
        return {phase: known(_core._mean([batch[phase] for batch in kept]))
                for phase in (kept[0] if kept else ())}


def _copy_line(model: Any, clock: Clock) -> str:
    """How fast the device copies memory of its own.

    Two blocks are taken for it, and given back to the cache.
    """
    if not clock.on_device:
        return f"Device copy: unknown, {clock.why}."
    torch = sys.modules.get("torch")
    if torch is None or clock.backend.name != "torch":
        return "Device copy: unknown, the device is simulated and copies nothing."
    place = device_of(model)
    place = f"cuda:{clock.device}" if place is None else place
    try:
        source, copy = (torch.empty(_COPIED_BYTES, dtype=torch.int8, device=place) for _ in "sc")
        copy.copy_(source)  # a warm-up
        begin = clock.mark()
        for _ in range(_COPIES):
            copy.copy_(source)
        end = clock.mark()
        clock.wait()
    except RuntimeError as error:  # as where no memory is left for it
        reason = str(error).splitlines() or [type(error).__name__]
        return f"Device copy: unknown, it failed: {reason[0]}"
    seconds = clock.milliseconds(begin, end) / 1e3
    if not seconds > 0:
        return "Device copy: unknown, it took no time."
    return (f"Device copy: {_COPIES * _COPIED_BYTES / seconds / 1e9:.1f} GB/s "
            "(each byte is read once and written once)")


def _type_of(times: dict[str, float]) -> tuple[str, str]:
    """The verdict on phases, and what to do."""
    if times["data_loading"] > times["forward"] + times["backward"]:
        return ("CPU-bound (data loading)",
                "Increase num_workers, enable pin_memory, cache data")
    if times["forward"] > times["backward"] * 2:
        return "GPU-bound (forward pass)", "Profile forward pass operations"
    if times["backward"] > times["forward"] * 2:
        return ("GPU-bound (backward pass)",
                "Profile backward pass, check gradient checkpointing")
    return "Mixed or memory-bound", "Deep profiling needed"


def diagnose_bottleneck_type(model: Any, dataloader: Iterable[Any], *, criterion: Any = None,
                             optimizer: Any = None) -> None:
    """Trains on six batches at most, and prints which type of bottleneck there is: row D09.

    The first batch is a warm-up. Loading is timed by the host's clock, phases by the device's. The
    utilisation is that of the device while it works on the batches.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    phases = _Phases(clock)
    out("=== GPU Utilization Check ===")
    phases.run(model, dataloader, criterion, optimizer)
    out(utilisation_line(phases.percent))
    out(f"\n=== Memory Bandwidth Check ===\n{_copy_line(model, clock)}")
    times = phases.means()
    if not times:
        out("\n=== Phase Profiling ===\nNo batch ran: the loader is empty.\n\n=== Diagnosis ===\n"
            "There is no diagnosis: nothing was measured.")
        return
    of_device = {phase: ms for phase, ms in times.items() if phase != "data_loading"}
    verdict, action = _type_of(times)
    out("\n".join(["", "=== Phase Profiling ===", *phase_lines(of_device),
                   f"  {'data_loading':15s}: {times['data_loading']:7.2f} ms", *clock_note(clock),
                   "", "=== Diagnosis ===", f"BOTTLENECK: {verdict}", f"Action: {action}",
                   *device_note(clock)]))


def _loading_solutions(dataloader: Any) -> list[str]:
    workers = getattr(dataloader, "num_workers", "unknown")
    return ["", "🎯 BOTTLENECK: Data loading", "Solutions:",
            " 1. Increase num_workers in DataLoader",
            f" Current: {workers}, try: {processors()}",
            " 2. Enable pin_memory=True",
            " 3. Move data augmentation to GPU (use kornia)",
            " 4. Cache preprocessed data if dataset is small",
            " 5. Use faster storage (SSD instead of HDD)"]


_PREPROCESSING_SOLUTIONS = ["", "🎯 BOTTLENECK: CPU preprocessing", "Solutions:",
                            " 1. Move preprocessing to GPU",
                            " 2. Reduce preprocessing complexity",
                            " 3. Batch preprocessing operations"]


def diagnose_cpu_bottleneck(model: Any, dataloader: Iterable[Any], *, criterion: Any = None,
                            optimizer: Any = None) -> float:
    """Trains on fifty batches at most, and prints whether the device waits for the host: row D24.

    The utilisation, which it returns in whole percent, is that of the device while batches run; NaN
    where the driver does not tell it, or no batch ran. The model is in the mode of training
    meanwhile, and then in that which it had.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    busy = _Busy(clock)
    with in_mode(model, training=True):
        loading, computing = loading_and_computing(model, dataloader, _WORKING_BATCHES, criterion,
                                                   optimizer, clock, busy.look)
    percent = percent_of(busy) if loading else None
    lines = [utilisation_line(percent), *device_note(clock)]
    if percent is not None and percent >= BUSY_PERCENT:
        lines += ["✅ GPU utilization is healthy", " Bottleneck is likely in GPU computation"]
    else:
        lines.append("⚠️ LOW GPU UTILIZATION - likely CPU-bound" if percent is not None else
                     UNKNOWN_BUSY)
        told, data_ms, compute_ms = loading_lines(loading, computing)
        lines += [*told, *clock_note(clock)]
        if data_ms > compute_ms:
            lines += _loading_solutions(dataloader)
        elif percent is not None:
            lines += _PREPROCESSING_SOLUTIONS
    out("\n".join(lines))
    return known(percent)
