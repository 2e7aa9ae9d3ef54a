"""A generator and a discriminator with R1: every third step the gradient at real pictures is penalised, with a graph of
the second order.  The generator has an average that samples after each penalty.
"""
import copy

import torch
from torch import autograd, nn
from torch.nn import functional as F

BATCH = 2


class ModulatedConv(nn.Module):
    def __init__(self, cin, cout, style):
        super().__init__()
        self.conv, self.style = nn.Conv2d(cin, cout, 3, padding=1), nn.Linear(style, cin)
        self.noise = nn.Parameter(torch.zeros(1))

    def forward(self, x, w):
        x = self.conv(x * (1 + self.style(w))[:, :, None, None])
        noise = torch.randn(x.size(0), 1, x.size(2), x.size(3), device=x.device)
        return F.leaky_relu(x + self.noise * noise, 0.2)


class Generator(nn.Module):
    def __init__(self, style=256, widths=(256, 256, 128, 64)):
        super().__init__()
        self.mapping = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(style, style), nn.LeakyReLU(0.2))])
        self.constant = nn.Parameter(torch.randn(1, widths[0], 8, 8))
        self.convs = nn.ModuleList(ModulatedConv(a, b, style) for a, b in zip(widths, widths[1:]))
        self.to_rgb = nn.Conv2d(widths[-1], 3, 1)

    def forward(self, z):
        w = self.mapping(z)
        x = self.constant.repeat(z.size(0), 1, 1, 1)
        for conv in self.convs:
            x = conv(F.interpolate(x, scale_factor=2, mode="nearest"), w)
        return self.to_rgb(x)


class Discriminator(nn.Module):
    def __init__(self, widths=(64, 128, 256, 256)):
        super().__init__()
        layers = [nn.Conv2d(3, widths[0], 1), nn.LeakyReLU(0.2)]
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Conv2d(a, b, 3, padding=1), nn.LeakyReLU(0.2), nn.AvgPool2d(2)]
        self.net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(widths[-1] * 64, 1))

    def forward(self, x):
        return self.net(x)


def d_r1_loss(real_pred, real_img):
    grad_real, = autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad_real.pow(2).reshape(grad_real.shape[0], -1).sum(1).mean()


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


@torch.no_grad()
def accumulate(average, model, decay=0.999):
    for a, p in zip(average.parameters(), model.parameters()):
        a.mul_(decay).add_(p, alpha=1 - decay)


def main(run):
    generator, discriminator = Generator().to(run.device), Discriminator().to(run.device)
    g_ema = copy.deepcopy(generator).eval()
    run.label("ema", g_ema.parameters())
    g_optim = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    d_optim = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.0, 0.99))
    sample_z = torch.randn(16, 256, device=run.device)
    for i in range(7):
        with run.step():
            real_img = run.values(16, 3, 64, 64).to(run.device)
            requires_grad(generator, False)
            requires_grad(discriminator, True)
            fake_img = generator(torch.randn(real_img.size(0), 256, device=run.device))
            d_loss = F.softplus(discriminator(fake_img)).mean() + F.softplus(-discriminator(real_img)).mean()
            discriminator.zero_grad()
            d_loss.backward()
            d_optim.step()
            if i % 3 == 0:
                real_img.requires_grad = True
                r1_loss = d_r1_loss(discriminator(real_img), real_img)
                discriminator.zero_grad()
                (10 / 2 * r1_loss * 3).backward()
                d_optim.step()
            requires_grad(generator, True)
            requires_grad(discriminator, False)
            fake_img = generator(torch.randn(real_img.size(0), 256, device=run.device))
            g_loss = F.softplus(-discriminator(fake_img)).mean()
            generator.zero_grad()
            g_loss.backward()
            g_optim.step()
            accumulate(g_ema, generator)
        if i % 3 == 0:
            with run.other_pass(), torch.no_grad():
                sample = g_ema(sample_z).cpu()
                assert sample.size(0) == 16
    run.snapshot()
