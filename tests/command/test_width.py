"""Text fits the terminal, from the narrowest to the widest: no line is longer unless it cannot be broken."""
import json
import re
import unicodedata

import pytest
from recordings import scripts

from conftest import ROOT, environment, run, some

EXAMPLES = [ROOT / "examples" / (n + ".pickle") for n in ("fragmentation", "leak", "oom", "train")]
LEAST = 20      # what is narrower is drawn as if it were this
WIDTHS = some((1, 33, 250), (1, 20, 33, 47, 60, 79, 250))
QUESTIONS = (
    ("report",), ("report", "--trust"), ("report", "--quick"), ("peak",), ("peak", "--by", "module"), ("peak", "--by", "size"), ("oom",),
    ("leaks",), ("fragments", "--all-metrics"), ("steps",), ("categories",), ("advise", "--waste"), ("advise", "--explain-silent"),
    ("check", "--max-peak", "1GiB", "--no-oom", "--max-site", "forward=1MiB", "--max-unknown-share", "1%"), ("replay",), ("replay", "--sweep"))
# A label of the left column, or the blanks under it; the number of a rule's advice.
LABEL = re.compile(r"(?:[A-Za-z]+(?: \d+)? +|[AB]: |\d+ +|-  )?")


def columns(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def breakable(line):
    """Whether a line could have been shorter: a command to copy, and one long word, cannot.

    What a shell goes on with, a backslash, stands behind a word."""
    words = line.strip().removesuffix(" \\")
    if re.search(r"(^|\s)vramscope [a-z]+", words):
        return False
    return " " in words and " " in words[LABEL.match(words).end():]


def check(*args, widths=WIDTHS):
    for width in widths:
        result = run(*args, env=environment(COLUMNS=str(width)))
        assert result.code in (0, 1, 4), (args, width, result.err)
        for line in result.out.splitlines():
            assert columns(line) <= max(width, LEAST) or not breakable(line), (width, columns(line), line)


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_examples_fit(question):
    for path in EXAMPLES[:some(1, None)]:
        check(*question, path)


TRACE_PARTS = ("", "--ops", "--ops --by shapes,module,phase,step,stack", "--kernels", "--gaps", "--steps", "--memory", "--calls", "--findings",
               "--phases", "--launches", "--modules", "--tree")


def span(name, category, start, duration, pid=1, tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def a_trace(folder, name, line):
    """Three steps with a device, allocations and modules, in which all is called `name` and every line of code `line`."""
    events = [{"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": 0, "ts": 0, "dur": 1}]
    for i in range(3):
        at = 1000 * i
        events += [span(f"ProfilerStep#{i}", "user_annotation", at, 900), span(line, "python_function", at + 1, 800, **{"Python id": 2 * i + 1}),
                   span(f"nn.Module: {name}_0", "python_function", at + 2, 700, **{"Python id": 2 * i + 2, "Python parent id": 2 * i + 1}),
                   span(name, "cpu_op", at + 10, 400, **{"Input Dims": [[123456] * 40], "External id": i + 1}),
                   span("aten::item", "cpu_op", at + 450, 200), span("cudaStreamSynchronize", "cuda_runtime", at + 460, 150),
                   span("cudaLaunchKernel", "cuda_runtime", at + 20, 5, correlation=i + 1),
                   span(name, "kernel", at + 40, 100, pid=0, tid=7, correlation=i + 1, device=0, stream=7),
                   *({"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": at + 15, "args":
                      {"Device Type": device, "Device Id": 0, "Addr": 4096 * (i + 1), "Bytes": 1 << 20,
                       "Total Allocated": (i + 1) << 20, "Total Reserved": 1 << 23}} for device in (0, 1))]
    path = folder / "run.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [{"name": name, "id": 0}], "with_stack": 1,
                                "record_shapes": 1, "profile_memory": 1, "traceEvents": events}))
    return path


@pytest.mark.parametrize("part", TRACE_PARTS)
def test_parts_of_traces_fit(part, tmp_path):
    path = "/a/long/path" * 20 + "/train.py(12): forward"
    hostile = [a_trace(tmp_path / str(i), name, line) for i, (name, line) in enumerate((
        ("aten::mm", "train.py(12): forward"), ("void at::native::" + "name<float, 4>, " * 30, path), ("n" * 300, path), ("\u5b57\x01" * 200, path)))
        if not (tmp_path / str(i)).mkdir()]
    for trace in [ROOT / "examples/traces/training.pt.trace.json.gz", *hostile]:
        check("trace", *part.split(), trace, widths=(80, *WIDTHS))


@pytest.mark.parametrize("verb", ("", "report", "peak", "oom", "leaks", "fragments", "steps", "categories", "advise", "diff", "check", "replay", "export",
                                  "view", "doctor", "help"))
def test_help_fits(verb):
    """Of what is to be typed the words stay together, and the way to a far machine is laid out."""
    for width in (*WIDTHS, 80):
        help = run("help", *[verb] * bool(verb), env=environment(COLUMNS=str(width)), expect=0).out
        for line in help.splitlines():
            laid_out = re.match(r"  (there|here|     ) +(vramscope|prints|ssh|and open) ", line)
            assert columns(line) <= max(width, LEAST) or laid_out or not breakable(line), (width, columns(line), line)


def test_several_fit():
    check("report", *EXAMPLES)
    check("diff", EXAMPLES[3], EXAMPLES[2])


def test_narrow_tables_are_lists():
    """Every figure of a table stands behind its heading where the columns do not fit; none is cut."""
    narrow = run("fragments", "--rows", 3, EXAMPLES[0], env=environment(COLUMNS="30"), expect=0).out
    wide = run("fragments", "--rows", 3, EXAMPLES[0], env=environment(COLUMNS="200"), expect=0).out
    joined = " ".join(narrow.split())
    head = next(line for line in wide.splitlines() if "stranded" in line and "largest fit" in line)
    row = wide.splitlines()[wide.splitlines().index(head) + 1]
    for heading, value in zip(re.split(r" {2,}", head.strip()), re.split(r" {2,}", row.strip())):
        assert "%s %s" % (heading, value) in joined
    assert "\u2026" not in narrow


def test_sizes_are_not_cut():
    path = scripts.make("state_only")
    for width in (20, 40, 60):
        out = run("peak", path, env=environment(COLUMNS=str(width)), expect=0).out
        assert all(columns(line) <= width or not breakable(line) for line in out.splitlines())
