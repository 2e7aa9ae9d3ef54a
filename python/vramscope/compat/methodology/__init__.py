"""Drop-in for the functions of a performance method: time and memory of a training step, measured.

Programs written for it run after changing only the import. What its functions took from the
globals of their file, as `criterion`, `optimizer`, `target` or `dataloader`, are keywords here; what
is not given is looked up in the caller's globals, and NameError says what is missing. Figures of
memory are in units of 10**9 bytes, times in milliseconds. Times are the device's; where the model is
on none they are the host's, and a line says so.

It departs in five places. A loader that is shorter than it was asked for ends the measurement, and
means are those of the batches that ran. `measure_latency` leaves the model's mode as it was. Peaks
go through the process's ledger, so that nobody else's figures are disturbed. The optimizer's state
is told of any optimizer, and is counted unless it is Adam. A model without a device is measured.
"""
from __future__ import annotations

from vramscope.compat.methodology.memory import (analyze_peak_memory, capture_memory_snapshot,
                                                 measure_memory, print_memory_summary,
                                                 profile_memory_usage, track_memory)
from vramscope.compat.methodology.timing import (benchmark_with_warmup, measure_latency,
                                                 measure_throughput, profile_dataloader_vs_model,
                                                 profile_training_phases)

__all__ = ["analyze_peak_memory", "benchmark_with_warmup", "capture_memory_snapshot",
           "measure_latency", "measure_memory", "measure_throughput", "print_memory_summary",
           "profile_dataloader_vs_model", "profile_memory_usage", "profile_training_phases",
           "track_memory"]
