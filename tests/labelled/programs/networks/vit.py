"""A vision transformer of torchvision with label smoothing."""
import torch
from torch import nn
from torchvision.models import VisionTransformer

BATCH = 2


def main(run):
    model = VisionTransformer(image_size=64, patch_size=8, num_layers=6, num_heads=6, hidden_dim=384, mlp_dim=1536,
                              num_classes=100).to(run.device)
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    for _ in range(4):
        with run.step():
            images = run.values(64, 3, 64, 64).to(run.device)
            labels = run.tokens(64).to(run.device)
            loss = loss_of(model(images), labels)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    run.snapshot()
