"""Trainings of five steps with the Trainer of transformers on the host, whose device memory is a simulation's."""
import collections
import json
import logging
import os
import sys

logging.disable(logging.INFO)
import torch  # noqa: E402
import transformers  # noqa: E402
from vramscope import sim  # noqa: E402
from vramscope.transformers import VramTrainerCallback  # noqa: E402

HOOKS = ("on_train_begin on_step_begin on_pre_optimizer_step on_optimizer_step on_step_end on_log on_evaluate "
         "on_train_end").split()
os.chdir(sys.argv[1])


class Model(torch.nn.Module):
    def __init__(self, device, fails=False):
        super().__init__()
        self.layer, self.gpu, self.kept, self.fails = torch.nn.Linear(4, 1), device, [], fails

    def forward(self, x):
        if self.training:
            self.kept.append(self.gpu.alloc("20MiB", tag="losses"))
        self.gpu.alloc("40MiB", tag="activations")
        if self.fails and len(self.kept) == 4:
            self.gpu.alloc("2GiB")
        return {"loss": self.layer(x).sum()}


class Logger(transformers.TrainerCallback):
    """As the loggers of the framework: it stands before what the trainer is given."""
    def __init__(self):
        self.seen = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.seen.append(dict(logs))


class Counted(VramTrainerCallback):
    def __getattribute__(self, name):
        if name in HOOKS:
            vars(self).setdefault("counts", collections.Counter())[name] += 1
        return super().__getattribute__(name)


def make(model, callbacks):
    arguments = transformers.TrainingArguments("out", max_steps=5, logging_steps=1, eval_strategy="steps", eval_steps=5,
                                               report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
                                               per_device_train_batch_size=2)
    data = [{"x": torch.ones(4)} for _ in range(10)]
    trainer = transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:2], callbacks=callbacks)
    trainer.remove_callback(transformers.PrinterCallback)  # what is printed here is one document
    return trainer


def train(fails=False, attach=True, history=0, **options):
    with sim.Device("1GiB", history=history) as device:
        logger = Logger()
        trainer = make(Model(device, fails), [logger])
        options.update(backend=device.backend, dir="dumps")
        if attach:
            callback = Counted.attach(trainer, **options)
        else:
            callback = Counted(**options)
            trainer.callback_handler.callbacks.append(callback)
        raised = None
        try:
            trainer.train()
        except Exception as error:
            raised = type(error).__name__
        import vramscope.history.oom
        listening = len(vramscope.history.oom._handlers)
        callback.training.end()
        marks = [mark["name"] for mark in device.history_snapshot()["external_annotations"] if mark["stage"] == "START"]
        history = [entry for entry in trainer.state.log_history if "loss" in entry]
    return {"seen": [logs for logs in logger.seen if "loss" in logs], "history": history, "losses": callback.losses,
            "raised": raised, "counts": vars(callback)["counts"], "marks": marks, "listening": listening,
            "dumps": os.listdir("dumps") if os.path.isdir("dumps") else [],
            "summary": {row["path"][-1]: [row["calls"], row["peak_delta_bytes"]] for row in callback.summary["rows"]}
            if callback.summary else None,
            "leaks": callback.leaks.to_dict() if callback.leaks else None}


print(json.dumps({
    "plain": train(),
    "last": train(attach=False),
    "every": train(every_n_steps=2, metrics=["allocated_gib"], scopes=True, leak_steps=2, history=1000),
    "fails": train(fails=True),
}))
