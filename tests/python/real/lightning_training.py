"""Trainings of five steps with Lightning on the host, whose device memory is a simulation's."""
import collections
import json
import logging
import os
import sys

logging.disable(logging.INFO)
import torch  # noqa: E402
from lightning.pytorch import LightningModule, Trainer  # noqa: E402
from lightning.pytorch.loggers.logger import DummyLogger  # noqa: E402
from vramscope import sim  # noqa: E402
from vramscope.lightning import VramCallback  # noqa: E402

HOOKS = ("setup on_train_batch_start on_train_batch_end on_before_backward on_after_backward on_before_optimizer_step "
         "on_before_zero_grad on_validation_start on_validation_end on_exception teardown").split()
folder = sys.argv[1]
os.chdir(folder)


class Kept(DummyLogger):
    def __init__(self):
        super().__init__()
        self.metrics = []

    def log_metrics(self, metrics, step=None):
        self.metrics.append([step, metrics])


class Model(LightningModule):
    def __init__(self, device, fails=False):
        super().__init__()
        self.layer, self.gpu, self.kept, self.fails = torch.nn.Linear(4, 1), device, [], fails

    def training_step(self, batch, index):
        self.kept.append(self.gpu.alloc("20MiB", tag="losses"))
        self.gpu.alloc("40MiB", tag="activations")
        if self.fails and index == 3:
            self.gpu.alloc("2GiB")
        return self.layer(batch).sum()

    def validation_step(self, batch, index):
        self.gpu.alloc("30MiB")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Counted(VramCallback):
    def __getattribute__(self, name):
        if name in HOOKS:
            vars(self).setdefault("counts", collections.Counter())[name] += 1
        return super().__getattribute__(name)


def train(fails=False, loggers=1, history=0, **options):
    made = [Kept() for _ in range(loggers)]
    with sim.Device("1GiB", history=history) as device:
        callback = Counted(backend=device.backend, dir="dumps", **options)
        before = dict(vars(callback).pop("counts", {}))
        trainer = Trainer(max_steps=5, limit_val_batches=1, val_check_interval=5, num_sanity_val_steps=0, accelerator="cpu",
                          logger=made or False, callbacks=[callback], enable_checkpointing=False,
                          enable_progress_bar=False, enable_model_summary=False)
        model, raised = Model(device, fails), None
        try:
            data = torch.utils.data.DataLoader(torch.ones(20, 4), batch_size=2)
            trainer.fit(model, data, data)
        except Exception as error:
            raised = type(error).__name__
        marks = [mark["name"] for mark in device.history_snapshot()["external_annotations"] if mark["stage"] == "START"]
    return {"metrics": [logger.metrics for logger in made], "losses": callback.losses, "raised": raised, "before": before,
            "counts": vars(callback)["counts"], "marks": marks, "dumps": os.listdir("dumps") if os.path.isdir("dumps") else [],
            "summary": {row["path"][-1]: [row["calls"], row["peak_delta_bytes"]] for row in callback.summary["rows"]},
            "leaks": callback.leaks.to_dict() if callback.leaks else None,
            "listening": len(__import__("vramscope.history.oom").history.oom._handlers)}


answer = {
    "plain": train(every_n_steps=2),
    "scopes": train(every_n_steps=1, scopes=True, leak_steps=2, loggers=2, history=1000, metrics=["vram/allocated_gib"]),
    "silent": train(every_n_steps=1, loggers=0),
    "fails": train(fails=True, every_n_steps=1),
}
print(json.dumps(answer))
