"""A small Swin of torchvision in mixed precision with a scaler, fused AdamW and gradient accumulation of two."""
import torch
from torch.nn import functional as F
from torchvision.models.swin_transformer import SwinTransformer


def train_one_epoch(run, model, optimizer, scaler, steps, accumulate=2):
    for _ in range(steps):
        with run.step():
            for part in range(accumulate):
                images = run.values(12, 3, 112, 112).to(run.device)
                labels = run.tokens(12).to(run.device)
                with torch.autocast("cuda", dtype=torch.float16):
                    loss = F.cross_entropy(model(images), labels) / accumulate
                scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)


def main(run):
    model = SwinTransformer(patch_size=[4, 4], embed_dim=64, depths=[2, 2, 4, 2], num_heads=[2, 4, 8, 16],
                            window_size=[7, 7], stochastic_depth_prob=0.0, num_classes=100).to(run.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.05, fused=True)
    train_one_epoch(run, model, optimizer, torch.amp.GradScaler(run.device.type), 4)
    run.snapshot()
