"""Two networks of convolutions against each other: the pool of older pictures has no bound."""
import random

import torch
from torch import nn

PLANTED = {"leak": "x = self.last(x)"}


def up(inside, outside):
    return nn.Sequential(nn.ConvTranspose2d(inside, outside, 4, 2, 1, bias=False), nn.BatchNorm2d(outside),
                         nn.ReLU(inplace=True))


def down(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 4, 2, 1), nn.LeakyReLU(0.2, inplace=True))


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(100, 512 * 4 * 4)
        self.middle = nn.Sequential(up(512, 256), up(256, 128), up(128, 64))
        self.last = nn.ConvTranspose2d(64, 3, 4, 2, 1)

    def forward(self, z):
        x = self.middle(self.first(z).view(-1, 512, 4, 4))
        x = self.last(x)
        return x.tanh_()


class Pool:
    def __init__(self):
        self.pictures, self.random = [], random.Random(1)

    def query(self, fresh):
        self.pictures.append(fresh)
        return self.random.choice(self.pictures)


def main(run):
    G = Painter().to(run.device)
    D = nn.Sequential(down(3, 64), down(64, 128), down(128, 256), nn.Conv2d(256, 1, 8)).to(run.device)
    opt_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
    pool, criterion = Pool(), nn.MSELoss()
    for iteration in range(8):
        with run.step():
            real = run.values(128, 3, 64, 64).to(run.device)
            z = torch.randn(128, 100, device=run.device)
            fake = G(z)

            opt_g.zero_grad()
            answer = D(fake)
            loss_g = criterion(answer, torch.ones_like(answer))
            loss_g.backward()
            opt_g.step()

            opt_d.zero_grad()
            answer = D(real)
            loss_real = criterion(answer, torch.ones_like(answer))
            answer = D(pool.query(fake.detach()))
            loss_fake = criterion(answer, torch.zeros_like(answer))
            loss_d = (loss_real + loss_fake) * 0.5
            loss_d.backward()
            opt_d.step()
    run.snapshot()
