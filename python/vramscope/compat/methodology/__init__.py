"""Drop-in for the functions of a performance method: time and memory of a training step, measured.

Programs written for it run after changing only the import. What its functions took from the
globals of their file, as `criterion`, `optimizer`, `target` or `dataloader`, are keywords here; what
is not given is looked up in the caller's globals, and NameError says what is missing. Figures of
memory are in units of 10**9 bytes, times in milliseconds. Times are the device's; where the model is
on none they are the host's, and a line says so.

It departs where the document's functions crash, or measure nothing. A loader that is shorter than it
was asked for ends the measurement, and means are those of the batches that ran. `measure_latency`,
the diagnoses and what profiles a model leave its mode as it was. Peaks go through the process's
ledger, so that nobody else's figures are disturbed. The optimizer's state is told of any optimizer,
and is counted unless it is Adam. A model without a device is measured. The utilisation is that of the
model's device while it works, and "unknown" where the driver does not tell it. Where the model is on
no device, one more line says so below words that speak of a GPU. The number of workers to try is that of
the processors which this process may use.
`diagnose_bottleneck_type` measures the loading that it judges, `profile_model_modules` times the
modules, and records shapes. What torch.profiler calls its figures of devices may be of any release;
where nothing ran on a device tables are sorted by the host's. Kinds of operators are known by words of
their names, and that there is none is no error. `comprehensive_profiling` reads the utilisation in
its baseline, and exports its trace once, to two places. Without torch what needs its profiler says so.
"""
from __future__ import annotations

from vramscope.compat.methodology.memory import (analyze_peak_memory, capture_memory_snapshot,
                                                 measure_memory, print_memory_summary,
                                                 profile_memory_usage, track_memory)
from vramscope.compat.methodology.timing import (benchmark_with_warmup, measure_latency,
                                                 measure_throughput, profile_dataloader_vs_model,
                                                 profile_training_phases)

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from vramscope.compat.methodology.bottleneck import (diagnose_bottleneck_type,
                                                         diagnose_cpu_bottleneck)
    from vramscope.compat.methodology.profiled import (diagnose_gpu_bottleneck,
                                                       diagnose_memory_bottleneck,
                                                       profile_model_modules,
                                                       profile_operations_detailed,
                                                       profile_training_step)
    from vramscope.compat.methodology.whole import comprehensive_profiling

__all__ = ["analyze_peak_memory", "benchmark_with_warmup", "capture_memory_snapshot",
           "comprehensive_profiling", "diagnose_bottleneck_type", "diagnose_cpu_bottleneck",
           "diagnose_gpu_bottleneck", "diagnose_memory_bottleneck", "measure_latency",
           "measure_memory", "measure_throughput",
           "print_memory_summary", "profile_dataloader_vs_model", "profile_memory_usage",
           "profile_model_modules", "profile_operations_detailed", "profile_training_phases",
           "profile_training_step", "track_memory"]

# Where names are that are loaded when they are asked for.
_HOMES = {
    "comprehensive_profiling": "whole",
    "diagnose_bottleneck_type": "bottleneck",
    "diagnose_cpu_bottleneck": "bottleneck",
    "diagnose_gpu_bottleneck": "profiled",
    "diagnose_memory_bottleneck": "profiled",
    "profile_model_modules": "profiled",
    "profile_operations_detailed": "profiled",
    "profile_training_step": "profiled",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib
    found: object = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
