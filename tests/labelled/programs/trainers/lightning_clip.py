"""Lightning with clipped gradients and a moving average kept by a callback."""
import copy

import torch
from lightning.pytorch.callbacks import Callback

from nets.gpt import GPT
from nets.trainer import Task, loader, trainer


class Average(Callback):
    def on_fit_start(self, trainer, module):
        self.model = copy.deepcopy(module.model)
        module.run.label("ema", self.model.parameters())

    @torch.no_grad()
    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        for slow, fast in zip(self.model.parameters(), module.model.parameters()):
            slow.lerp_(fast, 0.01)


def main(run):
    trainer(run, max_steps=5, gradient_clip_val=1.0, callbacks=[Average()]).fit(
        Task(run, GPT()), loader(run, 5))
