"""VramTrainerCallback: device memory of a training with transformers, in its logs.

>>> callback = VramTrainerCallback.attach(trainer)       # doctest: +SKIP
"""
from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from vramscope._training import Training, guarded, missing

TYPE_CHECKING = False  # CPython 3.10 has no Self
if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["VramTrainerCallback"]


def _base() -> Any:
    try:
        return importlib.import_module("transformers").TrainerCallback
    except ModuleNotFoundError as error:
        if error.name != "transformers":
            raise
        raise missing("transformers", "transformers") from None


_Callback: Any = _base()


class VramTrainerCallback(_Callback):  # type: ignore[misc]
    """Reads device memory while a Trainer of transformers runs.

    What the trainer logs gets the keys `vram/allocated_gib`, `vram/interval_peak_gib` (since the
    reading before), `vram/reserved_gib`, `vram/device_used_gib`, `vram/alloc_retries`,
    `vram/gpu_utilization_percent`, and so does the last entry of its log_history; what is not known
    is left out.  Loggers of the framework stand before callbacks that are given to the trainer and
    would not see the keys: `attach` puts the callback before them.  every_n_steps: memory is read
    after so many steps, and the last reading is logged; None: it is read at each log.  metrics:
    only these keys.  on_oom: failures for lack of memory leave a folder in `dir`, from the begin of
    the training to its end; the verdict is printed when the error leaves the program.  leak_steps:
    so many steps are watched by a LeakDetector; what grows is a warning of the logger `vramscope`
    at the end, and `leaks`.  scopes: the step and the optimizer are measured each; `summary` has
    them.

    Steps are marked in a memory history that is on.  A hook that fails does not disturb the
    training; it is counted in `losses`.  backend: as of Profiler.
    """

    def __init__(self, every_n_steps: int | None = None, *, metrics: Iterable[str] | None = None,
                 on_oom: bool = True, dir: Any = "oom_dumps", leak_steps: int | None = None,
                 scopes: bool = False, backend: Any = None) -> None:
        self.training = Training(every_n_steps, metrics, on_oom, dir, leak_steps, scopes, backend)
        self.summary: Any = None
        self.leaks: Any = None
        self._last: dict[str, float] = {}

    @classmethod
    def attach(cls, trainer: Any, **options: Any) -> Self:
        """Makes a callback and puts it before all others of the trainer, its loggers among them."""
        made = cls(**options)
        trainer.callback_handler.callbacks.insert(0, made)
        return made

    @property
    def losses(self) -> dict[str, int]:
        """How many hooks failed."""
        return self.training.losses

    @guarded
    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        # A training before this one may have ended by an exception, of which no hook tells.
        self.training.end()
        self._last = {}
        self.training.start(args.device, hook=True)

    @guarded
    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.training.begin_step()
        self.training.begin_phase("gradients")

    @guarded
    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.training.begin_phase("optimizer")

    @guarded
    def on_optimizer_step(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.training.end_phase()

    @guarded
    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.training.end_step()
        if self.training.detector is not None:
            self.training.detector.step()
        if self.training.is_due():
            self._last = self.training.read()

    @guarded
    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None,
               **kwargs: Any) -> None:
        if self.training.every_n_steps is None:
            self._last = self.training.read()
        for target in (logs, state.log_history[-1] if state.log_history else None):
            if target is not None:
                target.update(self._last)

    @guarded
    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.training.scopes and self.training.profiler is not None:
            self.training.profiler.checkpoint("evaluate")

    @guarded
    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self.training.profiler is not None:
            self.leaks = self.training.look_for_leaks()
            self.summary = self.training.profiler.summary()
        self.training.end()
