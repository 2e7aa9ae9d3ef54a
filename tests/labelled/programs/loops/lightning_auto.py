"""Lightning's automatic optimization: forward and backward run in a closure inside the optimizer's step."""
import lightning
import torch
from lightning.pytorch.accelerators import CPUAccelerator
from lightning.pytorch.strategies import SingleDeviceStrategy

from nets.gpt import GPT, loss_of


class AnyDevice(CPUAccelerator):
    def setup_device(self, device):
        pass


class Stays(SingleDeviceStrategy):
    """At the end nothing moves back to the host: there is nothing in the tensors to move."""

    def teardown(self):
        pass


class Task(lightning.LightningModule):
    """It tells the recorder of a step as the batch arrives, before the first copy."""

    def __init__(self, run):
        super().__init__()
        self.model, self.run, self.open_step = GPT(), run, None

    def end_step(self):
        if self.open_step:
            self.open_step.__exit__(None, None, None)
        self.open_step = None

    def transfer_batch_to_device(self, batch, device, index):
        self.end_step()
        self.open_step = self.run.step()
        self.open_step.__enter__()
        return super().transfer_batch_to_device(batch, device, index)

    def training_step(self, batch, index):
        tokens, targets = batch
        return loss_of(self.model(tokens), targets)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-4)

    def on_train_end(self):
        self.end_step()
        self.run.snapshot()


class Batches(torch.utils.data.IterableDataset):
    def __init__(self, run):
        self.run = run

    def __iter__(self):
        for _ in range(5):
            yield self.run.tokens(8, 256), self.run.tokens(8, 256)


def main(run):
    trainer = lightning.Trainer(
        max_steps=5, strategy=Stays(device=run.device, accelerator=AnyDevice()), logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Task(run), torch.utils.data.DataLoader(Batches(run), batch_size=None))
