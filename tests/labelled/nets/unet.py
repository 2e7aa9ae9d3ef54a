"""A small U-Net of residual blocks for diffusion."""
import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, inside, outside, times):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, inside), nn.Conv2d(inside, outside, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(8, outside), nn.Conv2d(outside, outside, 3, padding=1)
        self.time = nn.Linear(times, outside)
        self.short = nn.Conv2d(inside, outside, 1) if inside != outside else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x))) + self.time(t)[:, :, None, None]
        return self.conv2(F.silu(self.norm2(h))) + self.short(x)


class UNet(nn.Module):
    def __init__(self, width=64, levels=3):
        super().__init__()
        times = 4 * width
        self.time = nn.Sequential(nn.Linear(1, times), nn.SiLU(), nn.Linear(times, times))
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        sizes = [width << level for level in range(levels)]
        self.down = nn.ModuleList(Residual(a, b, times) for a, b in zip([width, *sizes], sizes))
        self.up = nn.ModuleList(Residual(2 * b, a, times) for a, b in zip([width, *sizes], sizes))

    def forward(self, x, t):
        t, x, skips = self.time(t[:, None]), self.first(x), []
        for block in self.down:
            x = block(x, t)
            skips.append(x)
            x = F.avg_pool2d(x, 2)
        for block in reversed(self.up):
            x = F.interpolate(x, scale_factor=2.0)
            x = block(torch.cat([x, skips.pop()], 1), t)
        return self.last(x)
