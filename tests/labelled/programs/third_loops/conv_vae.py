"""A variational autoencoder with a perceptual loss: a frozen VGG of torchvision, whose features a hook puts in a list.

The list is emptied when the loss is there.  What the hook keeps of the target picture has no graph.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import vgg11

BATCH = 2


class Encoder(nn.Module):
    def __init__(self, ch=48, z=16):
        super().__init__()
        layers, last = [nn.Conv2d(3, ch, 3, 1, 1)], ch
        for mult in (1, 2, 4):
            layers += [nn.GroupNorm(8, last), nn.SiLU(), nn.Conv2d(last, ch * mult, 3, 2, 1)]
            last = ch * mult
        self.model = nn.Sequential(*layers, nn.SiLU(), nn.Conv2d(last, 2 * z, 1))

    def forward(self, x):
        return self.model(x).chunk(2, dim=1)


class Decoder(nn.Module):
    def __init__(self, ch=48, z=16):
        super().__init__()
        layers, last = [nn.Conv2d(z, ch * 4, 3, 1, 1)], ch * 4
        for mult in (4, 2, 1):
            layers += [nn.GroupNorm(8, last), nn.SiLU(), nn.Upsample(scale_factor=2),
                       nn.Conv2d(last, ch * mult, 3, 1, 1)]
            last = ch * mult
        self.model = nn.Sequential(*layers, nn.SiLU(), nn.Conv2d(last, 3, 3, 1, 1), nn.Tanh())

    def forward(self, z):
        return self.model(z)


class PerceptualLoss:
    def __init__(self, net, taps=(2, 5, 10)):
        self.net, self.features = net.eval().requires_grad_(False), []
        for i in taps:
            net[i].register_forward_hook(lambda module, inputs, output: self.features.append(output))

    def __call__(self, fake, real):
        self.features.clear()
        with torch.no_grad():
            self.net(real)
        wanted = list(self.features)
        self.features.clear()
        self.net(fake)
        loss = sum(F.l1_loss(a, b) for a, b in zip(self.features, wanted))
        self.features.clear()
        return loss


def train_epoch(run, enc, dec, perceptual, opt, n):
    stats = {"rec": 0.0, "kl": 0.0}
    for _ in range(n):
        with run.step():
            x = run.values(24, 3, 128, 128).to(run.device)
            mu, logvar = enc(x)
            z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
            recon = dec(z)
            rec = F.l1_loss(recon, x) + 0.1 * perceptual(recon, x)
            kl = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
            opt.zero_grad(set_to_none=True)
            (rec + 1e-4 * kl).backward()
            opt.step()
            stats["rec"] += rec.item()
            stats["kl"] += kl.item()
    return stats


def main(run):
    enc, dec = Encoder().to(run.device), Decoder().to(run.device)
    perceptual = PerceptualLoss(vgg11(weights=None).features[:11].to(run.device))
    opt = torch.optim.Adamax([*enc.parameters(), *dec.parameters()], lr=1e-3)
    for _ in range(2):
        train_epoch(run, enc, dec, perceptual, opt, 3)
    run.snapshot()
