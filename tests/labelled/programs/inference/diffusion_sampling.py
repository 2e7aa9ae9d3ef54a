"""Twenty denoising steps of a U-Net without gradients."""
import torch

from nets.unet import UNet


@torch.no_grad()
def main(run):
    model = UNet().to(run.device).eval()
    images = torch.randn(16, 3, 64, 64, device=run.device)
    times = torch.linspace(1, 0, 20, device=run.device)
    for step in range(20):
        with run.other_pass():
            noise = model(images, times[step].expand(16))
            images = images - noise * 0.05
    run.snapshot()
