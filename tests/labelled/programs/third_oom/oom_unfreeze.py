"""Gradual unfreezing: the head alone, then the upper half, then all blocks, whose activations no longer fit."""
import torch
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer

CAPACITY = 1500 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


def freeze_to(vit, first):
    """Blocks from number `first` on are trained, with the head."""
    for p in vit.parameters():
        p.requires_grad = False
    for layer in list(vit.encoder.layers)[first:]:
        layer.requires_grad_(True)
    vit.heads.requires_grad_(True)
    return [p for p in vit.parameters() if p.requires_grad]


def fit_one_cycle(run, vit, params, n):
    opt = torch.optim.AdamW(params, lr=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, 1e-3, total_steps=n + 1)
    for _ in range(n):
        with run.step():
            xb, yb = run.values(32, 3, 144, 144).to(run.device), run.tokens(32).to(run.device)
            loss = nn.functional.cross_entropy(vit(xb), yb)
            loss.backward()
            opt.step()
            sched.step()
            opt.zero_grad()


def main(run):
    vit = VisionTransformer(144, 12, 12, 8, 512, 2048, num_classes=37).to(run.device)
    for first in (12, 6, 0):
        fit_one_cycle(run, vit, freeze_to(vit, first), 2)
    run.snapshot()
