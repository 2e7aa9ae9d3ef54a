"""VramCallback: device memory of a training with Lightning, in its loggers.

>>> from lightning.pytorch import Trainer                       # doctest: +SKIP
>>> trainer = Trainer(callbacks=[VramCallback(every_n_steps=10)])    # doctest: +SKIP
"""
from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Any

from vramscope._training import Training, guarded, missing

__all__ = ["VramCallback"]


def _base() -> Any:
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(name).Callback
        except ModuleNotFoundError as error:
            if error.name is None or not (name + ".").startswith(error.name + "."):
                raise
    raise missing("lightning", "lightning or pytorch_lightning")


_Callback: Any = _base()


class VramCallback(_Callback):  # type: ignore[misc]
    """Reads device memory while a Lightning Trainer runs.

    every_n_steps: after so many batches one reading goes to every logger, at the trainer's
    global_step: `vram/allocated_gib`, `vram/interval_peak_gib` (since the reading before),
    `vram/reserved_gib`, `vram/device_used_gib`, `vram/alloc_retries`,
    `vram/gpu_utilization_percent`.  metrics: only these of them.  What is not known is left out.
    on_oom: failures for lack of memory leave a folder in `dir`, and the verdict is printed by the
    process that failed.  leak_steps: so many steps are watched by a LeakDetector; what grows is a
    warning of the logger `vramscope` at the end, and `leaks`.  scopes: forward, backward, optimizer
    and validation are measured each, at the cost of two readings; `summary` has them.

    Steps and phases are marked in a memory history that is on.  A hook that fails does not disturb
    the training; it is counted in `losses`.  backend: as of Profiler.
    """

    def __init__(self, every_n_steps: int = 50, *, metrics: Iterable[str] | None = None,
                 on_oom: bool = True, dir: Any = "oom_dumps", leak_steps: int | None = None,
                 scopes: bool = False, backend: Any = None) -> None:
        super().__init__()
        self.training = Training(every_n_steps, metrics, on_oom, dir, leak_steps, scopes, backend)
        self.summary: Any = None
        self.leaks: Any = None

    @property
    def losses(self) -> dict[str, int]:
        """How many hooks failed."""
        return self.training.losses

    @guarded
    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        self.training.start(trainer.strategy.root_device, hook=False)

    @guarded
    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any,
                             batch_idx: int) -> None:
        self.training.begin_step()
        self.training.begin_phase("forward")

    @guarded
    def on_before_zero_grad(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        # Gradients are zeroed between the forward and the backward.
        self.training.end_phase()

    @guarded
    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        self.training.begin_phase("backward")

    @guarded
    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        self.training.end_phase()

    @guarded
    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        self.training.begin_phase("optimizer")

    @guarded
    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any,
                           batch_idx: int) -> None:
        self.training.end_step()
        if self.training.detector is not None:
            self.training.detector.step()
        if self.training.is_due():
            values = self.training.read()
            for logger in trainer.loggers if values else ():
                logger.log_metrics(values, step=trainer.global_step)

    @guarded
    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self.training.begin_phase("validation")

    @guarded
    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self.training.end_phase()

    @guarded
    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self.training.end_step()
        if self.training.on_oom:
            rank = trainer.global_rank if trainer.world_size > 1 else None
            self.training.tell(exception, rank)
        self._end()  # there is no teardown after it

    @guarded
    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:
        if self.training.profiler is not None and stage == "fit":
            self.leaks = self.training.look_for_leaks()
        self._end()

    def _end(self) -> None:
        if self.training.profiler is not None:
            self.summary = self.training.profiler.summary()
        self.training.end()
