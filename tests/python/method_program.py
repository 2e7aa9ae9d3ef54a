"""A program for the functions of the performance method, whose times and memory are scripted.

The document's functions and ours run it alike, on a stand-in for torch that stands on a simulated device.
"""
import types

from stand_in import tensors

MS = 1_000_000


class Net(tensors.Module):
    """Its calls take the scripted times, the first the longest; what it returns has so many columns."""

    def __init__(self, device, columns=1000):
        super().__init__()
        self.inside = tensors.Linear(1000, columns)
        self.device, self.calls = device, 0

    def forward(self, data):
        self.calls += 1
        self.device.advance(90 * MS if self.calls == 1 else (5 + self.calls % 3) * MS)
        return self.inside(data)


class Loss:
    def __init__(self, device, output):
        self.device, self.value = device, output.sum()

    def backward(self):
        self.device.advance(11 * MS)
        self.value.backward()


class Adam(tensors.Adam):
    def __init__(self, device, parameters):
        super().__init__(parameters)
        self.device = device

    def step(self):
        self.device.advance(3 * MS)
        super().step()


class Loader:
    """Batches of which each takes a while to be loaded."""
    num_workers = 2

    def __init__(self, device, ms, rows=(64,) * 12):
        self.device, self.ms, self.rows = device, ms, rows

    def __iter__(self):
        for number, rows in enumerate(self.rows):
            self.device.advance((self.ms + number) * MS)
            yield tensors.Tensor((rows, 1000)), tensors.Tensor((rows,))


def program(torch, device, loading_ms=4, columns=1000):
    """The names that a file of the document has."""
    model = Net(device, columns).cuda()
    return {"torch": torch, "record_function": torch.profiler.record_function, "__name__": "program",
            "time": types.SimpleNamespace(time=lambda: device.clock / 1e9), "model": model,
            "criterion": lambda output, target: Loss(device, output), "optimizer": Adam(device, model.parameters()),
            "dataloader": Loader(device, loading_ms), "batch": tensors.Tensor((64, 1000)),
            "rows": lambda count: tensors.Tensor((count, 1000)),
            "on_device": tensors.Tensor((64, 1000), device="cuda:0"), "target": tensors.Tensor((64,))}


class SGD:
    """Its state is 4 GB, and has a number beside its tensor."""
    state = {"weight": {"momentum": tensors.Tensor((10**9,)), "step": 3}}

    def __init__(self, parameters=()):
        self.parameters = list(parameters)

    def step(self):
        pass

    zero_grad = tensors.Adam.zero_grad


CALLS = [
    ("measure_throughput", "measure_throughput(model, dataloader, num_batches=7)", {}),
    ("measure_latency", "measure_latency(model, batch)", {}),
    ("measure_latency", "measure_latency(model, batch, 20, warmup=0)", {}),
    ("measure_memory", "measure_memory(model, on_device)", {"columns": 500_000}),
    ("profile_dataloader_vs_model", "profile_dataloader_vs_model(model, dataloader, 9)", {}),
    ("profile_dataloader_vs_model", "profile_dataloader_vs_model(model, dataloader, num_batches=9)", {"loading_ms": 200}),
    ("profile_training_phases", "profile_training_phases(model, batch, target)", {}),
    ("track_memory", "track_memory('a stage')", {"columns": 1_000_000}),
    ("track_memory", "track_memory('a stage whose name is longer than thirty columns')", {}),
    ("analyze_peak_memory", "analyze_peak_memory(model, batch, target)", {"columns": 4_000_000}),
    ("analyze_peak_memory", "analyze_peak_memory(model, batch, target)", {}),
    ("analyze_peak_memory", "analyze_peak_memory(model, rows(2000), target)", {"columns": 100_000}),
    ("analyze_peak_memory", "analyze_peak_memory(model, rows(10_000), target)", {"columns": 100_000}),
    ("benchmark_with_warmup", "benchmark_with_warmup(model, batch)", {}),
    ("benchmark_with_warmup", "benchmark_with_warmup(model, batch, 1, iterations=3)", {}),
    ("profile_memory_usage", "profile_memory_usage(model, batch, target)", {"columns": 4_000_000}),
    ("profile_memory_usage", "profile_memory_usage(model, batch, target)", {"columns": 300}),
    ("profile_memory_usage", "profile_memory_usage(model, rows(10_000), target)", {"columns": 100_000}),
]
