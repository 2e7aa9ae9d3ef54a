"""A denoiser of images and its average (AveragedModel), from which a few images are sampled every second step."""
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Res(nn.Module):
    def __init__(self, a, b, time):
        super().__init__()
        self.one, self.two = nn.Conv2d(a, b, 3, padding=1), nn.Conv2d(b, b, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(8, a), nn.GroupNorm(8, b)
        self.time = nn.Linear(time, b)
        self.skip = nn.Conv2d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x, t):
        h = self.one(F.silu(self.norm1(x))) + self.time(t)[:, :, None, None]
        return self.skip(x) + self.two(F.silu(self.norm2(h)))


class Denoiser(nn.Module):
    def __init__(self, base=48, time=192):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, time), nn.SiLU(), nn.Linear(time, time))
        self.enter = nn.Conv2d(3, base, 3, padding=1)
        self.down = nn.ModuleList([Res(base, base, time), Res(base, 2 * base, time), Res(2 * base, 4 * base, time)])
        self.middle = Res(4 * base, 4 * base, time)
        self.up = nn.ModuleList([Res(8 * base, 2 * base, time), Res(4 * base, base, time), Res(2 * base, base, time)])
        self.leave = nn.Conv2d(base, 3, 3, padding=1)

    def forward(self, x, t):
        t, x, skips = self.time(t[:, None]), self.enter(x), []
        for block in self.down:
            x = block(x, t)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        x = self.middle(x, t)
        for block in self.up:
            x = F.interpolate(x, scale_factor=2.0)
            x = block(torch.cat([x, skips.pop()], 1), t)
        return self.leave(x)


@torch.no_grad()
def sample(run, model):
    x = torch.randn(4, 3, 64, 64, device=run.device)
    for i in range(3):
        x = x - 0.1 * model(x, torch.full((4,), i / 3, device=run.device))
    return x.clamp(-1, 1).cpu()


def main(run):
    net = Denoiser().to(run.device)
    average = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.999))
    run.label("ema", [average.module.state_dict()])
    opt = torch.optim.Adam(net.parameters(), 2e-4)
    signal = torch.linspace(0.99, 0.01, 1000).to(run.device)
    for step in range(6):
        with run.step():
            x = run.values(24, 3, 64, 64).to(run.device)
            t = torch.randint(0, 1000, (x.size(0),), device=run.device)
            noise = torch.randn_like(x)
            a = signal[t][:, None, None, None]
            noisy = a.sqrt() * x + (1 - a).sqrt() * noise
            F.mse_loss(net(noisy, t.float() / 1000), noise).backward()
            opt.step()
            opt.zero_grad()
            average.update_parameters(net)
        if step % 2 == 1:
            with run.other_pass():
                sample(run, average)
    run.snapshot()
