"""The blocks of docs/python.md that want a framework: they run in their order, on a simulated device."""
import contextlib
import importlib
import io
import json
import logging
import os
import re
import sys
import types

logging.disable(logging.WARNING)
import torch  # noqa: E402
from vramscope import sim  # noqa: E402

guide = open(sys.argv[1]).read()
os.chdir(sys.argv[2])


def blocks(kind):
    return re.findall(r"^```%s\n(.*?)^```$" % kind, guide, re.S | re.M)


def lightning(device):
    from lightning.pytorch import LightningModule

    class Model(LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch, index):
            device.alloc("40MiB")
            return self.layer(batch).sum()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)
    return {"model": Model(), "data": torch.utils.data.DataLoader(torch.ones(20, 4), batch_size=2)}


class Trainer:
    """The events of a training of one step; tests/python/real/transformers_training.py has all of them."""
    def __init__(self):
        import transformers
        self.callback_handler = transformers.trainer_callback.CallbackHandler([], None, None, None, None)
        self.state, self.control = transformers.TrainerState(), transformers.TrainerControl()
        self.args = types.SimpleNamespace(device=torch.device("cpu"))

    def train(self):
        for event, more in (("on_train_begin", ()), ("on_step_begin", ()), ("on_step_end", ()), ("on_log", ({},)), ("on_train_end", ())):
            if event == "on_log":
                self.state.log_history.append({"loss": 1.0})
            getattr(self.callback_handler, event)(self.args, self.state, self.control, *more)


said = []
with sim.Device("24GiB") as device:
    reader = {"__name__": "__main__", **lightning(device), "hf_trainer": Trainer()}
    for block in blocks("python torch"):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            exec(compile(block, "guide", "exec"), reader)
        said.append(text.getvalue())
    if importlib.util.find_spec("IPython") is not None:
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.utils.capture import capture_output
        shell = InteractiveShell.instance()
        shell.user_ns["device"] = device
        for block in blocks("ipython"):
            with capture_output() as captured:
                shell.run_cell(block).raise_error()
            said.append(captured.outputs[0].data["text/plain"])
print(json.dumps(said))
