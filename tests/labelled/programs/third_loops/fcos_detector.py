"""A detector without anchors: a pyramid of features, heads shared by all levels, targets made on the device per level.

Pictures come in three sizes in turn (multi-scale training); a focal loss in 32 bit.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torchvision.models import mobilenet_v2

BATCH = 2


class FPN(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.lateral = nn.ModuleList(nn.Conv2d(c, out, 1) for c in channels)
        self.output = nn.ModuleList(nn.Conv2d(out, out, 3, padding=1) for _ in channels)
        self.extra = nn.ModuleList([nn.Conv2d(out, out, 3, 2, 1), nn.Conv2d(out, out, 3, 2, 1)])

    def forward(self, features):
        laterals = [conv(x) for conv, x in zip(self.lateral, features)]
        for i in range(len(laterals) - 1, 0, -1):
            laterals[i - 1] = laterals[i - 1] + F.interpolate(laterals[i], size=laterals[i - 1].shape[-2:])
        outs = [conv(x) for conv, x in zip(self.output, laterals)]
        for conv in self.extra:
            outs.append(conv(F.relu(outs[-1])))
        return outs


class Head(nn.Module):
    def __init__(self, channels, classes):
        super().__init__()
        def tower():
            return nn.Sequential(*[m for _ in range(3) for m in (nn.Conv2d(channels, channels, 3, padding=1),
                                                                  nn.GroupNorm(16, channels), nn.ReLU(inplace=True))])
        self.cls_tower, self.bbox_tower = tower(), tower()
        self.cls_logits, self.bbox_pred = nn.Conv2d(channels, classes, 3, padding=1), nn.Conv2d(channels, 4, 3, padding=1)
        self.centerness = nn.Conv2d(channels, 1, 3, padding=1)

    def forward(self, x):
        cls, box = self.cls_tower(x), self.bbox_tower(x)
        return self.cls_logits(cls), F.relu(self.bbox_pred(box)), self.centerness(box)


class FCOS(nn.Module):
    def __init__(self, classes=80):
        super().__init__()
        self.backbone = mobilenet_v2(weights=None).features
        self.fpn, self.head = FPN((32, 96, 1280), 128), Head(128, classes)
        self.taps, self.classes = (6, 13, 18), classes

    def forward(self, x):
        features = []
        for i, layer in enumerate(self.backbone):
            x = layer(x)
            if i in self.taps:
                features.append(x)
        return [self.head(level) for level in self.fpn(features)]

    def assign(self, shape, boxes, labels, stride):
        """Which box each place of a level belongs to: places by boxes, a table of a moment."""
        h, w = shape
        ys = (torch.arange(h, device=boxes.device) + 0.5) * stride
        xs = (torch.arange(w, device=boxes.device) + 0.5) * stride
        ys, xs = ys.repeat_interleave(w).view(1, -1, 1), xs.repeat(h).view(1, -1, 1)
        x0, y0, x1, y1 = boxes[:, None].unbind(-1)
        ltrb = torch.stack([xs - x0, ys - y0, x1 - xs, y1 - ys], -1)
        inside = ltrb.amin(-1) > 0
        area = torch.where(inside, ((x1 - x0) * (y1 - y0)).expand_as(inside), float("inf"))
        best = area.argmin(-1)
        target = torch.gather(ltrb, 2, best[..., None, None].expand(-1, -1, 1, 4)).squeeze(2) / stride
        return labels.gather(1, best), target, inside.any(-1)

    def losses(self, outputs, boxes, labels):
        total = 0
        for i, (cls, box, center) in enumerate(outputs):
            label, target, mask = self.assign(cls.shape[-2:], boxes, labels, 8 << i)
            onehot = F.one_hot(label, self.classes).float() * mask.unsqueeze(-1)
            logits = cls.flatten(2).transpose(1, 2)
            p, ce = logits.sigmoid(), F.binary_cross_entropy_with_logits(logits, onehot, reduction="none")
            focal = (ce * (1 - (p * onehot + (1 - p) * (1 - onehot))) ** 2).sum() / mask.sum().clamp(min=1)
            near = F.l1_loss(box.flatten(2).transpose(1, 2), target, reduction="none").mean(-1)
            center_loss = F.binary_cross_entropy_with_logits(center.flatten(1), mask.float())
            total = total + focal + (near * mask).mean() + center_loss
        return total


def main(run):
    model = FCOS().to(run.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9, weight_decay=1e-4)
    warmup = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.001, total_iters=3)
    for size in (256, 320, 288, 256, 320, 288):
        with run.step():
            images = run.values(8, 3, size, size).to(run.device)
            boxes, labels = run.values(8, 20, 4).to(run.device), run.tokens(8, 20).to(run.device)
            loss = model.losses(model(images), boxes, labels)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 35)
            optimizer.step()
            warmup.step()
    run.snapshot()
