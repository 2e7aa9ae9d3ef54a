"""method_in_torch.py: operators by the functions of the performance method on real models on the CPU; prints JSON."""
import contextlib
import io
import json
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from vramscope.compat import methodology

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Conv1d(1, 4, 3), nn.Flatten(), nn.Linear(120, 64), nn.Dropout(0.1), nn.Linear(64, 10))
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.AdamW(model.parameters(), lr=1e-3)
dataloader = DataLoader(TensorDataset(torch.randn(96, 1, 32), torch.randint(10, (96,))), batch_size=8)
batch, target = next(iter(dataloader))


def said(call):
    """(what it printed, what it returned), as far as JSON has it."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        found = call()
    return [text.getvalue(), found if isinstance(found, (list, dict, int, float)) else type(found).__name__]


def failing(call):
    """What a failing model leaves behind: (its error, hooks, modes, whether a profile goes on)."""
    def fail(module, given):
        raise RuntimeError("of the model")
    model.train()
    model[3].eval()
    hook = model[2].register_forward_pre_hook(fail)
    try:
        error = said(call)
    except RuntimeError as raised:
        error = str(raised)
    hook.remove()
    hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in model.modules())
    modes = [part.training for part in model.modules()]
    model.train()
    return [error, hooks, modes, torch.autograd._profiler_enabled()]


calls = {name: call for name, call in {
    "profile_training_step": lambda: methodology.profile_training_step(model, dataloader),
    "profile_model_modules": lambda: methodology.profile_model_modules(model, batch),
    "profile_operations_detailed": lambda: methodology.profile_operations_detailed(model, batch),
    "diagnose_gpu_bottleneck": lambda: methodology.diagnose_gpu_bottleneck(model, batch),
    "diagnose_memory_bottleneck": lambda: methodology.diagnose_memory_bottleneck(model, batch),
    "diagnose_bottleneck_type": lambda: methodology.diagnose_bottleneck_type(model, dataloader),
    "diagnose_cpu_bottleneck": lambda: methodology.diagnose_cpu_bottleneck(model, dataloader),
    "comprehensive_profiling": lambda: methodology.comprehensive_profiling(model, dataloader),
}.items() if hasattr(methodology, name)}
failed = {name: failing(call) for name, call in calls.items()}
answers = {name: said(call) for name, call in calls.items()}
short = {steps: said(lambda: methodology.profile_training_step(model, [(batch, target)] * steps)) for steps in (0, 1, 3, 7)}
model.eval()
kept = said(calls["profile_model_modules"])
print(json.dumps({"answers": answers, "failed": failed, "short": short, "kept": kept, "training": model.training,
                  "initialised": torch.cuda.is_initialized()}).replace("NaN", "null"), file=sys.stdout)
