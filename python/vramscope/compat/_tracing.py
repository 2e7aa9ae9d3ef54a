"""What drop-in modules make of the profiler's traces: a guide to read one, a timeline of memory."""
from __future__ import annotations

import vramscope
from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from vramscope import files

_LINES = 0
_COUNT, _BYTES, _SECONDS = range(3)
_HOST = 0  # type of device
_CATEGORIES = ("pre_existing", "optimizer_state", "input", "activation", "gradient",
               "autograd_detail", "temporary", "unknown")
_HOST_KINDS = {"op", "annotation", "runtime", "driver", "python"}
_DEVICE_KINDS = {"kernel", "memcpy", "memset", "gpu_annotation"}


def _load(path: files.Path) -> Any:
    trace = vramscope.load(path)
    if not isinstance(trace, vramscope.Trace):
        raise _core._usage("this is a memory snapshot, and no trace of the profiler")
    return trace


# The guide.


def _processes(trace: Any) -> dict[int, dict[str, int]]:
    """How many events of each kind the processes have, by the row of a process."""
    spans, kinds, process = trace.table("spans"), trace.kinds, trace["tracks.process"]
    found: dict[int, dict[str, int]] = {}
    for track, kind in zip(spans["track"], spans["kind"]):
        counts = found.setdefault(process[track], {})
        counts[kinds[kind]] = counts.get(kinds[kind], 0) + 1
    return found


def _pid(trace: Any, row: int) -> str:
    number = trace["processes.pid"][row]
    return trace.string(number) if trace["processes.pid_form"][row] == 2 else str(number)


def _named(trace: Any, row: int) -> str:
    """As viewers show a process: its name, then its number."""
    return f"{trace.string(trace['processes.name'][row]) or 'process'} {_pid(trace, row)}"


def _tracks(trace: Any, row: int) -> int:
    return sum(process == row for process in trace["tracks.process"])


def _process_lines(trace: Any) -> Iterator[str]:
    any_device = False
    for row, counts in _processes(trace).items():
        shown = ascii(_named(trace, row))[1:-1]
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        if _DEVICE_KINDS & counts.keys():
            any_device = True
            yield (f"* `{shown}` is a device, and no process of the host: its number is the "
                   f"device's. Its rows are streams ({_tracks(trace, row)}): {told}.")
        elif _HOST_KINDS & counts.keys():
            yield (f"* `{shown}` is the program on the host: threads with operators of PyTorch and "
                   f"calls of the runtime that launch work ({told}).")
    if not any_device:
        yield "* There is no device: nothing that ran on one was recorded."


def guide(path: files.Path) -> str:
    """How to read a trace, with what is in this one."""
    with _load(path) as trace:
        lines = ["How to read this trace", "", *_process_lines(trace), "",
                 "Rows below each other in a thread of the host nest: what is below was called by "
                 "what is above.",
                 "Rows below each other in a stream of a device are no call stack. Work of one "
                 "stream runs one after the other and never nests; the rows above it are ranges, "
                 "drawn over the work that they launched.",
                 "An arrow leads from the call that launched work to the work, which begins later: "
                 "launches run ahead of the device.",
                 "Memory that a table of operators shows is net: what an operator took less what "
                 "it gave back. It is no peak.", "",
                 trace.report().text(width=80, ascii=True)]
    return "\n".join(lines)


# The timeline.


def _memory_of(report: Any, number: int) -> Any:
    return next((row["moments"] for row in report["memory_timeline"]
                 if row["device_type"] != _HOST and row["device_number"] == number), None)


def _chart(moments: Any, title: str) -> str:
    first = moments[0]["ns"]
    times = [(moment["ns"] - first) / 1e9 for moment in moments]
    series: list[Any] = [("in use", _BYTES, False, True, times, [m["bytes"] for m in moments],
                          None, None)]
    for name in _CATEGORIES:
        values = [moment[name + "_bytes"] for moment in moments]
        if any(values):
            series.append((name.replace("_", " "), _BYTES, False, False, times, values, None, None))
    return _core._chart(_LINES, title, ("time (s)", _SECONDS), ("", _BYTES), (940, 0), [], series,
                        [])


def timeline(path: files.Path, number: int) -> tuple[str | None, str]:
    """(a page with the memory of a device by category, "") or (None, why there is none)."""
    import html
    try:
        with _load(path) as trace:
            answer = trace.memory()
    except _core.Error as error:
        return None, f"the trace cannot be read: {error}"
    moments = _memory_of(answer, number)
    if moments is None:
        return None, (f"the trace has no memory of a device cuda:{number}: record with "
                      "profile_memory=True")
    if not moments:
        return None, "the events of memory in the trace tell no addresses"
    title = f"Memory of cuda:{number} by category"
    text = html.escape(answer.text(width=100, ascii=True))
    return (f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"</head>\n<body>{_chart(moments, title)}<pre>{text}</pre></body></html>\n"), ""


# The table of operators.


def operator_table(prof: Any) -> str:
    """Operators by the last five frames, those that took most memory of the device first."""
    averages = prof.key_averages(group_by_stack_n=5)
    try:
        return str(_sorted_table(averages, "device_memory_usage"))
    except (AttributeError, KeyError):
        return str(_sorted_table(averages, "cuda_memory_usage"))  # until 2.3


def _sorted_table(averages: Any, key: str) -> Any:
    return averages.table(sort_by=key, row_limit=30, max_name_column_width=60)
