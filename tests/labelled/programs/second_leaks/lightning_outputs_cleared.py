"""The twin of lightning_outputs: the end of each validation works out one number and clears the list."""
import torch
from torch import nn
from torch.nn import functional as F

from nets.trainer import Task, trainer


class Tabular(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Dropout(0.1), nn.Linear(2048, 2048), nn.GELU())
        self.head = nn.Linear(2048, 1000)

    def forward(self, x):
        return self.head(self.body(x))


class Classify(Task):
    def __init__(self, run, model):
        super().__init__(run, model)
        self.outputs = []

    def training_step(self, batch, index):
        return F.cross_entropy(self.model(batch[0]), batch[1])

    def validation_step(self, batch, index):
        self.outputs.append(self.model(batch[0]))

    def on_validation_epoch_end(self):
        self.seen = torch.cat(self.outputs).logsumexp(-1).mean().item()
        self.outputs.clear()

    def configure_optimizers(self):
        optimizer = torch.optim.RAdam(self.parameters(), lr=1e-3)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 2)]


class Rows(torch.utils.data.IterableDataset):
    def __init__(self, run, count):
        self.run, self.count = run, count

    def __iter__(self):
        for _ in range(self.count):
            yield self.run.values(4096, 512), self.run.tokens(4096)


def rows(run, count):
    return torch.utils.data.DataLoader(Rows(run, count), batch_size=None)


def main(run):
    trainer(run, max_steps=10, val_check_interval=2, num_sanity_val_steps=0).fit(
        Classify(run, Tabular()), rows(run, 10), rows(run, 1))
