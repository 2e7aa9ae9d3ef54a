"""Peaks, stages of a step, the allocator's summary, snapshots: rows D04, D17 to D20, D30."""
from __future__ import annotations

import sys

from vramscope import _core
from vramscope.compat import _history
from vramscope.compat._printing import out
from vramscope.compat.methodology._given import gigabytes, mover, names, ratio
from vramscope.measuring.clocks import clock_for
from vramscope.measuring.measure import memory_summary

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from vramscope.measuring.clocks import Clock
    from vramscope.profiler import Profiler

_RULE, _THIN = "=" * 80, "-" * 80
_MEANING = """\
Allocated: bytes of the blocks that tensors hold.
Reserved: bytes that the allocator has from the device, held by tensors or kept for later.
Active: allocated bytes, with those that were freed while another stream may still use them.
Inactive: free parts of segments that are in use elsewhere. They can not be given back, and serve \
smaller requests only; most of what is reserved and not allocated is cache, which serves all."""


def _profiler(device: int | None = None) -> Profiler:
    """A profiler of its own, whose peaks begin now; its module loads much, and late."""
    from vramscope.profiler import Profiler
    return Profiler(device)


def _note(clock: Clock) -> list[str]:
    return [] if clock.on_device else [f"Memory is that of a device alone: {clock.why}."]


def measure_memory(model: Any, sample_batch: Any, *, criterion: Any = None,
                   target: Any = None) -> float:
    """Prints the peak of one forward, loss and backward; returns it in units of 10**9 bytes: D04.

    No optimizer runs, so that it is not the peak of training. NaN where that is not known.
    """
    criterion, target = names(sys._getframe(1).f_globals, criterion=criterion, target=target)
    clock = clock_for(model)
    clock.wait()
    with _profiler(clock.device) as profiler:
        output = model(sample_batch)
        loss = criterion(output, target)
        loss.backward()
        clock.wait()
        record = profiler.checkpoint("backward")
    peak = gigabytes(None if record is None else record.peak_bytes)
    out("\n".join([f"Peak memory: {peak:.2f} GB", *_note(clock)]))
    return peak


def track_memory(stage_name: str) -> None:
    """Prints what is allocated and reserved on the current device: row D17."""
    with _profiler() as profiler:
        record = profiler.checkpoint(stage_name)
    allocated = gigabytes(None if record is None else record.allocated_bytes)
    reserved = gigabytes(None if record is None else record.reserved_bytes)
    out(f"{stage_name:30s} - Allocated: {allocated:6.2f} GB, Reserved: {reserved:6.2f} GB")


def _peak_verdict(forward: float, backward: float) -> list[str]:
    """The peaks only rise, so that it mostly speaks of activations."""
    if forward > backward * 0.8:
        return ["", "⚠️ Activations dominate memory usage",
                " Consider: Gradient checkpointing, smaller batch size"]
    if backward > forward * 1.5:
        return ["", "⚠️ Gradients dominate memory usage",
                " Consider: Gradient accumulation, mixed precision"]
    return ["", "✅ Memory usage balanced across phases"]


def analyze_peak_memory(model: Any, batch: Any, target: Any, *, criterion: Any = None,
                        optimizer: Any = None) -> dict[str, float]:
    """Prints the peak until the end of each phase of a step, and what dominates it: row D18.

    A dict of "forward", "backward", "optimizer" and "peak" in units of 10**9 bytes; each is the peak
    since the step began. NaN where that is not known.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    with _profiler(clock.device) as profiler:
        def peak(stage: str) -> float:
            record = profiler.checkpoint(stage)
            return gigabytes(None if record is None else record.peak_bytes)
        clock.wait()
        move = mover(model, clock)
        data, target = move(batch), move(target)
        output = model(data)
        forward = peak("forward")
        loss = criterion(output, target)
        after_loss = peak("loss")
        loss.backward()
        backward = peak("backward")
        optimizer.step()
        stepped = peak("optimizer")
        optimizer.zero_grad()
        overall = peak("zero_grad")
    stages = {"Peak after forward": forward, "Peak after loss": after_loss,
              "Peak after backward": backward, "Peak after optimizer": stepped,
              "Overall peak": overall}
    out("\n".join([*(f"{label}: {gb:.2f} GB" for label, gb in stages.items()),
                   *(_note(clock) or _peak_verdict(forward, backward))]))
    return {"forward": forward, "backward": backward, "optimizer": stepped, "peak": overall}


def print_memory_summary() -> None:
    """Prints the framework's summary of memory, and what its four figures mean: row D19."""
    out(f"{memory_summary()}\n\n{_MEANING}")


def capture_memory_snapshot(filename: str = "memory_snapshot.pickle", *, model: Any = None,
                            dataloader: Iterable[Any] | None = None, criterion: Any = None,
                            optimizer: Any = None) -> None:
    """Records five steps of training, writes a snapshot, and prints how to look at it: row D20.

    Where nothing can be recorded it says why, and trains nothing. Recording ends in any case.
    """
    model, dataloader, criterion, optimizer = names(
        sys._getframe(1).f_globals, model=model, dataloader=dataloader, criterion=criterion,
        optimizer=optimizer)
    there = _history.available()
    source, why = _history.source()
    if source is None or not there:
        out(f"There is no memory snapshot: {why or 'there is no device'}.")
        return
    move = mover(model, clock_for(model))
    _history.begin(source)
    try:
        for done, (data, target) in enumerate(dataloader):
            if done >= 5:
                break
            data, target = move(data), move(target)
            output = model(data)
            loss = criterion(output, target)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        _history.dump(source, filename)
        out(f"✅ Memory snapshot saved to {filename}")
    finally:
        _history.end(source)
    out(f"\nAnalyze with:\n python -m torch.cuda._memory_viz trace_plot {filename}\n"
        " # Opens interactive visualization in browser\n"
        f" python -m vramscope trace_plot {filename}\n # Writes a page that needs no network")


def profile_memory_usage(model: Any, sample_batch: Any, sample_target: Any, *,
                         criterion: Any = None, optimizer: Any = None) -> dict[str, float]:
    """Prints memory at each stage of a step, and what it consists of by an estimate: row D30.

    A dict of "peak_gb", "parameters_gb", and "fragmentation_ratio", which is reserved over allocated
    at the end and so mostly tells of cache. The cache is emptied at first. NaN where that is not known.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    out(f"{_RULE}\nMEMORY PROFILING\n{_RULE}")
    clock = clock_for(model)
    with _profiler(clock.device) as profiler:
        clock.backend.empty_cache(clock.device)
        stage = _stages(profiler)
        out(f"\nMemory tracking:\n{_THIN}")
        stage("Initial")
        move = mover(model, clock)
        data, target = move(sample_batch), move(sample_target)
        stage("After data to GPU")
        output = model(data)
        stage("After forward")
        loss = criterion(output, target)
        stage("After loss")
        loss.backward()
        stage("After backward")
        optimizer.step()
        stage("After optimizer step")
        optimizer.zero_grad()
        last = stage("After zero_grad")
        allocated, reserved = gigabytes(last.allocated_bytes), gigabytes(last.reserved_bytes)
        peak = gigabytes(last.peak_bytes)
        out(f"{_THIN}\n\nPeak memory usage: {peak:.2f} GB")
        out("\n".join(["", _RULE, "DETAILED MEMORY SUMMARY", _RULE,
                       memory_summary(clock.backend, clock.device), *_note(clock)]))
    out("\n".join(["", _RULE, "MEMORY OPTIMIZATION SUGGESTIONS", _RULE]))
    if reserved > allocated * 1.5:
        out("⚠️ Memory fragmentation detected\n"
            f" Reserved: {reserved:.2f} GB, Allocated: {allocated:.2f} GB\n"
            " Suggestion: Call torch.cuda.empty_cache() periodically")
    parameters = _core._tensor_bytes(*model.parameters())
    out("\n".join(_estimate(parameters, last.peak_bytes, optimizer)))
    return {"peak_gb": peak, "parameters_gb": gigabytes(parameters),
            "fragmentation_ratio": 1.0 if allocated == 0 else ratio(reserved, allocated)}


def _stages(profiler: Profiler) -> Callable[[str], _core.Record]:
    """What prints the line of a stage, and returns its record."""
    def stage(name: str) -> _core.Record:
        record = profiler.checkpoint(name)
        assert record is not None  # it is enabled
        allocated, reserved = gigabytes(record.allocated_bytes), gigabytes(record.reserved_bytes)
        peak = gigabytes(record.peak_bytes)
        out(f"{name:30s} | Alloc: {allocated:5.2f} GB | Reserved: {reserved:5.2f} GB | "
            f"Peak: {peak:5.2f} GB")
        return record
    return stage


def _state_bytes(optimizer: Any) -> int | None:
    """Bytes of the tensors in an optimizer's state; None for those of Adam, which are estimated."""
    if _is_adam(optimizer):
        return None
    states = getattr(optimizer, "state", {})
    return _core._tensor_bytes(*(value for state in list(states.values())
                                 for value in dict(state).values()
                                 if hasattr(value, "element_size")))


def _is_adam(optimizer: Any) -> bool:
    return any(of.__name__ == "Adam" for of in type(optimizer).__mro__)


def _estimate(parameters: int, peak: int | None, optimizer: Any) -> list[str]:
    """Lines on what the peak consists of."""
    gradients, states, activations, mostly = _core._step_parts(peak, parameters,
                                                               _state_bytes(optimizer))
    name = "Adam" if _is_adam(optimizer) else type(optimizer).__name__
    lines = ["", f"Model parameters: {gigabytes(parameters):.2f} GB",
             f"Gradients (estimate): {gigabytes(gradients):.2f} GB",
             f"Optimizer states ({name}): {gigabytes(states):.2f} GB"]
    if activations:
        lines.append(f"Activations (estimate): {gigabytes(activations):.2f} GB")
    if mostly:
        lines += ["", "🎯 Activations dominate memory usage", " Suggestions:",
                  " 1. Use gradient checkpointing", " 2. Reduce batch size",
                  " 3. Use mixed precision (FP16/BF16)"]
    return lines
