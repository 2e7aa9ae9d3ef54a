"""Traces made by hand, whose truth is known: spans with times in ns, steps, memory events.

    write(folder, name, trace(steps(1000, 1200)))       the path of a file of two steps
"""
import json


def span(name, category, start, ns, pid=1, tid=1, **args):
    return {"ph": "X", "name": name, "cat": category, "pid": pid, "tid": tid, "ts": start / 1000, "dur": ns / 1000,
            "args": args}


def steps(*lengths, kernel=0.5):
    """Steps of these ns, back to back; in each one kernel for that share of it, launched at its begin."""
    events, at = [], 0
    for i, ns in enumerate(lengths):
        events += [span("ProfilerStep#%d" % i, "user_annotation", at, ns),
                   span("aten::mm", "cpu_op", at, ns // 2),
                   span("cudaLaunchKernel", "cuda_runtime", at, 10, correlation=i + 1),
                   span("gemm", "kernel", at + 100, int(ns * kernel), 0, 7, correlation=i + 1)]
        at += ns
    return events


def memory(total, device=0, **args):
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 1,
            "args": {"Device Type": 1, "Device Id": device, "Bytes": total, "Addr": 4096, **args}}


def trace(events, **top):
    return {"schemaVersion": 1, **top, "traceEvents": events}


def write(folder, name, top):
    path = folder / name
    path.write_text(json.dumps(top))
    return path
