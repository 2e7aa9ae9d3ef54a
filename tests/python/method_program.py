"""A program for the functions of the performance method, whose times and memory are scripted.

The document's functions and ours run it alike, on a stand-in for torch that stands on a simulated device.
"""
import types

from stand_in import tensors

MS = 1_000_000


# What a profile finds: (name, microseconds on a device, bytes of a device).
OPERATORS = [("aten::operator_%02d" % number, 1000 * number, 10_000 * (40 - number)) for number in range(40)]


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
            self.device.advance(max(1, self.ms + number) * MS)
            yield tensors.Tensor((rows, 1000)), tensors.Tensor((rows,))


def program(torch, device, loading_ms=4, columns=1000, batches=12, util=None, script=None):
    """The names that a file of the document has."""
    if util is not None:
        device.set_util(util, seconds=3600)
    torch.profiler.script[:] = OPERATORS if script is None else script
    model = Net(device, columns).cuda()
    return {"torch": torch, "record_function": torch.profiler.record_function, "__name__": "program",
            "time": types.SimpleNamespace(time=lambda: device.clock / 1e9), "model": model,
            "criterion": lambda output, target: Loss(device, output), "optimizer": Adam(device, model.parameters()),
            "dataloader": Loader(device, loading_ms, rows=(64,) * batches), "batch": tensors.Tensor((64, 1000)),
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
    ("profile_training_step", "profile_training_step(model, dataloader) and None", {}),
    ("profile_training_step", "profile_training_step(model, dataloader, 8) and None", {}),
    ("profile_operations_detailed", "profile_operations_detailed(model, batch) and None", {}),
    *(("diagnose_gpu_bottleneck", "diagnose_gpu_bottleneck(model, on_device)", {"form": "2.1", "script": [
        *OPERATORS, (name, 40_500, 0)]}) for name in ("aten::cudnn_convolution", "ampere_sgemm_128x64_tn", "aten::copy_",
                                                      "aten::matmul", "aten::add_")),
    ("diagnose_memory_bottleneck", "diagnose_memory_bottleneck(model, on_device)", {"form": "2.1", "script": [
        ("aten::large", 20_000, 5 * 10**9), ("aten::quick", 10_000, 5 * 10**9), ("aten::small", 20_000, 10**9),
        ("aten::the_next_whose_name_is_longer_than_forty_columns", 10_001, 1_000_000_001), ("aten::gives", 20_000, -5)]}),
    ("diagnose_cpu_bottleneck", "diagnose_cpu_bottleneck(model, dataloader)", {"batches": 60, "util": 69}),
    ("diagnose_cpu_bottleneck", "diagnose_cpu_bottleneck(model, dataloader)",
     {"batches": 60, "util": 0, "loading_ms": -30}),
]
# Where the document crashes, or does what a row calls wrong.
FIXED_CALLS = [
    ("diagnose_cpu_bottleneck", "diagnose_cpu_bottleneck(model, dataloader)", {"util": 70}),
    ("diagnose_cpu_bottleneck", "diagnose_cpu_bottleneck(model, dataloader)", {"loading_ms": 50}),
    ("diagnose_bottleneck_type", "diagnose_bottleneck_type(model, dataloader)", {"util": 42}),
    ("diagnose_bottleneck_type", "diagnose_bottleneck_type(model, dataloader)", {"loading_ms": 40}),
    ("profile_training_step", "profile_training_step(model, dataloader, 7) and None", {}),
    ("profile_model_modules", "profile_model_modules(model, batch)", {}),
    ("diagnose_gpu_bottleneck", "diagnose_gpu_bottleneck(model, on_device)", {"script": []}),
    ("comprehensive_profiling", "comprehensive_profiling(model, dataloader)", {"batches": 25, "util": 69}),
    ("comprehensive_profiling", "comprehensive_profiling(model, dataloader)", {"batches": 25, "util": 70, "loading_ms": 60}),
    ("comprehensive_profiling", "comprehensive_profiling(model, dataloader)", {"batches": 4}),
    ("diagnose_gpu_bottleneck", "diagnose_gpu_bottleneck(model, on_device)", {"script": [("ncclComm", 9, 0)]}),
]
