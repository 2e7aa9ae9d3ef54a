"""Throughput, latency, loading against computation, phases: rows D02, D03, D08, D11, D22."""
from __future__ import annotations

import sys

from vramscope import _core
from vramscope.compat._printing import out
from vramscope.measuring.clocks import clock_for
from vramscope.compat.methodology._given import (array_of, clock_note, device_note, known, mover,
                                                 names, ratio)
from vramscope.measuring.measure import no_grad, profiler_range

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from vramscope.measuring.clocks import Clock


def measure_throughput(model: Any, dataloader: Iterable[Any], num_batches: int = 100, *,
                       criterion: Any = None, optimizer: Any = None) -> float:
    """Trains on batches and prints samples per second, which it returns: row D02.

    The time is that of the whole loop, loading included; nothing is warmed up. The model stays in
    the mode of training. NaN where no batch ran.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    move = mover(model, clock)
    model.train()
    clock.wait()
    samples = batches = 0
    begin = clock.mark()
    for data, target in dataloader:
        if batches >= num_batches:
            break
        data, target = move(data), move(target)
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        samples += data.shape[0]
        batches += 1
    end = clock.mark()
    clock.wait()
    elapsed = clock.milliseconds(begin, end)
    throughput = ratio(samples, elapsed / 1000)
    out("\n".join([f"Throughput: {throughput:.2f} samples/sec",
                   f"Time per batch: {ratio(elapsed, batches):.2f} ms", *clock_note(clock)]))
    return throughput


def _timed_calls(model: Any, clock: Clock, sample_input: Any, count: int,
                 warmup: int) -> list[float]:
    """Milliseconds of each of `count` calls without gradients, after those of the warm-up."""
    found = []
    with no_grad():
        for _ in range(warmup):
            warm = model(sample_input)
    clock.wait()
    with no_grad():
        for _ in range(count):
            begin = clock.mark()
            output = model(sample_input)
            end = clock.mark()
            clock.wait()
            found.append(clock.milliseconds(begin, end))
    return found


def figures_of(times: list[float]) -> dict[str, float]:
    """What is printed of a series, by its labels; NaN where there is none."""
    return {
        "Mean": known(_core._mean(times)),
        "Std": known(_core._deviation(times)),
        "Median": known(_core._percentile(times, 0.5)),
        "Min": known(_core._percentile(times, 0)),
        "Max": known(_core._percentile(times, 1)),
        "P95": known(_core._percentile(times, 0.95)),
        "P99": known(_core._percentile(times, 0.99)),
    }


def measure_latency(model: Any, sample_input: Any, num_iterations: int = 100,
                    warmup: int = 10) -> Any:
    """Times calls without gradients and prints their statistics; an array of milliseconds: row D03.

    The model is in the mode of evaluation meanwhile, and then in that which it had.
    """
    clock = clock_for(model)
    training = getattr(model, "training", False)
    model.eval()
    try:
        times = _timed_calls(model, clock, mover(model, clock)(sample_input), num_iterations,
                             warmup)
    finally:
        if training:
            model.train()
    figures = figures_of(times)
    shown = ", ".join(f"{label}: {figures[label]:.2f} ms"
                      for label in ("Mean", "Std", "Median", "P95", "P99"))
    out("\n".join([f"Latency - {shown}", *clock_note(clock)]))
    return array_of(times)


def benchmark_with_warmup(model: Any, sample_input: Any, warmup: int = 5,
                          iterations: int = 100) -> Any:
    """Times calls without gradients and prints seven figures; an array of milliseconds: row D22.

    The model stays in the mode of evaluation.
    """
    clock = clock_for(model)
    model.eval()
    times = _timed_calls(model, clock, mover(model, clock)(sample_input), iterations, warmup)
    out("\n".join([*(f"{label}: {value:.2f} ms" for label, value in figures_of(times).items()),
                   *clock_note(clock)]))
    return array_of(times)


def loading_and_computing(model: Any, dataloader: Iterable[Any], count: int, criterion: Any,
                          optimizer: Any, clock: Clock, look: Callable[[], object] = lambda: None,
                          ) -> tuple[list[float], list[float]]:
    """Trains on so many batches: milliseconds of the loading of each, and of the training on it.

    Loading is timed by the host's clock, training by the device's; the copy to the device is in
    neither. look() runs while the device works on a batch, but for the first.
    """
    move = mover(model, clock)
    loading, computing = list[float](), list[float]()
    batches = iter(dataloader)
    for _ in range(count):
        asked = clock.host_ns()
        try:
            data, target = next(batches)
        except StopIteration:
            break
        loaded = clock.host_ns()
        loading.append((loaded - asked) / 1e6)
        data, target = move(data, non_blocking=True), move(target, non_blocking=True)
        clock.wait()
        begin = clock.mark()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        end = clock.mark()
        if computing:  # what the driver tells in the first is of the time before
            look()
        clock.wait()
        computing.append(clock.milliseconds(begin, end))
    return loading, computing


def loading_lines(loading: list[float], computing: list[float]) -> tuple[list[str], float, float]:
    """What is printed of both, and their means; NaN where no batch ran."""
    data_ms, compute_ms = known(_core._mean(loading)), known(_core._mean(computing))
    lines = [f"Avg data loading time: {data_ms:.2f} ms",
             f"Avg computation time: {compute_ms:.2f} ms"]
    return lines + (_loading_verdict(data_ms, compute_ms) if loading else []), data_ms, compute_ms


def _loading_verdict(data_ms: float, compute_ms: float) -> list[str]:
    slower = data_ms > compute_ms
    lines = [f"Data loading is {ratio(data_ms, compute_ms):.1f}x "
             f"{'slower' if slower else 'faster'} than compute"]
    if slower:
        lines += ["⚠️ BOTTLENECK: Data loading (CPU-bound)",
                  " Solutions: Increase num_workers, use pin_memory=True, "
                  "move preprocessing to GPU"]
    else:
        lines.append("✅ Data loading is fast enough. Bottleneck is in model computation.")
    return lines


def profile_dataloader_vs_model(model: Any, dataloader: Iterable[Any], num_batches: int = 50, *,
                                criterion: Any = None,
                                optimizer: Any = None) -> tuple[float, float]:
    """Prints the mean times of loading a batch and of training on it; returns both in ms: row D08.

    Loading is timed by the host's clock, training by the device's; the copy to the device is in
    neither. The model stays in the mode of training. NaN where no batch ran.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    model.train()
    lines, data_ms, compute_ms = loading_lines(*loading_and_computing(
        model, dataloader, num_batches, criterion, optimizer, clock))
    speaks_of_gpu = data_ms > compute_ms
    out("\n".join([*lines, *(device_note(clock) if speaks_of_gpu else []), *clock_note(clock)]))
    return data_ms, compute_ms


def phases_of(model: Any, data: Any, target: Any, criterion: Any, clock: Clock,
              step: Callable[[], object]) -> dict[str, float]:
    """Milliseconds of the phases of one step on a batch that is where the model is: D11.

    step() is the last of them.
    """
    clock.wait()
    phases = {}
    with profiler_range("forward_pass"):
        begin = clock.mark()
        output = model(data)
        loss = criterion(output, target)
        end = clock.mark()
    clock.wait()
    phases["forward"] = clock.milliseconds(begin, end)
    for phase, name, run in (("backward", "backward_pass", loss.backward),
                             ("optimizer", "optimizer_step", step)):
        with profiler_range(name):
            begin = clock.mark()
            run()
            end = clock.mark()
        clock.wait()
        phases[phase] = clock.milliseconds(begin, end)
    return phases


def phase_lines(phases: dict[str, float]) -> list[str]:
    """Times of phases, each with its share of their sum."""
    total = sum(phases.values())
    return ["Phase Breakdown:", *(f"  {phase:15s}: {ms:7.2f} ms ({ratio(ms, total) * 100:5.1f}%)"
                                  for phase, ms in phases.items())]


def profile_training_phases(model: Any, batch: Any, target: Any, *, criterion: Any = None,
                            optimizer: Any = None) -> dict[str, float]:
    """Prints the times of the three phases of one step; returns them in ms by phase: row D11.

    The loss belongs to the forward; gradients are cleared before. One step is measured, cold.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    clock = clock_for(model)
    move = mover(model, clock)
    data, target = move(batch), move(target)
    optimizer.zero_grad()
    phases = phases_of(model, data, target, criterion, clock, optimizer.step)
    out("\n".join([*phase_lines(phases), *clock_note(clock)]))
    return phases
