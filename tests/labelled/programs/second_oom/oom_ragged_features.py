"""Features of pictures of growing sizes are kept, a few at a time: what is free lies in pieces between them."""
import torch
from torch import nn

CAPACITY = 700 << 20
PLANTED = {"verdict": "fragmentation"}


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3, padding=1)
        self.body = nn.Conv2d(64, 64, 3, padding=1)
        self.neck = nn.Conv2d(64, 128, 2, 2)

    def forward(self, x):
        return self.neck(torch.relu_(self.body(torch.relu_(self.stem(x)))))


def main(run):
    net, gallery = Backbone().to(run.device).eval(), []
    with torch.no_grad():
        for side in range(160, 608, 32):
            with run.other_pass():
                gallery.append(net(run.values(1, 3, side, side).to(run.device)))
                if len(gallery) > 8:
                    del gallery[0]
        for side in (768, 800, 832, 864, 896):
            with run.other_pass():
                net(run.values(1, 3, side, side).to(run.device))
    run.snapshot()
