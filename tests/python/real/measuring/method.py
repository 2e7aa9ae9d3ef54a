"""method.py: the functions of the performance method on a real model on the CPU; prints JSON."""
import contextlib
import io
import json
import logging
import sys

import torch
from torch import nn
from torch.autograd.profiler import record_function
from torch.utils.data import DataLoader, TensorDataset

import vramscope
from vramscope.compat import gpu_memory_1, methodology, vram_profiler

lines = []
logging.basicConfig(stream=sys.stderr, level=logging.INFO)
logging.getLogger().handlers[0].emit = lambda record: lines.append([record.name, record.levelname, record.getMessage()])
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
criterion, optimizer = nn.CrossEntropyLoss(), torch.optim.AdamW(model.parameters(), lr=1e-3)
dataloader = DataLoader(TensorDataset(torch.randn(80, 32), torch.randint(10, (80,))), batch_size=8)
batch, target = next(iter(dataloader))
before = [p.detach().clone() for p in model.parameters()]


def said(call):
    """(what it printed, what it returned, whether the model trains then)"""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        found = call()
    return [text.getvalue(), found.tolist() if hasattr(found, "tolist") else found, model.training]


calls = {
    "measure_throughput": lambda: methodology.measure_throughput(model, dataloader, 4),
    "measure_latency": lambda: methodology.measure_latency(model, batch, num_iterations=6, warmup=2),
    "measure_memory": lambda: methodology.measure_memory(model, batch),
    "profile_dataloader_vs_model": lambda: methodology.profile_dataloader_vs_model(model, dataloader, 20),
    "profile_training_phases": lambda: methodology.profile_training_phases(model, batch, target),
    "track_memory": lambda: methodology.track_memory("here"),
    "analyze_peak_memory": lambda: methodology.analyze_peak_memory(model, batch, target),
    "print_memory_summary": methodology.print_memory_summary,
    "capture_memory_snapshot": methodology.capture_memory_snapshot,
    "profile_memory_usage": lambda: methodology.profile_memory_usage(model, batch, target),
    "benchmark_with_warmup": lambda: methodology.benchmark_with_warmup(model, batch, 1, 5),
}
answers = {name: said(call) for name, call in calls.items()}
model.train()
moved = any(not torch.equal(old, new) for old, new in zip(before, model.parameters()))
training = vramscope.measure_training(model, dataloader, criterion=criterion, optimizer=optimizer, batches=4, warmup=2)
latency = vramscope.measure_latency(model, batch, iterations=5, warmup=1)
with torch.autocast("cpu", torch.bfloat16):
    half = vramscope.conditions(model, batch, dataloader=dataloader)

gpu_memory_1.start_record_memory_history()
gpu_memory_1.export_memory_snapshot()
gpu_memory_1.stop_record_memory_history()
explained = vram_profiler.profile_operators(lambda: model(batch).sum().item(), "ops.table", "forward.json")
explained = [open("ops.table").read(), vram_profiler.explain_trace("forward.json"), explained]
# The recipe of the document: step() first, and fewer iterations than the schedule has.
with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], on_trace_ready=lambda prof: prof.export_chrome_trace("recipe.json"),
        schedule=torch.profiler.schedule(wait=0, warmup=0, active=6, repeat=1), record_shapes=True, profile_memory=True,
        with_stack=True) as prof:
    for _ in range(5):
        prof.step()
        with record_function("## forward ##"):
            pred = model(batch)
        with record_function("## backward ##"):
            criterion(pred, target).backward()
        with record_function("## optimizer ##"):
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
recipe = vramscope.load("recipe.json").report().to_dict()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                            on_trace_ready=gpu_memory_1.trace_handler) as prof:
    said(calls["profile_training_phases"])

print(json.dumps({"explained": explained, "recipe": {k: recipe[k] for k in ("steps", "phases", "memory")},
                  "answers": answers, "moved": moved, "lines": lines, "conditions": half, "training_after": model.training,
                  "training": json.loads(training.json()), "texts": [str(training), str(latency)],
                  "latency": json.loads(latency.json()), "initialised": torch.cuda.is_initialized()}))
