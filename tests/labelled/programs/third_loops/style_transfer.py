"""The pixels of one picture are what is trained: features of a frozen VGG, Gram matrices, total variation, Adam.

The network has no gradients; its activations are most of the peak.  Targets are tensors that live throughout.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import vgg16

CONTENT, STYLE = (16,), (1, 6, 11, 18)


def gram_matrix(features):
    b, c, h, w = features.size()
    f = features.view(b, c, h * w)
    return torch.bmm(f, f.transpose(1, 2)) / (c * h * w)


class FeatureExtractor(nn.Module):
    def __init__(self, layers, last):
        super().__init__()
        self.layers = nn.Sequential(*[nn.ReLU(inplace=False) if isinstance(m, nn.ReLU) else m
                                      for m in layers[:last + 1]]).eval().requires_grad_(False)

    def forward(self, x):
        content, style = [], []
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i in CONTENT:
                content.append(x)
            if i in STYLE:
                style.append(x)
        return content, style


def total_variation(image):
    return (image[:, :, :, 1:] - image[:, :, :, :-1]).abs().mean() + (image[:, :, 1:] - image[:, :, :-1]).abs().mean()


def stylise(run, extractor, content_image, style_image, iterations=6):
    with torch.no_grad():
        content_targets = extractor(content_image)[0]
        style_targets = [gram_matrix(f) for f in extractor(style_image)[1]]
    image = content_image.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([image], lr=0.03)
    history = []
    for i in range(iterations):
        with run.step():
            optimizer.zero_grad()
            content, style = extractor(image)
            content_loss = sum(F.mse_loss(a, b) for a, b in zip(content, content_targets))
            style_loss = sum(F.mse_loss(gram_matrix(a), b) for a, b in zip(style, style_targets))
            loss = content_loss + 1e5 * style_loss + 1e-2 * total_variation(image)
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                image.clamp_(0, 1)
            history.append([content_loss.item(), style_loss.item()])
    run.snapshot()
    return image


def main(run):
    extractor = FeatureExtractor(vgg16(weights=None).features, max(STYLE)).to(run.device)
    stylise(run, extractor, run.values(1, 3, 640, 640).to(run.device), run.values(1, 3, 640, 640).to(run.device))
