"""A classifier in the manner of timm: ConvNeXt of torchvision in bfloat16, layer-wise rates, a model average, meters.

The average (ModelEmaV2) is a copy that its owner updates after each step and evaluates at the end of an epoch.
"""
import copy

import torch
import torch.nn as nn
from torchvision.models.convnext import CNBlockConfig, ConvNeXt

BATCH = 2


class AverageMeter:
    def __init__(self):
        self.sum = self.count = 0

    def update(self, val, n=1):
        self.sum, self.count = self.sum + val * n, self.count + n


class ModelEmaV2(nn.Module):
    def __init__(self, model, decay=0.9999):
        super().__init__()
        self.module, self.decay = copy.deepcopy(model).eval(), decay

    def update(self, model):
        with torch.no_grad():
            for ema_v, model_v in zip(self.module.state_dict().values(), model.state_dict().values()):
                ema_v.copy_(self.decay * ema_v + (1.0 - self.decay) * model_v)


class SoftTargetCrossEntropy(nn.Module):
    def forward(self, x, target):
        return torch.sum(-target * torch.log_softmax(x.float(), dim=-1), dim=-1).mean()


def mixup_target(target, num_classes, lam=0.7, smoothing=0.1):
    off = smoothing / num_classes
    y = torch.full((target.size(0), num_classes), off, device=target.device).scatter_(
        1, target.view(-1, 1), 1.0 - smoothing + off)
    return y * lam + y.flip(0) * (1.0 - lam)


def param_groups_layer_decay(model, weight_decay=0.05, layer_decay=0.75):
    groups = {}
    for name, p in model.named_parameters():
        depth = int(name.split(".")[1]) if name.startswith("features") else 8
        key = depth, p.ndim == 1
        group = groups.setdefault(key, {"params": [], "lr": 4e-3 * layer_decay ** (8 - depth),
                                        "weight_decay": 0.0 if p.ndim == 1 else weight_decay})
        group["params"].append(p)
    return list(groups.values())


def train_one_epoch(run, model, loss_fn, optimizer, model_ema, updates):
    losses_m = AverageMeter()
    model.train()
    for batch_idx in range(updates):
        with run.step():
            input, target = run.values(48, 3, 128, 128).to(run.device), run.tokens(48).to(run.device)
            input = input.mul_(0.7).add_(input.flip(0).mul_(0.3))
            target = mixup_target(target, 100)
            with torch.autocast("cuda", dtype=torch.bfloat16):
                output = model(input)
                loss = loss_fn(output, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            model_ema.update(model)
            losses_m.update(loss.item(), input.size(0))
    return {"loss": losses_m.sum / losses_m.count}


def validate(run, model):
    top1_m = AverageMeter()
    model.eval()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.bfloat16):
        for _ in range(2):
            input, target = run.values(48, 3, 128, 128).to(run.device), run.tokens(48).to(run.device)
            acc1 = (model(input).topk(5, 1)[1][:, :1] == target.view(-1, 1)).float().mean()
            top1_m.update(acc1.item(), input.size(0))
    return top1_m.sum / top1_m.count


def main(run):
    config = [CNBlockConfig(64, 128, 2), CNBlockConfig(128, 256, 2), CNBlockConfig(256, 512, 4), CNBlockConfig(512, None, 2)]
    model = ConvNeXt(config, stochastic_depth_prob=0.1, num_classes=100).to(run.device)
    optimizer = torch.optim.AdamW(param_groups_layer_decay(model), lr=4e-3)
    model_ema = ModelEmaV2(model)
    run.label("ema", model_ema.module.state_dict().values())
    for epoch in range(2):
        train_one_epoch(run, model, SoftTargetCrossEntropy(), optimizer, model_ema, 3)
        with run.other_pass():
            validate(run, model_ema.module)
    run.snapshot()
