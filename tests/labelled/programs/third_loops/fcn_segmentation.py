"""Segmentation with torchvision's FCN and its auxiliary head; a confusion matrix on the device, two parameter groups.

The matrix stays, and is set to zero before each evaluation.
"""
import torch
from torch import nn
from torchvision.models import resnet18
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.segmentation.fcn import FCN, FCNHead

BATCH = 2


class ConfusionMatrix:
    def __init__(self, num_classes):
        self.num_classes, self.mat = num_classes, None

    def update(self, a, b):
        n = self.num_classes
        if self.mat is None:
            self.mat = torch.zeros((n, n), dtype=torch.int64, device=a.device)
        with torch.no_grad():
            self.mat.view(-1).index_add_(0, n * a + b, torch.ones_like(a))

    def reset(self):
        if self.mat is not None:
            self.mat.zero_()


def criterion(inputs, target):
    losses = {name: nn.functional.cross_entropy(x, target, ignore_index=255) for name, x in inputs.items()}
    return losses["out"] + 0.5 * losses["aux"]


def train_one_epoch(run, model, optimizer, lr_scheduler, batches):
    model.train()
    total = 0.0
    for _ in range(batches):
        with run.step():
            image, target = run.values(8, 3, 160, 160).to(run.device), run.tokens(8, 160, 160).to(run.device)
            output = model(image)
            loss = criterion(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lr_scheduler.step()
            total += loss.item()
    return total / batches


def evaluate(run, model, confmat):
    model.eval()
    confmat.reset()
    with torch.no_grad(), run.other_pass():
        for _ in range(2):
            image, target = run.values(8, 3, 160, 160).to(run.device), run.tokens(8, 160, 160).to(run.device)
            confmat.update(target.flatten(), model(image)["out"].argmax(1).flatten())


def main(run):
    backbone = IntermediateLayerGetter(resnet18(weights=None), {"layer4": "out", "layer3": "aux"})
    model = FCN(backbone, FCNHead(512, 21), FCNHead(256, 21)).to(run.device)
    params = [{"params": [*model.backbone.parameters(), *model.classifier.parameters()]},
              {"params": model.aux_classifier.parameters(), "lr": 0.1}]
    optimizer = torch.optim.SGD(params, lr=0.01, momentum=0.9, weight_decay=1e-4)
    lr_scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=60, power=0.9)
    confmat = ConfusionMatrix(21)
    for epoch in range(2):
        train_one_epoch(run, model, optimizer, lr_scheduler, 3)
        evaluate(run, model, confmat)
    run.snapshot()
