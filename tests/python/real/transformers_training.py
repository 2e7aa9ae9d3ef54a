"""Trainings of five steps with the Trainer of transformers on the host, whose device memory is a simulation's.

The Trainer needs accelerate; where that is not installed its callbacks are called by its own handler, in its order."""
import collections
import importlib.util
import json
import logging
import os
import sys
import types

logging.disable(logging.INFO)
import torch  # noqa: E402
import transformers  # noqa: E402
from vramscope import sim  # noqa: E402
from vramscope.transformers import VramTrainerCallback  # noqa: E402

HOOKS = ("on_train_begin on_step_begin on_pre_optimizer_step on_optimizer_step on_step_end on_log on_evaluate "
         "on_train_end").split()
REAL = importlib.util.find_spec("accelerate") is not None
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


class ByHand:
    """The events of Trainer.train() of five steps, of which each logs, in the order of trainer.py."""
    def __init__(self, model, callbacks):
        self.model, self.optimizer = model, torch.optim.SGD(model.parameters(), lr=0.1)
        self.args = types.SimpleNamespace(device=torch.device("cpu"))
        self.state, self.control = transformers.TrainerState(), transformers.TrainerControl()
        self.callback_handler = transformers.trainer_callback.CallbackHandler(callbacks, model, None, self.optimizer, None)

    def call(self, event, *more):
        self.control = getattr(self.callback_handler, event)(self.args, self.state, self.control, *more)

    def log(self, logs):
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.call("on_log", logs)

    def train(self):
        self.call("on_train_begin")
        for _ in range(5):
            self.call("on_step_begin")
            loss = self.model(torch.ones(2, 4))["loss"]
            loss.backward()
            self.call("on_pre_optimizer_step")
            self.optimizer.step()
            self.call("on_optimizer_step")
            self.optimizer.zero_grad()
            self.state.global_step += 1
            self.call("on_step_end")
            self.log({"loss": float(loss)})
        self.model.eval()
        self.model(torch.ones(2, 4))
        self.call("on_evaluate", {})
        self.call("on_train_end")


def make(model, callbacks):
    if not REAL:
        return ByHand(model, callbacks)
    arguments = transformers.TrainingArguments("out", max_steps=5, logging_steps=1, eval_strategy="steps", eval_steps=5,
                                               report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True,
                                               per_device_train_batch_size=2)
    data = [{"x": torch.ones(4)} for _ in range(10)]
    return transformers.Trainer(model, arguments, train_dataset=data, eval_dataset=data[:2], callbacks=callbacks)


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
        import vramscope.oom
        listening = len(vramscope.oom._handlers)
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
    "real": REAL,
    "plain": train(),
    "last": train(attach=False),
    "every": train(every_n_steps=2, metrics=["allocated_gib"], scopes=True, leak_steps=2, history=1000),
    "fails": train(fails=True),
}))
