"""Training fits; the first validation, of a larger batch and with gradients on, does not."""
import torch
from torch import nn
from torch.nn import functional as F
from torchvision.models import resnet18

CAPACITY = 1700 << 20
PLANTED = {"verdict": "live_exceeds_capacity"}


def one_epoch(run, model, criterion, optimizer):
    model.train()
    for _ in range(4):
        with run.step():
            x, y = run.values(64, 3, 96, 96).to(run.device), run.tokens(64).to(run.device)
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()


def validate(run, model, criterion):
    model.eval()
    total = 0.0
    for _ in range(3):
        with run.other_pass():
            x, y = run.values(512, 3, 96, 96).to(run.device), run.tokens(512).to(run.device)
            total += criterion(model(x), y).item()
    return total


def main(run):
    model = resnet18(num_classes=100).to(run.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    for _ in range(2):
        one_epoch(run, model, nn.CrossEntropyLoss(), optimizer)
        validate(run, model, F.cross_entropy)
    run.snapshot()
