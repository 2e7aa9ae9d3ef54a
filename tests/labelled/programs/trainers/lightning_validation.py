"""Lightning validates two batches after every second step."""
from nets.gpt import GPT, loss_of
from nets.trainer import Task, loader, trainer


class Validated(Task):
    def validation_step(self, batch, index):
        tokens, targets = batch
        self.seen = loss_of(self.model(tokens), targets).item()


def main(run):
    trainer(run, max_steps=6, val_check_interval=2, num_sanity_val_steps=0).fit(
        Validated(run, GPT()), loader(run, 6), loader(run, 2))
