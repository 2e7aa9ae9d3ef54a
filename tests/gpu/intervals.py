"""2: interval peaks of three forward passes of Linear(10000, 50000), which need 4.4 GB."""
import device
import torch
import vramscope

model = torch.nn.Linear(10_000, 50_000, device="cuda")
base = torch.cuda.memory_allocated()
with vramscope.Profiler() as profiler:
    for number in range(3):
        inputs = torch.randn(5_000, 10_000, device="cuda")
        outputs = model(inputs)
        torch.cuda.synchronize()
        profiler.checkpoint(str(number))
peaks = [record.interval_peak_bytes for record in profiler.records()]
device.say(model=base, peaks=peaks, states=[record.state for record in profiler.records()])
