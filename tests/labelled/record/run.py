"""What a program is handed: the device, batches, and how it tells where its steps are."""
import torch

from .recorder import DEVICE


class Run:
    """`with run.step()` goes around a training step, `with run.other_pass()` around a validation or a
    sampling; `run.snapshot()` ends the recording, as a program's own dump does."""

    def __init__(self, recorder):
        self.recorder, self.device = recorder, DEVICE

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

    def snapshot(self):
        self.recorder.settle()
        self.recorder.truth.look()
        self.recorder.on = False

    def tokens(self, *shape):
        """A batch of the host, as a data loader gives it."""
        return torch.empty(*shape, dtype=torch.int64)

    def values(self, *shape):
        """The same with 32-bit floats."""
        return torch.empty(*shape)
