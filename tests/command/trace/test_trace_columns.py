"""docs/trace-columns.md has each column that a table of the command has (row D14)."""
import re

import pytest
from recordings.small_traces import memory, span, steps, trace, write

from conftest import ROOT, environment, run

SECTIONS = ("ops", "kernels", "gaps", "steps", "memory", "calls", "phases", "launches", "modules", "tree")


def documented():
    """Columns by section; several may share a row."""
    found, section = {}, None
    for line in (ROOT / "docs/trace-columns.md").read_text().splitlines():
        if line.startswith("## "):
            section = found.setdefault(re.match(r"## `--(\w+)`", line)[1], set())
        elif line.startswith("| ") and section is not None and not line.startswith("| column"):
            section.update(line.split("|")[1].strip().split(", "))
    return found


def header_cells(text):
    """A header is a line of several words in columns, without a digit, above a row that has some."""
    lines = text.split("\n")
    for line, below in zip(lines, lines[1:]):
        if re.search(r"\S  +\S", line) and not re.search(r"\d|:", line) and re.search(r"\d", below):
            yield from re.split(r"  +", line.strip())


@pytest.mark.parametrize("section", SECTIONS)
def test_each_column_is_explained(tmp_path, section):
    events = steps(10_000, 12_000, 11_000) + [
        memory(4096), span("nn.Module: A_0", "python_function", 0, 9000, **{"Python id": 1}),
        span("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", 40_000, 100, 0, 7, bytes=4096)]
    path = write(tmp_path, "run.json", trace(events))
    shown = set(header_cells(run("trace", "--" + section, path, env=environment(COLUMNS="200"), expect=0).out))
    assert len(shown) > 2
    everywhere = {"name", "calls", "share", "total", "mean", "step", "bytes", "self", "device", "host"}
    assert shown - documented()[section] <= everywhere, shown - documented()[section]
