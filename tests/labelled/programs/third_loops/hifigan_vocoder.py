"""A vocoder in the manner of HiFi-GAN: two kinds of discriminators, feature matching on lists of their features.

The lists of features stay bound until the next step makes new ones.
"""
import itertools

import torch
import torch.nn.functional as F
from torch import nn

ADVICE = {"retained-output": [("                optim_g.step()\n",
                               "                optim_g.step()\n                del _, fmap_r, fmap_g, y_df_r, y_df_g\n")]}
BATCH = 2


class ResBlock(nn.Module):
    def __init__(self, channels, kernel=3, dilations=(1, 3, 5)):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(channels, channels, kernel, padding=d * (kernel - 1) // 2, dilation=d)
                                   for d in dilations)

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(F.leaky_relu(x, 0.1))
        return x


class Generator(nn.Module):
    def __init__(self, mels=80, channels=256, rates=(8, 8, 4)):
        super().__init__()
        self.conv_pre = nn.Conv1d(mels, channels, 7, padding=3)
        self.ups = nn.ModuleList(nn.ConvTranspose1d(channels >> i, channels >> (i + 1), 2 * r, r, r // 2)
                                 for i, r in enumerate(rates))
        self.blocks = nn.ModuleList(nn.ModuleList(ResBlock(channels >> (i + 1), k) for k in (3, 7))
                                    for i in range(len(rates)))
        self.conv_post = nn.Conv1d(channels >> len(rates), 1, 7, padding=3)

    def forward(self, x):
        x = self.conv_pre(x)
        for up, blocks in zip(self.ups, self.blocks):
            x = up(F.leaky_relu(x, 0.1))
            x = sum(block(x) for block in blocks) / len(blocks)
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


class PeriodDiscriminator(nn.Module):
    def __init__(self, period):
        super().__init__()
        self.period, widths = period, (1, 32, 128, 256, 256)
        self.convs = nn.ModuleList(nn.Conv2d(a, b, (5, 1), (3, 1), (2, 0)) for a, b in zip(widths, widths[1:]))
        self.post = nn.Conv2d(256, 1, (3, 1), padding=(1, 0))

    def forward(self, x):
        fmap = []
        if x.size(-1) % self.period:
            x = F.pad(x, (0, self.period - x.size(-1) % self.period), "reflect")
        x = x.view(x.size(0), 1, -1, self.period)
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)
            fmap.append(x)
        x = self.post(x)
        fmap.append(x)
        return x.flatten(1), fmap


class Discriminators(nn.Module):
    def __init__(self):
        super().__init__()
        self.discriminators = nn.ModuleList(PeriodDiscriminator(p) for p in (2, 3, 5, 7))

    def forward(self, y, y_hat):
        real, fake = zip(*(d(y) for d in self.discriminators)), zip(*(d(y_hat) for d in self.discriminators))
        return (*real, *fake)


def feature_loss(fmap_r, fmap_g):
    return 2 * sum(torch.mean(torch.abs(r - g)) for dr, dg in zip(fmap_r, fmap_g) for r, g in zip(dr, dg))


def main(run):
    generator, mpd = Generator().to(run.device), Discriminators().to(run.device)
    to_mel = nn.Conv1d(1, 80, 1024, 256, padding=384, bias=False).to(run.device).requires_grad_(False)
    optim_g = torch.optim.AdamW(generator.parameters(), 2e-4, betas=(0.8, 0.99))
    optim_d = torch.optim.AdamW(itertools.chain(mpd.parameters()), 2e-4, betas=(0.8, 0.99))
    scheduler_g = torch.optim.lr_scheduler.ExponentialLR(optim_g, gamma=0.999)
    for epoch in range(2):
        for batch in range(3):
            with run.step():
                x, y = run.values(12, 80, 64).to(run.device), run.values(12, 1, 64 * 256).to(run.device)
                y_g_hat = generator(x)

                optim_d.zero_grad()
                y_df_r, _, y_df_g, _ = mpd(y, y_g_hat.detach())
                loss_disc = sum(torch.mean((1 - dr) ** 2) + torch.mean(dg ** 2) for dr, dg in zip(y_df_r, y_df_g))
                loss_disc.backward()
                optim_d.step()

                optim_g.zero_grad()
                loss_mel = F.l1_loss(to_mel(y), to_mel(y_g_hat)) * 45
                _, fmap_r, y_df_g, fmap_g = mpd(y, y_g_hat)
                loss_gen = sum(torch.mean((1 - dg) ** 2) for dg in y_df_g)
                (loss_gen + feature_loss(fmap_r, fmap_g) + loss_mel).backward()
                optim_g.step()
        scheduler_g.step()
    run.snapshot()
