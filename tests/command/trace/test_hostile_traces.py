"""Traces whose numbers and names were made to do harm are answered like others."""
import json
import random

import pytest

from conftest import run, some

pytestmark = pytest.mark.usefixtures("leaks_are_faults")
MOST = (1 << 63) // 1000  # microseconds that have 64 bits of nanoseconds
TIMES = (-MOST, MOST, 0, -MOST // 2, MOST // 2, 1 << 70, 1)
CATEGORIES = ("cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "python_function", "user_annotation", "trace", "", "\x1b[2J")
NAMES = ("nn.Module: A_0", "nn.Module: B_1", "x.py(3): f", "ProfilerStep#1", "ProfilerStep#2", "aten::mm", "cudaLaunchKernel", "Memcpy HtoD (a -> b)", "\x1b]0;title\x07",
         "<script>", "‮txt.exe", "a" * 5000, "")
ALL = ("--ops", "--kernels", "--gaps", "--steps", "--memory", "--calls", "--phases", "--launches", "--findings",
       "--modules", "--tree", "--min-share", "0")
FORMATS = ("csv", "folded", "speedscope", "pprof", "chrome")


def event(draw, number):
    return {"ph": "X", "cat": draw.choice(CATEGORIES), "name": draw.choice(NAMES), "pid": draw.choice((0, 1, "a", None)),
            "tid": draw.choice((1, "stream 7", {}, 1 << 80)), "ts": draw.choice((*TIMES, draw.randrange(-MOST, MOST))),
            "dur": draw.choice((MOST, 0, 1, -5, 10**19)),
            "args": {"External id": number % 7, "correlation": draw.choice((number % 9, 1 << 65, "x")), "bytes": 2**63 - 1}}


def memory(draw, number):
    totals = {"Total Allocated": draw.choice((2**63 - 1, -2**62, 0))} if draw.random() < 0.5 else {}
    return {"ph": "i", "name": "[memory]", "ts": draw.choice(TIMES), "pid": 1, "tid": 1,
            "args": {"Bytes": draw.choice((2**63 - 1, 1 - 2**63, 0, "x")), "Addr": number % 4, "Device Type": 1,
                     "Device Id": draw.choice((0, -1)), **totals}}


@pytest.mark.parametrize("seed", range(some(3, 60)))
def test_extremes_are_answered(tmp_path, seed):
    draw = random.Random(seed)
    path = tmp_path / "run.json"  # named alone below, since a long folder is broken over lines
    path.write_text(json.dumps({"traceEvents": [made(draw, i) for i in range(200) for made in (event, memory)]}))
    for words in ((), ALL):
        text = run("trace", path.name, *words, cwd=tmp_path, expect=0).out
        assert "profiler trace" in text
        assert "\x1b" not in text and "\x07" not in text and "‮" not in text
    run("trace", path.name, "--json", cwd=tmp_path, expect=0).json()
    for to in FORMATS:
        out = run("export", path.name, "--to", to, cwd=tmp_path, expect=0).raw
        assert to in ("csv", "pprof") or not set(b"\x1b\x07") & set(out)
