"""A small diffusion U-Net with a moving average of its weights."""
import copy

import torch
from torch.nn import functional as F

from nets.unet import UNet

BATCH = 2


def main(run):
    model = UNet().to(run.device)
    ema = copy.deepcopy(model).requires_grad_(False)
    run.label("ema", ema.parameters())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(5):
        with run.step():
            images = run.values(16, 3, 64, 64).to(run.device)
            noise = torch.randn_like(images)
            times = torch.rand(images.size(0), 1, 1, 1, device=run.device)
            mixed = images * times + noise * (1 - times)
            loss = F.mse_loss(model(mixed, times.flatten()), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                for slow, fast in zip(ema.parameters(), model.parameters()):
                    slow.lerp_(fast, 0.01)
    run.snapshot()
