"""What a program is handed: the device, batches, and how it tells where its steps are."""
import torch

from .recorder import DEVICE


class Run:
    """`with run.step()` goes around a training step, `with run.other_pass()` around a validation or a
    sampling; `run.snapshot()` ends the recording, as a program's own dump does."""

    def __init__(self, recorder, batch=1):
        self.recorder, self.device, self.batch = recorder, DEVICE, batch

    def step(self):
        return self.recorder.range("step")

    def other_pass(self):
        return self.recorder.range("pass")

    def prompt(self):
        """The first pass of a generation, which is unlike those of the tokens after it and counts as no step."""
        return self.recorder.range("prompt")

    def label(self, name, tensors):
        """These tensors are `name`: what no object of PyTorch tells, such as a cache or a moving average."""
        self.recorder.truth.name(name, list(tensors))

    def record(self, keeps_stacks=False):
        """The recording begins here: what is alive has no stack, and what was before is not in it.

        `keeps_stacks`: the history was on, but its ring of events was too small to keep what was before.
        """
        self.recorder.settle()
        self.recorder.first, self.recorder.keeps_stacks = len(self.recorder.events), keeps_stacks

    def snapshot(self, trace=True):
        """The recording ends here; without `trace` it is the state alone, as history "state" leaves it."""
        if not trace:
            self.record(keeps_stacks=True)
        self.recorder.settle()
        self.recorder.truth.look()
        self.recorder.on = False

    def tokens(self, rows, *shape):
        """A batch of the host, as a data loader gives it."""
        return torch.empty(rows * self.batch, *shape, dtype=torch.int64)

    def values(self, rows, *shape):
        """The same with 32-bit floats."""
        return torch.empty(rows * self.batch, *shape)
