"""Bytes that operators move, beside what the device copies in a second: row D26.

What an operator reads and writes is known from its tensors; how long it took, from the profiler.  An
operator near the rate of a plain copy is bound by memory, and one far below by something else.
"""
from __future__ import annotations

import importlib
import statistics
import sys
from collections.abc import Iterator
from typing import Any, cast

from vramscope import _core
from vramscope.measuring.arguments import check_calls, check_counts
from vramscope.measuring.clocks import Clock, clock_for, device_of
from vramscope.measuring.document import Document
from vramscope.measuring.measure import _move, conditions, no_grad
from vramscope.measuring.mode import in_mode
from vramscope.measuring.profiled import NO_PROFILER, profile_call

__all__ = ["Traffic", "measure_traffic"]

_MIB, _GB = 1 << 20, 1e9
# Larger than the caches, so that a copy goes to memory.
_COPY_BYTES = {"cpu": 128 * _MIB}
_COPY_BYTES_OF_DEVICES = 512 * _MIB
_COPIES = 7
_ROWS = 20


class Traffic(Document):
    """What measure_traffic() found: a mapping of its JSON document, with a text.

    docs/schema/traffic.schema.json describes the document, and save(path) writes it to a file.
    Members: `schema`, `tool`; `copy`, with `bytes` that were copied at once, `clock`, and
    `bytes_per_second`, read and written; `operators`, those that moved most first, each with `name`,
    `calls` of one call of the model, `bytes` of the tensors that these read and write, `seconds` that
    they took, `bytes_per_second`, and `of_copy`, the share of the rate of a copy; `conditions`;
    `notes`.
    None is unknown. KeyError is raised for a member that there is not.

    >>> from vramscope.measuring.traffic import Traffic
    >>> rate = {"bytes": 8, "clock": "host", "bytes_per_second": 2e9}
    >>> row = {"name": "aten::add", "calls": 1, "bytes": 10**9, "seconds": 1.0,
    ...        "bytes_per_second": 1e9, "of_copy": 0.5}
    >>> made = Traffic(rate, [row], {}, [])
    >>> made.json()[0], made.text() == str(made), made["operators"][0]["of_copy"]
    ('{', True, 0.5)
    """

    def __init__(self, copy: dict[str, Any], operators: list[dict[str, Any]],
                 under: dict[str, Any], notes: list[str]) -> None:
        super().__init__({"schema": "vramscope.traffic/1", "tool": _core.version(), "copy": copy,
                          "operators": operators, "conditions": under, "notes": notes}, under)

    def text(self) -> str:
        """A table for people."""
        copy, rows = self["copy"], self["operators"]
        lines = [f"A copy of {copy['bytes'] >> 20} MiB reads and writes "
                 f"{_or_dash(copy['bytes_per_second'], 1 / _GB, '.1f')} GB/s, by the "
                 f"{copy['clock']}'s clock.",
                 f"{'operator':40}{'calls':>7}{'GB':>10}{'ms':>10}{'GB/s':>9}{'of a copy':>11}"]
        lines += [f"{ascii(row['name'])[1:-1]:40.40}{row['calls']:7}"
                  f"{_or_dash(row['bytes'], 1 / _GB, '.4f'):>10}"
                  f"{_or_dash(row['seconds'], 1e3, '.3f'):>10}"
                  f"{_or_dash(row['bytes_per_second'], 1 / _GB, '.1f'):>9}"
                  f"{_or_dash(row['of_copy'], 100, '.0f', ' %'):>11}" for row in rows[:_ROWS]]
        if len(rows) > _ROWS:
            lines.append(f"and {len(rows) - _ROWS} more")
        return "\n".join([*lines, *self["notes"]])


def _or_dash(value: float | None, factor: float, form: str, behind: str = "") -> str:
    return "-" if value is None else format(value * factor, form) + behind


# Operators that read nothing of what they are given, those that move nothing, and those that read
# only the elements that an index names, which are as many as they make.
_ONLY_WRITE = ("zero_", "zeros", "zeros_like", "ones", "ones_like", "full", "full_like", "fill_",
               "new_zeros", "new_ones", "new_full", "arange", "rand", "randn", "randint", "normal_",
               "uniform_", "copy_")
_MOVE_NOTHING = ("empty", "empty_like", "empty_strided", "new_empty", "resize_", "detach")
_READ_BY_INDEX = ("embedding", "index_select", "index", "gather", "take")


def _size(tensor: Any) -> int | None:
    """Bytes of what a tensor shows; one that repeats its elements has them once; None: it has none."""
    try:
        stored = int(tensor.untyped_storage().nbytes())
    except (NotImplementedError, RuntimeError):  # a sparse one, or one of another kind
        return None
    return min(int(tensor.numel() * tensor.element_size()), stored)


def _moved(name: str, given: list[Any], made: list[Any]) -> int | None:
    """Bytes that an operator reads and writes by its tensors; None where they do not tell it."""
    sizes = [_size(tensor) for tensor in [*given, *made]]
    if None in sizes:
        return None
    written = sum(cast("list[int]", sizes[len(given):]))
    # A tensor that is given twice is read once.
    read = {(tensor.data_ptr(), size): cast(int, size) for tensor, size in zip(given, sizes)}
    if name in _MOVE_NOTHING:
        return 0
    if name == "copy_":
        return written + cast(int, sizes[1] if len(given) > 1 else 0)
    if name in _ONLY_WRITE:
        return written
    if name in _READ_BY_INDEX:
        indices = sum(size for tensor, size in zip(given, sizes)
                      if size is not None and not tensor.is_floating_point())
        return 2 * written + indices
    return written + sum(read.values())


def _tensors(torch: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(torch, one)


def _counting(torch: Any, found: dict[str, list[Any]]) -> Any:
    """A mode in which each operator adds its call and its bytes to `found`, by its name."""
    modes: Any = importlib.import_module("torch.utils._python_dispatch")

    def dispatch(mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = list(_tensors(torch, [*args, *(kwargs or {}).values()]))
        made = func(*args, **(kwargs or {}))
        name = str(func.overloadpacket)
        row = found.setdefault(name.replace(".", "::", 1), [0, 0])
        size = 0 if func.is_view else _moved(name.rpartition(".")[2], given,
                                             list(_tensors(torch, made)))
        row[0] += 1
        row[1] = None if size is None or row[1] is None else row[1] + size
        return made
    # A class of a function is none that stubs know.
    return type("Counting", (modes.TorchDispatchMode,), {"__torch_dispatch__": dispatch})()


def _pair(torch: Any, place: Any) -> tuple[Any, Any]:
    """Two tensors to copy between, smaller where there is no room."""
    kind = str(getattr(place, "type", "cpu"))
    size = _COPY_BYTES.get(kind, _COPY_BYTES_OF_DEVICES)
    while True:
        try:
            source = torch.zeros(size, dtype=torch.uint8, device=place)
            return source, torch.empty_like(source)
        except RuntimeError:  # of which an allocator's failure is one
            if size <= _MIB:
                raise
            size //= 2


def _copy_rate(torch: Any, clock: Clock, place: Any) -> dict[str, Any]:
    source, target = _pair(torch, place)
    size, times = int(source.numel()), []
    for _ in range(_COPIES + 1):  # the first touches the pages
        begin = clock.mark()
        target.copy_(source)
        end = clock.mark()
        clock.wait()
        times.append(clock.milliseconds(begin, end) / 1000)
    took = statistics.median(times[1:])
    return {"bytes": size, "clock": clock.kind,
            "bytes_per_second": 2 * size / took if took > 0 else None}


def measure_traffic(model: Any, *inputs: Any, iterations: int = 5, warmup: int = 3) -> Traffic:
    """Calls a model, and tells what its operators read and write, and how fast: a Traffic: row D26.

    model: any callable of PyTorch; one with a mode is in that of evaluation meanwhile, without
    gradients. inputs: what it is called with; tensors go to the model's device. iterations: calls
    that are timed. warmup: calls before them. Bytes are those of the tensors that an operator reads
    and writes, each once: what it reads again, or finds in a cache, its tensors do not tell. Beside
    them stands what a copy of up to 512 MiB within the memory of the same device reads and writes in
    a second. An operator that comes close to that is bound by memory: make its tensors smaller, or
    let one kernel do the work of several.

    What the model raises is raised; ValueError where `iterations` is below 1 or `warmup` below 0, and
    TypeError for arguments of another type, before anything runs; Error where PyTorch is not
    imported.

    >>> print(vramscope.measure_traffic(model, batch))  # doctest: +SKIP
    >>> vramscope.measure_traffic(abs, -1)
    Traceback (most recent call last):
    ...
    vramscope.Error: torch.profiler alone records operators, and PyTorch is not imported here: run \
this where a model of PyTorch is
    """
    check_counts(iterations=iterations, warmup=warmup)
    check_calls(model=model)
    torch = sys.modules.get("torch")
    if torch is None:
        raise _core._usage(NO_PROFILER)
    clock, place = clock_for(model), device_of(model)
    moved = [_move(model, value) for value in inputs]
    if place is None:
        place = next((tensor.device for tensor in _tensors(torch, moved)), "cpu")
    copy = _copy_rate(torch, clock, place)
    counted: dict[str, list[Any]] = {}
    with in_mode(model, training=False), no_grad(), _counting(torch, counted):
        model(*moved)
    with profile_call(model, *moved, iterations=iterations, warmup=warmup) as trace:
        timed = {row["name"]: row for row in trace.report()["ops"]}
    on_device = any(row["device_total_ns"] > 0 for row in timed.values())
    rows = [_row(name, calls, size, timed.get(name), iterations, on_device,
                 copy["bytes_per_second"]) for name, (calls, size) in counted.items() if size != 0]
    rows.sort(key=lambda row: (-(row["bytes"] or 0), row["name"]))
    notes = [] if clock.why is None else [f"Times are the host's: {clock.why}."]
    untold = sum(row["seconds"] is None for row in rows)
    if untold:
        notes.append(f"Of {untold} operators the time is not told: it was too short to be seen, or "
                     "others called them too.")
    if any(row["bytes"] is None for row in rows):
        notes.append("Of some operators the bytes are not told: their tensors are no plain ones.")
    return Traffic(copy, rows, conditions(model, moved[0] if moved else None), notes)


def _row(name: str, calls: int, size: int | None, timed: Any, iterations: int, on_device: bool,
         rate: float | None) -> dict[str, Any]:
    seconds = None
    # Calls that the mode did not see are of operators that others called: whose time it is, is open.
    if timed is not None and timed["calls"] == calls * iterations:
        ns = timed["device_total_ns"] if on_device else timed["cpu_total_ns"]
        seconds = ns / iterations / 1e9 or None
    per_second = None if seconds is None or size is None else size / seconds
    return {"name": name, "calls": calls, "bytes": size, "seconds": seconds,
            "bytes_per_second": per_second,
            "of_copy": None if per_second is None or not rate else per_second / rate}
