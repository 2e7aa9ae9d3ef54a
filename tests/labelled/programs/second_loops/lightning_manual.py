"""Lightning's manual optimization: two networks with two optimizers, stepped by the module itself."""
import torch
from torch import nn
from torch.nn import functional as F

from nets.trainer import Task, trainer


class Rows(torch.utils.data.IterableDataset):
    def __init__(self, run, count):
        self.run, self.count = run, count

    def __iter__(self):
        for _ in range(self.count):
            yield self.run.values(512, 1024), self.run.tokens(512)


class Adversaries(Task):
    def __init__(self, run):
        super().__init__(run, None)
        self.automatic_optimization = False
        self.make = nn.Sequential(nn.Linear(96, 1024), nn.LeakyReLU(0.2), nn.Linear(1024, 2048), nn.LeakyReLU(0.2),
                                  nn.Linear(2048, 1024))
        self.judge = nn.Sequential(nn.Linear(1024, 1536), nn.LeakyReLU(0.2), nn.Linear(1536, 768), nn.LeakyReLU(0.2),
                                   nn.Linear(768, 1))

    def training_step(self, batch, index):
        real, _ = batch
        make_opt, judge_opt = self.optimizers()
        z = torch.randn(real.size(0), 96, device=real.device)

        self.toggle_optimizer(make_opt)
        verdict = self.judge(self.make(z))
        loss = F.binary_cross_entropy_with_logits(verdict, torch.ones_like(verdict))
        make_opt.zero_grad()
        self.manual_backward(loss)
        make_opt.step()
        self.untoggle_optimizer(make_opt)

        self.toggle_optimizer(judge_opt)
        good, bad = self.judge(real), self.judge(self.make(z).detach())
        loss = (F.binary_cross_entropy_with_logits(good, torch.ones_like(good))
                + F.binary_cross_entropy_with_logits(bad, torch.zeros_like(bad)))
        judge_opt.zero_grad()
        self.manual_backward(loss)
        judge_opt.step()
        self.untoggle_optimizer(judge_opt)

    def configure_optimizers(self):
        return (torch.optim.Adam(self.make.parameters(), lr=2e-4, betas=(0.5, 0.999)),
                torch.optim.Adam(self.judge.parameters(), lr=1e-4, betas=(0.5, 0.999)))


def main(run):
    loader = torch.utils.data.DataLoader(Rows(run, 6), batch_size=None)
    trainer(run, max_epochs=1).fit(Adversaries(run), loader)
