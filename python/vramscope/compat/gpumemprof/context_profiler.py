"""The short ways to the profiler of gpumemprof: a decorator, a block, a module that is measured,
and the profiler of the process (rows B55 to B57).

It departs in one place: a decorated function runs exactly once for each call, also where a profiler
swallows what it raises.
"""
from __future__ import annotations

import functools
import sys
from contextlib import contextmanager

from vramscope.files import write_whole
from vramscope.compat.gpumemprof.profiler import GPUMemoryProfiler

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from vramscope.compat.gpumemprof.records import ProfileResult

__all__ = ["MemoryProfiler", "ProfiledModule", "clear_results", "get_global_profiler",
           "get_profile_results", "get_summary", "profile_context", "profile_function",
           "profile_model_training", "set_global_profiler", "start_monitoring",
           "stop_monitoring"]

_global_profiler: GPUMemoryProfiler | None = None


def get_global_profiler(device: Any = None) -> GPUMemoryProfiler:
    """The profiler of the process; the first call makes it, and only that one's device counts."""
    global _global_profiler
    if _global_profiler is None:
        _global_profiler = GPUMemoryProfiler(device=device)
    return _global_profiler


def set_global_profiler(profiler: GPUMemoryProfiler) -> None:
    """Another one becomes the profiler of the process."""
    global _global_profiler
    _global_profiler = profiler


class _Once:
    """A function with its arguments, which runs once and keeps its value or what it raised."""

    def __init__(self, call: Callable[[], Any], name: str) -> None:
        self.__name__ = name
        self._call: Callable[[], Any] | None = call
        self._value: Any = None
        self._error: BaseException | None = None

    def __call__(self) -> Any:
        call, self._call = self._call, None
        if call is None:
            return self.value()
        try:
            self._value = call()
        except BaseException as error:
            self._error = error
            raise
        return self._value

    def value(self) -> Any:
        """What it returned, or raised; it runs now if it did not."""
        if self._call is not None:
            return self()
        if self._error is not None:
            raise self._error
        return self._value


def profile_function(func: Callable[..., Any] | None = None, *, name: str | None = None,
                     device: Any = None, profiler: GPUMemoryProfiler | None = None) -> Any:
    """Decorates a function: each call is measured, and returns the function's own value.

    Bare, or with arguments: `name` in place of the function's, `profiler` in place of that of the
    process, which `device` is for if it has to be made.

    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     profiler = GPUMemoryProfiler()
    ...     load = profile_function(lambda: device.alloc("2MiB"), name="load", profiler=profiler)
    ...     load().bytes
    2097152
    >>> profiler.results[0].function_name
    'load'
    """
    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        label = str(getattr(f, "__name__", "unknown_function") if name is None else name)

        @functools.wraps(f)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            once = _Once(functools.partial(f, *args, **kwargs), label)
            (profiler or get_global_profiler(device)).profile_function(once)
            return once.value()

        wrapper._is_profiled = True  # type: ignore[attr-defined]
        wrapper._profile_name = label  # type: ignore[attr-defined]
        return wrapper

    return decorator if func is None else decorator(func)


@contextmanager
def profile_context(name: str = "context", device: Any = None,
                    profiler: GPUMemoryProfiler | None = None) -> Iterator[GPUMemoryProfiler]:
    """Measures a block, and gives it the profiler, whose last result it is afterwards."""
    chosen = profiler or get_global_profiler(device)
    with chosen.profile_context(name):
        yield chosen


class ProfiledModule:
    """A module whose every forward is measured as `<name>_forward`; attributes are the module's.

    It is a torch.nn.Module where the module is one.
    """

    def __new__(cls, module: Any = None, *args: Any, **kwargs: Any) -> ProfiledModule:
        base = getattr(getattr(sys.modules.get("torch"), "nn", None), "Module", None)
        if base is not None and isinstance(module, base) and not issubclass(cls, base):
            kind: Any = cls
            made: ProfiledModule = super().__new__(_with_base(kind, base))
            return made
        return super().__new__(cls)

    def __init__(self, module: Any, name: str | None = None, device: Any = None,
                 profiler: GPUMemoryProfiler | None = None) -> None:
        super().__init__()
        self.module = module
        self.profile_name = name or type(module).__name__
        self.profiler = profiler or get_global_profiler(device)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        with self.profiler.profile_context(f"{self.profile_name}_forward"):
            return self.module(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        above = getattr(super(), "__call__", self.forward)  # hooks are run by that of torch
        return above(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """An attribute that the wrapper does not have."""
        try:
            return super().__getattr__(name)  # type: ignore[misc]
        except AttributeError:
            if name == "module":  # it is not there yet
                raise
            return getattr(self.module, name)


_with_bases: dict[tuple[Any, Any], Any] = {}


def _with_base(cls: Any, base: Any) -> Any:
    """The class with torch's beside it, made once."""
    if (cls, base) not in _with_bases:
        own = {"__module__": cls.__module__, "__doc__": cls.__doc__}
        _with_bases[cls, base] = type(cls.__name__, (cls, base), own)
    return _with_bases[cls, base]


class MemoryProfiler:
    """A profiler under shorter names, which also writes and reads what was measured."""

    def __init__(self, device: Any = None) -> None:
        self.profiler = GPUMemoryProfiler(device=device)

    def profile(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> ProfileResult:
        """Measures one call."""
        return self.profiler.profile_function(func, *args, **kwargs)

    @contextmanager
    def context(self, name: str = "context") -> Iterator[None]:
        """Measures a block."""
        with self.profiler.profile_context(name):
            yield

    def wrap_module(self, module: Any, name: str | None = None) -> ProfiledModule:
        """A module whose forwards this profiler measures."""
        return ProfiledModule(module, name=name, profiler=self.profiler)

    def start_monitoring(self, interval: float = 0.1) -> None:
        """As GPUMemoryProfiler.start_monitoring."""
        self.profiler.start_monitoring(interval)

    def stop_monitoring(self) -> None:
        """As GPUMemoryProfiler.stop_monitoring."""
        self.profiler.stop_monitoring()

    def get_summary(self) -> Any:
        """As GPUMemoryProfiler.get_summary."""
        return self.profiler.get_summary()

    def clear(self) -> None:
        """As GPUMemoryProfiler.clear_results."""
        self.profiler.clear_results()

    def save_results(self, filename: str) -> None:
        """Writes summary, results and snapshots as JSON; the file appears whole."""
        import json
        kept = {"summary": self.get_summary(),
                "results": [result.to_dict() for result in self.profiler.results],
                "snapshots": [snapshot.to_dict() for snapshot in self.profiler.snapshots]}
        write_whole(filename, json.dumps(kept, indent=2, default=str))

    def load_results(self, filename: str) -> Any:
        """What such a file holds, as a dict."""
        import json
        with open(filename, encoding="utf-8") as file:
            return json.load(file)

    def __enter__(self) -> MemoryProfiler:
        return self

    def __exit__(self, *error: object) -> None:
        self.profiler.__exit__(*error)


def start_monitoring(interval: float = 0.1, device: Any = None) -> None:
    """Begins to take snapshots with the process's profiler."""
    get_global_profiler(device).start_monitoring(interval)


def stop_monitoring() -> None:
    """Ends it, if there is such a profiler."""
    if _global_profiler is not None:
        _global_profiler.stop_monitoring()


def get_summary() -> Any:
    """The summary of the process's profiler; a message where there is none."""
    if _global_profiler is None:
        return {"message": "No global profiler instance"}
    return _global_profiler.get_summary()


def clear_results() -> None:
    """Forgets what the process's profiler has measured, if there is one."""
    if _global_profiler is not None:
        _global_profiler.clear_results()


def get_profile_results(limit: int | None = None) -> list[ProfileResult]:
    """The last `limit` results of the process's profiler; 0 and None: all of them."""
    results = [] if _global_profiler is None else list(_global_profiler.results)
    return results[-limit:] if limit else results


def profile_model_training(model: Any, train_loader: Any, epochs: int = 1, device: Any = None, *,
                           step_fn: Callable[[Any, Any], Any] | None = None) -> dict[str, Any]:
    """Trains and measures every batch: step_fn(model, batch) is called for each of them.

    Without `step_fn` batches are only loaded, which the original does, too.  The dict has
    total_epochs, batch_results, epoch_summaries and overall_summary.
    """
    profiler = get_global_profiler(device)
    with profiler.profile_context("training_setup"):
        model.train()
    batches: list[dict[str, Any]] = []
    epoch_summaries = []
    for epoch in range(epochs):
        results: list[ProfileResult] = []
        with profiler.profile_context(f"epoch_{epoch}"):
            for number, batch in enumerate(train_loader):
                with profiler.profile_context(f"batch_{epoch}_{number}"):
                    if step_fn is not None:
                        step_fn(model, batch)
                results.append(profiler.results[-1])
        batches += [result.to_dict() for result in results]
        epoch_summaries.append(_of_epoch(epoch, results))
    return {"total_epochs": epochs, "batch_results": batches, "epoch_summaries": epoch_summaries,
            "overall_summary": profiler.get_summary()}


def _of_epoch(epoch: int, results: list[ProfileResult]) -> dict[str, Any]:
    from vramscope.compat.gpumemprof.analyzer import totals
    total = totals(results)
    return {"epoch": epoch, "batches_profiled": len(results),
            "total_memory_allocated": total["allocated"],
            "average_batch_time": total["mean_seconds"]}
