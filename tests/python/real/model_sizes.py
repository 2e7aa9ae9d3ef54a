"""model_sizes.py: vramscope.model_size of real models; prints their documents and texts as JSON."""
import json

import torch
from models import MODELS
from torch import nn

from vramscope.objects.model import model_size


def sharded():
    """A quarter of a DTensor's rows, as the first of four ranks has it."""
    from torch.distributed.tensor import DeviceMesh, Shard, distribute_tensor
    from torch.testing._internal.distributed.fake_pg import FakeStore
    torch.distributed.init_process_group("fake", rank=0, world_size=4, store=FakeStore())
    model = nn.Linear(64, 128)
    mesh = DeviceMesh("cpu", list(range(4)))
    model.weight = nn.Parameter(distribute_tensor(model.weight.detach(), mesh, [Shard(0)]))
    return model


def hostile():
    model = nn.Module()
    model.add_module("<b>\x1b[31mred\ud800", nn.Linear(2, 2))
    return model


made = {name: make() for name, make in {**MODELS, "sharded": sharded, "hostile": hostile}.items()}
sizes = {name: model_size(model) for name, model in made.items()}
shallow = model_size(made["tied"], depth=1)
print(json.dumps({
    "documents": {name: size.to_dict() for name, size in sizes.items()},
    "texts": {name: size.text(width=160, ascii=True) for name, size in sizes.items()},
    "html": {name: size._repr_html_() for name, size in sizes.items()},
    "numel": {name: sum(p.numel() for p in model.parameters()) for name, model in made.items() if name != "lazy"},
    "shallow": shallow.to_dict(),
    "members": [sizes["own"].rows == sizes["own"]["rows"], sizes["own"].total == sizes["own"]["total"],
                sizes["lazy"].at_least, str(sizes["own"]) == sizes["own"].text(), list(sizes["own"]), len(sizes["own"])],
}))
