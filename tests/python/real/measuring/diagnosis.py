"""diagnosis.py: diagnose() and profiles on real models on the CPU, some with a planted fault; prints JSON.

The faults are large against their models, so that what is found does not depend on the machine.
"""
import json
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

import vramscope

torch.manual_seed(0)
torch.set_num_threads(1)


class Samples(Dataset):
    def __init__(self, work=None):
        self.work = work

    def __len__(self):
        return 64

    def __getitem__(self, number):
        data = torch.randn(3, 32, 32)
        return (data if self.work is None else self.work(data)), number % 10


def slow_read(data):
    time.sleep(0.02)
    return data


def slower_read(data):
    """Slower than a step of a busy machine, by as many workers as there are."""
    time.sleep(0.1)
    return data


def augment(data):
    for _ in range(60):
        data = torch.sin(data) + torch.flip(data, (1,))
    return data


def network():
    return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 32 * 32, 10))


def found(loader, model=None, inside=lambda data: data, after=lambda loss: None, whole=False, **how):
    """inside, after: what a step does to its data before the model has it, and with its loss."""
    model = network() if model is None else model
    criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=True)

    def step(batch):
        data, target = batch
        data = inside(data)
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
        after(loss)
    given = {"criterion": criterion, "optimizer": optimizer} if whole else {"step": step}
    made = vramscope.diagnose(model, loader, batches=6, warmup=2, steps=5, seconds=120, **given, **how)
    return made, {"kind": made.kind, "page": made.text(width=80), "document": json.loads(made.json())}


def counted(data):
    for _ in range(40):
        data = data.to(torch.float64).to(torch.float32).clone()
    return data


clean = DataLoader(Samples(), batch_size=8)
programs = {
    "clean": lambda: found(clean, whole=True),
    "slow loader": lambda: found(DataLoader(Samples(slow_read), batch_size=8)),
    "slow loader with workers": lambda: found(DataLoader(Samples(slower_read), batch_size=8, num_workers=2)),
    "transform in the loader": lambda: found(DataLoader(Samples(augment), batch_size=8)),
    "transform in the loop": lambda: found(clean, inside=augment),
    "item": lambda: found(clean, after=lambda loss: loss.item()),
    "copy": lambda: found(clean, inside=counted),
}
answers = {}
for name, run in programs.items():
    made, answers[name] = run()
    made.trace.close()

# A trace that is kept says the same of the loader.
made, answers["kept"] = found(DataLoader(Samples(slow_read), batch_size=8), trace="kept.pt.trace.json.gz")
with vramscope.load("kept.pt.trace.json.gz") as trace:
    answers["kept"]["of the trace"] = trace.method().to_dict()["bottleneck"]
made.save("before.json")

# A model with parts in either mode has them back, also where it fails.
model = network()
model.eval()
model[1].train()
found(clean, model, whole=True)
answers["modes"] = [part.training for part in model.modules()]


def interrupted(after):
    """Whether workers are left where Ctrl-C comes while a loader hangs."""
    import multiprocessing
    import _thread
    threading.Timer(after, _thread.interrupt_main).start()
    try:
        found(DataLoader(Samples(lambda data: time.sleep(60)), batch_size=2, num_workers=2))
    except KeyboardInterrupt:
        return len(multiprocessing.active_children())
    return None


answers["interrupted"] = interrupted(3)

# The tables are the framework's.
model = network()
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.SGD(model.parameters(), lr=0.01)
with vramscope.profile_training(model, clean, criterion=criterion, optimizer=optimizer, steps=2, warmup=2) as trace:
    answers["training"] = trace.report().to_dict()
with vramscope.profile_call(model, torch.randn(4, 3, 32, 32), iterations=2, path="call.json") as trace:
    answers["call"] = [trace.ops(by="shapes").to_dict(), trace.modules().to_dict()["modules"]]
answers["after the call"] = model.training


class Moving(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(64, 32)
        self.words = nn.Embedding(1000, 64)

    def forward(self, data):
        self.words(torch.arange(4))
        torch.empty_like(data).copy_(data)
        wide = torch.relu(data.expand(16, 64))  # of one row, which is read once
        wide.add_(1)
        return self.inside(wide).view(-1)


traffic = vramscope.measure_traffic(Moving(), torch.randn(1, 64), iterations=2)
answers["sparse"] = json.loads(vramscope.measure_traffic(
    lambda: torch.sparse_coo_tensor([[0]], [1.0], (4,)) * 2, iterations=1).json())
answers["traffic"] = [json.loads(traffic.json()), traffic.text()]


# What ends early has no step that was not done.
few = [(torch.randn(4, 3, 32, 32), torch.randint(10, (4,)))] * 3
given = {"criterion": criterion, "optimizer": optimizer}
with vramscope.profile_training(model, iter(few), steps=5, warmup=1, **given) as trace:
    answers["short"] = [row["kind"] for row in trace.report()["steps"]]
answers["none"] = []
for loader in ([], iter(few[:1])):
    try:
        vramscope.profile_training(model, loader, steps=5, warmup=1, **given)
    except vramscope.Error as error:
        answers["none"].append(str(error))
cut = vramscope.diagnose(model, iter(few * 3), batches=4, warmup=1, steps=9, **given)
answers["cut"] = [cut["notes"], len(cut["trace"]["steps"])]
with torch.profiler.profile() as outer:
    inside = vramscope.diagnose(model, few, batches=2, warmup=0, steps=1, **given)
answers["inside"] = [inside["notes"], len(outer.key_averages()) > 0]
print(json.dumps(answers), file=sys.stdout)
