"""Operators of a step and of a model, as torch.profiler records them: rows D10, D12, D13, D25, D26."""
from __future__ import annotations

import sys

from vramscope.compat._printing import out
from vramscope.compat.methodology import _operators
from vramscope.compat.methodology._given import clock_note, mover, names, ratio
from vramscope.measuring.clocks import clock_for
from vramscope.measuring.measure import profiler_range
from vramscope.measuring.mode import in_mode
from vramscope.measuring.profiled import activities, profiler_module

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from vramscope.measuring.clocks import Clock

_MODULE_ROWS = 20
_LEAST_GB, _LEAST_SECONDS = 1.0, 0.01


def profile_training_step(model: Any, dataloader: Iterable[Any], num_steps: int = 10, *,
                          criterion: Any = None, optimizer: Any = None) -> Any:
    """Trains under torch.profiler and prints its 20 longest operators; returns the profiler: row D10.

    Of the steps, one is skipped, two warm the profiler up, whose results are dropped, five are
    recorded; a line says where that were fewer. The trace is written below ./profiler_logs. None
    without torch.
    """
    criterion, optimizer = names(sys._getframe(1).f_globals, criterion=criterion,
                                 optimizer=optimizer)
    profiler = profiler_module()
    if profiler is None:
        out(_operators.NO_PROFILER)
        return None
    prof, short = _operators.profiled_training(
        profiler, trainer(model, criterion, optimizer), dataloader, num_steps, 5,
        profiler.tensorboard_trace_handler(_operators.LOGS))
    averages = _operators.averages_of(prof)
    if short:
        out(short[0])
    if len(averages) > 0:
        out(_operators.time_table(averages, 20, 80))
        out("\n".join([*_operators.host_note(averages), "", f"✅ Trace exported to {_operators.LOGS}",
                       " View in Chrome: chrome://tracing (load trace.json)",
                       f" Or TensorBoard: tensorboard --logdir={_operators.LOGS}"]))
    return prof


def trainer(model: Any, criterion: Any, optimizer: Any) -> Callable[[Any, Any], None]:
    """What trains on a batch."""
    move = mover(model, clock_for(model))

    def train(data: Any, target: Any) -> None:
        data, target = move(data), move(target)
        optimizer.zero_grad()
        output = model(data)
        loss = criterion(output, target)
        loss.backward()
        optimizer.step()
    return train


class _ModuleTimes:
    """Times of the calls of a model's leaves, by hooks that are there within a `with`."""

    def __init__(self, model: Any, clock: Clock) -> None:
        self._model, self._clock = model, clock
        self._hooks: list[Any] = []
        self._open: list[tuple[str, Any, Any]] = []
        self._calls: list[tuple[str, Any, Any]] = []

    def __enter__(self) -> _ModuleTimes:
        try:
            for name, module in self._model.named_modules():
                if next(iter(module.children()), None) is None:
                    self._watch(name or type(module).__name__, module)
        except BaseException:
            self._remove()
            raise
        return self

    def _watch(self, name: str, module: Any) -> None:
        def begin(module: Any, given: Any) -> None:
            opened = profiler_range(f"module_{name}")
            opened.__enter__()
            self._open.append((name, opened, self._clock.mark()))

        def end(module: Any, given: Any, output: Any) -> None:
            at = self._clock.mark()
            while self._open:  # one whose call has failed, and was caught by the model, is above
                of, opened, begun = self._open.pop()
                opened.__exit__(None, None, None)
                if of == name:
                    self._calls.append((name, begun, at))
                    return
        self._hooks += [module.register_forward_pre_hook(begin),
                        module.register_forward_hook(end)]

    def __exit__(self, *error: object) -> None:
        self._remove()

    def _remove(self) -> None:
        for hook in self._hooks:
            hook.remove()
        while self._open:
            self._open.pop()[1].__exit__(None, None, None)

    def lines(self) -> list[str]:
        """What is printed of them: the longest first."""
        self._clock.wait()
        times: dict[str, list[float]] = {}
        for name, begin, end in self._calls:
            times.setdefault(name, []).append(self._clock.milliseconds(begin, end))
        if not times:
            return ["Time by module: no part of the model was called as a module."]
        rows = sorted(((sum(found), name, len(found)) for name, found in times.items()),
                      key=lambda row: (-row[0], row[1]))
        total = sum(ms for ms, _, _ in rows)
        lines = [f"  {name:40s} {ms:8.2f} ms ({ratio(ms, total) * 100:5.1f}%), "
                 f"{count} {'call' if count == 1 else 'calls'}"
                 for ms, name, count in rows[:_MODULE_ROWS]]
        if len(rows) > _MODULE_ROWS:
            lines.append(f"  and {len(rows) - _MODULE_ROWS} more")
        return ["Time by module:", *lines]


def profile_model_modules(model: Any, sample_input: Any) -> None:
    """Prints the operators of one call by the shapes of their inputs, and the time of each module: D12.

    The times are those of the modules without parts, by hooks that are gone afterwards; in the
    profile each is a range `module_` and its name. The model is in the mode of evaluation meanwhile,
    and then in that which it had.
    """
    profiler = profiler_module()
    if profiler is None:
        out(_operators.NO_PROFILER)
        return
    clock = clock_for(model)
    given = mover(model, clock)(sample_input)
    with in_mode(model, training=False), _ModuleTimes(model, clock) as times:
        with profiler.profile(activities=activities(profiler),
                              record_shapes=True) as prof:
            with profiler_range("model_forward"):
                model(given)
    averages = prof.key_averages(group_by_input_shape=True)
    out(_operators.time_table(averages, 20))
    out("\n".join([*_operators.host_note(averages), "", *times.lines(), *clock_note(clock)]))


def profile_operations_detailed(model: Any, sample_input: Any) -> Any:
    """Prints operators of one call by time, by memory, by shape; returns the profiler: row D13.

    The trace is written to detailed_trace.json. The model is in the mode of evaluation meanwhile, and
    then in that which it had. None without torch.
    """
    profiler = profiler_module()
    if profiler is None:
        out(_operators.NO_PROFILER)
        return None
    given = mover(model, clock_for(model))(sample_input)
    with in_mode(model, training=False):
        with profiler.profile(activities=activities(profiler), record_shapes=True,
                              with_stack=True, profile_memory=True) as prof:
            model(given)
    averages = prof.key_averages()
    out("\n=== Top Operations by CUDA Time ===\n" + _operators.time_table(averages, 30, 100))
    out("\n=== Top Operations by Memory ===\n" + _operators.memory_table(averages, 20, 100))
    out("\n=== Grouped by Input Shape ===\n" +
        _operators.time_table(prof.key_averages(group_by_input_shape=True), 20))
    prof.export_chrome_trace("detailed_trace.json")
    out("\n".join([*_operators.host_note(averages), "",
                   "✅ Exported detailed_trace.json - view in chrome://tracing"]))
    return prof


_CONVOLUTION = ("Convolution operations", (
    "Check input dimensions for Tensor Core alignment (multiples of 8)",
    "Use mixed precision (torch.cuda.amp)",
    "Consider depthwise separable convolutions",
    "Profile with different batch sizes"))
_PRODUCT = ("Matrix multiplication", (
    "Ensure dimensions are multiples of 8 (FP16) or 16 (BF16)",
    "Use mixed precision",
    "Check for unnecessary transposes"))
_COPIES = ("Memory copies", (
    "Check device placement (CPU ↔ GPU transfers)",
    "Ensure tensors are contiguous",
    "Reduce explicit .cuda() or .cpu() calls"))
# Words of names, between which are other characters or the capital of a next one: no "convert", no
# "comm", no "copysign".  Kernels of products are gemm with letters around.
_KINDS = ((r"(?<![a-z])conv(?![a-z])|convol", _CONVOLUTION),
          (r"(?<![a-z])(add|baddb|addb|b|sp|sdd)?mm(?![a-z])|gemm|matmul", _PRODUCT),
          (r"(?<![a-z])copy(?![a-z])", _COPIES))
_NEXT_WORD = r"(?<=[a-z0-9])(?=[A-Z])"


def _kind_of(name: str) -> tuple[str, tuple[str, ...]] | None:
    """(what an operator of a name does, what can be done about it), or None."""
    import re
    words = re.sub(_NEXT_WORD, " ", name).lower()
    return next((told for pattern, told in _KINDS if re.search(pattern, words)), None)


def diagnose_gpu_bottleneck(model: Any, sample_input: Any, *, criterion: Any = None,
                            target: Any = None) -> list[tuple[str, float]]:
    """Prints what took longest on devices in a forward and backward, and what may help: row D25.

    A list of (name, microseconds), the longest first, which is empty where nothing ran on a device.
    Times hold those of what was called, so that shares may count work twice.
    """
    criterion, target = names(sys._getframe(1).f_globals, criterion=criterion, target=target)
    profiler = profiler_module()
    if profiler is None:
        out(_operators.NO_PROFILER)
        return []
    with profiler.profile(activities=activities(profiler, host=False)) as prof:
        output = model(sample_input)
        loss = criterion(output, target)
        loss.backward()
    found = [(event.key, _operators.device_us(event)) for event in prof.key_averages()]
    found = sorted((row for row in found if row[1] > 0), key=lambda row: row[1], reverse=True)
    total = sum(us for _, us in found)
    lines = ["Top 10 GPU operations:",
             *(f"{number:2d}. {name:40s} {us / 1000:8.2f} ms ({us / total * 100:5.1f}%)"
               for number, (name, us) in enumerate(found[:10], 1))]
    if not found:
        lines.append("Nothing ran on a device.")
    kind = _kind_of(found[0][0]) if found else None
    if kind is not None:
        lines += ["", f"🎯 Bottleneck: {kind[0]}", "Solutions:",
                  *(f" {number}. {text}" for number, text in enumerate(kind[1], 1))]
    out("\n".join(lines))
    return found


def diagnose_memory_bottleneck(model: Any, sample_input: Any) -> None:
    """Prints bytes that operators took per second of their time on devices, of large ones: row D26.

    That are operators of more than 10**9 bytes and 10 ms. What was taken and kept is no traffic of
    memory, so that it says little of a bandwidth.
    """
    profiler = profiler_module()
    if profiler is None:
        out(_operators.NO_PROFILER)
        return
    with profiler.profile(activities=activities(profiler),
                          profile_memory=True) as prof:
        model(sample_input)
    lines = []
    for event in prof.key_averages():
        taken, seconds = _operators.device_bytes(event) / 1e9, _operators.device_us(event) / 1e6
        if taken > _LEAST_GB and seconds > _LEAST_SECONDS:
            lines.append(f"{event.key:40s}: {taken / seconds:.1f} GB/s")
    out("\n".join([*lines, "", "If bandwidth < 500 GB/s, likely memory-bound", "Solutions:",
                   " 1. Reduce intermediate tensor sizes",
                   " 2. Use in-place operations where safe",
                   " 3. Tile large operations",
                   " 4. Increase arithmetic intensity (more compute per byte)"]))
