"""With the real torch on a CPU: what record, on_oom, run's hook and names do; printed as JSON."""
import json
import os
import sys
import tempfile

import vramscope

folder = tempfile.mkdtemp()
early = vramscope.on_oom(folder, verdict=False)
before = "torch" in sys.modules
import torch  # noqa: E402

with vramscope.record(folder + "/run.pickle") as recorder:
    kept = torch.zeros(1000)
child = os.fork()
if child == 0:
    os._exit(0 if torch.zeros(3).sum() == 0 and not torch.cuda.is_initialized() else 1)
forked = os.waitpid(child, 0)[1]

from vramscope import _torch  # noqa: E402

from vramscope.history import named  # noqa: E402


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(30, 40)
        self.tied = torch.nn.Linear(40, 30, bias=False)
        self.tied.weight = torch.nn.Parameter(self.first.weight.detach())
        self.other = torch.nn.Linear(30, 40, bias=False)
        self.other.weight = self.first.weight
        self.norm = torch.nn.BatchNorm1d(40)


net = Net()
optimizer = torch.optim.AdamW(net.parameters())
net.norm(net.first(torch.randn(5, 30))).sum().backward()
optimizer.step()


def train():
    batch = torch.randn(77, 88)
    held = [torch.randn(66, 99)]
    bare = torch.zeros(8, device="meta")
    names = named.find(kinds=("cpu",))
    del batch, held, bare
    return names


found = train()
import gc  # noqa: E402
gc.collect()
alive = [t for t in gc.get_objects() if isinstance(t, torch.Tensor) and tuple(t.shape) in ((77, 88), (66, 99))]
rows = {entry["name"]: {key: entry.get(key) for key in ("kind", "bytes", "shape", "dtype", "of", "shared")}
        for entry in found}
recorder_of_torch = _torch.Recorder(torch)
print(json.dumps({"before": before, "refused": recorder.refused, "on_oom": early.refused, "forked": forked,
                  "initialised": torch.cuda.is_initialized(), "files": os.listdir(folder), "names": rows,
                  "cuda": torch.version.cuda, "enabled": recorder_of_torch.enabled(), "alive": len(alive),
                  "lacks": [name for name in ("_start", "_take", "_on", "_attach")
                            if getattr(recorder_of_torch, name) is None],
                  "data_address": hasattr(torch._C, "_data_address"), "lazy_call": hasattr(torch.cuda, "_lazy_call"),
                  "spec": [torch.__spec__.name, "exec_module" in vars(torch.__loader__)]}))
