"""ResNet-50 of torchvision with SGD and momentum; gradients are cleared after the next forward."""
import torch
from torch.nn import functional as F
from torchvision.models import resnet50

ADVICE = {"grad-late-zero": [("            optimizer.zero_grad()\n", ""),
                             ("            optimizer.step()\n",
                              "            optimizer.step()\n            optimizer.zero_grad()\n")]}
BATCH = 2


def main(run):
    model = resnet50().to(run.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(4):
        with run.step():
            images = run.values(32, 3, 224, 224).to(run.device)
            labels = run.tokens(32).to(run.device)
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    run.snapshot()
