"""tensor_tables.py: vramscope.tensors in a program that trains on the CPU; prints JSON."""
import gc
import json

import torch
from models import Tied
from torch import nn

from vramscope.objects.tensor_table import tensors

gc.collect()
empty = tensors().to_dict()
model = Tied()
model.register_buffer("mask", torch.ones(3, 3))
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(2, 8, dtype=torch.long)).sum().backward()
optimizer.step()
plain = torch.zeros(1 << 20)
views = [plain[:10], plain.view(1024, 1024)]
meta = torch.empty(1 << 40, device="meta")
nothing = torch.empty(5, 5, device="meta")
sparse = torch.eye(64).to_sparse()
found = {"given": tensors(model=model, optimizer=optimizer), "found": tensors(), "cpu": tensors(device="cpu"),
         "meta": tensors(device="meta")}
documents = {name: table.to_dict() for name, table in found.items()}


class Cycle:
    pass


lost = Cycle()
lost.itself, lost.tensor = lost, torch.zeros(12345)
del lost
before, after = tensors().to_dict(), tensors(collect=True).to_dict()
refused = []
for device in ("nonsense", "cpu:x"):
    try:
        tensors(device=device)
    except ValueError as error:
        refused.append(str(error))
print(json.dumps({"empty": empty, "documents": documents, "before": before, "after": after, "refused": refused,
                  "text": found["given"].text(width=160, ascii=True), "html": found["given"]._repr_html_(),
                  "initialised": torch.cuda.is_initialized(), "views": len(views), "sparse": str(sparse.layout),
                  "meta": [meta.nelement(), nothing.nelement()]}))
