"""Adapters in a frozen ViT of torchvision; what is before the first adapter needs no graph."""
import torch
from torch import nn
from torchvision.models.vision_transformer import VisionTransformer


class Adapter(nn.Module):
    def __init__(self, layer, width, inner=32):
        super().__init__()
        self.layer, self.down, self.up = layer, nn.Linear(width, inner), nn.Linear(inner, width)

    def forward(self, x):
        x = self.layer(x)
        return x + self.up(nn.functional.gelu(self.down(x)))


def with_adapters(vit, width):
    for p in vit.parameters():
        p.requires_grad = False
    layers = vit.encoder.layers
    for name, layer in list(layers.named_children())[3:]:
        setattr(layers, name, Adapter(layer, width))
    vit.heads = nn.Linear(width, 50)
    return vit


def main(run):
    vit = with_adapters(VisionTransformer(96, 16, 8, 8, 512, 2048), 512).to(run.device)
    trained = [p for p in vit.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    for epoch in range(2):
        for _ in range(3):
            with run.step():
                images, labels = run.values(96, 3, 96, 96).to(run.device), run.tokens(96).to(run.device)
                loss = nn.functional.cross_entropy(vit(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        vit.eval()
        with torch.no_grad():
            with run.other_pass():
                images, labels = run.values(96, 3, 96, 96).to(run.device), run.tokens(96).to(run.device)
                schedule.step(nn.functional.cross_entropy(vit(images), labels).item())
        vit.train()
    run.snapshot()
