"""What a program under Lightning needs to run on a device that is not there."""
import logging

import lightning
import torch
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.strategies import SingleDeviceStrategy

from .gpt import loss_of

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class AnyDevice(CPUAccelerator):
    def setup_device(self, device):
        pass


class Stays(SingleDeviceStrategy):
    """At the end nothing moves back to the host: there is nothing in the tensors to move."""

    def teardown(self):
        pass


class Task(lightning.LightningModule):
    """It tells the recorder of a step as the batch arrives, before the first copy.

    `micro` batches make one step.
    """

    def __init__(self, run, model, micro=1):
        super().__init__()
        self.model, self.run, self.micro = model, run, micro
        self.open_range, self.batches = None, 0

    def end_range(self):
        if self.open_range:
            self.open_range.__exit__(None, None, None)
        self.open_range = None

    def transfer_batch_to_device(self, batch, device, index):
        validating = self.trainer.validating or self.trainer.sanity_checking
        if validating or self.batches % self.micro == 0:
            self.end_range()
            self.open_range = self.run.other_pass() if validating else self.run.step()
            self.open_range.__enter__()
        self.batches += not validating
        return super().transfer_batch_to_device(batch, device, index)

    def training_step(self, batch, index):
        tokens, targets = batch
        return loss_of(self.model(tokens), targets)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)

    def on_train_end(self):
        self.end_range()
        self.run.snapshot()


class Batches(torch.utils.data.IterableDataset):
    def __init__(self, run, count, rows=8):
        self.run, self.count, self.rows = run, count, rows

    def __iter__(self):
        for _ in range(self.count):
            yield self.run.tokens(self.rows, 256), self.run.tokens(self.rows, 256)


def loader(run, count, rows=8):
    return torch.utils.data.DataLoader(Batches(run, count, rows), batch_size=None)


def trainer(run, **options):
    return lightning.Trainer(
        strategy=Stays(device=run.device, accelerator=AnyDevice()), logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, **options)
