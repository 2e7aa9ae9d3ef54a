"""What the callbacks of training frameworks share: marks, readings, leaks, failures for memory.

Nothing here may disturb the training: a hook that fails is counted in `losses`.
"""
from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from vramscope import _core
from vramscope.history import marks
from vramscope.leaks import LeakDetector, Leaks
from vramscope.profiler import Profiler

PREFIX = "vram/"
METRICS = ("allocated_gib", "interval_peak_gib", "reserved_gib", "device_used_gib", "alloc_retries",
           "gpu_utilization_percent")

_Hook = TypeVar("_Hook", bound=Callable[..., Any])


def missing(extra: str, names: str) -> ImportError:
    """The error of a module whose framework is not installed."""
    return ImportError("vramscope.%s needs %s: pip install 'vramscope[%s]'" % (extra, names, extra))


def guarded(hook: _Hook) -> _Hook:
    """A method that never raises: what it would have raised is counted."""
    @functools.wraps(hook)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return hook(self, *args, **kwargs)
        except BaseException as error:
            from vramscope.hooks import swallow
            self.training.losses["failed"] += 1
            swallow(error)
            return None
    made: Any = call
    return made  # type: ignore[no-any-return]


class Training:
    """One training: from `start` to `end` its steps are numbered, and memory is read.

    `profiler` and `detector` are there after `start`, the latter where leak_steps was given.
    """

    def __init__(self, every_n_steps: int | None, metrics: Iterable[str] | None, on_oom: bool,
                 dir: Any, leak_steps: int | None, scopes: bool, backend: Any) -> None:
        if every_n_steps is not None and every_n_steps < 1:
            raise ValueError("every_n_steps is at least 1")
        wanted = METRICS if metrics is None else [name.removeprefix(PREFIX) for name in metrics]
        unknown = sorted(set(wanted) - set(METRICS))
        if unknown:
            raise ValueError("there is no metric %s: %s" % (", ".join(unknown), ", ".join(METRICS)))
        if leak_steps is not None:
            LeakDetector(steps=leak_steps)  # says at once what is wrong with it
        self.every_n_steps, self.wanted = every_n_steps, {PREFIX + name for name in wanted}
        self.on_oom, self.dir, self.leak_steps = on_oom, dir, leak_steps
        self.scopes, self.backend = scopes, backend
        self.losses = {"failed": 0}
        self.steps = 0
        self.profiler: Profiler | None = None
        self.detector: LeakDetector | None = None
        self.oom_handle: Any = None
        self._step, self._phase = marks.Marks(), marks.Marks()
        self._scope: Any = None

    def start(self, device: Any, hook: bool) -> None:
        """device: None or a torch.device; hook: verdicts are printed when an error leaves the
        program."""
        if self.profiler is not None:
            return
        given = device if getattr(device, "type", None) in ("cuda", "hip") else None
        self.profiler = Profiler(given, backend=self.backend)
        self.steps = 0
        if self.leak_steps is not None:
            self.detector = LeakDetector(given, steps=self.leak_steps, backend=self.backend)
            self.detector._marked = True
        if self.on_oom:
            from vramscope.history import oom
            limits = oom.Limits(5, "256MiB", 60, oom.remove_folder)
            self.oom_handle = oom.Handle(self.dir, 100_000, limits, True, True).start()
            if hook:
                self.oom_handle.hook()

    def end(self) -> None:
        """Also after a failure; what was measured stays."""
        self.end_step()
        handle, self.oom_handle = self.oom_handle, None
        if handle is not None:
            handle.cancel()
        if self.detector is not None:
            self.detector.close()
        if self.profiler is not None:
            self.profiler.close()
            self.profiler = None

    def _owner(self) -> Any:
        return self.profiler.backend.owner if self.profiler is not None else None

    def begin_step(self) -> None:
        self.end_step()
        self._step.begin(self._owner(), "step %d" % self.steps)
        self.steps += 1

    def end_step(self) -> None:
        self.end_phase()
        self._step.end()

    def begin_phase(self, name: str) -> None:
        """With `scopes` it is measured too."""
        self.end_phase()
        self._phase.begin(self._owner(), "## %s ##" % name)
        if self.scopes and self.profiler is not None:
            self._scope = self.profiler.scope(name).__enter__()

    def end_phase(self) -> None:
        scope, self._scope = self._scope, None
        if scope is not None:
            scope.__exit__(None, None, None)
        self._phase.end()

    def is_due(self) -> bool:
        """Whether this step is one after which memory is read."""
        return self.every_n_steps is not None and self.steps % self.every_n_steps == 0

    def read(self) -> dict[str, float]:
        """One reading, as numbers for loggers; what is not known is left out."""
        if self.profiler is None:
            return {}
        record: _core.Record | None = self.profiler.checkpoint("step", info=self.steps - 1)
        if record is None:
            return {}
        known = {**record.metrics(PREFIX), **self.profiler.backend._metrics(PREFIX, record.device)}
        return {name: value for name, value in known.items() if name in self.wanted}

    def look_for_leaks(self) -> Leaks | None:
        """At the end of a training: what grows is told to the logger `vramscope`."""
        found = self.detector.suspects() if self.detector is not None else None
        if found is not None and found.grows:
            logging.getLogger("vramscope").warning("%s", found.text().rstrip())
        return found

    def tell(self, error: BaseException, rank: int | None) -> None:
        """The verdict, where memory ran out by this error."""
        from vramscope.history import telling
        telling.tell(error, rank)
