"""Operators as torch.profiler records them, under the names of any release: activities, figures, tables."""
from __future__ import annotations

from vramscope.measuring.profiled import activities, profiler_module

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

LOGS = "./profiler_logs"
NO_PROFILER = ("Operators are not told: torch.profiler alone records them, and PyTorch is not "
               "imported; run this where a model of PyTorch is.")
BY_HOST = "Nothing ran on a device: rows are sorted by the host's figures."
# Both names of a figure: since 2.4, until then.
_TIME = ("device_time_total", "cuda_time_total")
_MEMORY = ("self_device_memory_usage", "self_cuda_memory_usage")


def _figure(event: Any, known_as: tuple[str, ...]) -> float:
    for name in known_as:
        found = getattr(event, name, None)
        if found is not None:
            return float(found)
    return 0.0


def device_us(event: Any) -> float:
    """Microseconds on a device, of an operator and of what it called."""
    return _figure(event, _TIME)


def device_bytes(event: Any) -> float:
    """What an operator itself took of a device's memory, less what it gave back."""
    return _figure(event, _MEMORY)


def on_device(averages: Any) -> bool:
    """Whether anything ran on a device."""
    return any(device_us(event) > 0 for event in averages)


def host_note(averages: Any) -> list[str]:
    """The line that says that tables are of the host, or none."""
    return [] if on_device(averages) else [BY_HOST]


def _table(averages: Any, known_as: tuple[str, ...], of_host: str, rows: int,
           columns: int | None) -> str:
    by = of_host
    if on_device(averages):
        by = next((name for name in known_as if hasattr(averages[0], name)), known_as[0])
    how = {} if columns is None else {"max_src_column_width": columns}
    return str(averages.table(sort_by=by, row_limit=rows, **how))


def time_table(averages: Any, rows: int, columns: int | None = None) -> str:
    """Operators by time on devices; by the host's where nothing ran on one."""
    return _table(averages, _TIME, "cpu_time_total", rows, columns)


def memory_table(averages: Any, rows: int, columns: int) -> str:
    """Operators by what they took of devices; by what of the host where nothing ran on one."""
    return _table(averages, _MEMORY, "self_cpu_memory_usage", rows, columns)


def profiled_training(profiler: Any, train: Callable[[Any, Any], None], dataloader: Iterable[Any],
                      num_steps: int, active: int,
                      on_trace_ready: Callable[[Any], None]) -> tuple[Any, list[str]]:
    """(the profiler that has seen train() run on batches, why it has not seen all that it asks for).

    One step is not looked at, two warm it up, and so many are recorded.
    """
    done, needed = 0, 1 + 2 + active
    with profiler.profile(
            activities=activities(profiler), on_trace_ready=on_trace_ready, record_shapes=True,
            schedule=profiler.schedule(wait=1, warmup=2, active=active, repeat=1),
            profile_memory=True, with_stack=True) as prof:
        for data, target in dataloader:
            if done >= num_steps:
                break
            train(data, target)
            prof.step()
            done += 1
    if done >= needed:
        return prof, []
    return prof, [f"{done} steps ran, and {needed} are needed: 1 is skipped, 2 warm the profiler up, "
                  f"{active} are recorded."]


def averages_of(prof: Any) -> Any:
    """What a profiler has recorded, by operator; empty where its schedule did not come to that."""
    try:
        return prof.key_averages()
    except AssertionError:  # of torch, where no step ended
        return []
