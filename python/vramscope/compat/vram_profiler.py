"""Drop-in for a checkpoint profiler: memory at named moments, and the peak between two of them.

Programs written for it run after changing only the import: rows A01 to A16 of the conformance
list. It departs in four places. Allocated memory and its peak are one reading. Resets of the peak
go through the process's ledger, so that two profilers do not disturb each other. A decorated
function that raises has an END record, too. Reports are written as UTF-8, and appear whole.
"""
from __future__ import annotations

import functools
import importlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from vramscope import _core, backends, files
from vramscope.compat import _device
from vramscope.compat._printing import out

__all__ = ["VRAMProfiler", "disable_profiling", "enable_profiling", "explain_trace",
           "get_profiler", "profile_function", "profile_memory", "profile_operators"]

_GB = 1e9


def _is_tensor(value: Any) -> bool:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(value, tensor)


class VRAMProfiler:
    """Records of memory at named moments, in units of 10**9 bytes.

    Attributes: enabled; checkpoints, a list of dict; device; peak_memory, in bytes.

    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     profiler = VRAMProfiler()
    ...     kept = device.alloc(2_000_000_000)
    ...     profiler.checkpoint("loaded")
    >>> print(round(profiler.checkpoints[0]["current_gb"], 1))
    2.0
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        self.checkpoints: list[dict[str, Any]] = []
        _device.import_torch()
        self._profiler = _core.Profiler(backend=None, device=None, scope_class=_core.Scope,
                                        capacity=1, enabled=True, stats=True, host=False,
                                        preserve_torch_peak=False, strict=False, stack=0,
                                        synchronize=False, from_reset=True)
        self.device = _device.named("cuda" if self._available() else "cpu")
        self.peak_memory = 0
        self._profiler.watch()  # resets nothing

    def _available(self) -> bool:
        return backends.available(self._profiler.backend)

    def reset(self) -> None:
        """Forgets the records; where it is enabled and there is a device, also the peak."""
        self.checkpoints = []
        if self.enabled and self._available():
            self._profiler.reset()
            self.peak_memory = 0

    def checkpoint(self, name: str, tensor: Any = None, tensor_info: Any = None) -> None:
        """Appends a record: what is allocated now, and the peak since the record before."""
        if not self.enabled or not self._available():
            return
        record = self._profiler.checkpoint(name)
        assert record is not None  # it is enabled
        interval_peak = record.interval_peak_bytes or 0
        self.peak_memory = max(self.peak_memory, interval_peak)
        kept: dict[str, Any] = {
            "name": name,
            "current_gb": (record.allocated_bytes or 0) / _GB,
            "peak_gb": self.peak_memory / _GB,
            "peak_since_last_gb": interval_peak / _GB,
            "timestamp": time.time(),
        }
        if tensor is not None:
            kept["tensor_gb"] = tensor.element_size() * tensor.nelement() / _GB
            kept["tensor_shape"] = str(tuple(tensor.shape))
            kept["tensor_dtype"] = str(tensor.dtype)
        if tensor_info is not None:
            kept["info"] = tensor_info
        self.checkpoints.append(kept)

    def print_summary(self) -> None:
        """Prints the records as a table, and which intervals grew the most."""
        if not self.enabled or not self.checkpoints:
            return
        lines = ["", "=" * 80, "VRAM PROFILING SUMMARY", "=" * 80,
                 _row("Stage", "Current (GB)", "Interval Peak (GB)", "Overall Peak (GB)"),
                 "-" * 100]
        for kept in self.checkpoints:
            lines.append(_row(kept["name"], f"{kept['current_gb']:.3f}",
                              f"{kept['peak_since_last_gb']:.3f}", f"{kept['peak_gb']:.3f}"))
            if "tensor_gb" in kept:
                lines.append("  \N{BOX DRAWINGS LIGHT UP AND RIGHT}\N{BOX DRAWINGS LIGHT HORIZONTAL}"
                             f" Tensor: {_tensor(kept)}")
        lines.append("=" * 80)
        if len(self.checkpoints) > 1:
            lines += ["", "TOP MEMORY CONSUMERS:", "-" * 80, *_consumers(self.checkpoints),
                      "=" * 80, ""]
        out("\n".join(lines))

    def get_report(self) -> str:
        """The records as a text of several lines."""
        if not self.enabled or not self.checkpoints:
            return "No profiling data available."
        highest = max(kept["peak_gb"] for kept in self.checkpoints)
        lines = ["=" * 80, "VRAM PROFILING DETAILED REPORT", "=" * 80, "",
                 f"Maximum Peak Memory: {highest:.3f} GB", "", "DETAILED CHECKPOINTS:", "-" * 80]
        for number, kept in enumerate(self.checkpoints, 1):
            lines += ["", f"[{number}] {kept['name']}", *_details(kept)]
        return "\n".join([*lines, "", "=" * 80])

    def save_report(self, filepath: files.Path) -> None:
        """Writes the report to a file, which appears whole, and says so."""
        if not self.enabled:
            return
        files.write_whole(filepath, self.get_report())
        out(f"Profiling report saved to: {filepath!s}")


def _row(name: str, current: str, interval_peak: str, peak: str) -> str:
    return f"{name:<40} {current:<15} {interval_peak:<20} {peak:<20}"


def _tensor(kept: dict[str, Any]) -> str:
    return f"{kept['tensor_shape']} ({kept['tensor_dtype']}) = {kept['tensor_gb']:.3f} GB"


def _details(kept: dict[str, Any]) -> list[str]:
    shown = [("Current:", f"{kept['current_gb']:.3f} GB"),
             ("Interval Peak:", f"{kept['peak_since_last_gb']:.3f} GB"),
             ("Overall Peak:", f"{kept['peak_gb']:.3f} GB")]
    if "tensor_gb" in kept:
        shown.append(("Tensor:", _tensor(kept)))
    if "info" in kept:
        shown.append(("Info:", kept["info"]))
    return [f"    {label:<16}{value}" for label, value in shown]


def _consumers(checkpoints: list[dict[str, Any]]) -> list[str]:
    """The five intervals that grew the most; of equal ones the first comes first."""
    grown = [(after["name"], after["current_gb"] - before["current_gb"])
             for before, after in zip(checkpoints, checkpoints[1:])]
    grown = sorted((each for each in grown if each[1] > 0), key=lambda each: -each[1])
    return [f"  {name:<40} +{by:.3f} GB" for name, by in grown[:5]]


@contextmanager
def profile_memory(profiler: VRAMProfiler, name: str, tensor: Any = None) -> Iterator[None]:
    """Records before and after a block; each looks at that moment whether it is enabled."""
    if profiler.enabled:
        profiler.checkpoint(f"{name} - START")
    try:
        yield
    finally:
        if profiler.enabled:
            profiler.checkpoint(f"{name} - END", tensor=tensor)


class _Call:
    """One call of a decorated function: its START, and its END when it is over."""

    def __init__(self, profiler: VRAMProfiler, label: str) -> None:
        self._profiler, self._label = profiler, label

    def __enter__(self) -> _Call:
        if self._profiler.enabled:
            self._profiler.checkpoint(f"{self._label} - START")
        return self

    def over(self, result: Any) -> None:
        """It has returned."""
        if self._profiler.enabled:
            self._profiler.checkpoint(f"{self._label} - END",
                                      tensor=result if _is_tensor(result) else None)

    def __exit__(self, raised: type[BaseException] | None, error: object, trace: object) -> None:
        if raised is GeneratorExit:
            self.over(None)
        elif raised is not None and self._profiler.enabled:
            self._profiler.checkpoint(f"{self._label} - END",
                                      tensor_info=f"raised {raised.__name__}")


def profile_function(profiler: VRAMProfiler,
                     name: str | None = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorates a function: a record before each call and one after it, with the tensor it returns.

    Of a coroutine or a generator the second record is made when it is over.
    """
    def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
        label = functools.partial(_label, func, name)
        return functools.wraps(func)(_wrapped(func, lambda: _Call(profiler, label())))
    return decorator


def _label(func: Callable[..., Any], name: str | None) -> str:
    return name or f"{func.__module__}.{func.__name__}"


_Begin = Callable[[], _Call]


def _coroutine(func: Callable[..., Any], begin: _Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with begin() as call:
            result = await func(*args, **kwargs)
        call.over(result)
        return result
    return wrapper


def _generator(func: Callable[..., Any], begin: _Begin) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with begin() as call:
            result = yield from func(*args, **kwargs)
        call.over(result)
        return result
    return wrapper


def _async_generator(func: Callable[..., Any], begin: _Begin) -> Callable[..., Any]:
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        with begin() as call:
            async for value in func(*args, **kwargs):
                yield value
        call.over(None)
    return wrapper


def _wrapped(func: Callable[..., Any], begin: _Begin) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(func):
        return _coroutine(func, begin)
    if inspect.isgeneratorfunction(func):
        return _generator(func, begin)
    if inspect.isasyncgenfunction(func):
        return _async_generator(func, begin)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with begin() as call:
            result = func(*args, **kwargs)
        call.over(result)
        return result
    return wrapper


_global_profiler: VRAMProfiler | None = None


def get_profiler() -> VRAMProfiler:
    """The profiler of the process; on first use a disabled one is made."""
    global _global_profiler
    if _global_profiler is None:
        _global_profiler = VRAMProfiler(enabled=False)
    return _global_profiler


def enable_profiling() -> VRAMProfiler:
    """A new profiler, enabled, becomes that of the process; references to the old one stay old."""
    global _global_profiler
    _global_profiler = VRAMProfiler(enabled=True)
    _global_profiler.reset()
    return _global_profiler


def disable_profiling() -> None:
    """The profiler of the process records nothing any more; what it has is kept."""
    if _global_profiler is not None:
        _global_profiler.enabled = False


def profile_operators(function: Callable[[], Any], table_path: files.Path,
                      trace_path: files.Path | None = None) -> Any:
    """Runs a function under torch's profiler, and writes its table of operators to a file.

    The table has 30 rows, grouped by five frames, those that took most memory of the device first.
    That memory is net: what an operator took less what it gave back, and no peak. trace_path: the
    trace is written there, too. The result is the function's. Raises ImportError without torch.
    """
    from vramscope.compat import _tracing
    profiler = importlib.import_module("torch.profiler")
    kinds = profiler.ProfilerActivity
    with profiler.profile(activities=[kinds.CPU, kinds.CUDA], profile_memory=True,
                          record_shapes=True, with_stack=True) as prof:
        result = function()
    files.write_whole(table_path, _tracing.operator_table(prof))
    if trace_path is not None:
        prof.export_chrome_trace(os.fspath(trace_path))
    return result


def explain_trace(trace_path: files.Path) -> str:
    """How to read a trace that the profiler exported, and where its time went.

    Which processes are the host's and which are devices; what rows below each other mean. Raises
    vramscope.Error where the file is no trace.

    >>> print(explain_trace("examples/traces/training.pt.trace.json.gz").splitlines()[0])
    How to read this trace
    """
    from vramscope.compat import _tracing
    return _tracing.guide(trace_path)
