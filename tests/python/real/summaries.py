"""summaries.py: vramscope.summary of real models, and whether they are as before; prints JSON."""
import json

import torch
from models import MODELS, Tied
from torch import nn

from vramscope.objects.model import summary


def state_of(model):
    """All that a summary has to leave as it was."""
    return {"training": [m.training for m in model.modules()],
            "hooks": [len(m._forward_hooks) for m in model.modules()],
            "random": torch.random.get_rng_state().tolist(),
            "gradients": [None if p.grad is None else [id(p.grad), p.grad.sum().item()] for p in model.parameters()],
            "buffers": [b.tolist() for b in model.buffers()], "enabled": torch.is_grad_enabled()}


class Fails(nn.Sequential):
    def forward(self, data):
        super().forward(data)
        raise KeyError("of the model")


torch.manual_seed(0)
tokens = torch.zeros(2, 8, dtype=torch.long)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.5), nn.Linear(16, 4))
model[3].eval()
model(torch.randn(6, 8)).sum().backward()
data = torch.randn(6, 8, requires_grad=True)
found, same = {}, {}
for name, backward in (("forward", False), ("backward", True)):
    before = state_of(model)
    found[name] = summary(model, data, backward=backward).to_dict()
    same[name] = state_of(model) == before and data.grad is None
failing = Fails(nn.Linear(8, 8), nn.Dropout(0.5))
for backward in (False, True):
    before = state_of(failing)
    try:
        summary(failing, data, backward=backward)
    except KeyError as error:
        same["failing %s" % backward] = state_of(failing) == before and str(error) == "'of the model'"
found["tied"] = summary(Tied(), tokens).to_dict()
found["whole"] = summary(Tied(), tokens, depth=None).to_dict()
found["bert"] = summary(MODELS["bert"](), input_ids=tokens).to_dict()
lazy = nn.Sequential(nn.LazyLinear(4), nn.ReLU())
found["lazy"] = summary(lazy, torch.zeros(3, 5)).to_dict()
repeated = nn.Linear(8, 8)
found["repeated"] = summary(nn.Sequential(repeated, repeated, repeated), data).to_dict()
print(json.dumps({"found": found, "same": same}))
