"""How many rows -n leaves of each part, and what is said where not all of them are kept."""
import csv
import io
import json

import pytest
from conftest import run

PARTS = ["ops", "kernels", "gaps", "steps", "memory", "calls", "findings", "phases", "launches", "modules"]
GAPS = 150


def span(name, category, start, duration, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def allocation(ts, device_type, number, size):
    return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args":
            {"Device Type": device_type, "Device Id": number, "Addr": 4096 + ts, "Bytes": size, "Total Allocated": size,
             "Total Reserved": size}}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Three steps, each with a loader, a backward and an optimizer; work on two streams, which waits before each piece."""
    events = []
    for step in range(3):
        at = 100_000 * step
        events += [span(f"ProfilerStep#{step}", "user_annotation", at, 90_000),
                   span("enumerate(DataLoader)#X.__next__", "user_annotation", at + 100, 30_000),
                   span("Optimizer.step#SGD.step", "user_annotation", at + 80_000, 5_000),
                   span("aten::mm", "cpu_op", at + 31_000, 10_000), span("aten::add", "cpu_op", at + 42_000, 9_000),
                   span("aten::mul", "cpu_op", at + 52_000, 9_000)]
        events += [span(f"nn.Module: Linear_{i}", "python_function", at + 62_000 + 100 * i, 50) for i in range(3)]
        events += [allocation(at + 50 + device, 1, device, 1 << 20) for device in range(3)]
    for i in range(GAPS + 1):
        start = 1000 + 1900 * i
        call = ["cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync"][i % 3]
        events += [span(call, "cuda_runtime", start, 1, correlation=i + 1),
                   span(f"kernel {i % 3}", "kernel", start + 10, 100, pid=0, tid=7 + i % 3, correlation=i + 1,
                        device=0, stream=7 + i % 3)]
    path = tmp_path_factory.mktemp("rows") / "made.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"name": "A card", "id": 0}],
                                "traceEvents": events}))
    return path


def lines(*args):
    return list(csv.DictReader(io.StringIO(run("trace", *args, expect=0).out)))


@pytest.mark.parametrize("part", PARTS)
def test_count_of_rows_holds_for_each_part(path, part):
    whole = lines(path, f"--{part}", "--csv")
    assert len(whole) > 2
    assert lines(path, f"--{part}", "--csv", "-n", "2") == whole[:2]


def test_count_of_rows_holds_for_tables_of_shares(path):
    def shown(*args):
        return run("trace", path, *args, expect=0).out

    assert "more" not in shown("--phases") and "  and 1 phase more\n" in shown("--phases", "-n", "2")
    assert "  and 1 step more\n" in shown("--phases", "-n", "2")
    assert " more\n" in shown("--gaps", "-n", "1").split("length")[0]
    assert " devices more\n" in shown("--memory", "-n", "1")


def test_longest_gaps_that_are_kept_are_told(path):
    csv_run = run("trace", path, "--gaps", "--csv", expect=0)
    assert len(csv_run.out.splitlines()) == 101
    assert csv_run.err == f"vramscope: warning: {path}: device 0: only the 100 longest of {GAPS} gaps are kept\n"
    assert run("trace", path, "--gaps", "--csv", "-n", "100", expect=0).err == ""
    assert "and 140 gaps more\n" in run("trace", path, "--gaps", expect=0).out
    assert "only the 100 longest" not in run("trace", path, "--gaps", "-n", "100", expect=0).out
    assert "and 50 gaps more\n  only the 100 longest gaps are kept\n" in run("trace", path, "--gaps", "-n", "200", expect=0).out
