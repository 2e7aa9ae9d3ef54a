"""The documents that drop-in modules answer to: their code is taken out when a test runs.

Nothing of them is in the tree: they lie in the folder `seeds` of VRAMSCOPE_TEST_SHARED, and tests
that need them are skipped where that is not set.
"""
import importlib
import importlib.util
import re
import sys
import textwrap
import types

import pytest

# What a document imports, and the module of ours that takes its place: the only edit there is.
IMPORTS = {
    "000": {"FastAvatar.utils.vram_profiler": "vramscope.compat.vram_profiler",
            "FastAvatar.utils.model_size_profiler": "vramscope.compat.model_size_profiler"},
    "001": {"gpumemprof": "vramscope.compat.gpumemprof"},
    "003": {},
    "004": {},
}
# Document 004 has lost its indentation: how deep each line of a function stands, in runs of lines.  Lines inside
# brackets and texts stand at any depth.
DEPTHS = {
    "measure_throughput": "0 1x7 2 3 2x7 1x7",
    "measure_latency": "0 1x4 2 3 1x3 2 3x7 1x9",
    "measure_memory": "0 1x10",
    "profile_dataloader_vs_model": "0 1x6 2x19 1x8 2x3 1 2 1",
    "profile_training_phases": "0 1x10 2x4 1x6 2x3 1x6 2x3 1x6 2 1",
    "track_memory": "0 1x5",
    "analyze_peak_memory": "0 1x22 2x2 1 2x2 1 2 1x6",
    "print_memory_summary": "0 1x2",
    "capture_memory_snapshot": "0 1x4 2x2 3 4 3x6 2x3 1 2x2 1x3",
    "benchmark_with_warmup": "0 1x5 2 3 1x5 2 3x7 1x11",
    "diagnose_cpu_bottleneck": "0 1x4 2x2 1x4 2x4 3x8 2 3x5 1 2x2 1",
    "diagnose_bottleneck_type": "0 1x10 2 3 4 3x4 1x3 2 3x2 1x6 2x2 1 2x2 1 2x2 1 2x2",
    "profile_training_step": "0 1x10 2 3 4 3x10 1x11",
    "profile_model_modules": "0 1x6 2 3 4 3x8 2 1x3 2 3x2 1x2 2 3x3 2 3 4 1x3 2 3 1x5 2",
    "profile_operations_detailed": "0 1x9 2 1x22",
    "diagnose_gpu_bottleneck": "0 1x2 2x3 1x8 2x2 1x3 2x6 1 2x5 1 2x5 1",
    "diagnose_memory_bottleneck": "0 1x6 2 1x2 2 3x6 4x2 1x6",
    "comprehensive_profiling": "0 1x12 2 3 2x6 1x5 2 3 2x12 1x21 2 1 2 1x6 2x20 1x5 2 1 2 1x54 2 3 4 3x7 1x32",
    "profile_memory_usage": "0 1x9 2x5 1x38 2x3 1x7 2x2 1x3 2 1 2x5 1x5",
}
FENCE = re.compile(r"^[ \t]*```[a-z]*[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.S | re.M)
# How a line of code looks in a document that marks none of it.
CODE = re.compile(r"(?:import|from|with|for|def|return|raise|try|except|print|class)\b.*[:()\w]$"
                  r"|#|[\w.\[\]']+(?:, \w+)* = |[\w.]+\(.*|\)$|\w+\.\w+\s+#")
BULLET = re.compile(r"\s*(?:\d+\.|•)\s")


def text_of(shared, number):
    found = sorted((shared / "seeds").glob(number + "_*.txt"))
    if not found:
        pytest.skip("the shared folder has no document " + number)
    return found[0].read_text(encoding="utf-8")


def unfenced(text):
    """Runs of lines that look like code, with blank lines between them."""
    blocks, lines = [], []
    for line in [*text.splitlines(), "The end."]:
        if CODE.match(line) or (lines and line.startswith(" ") and not BULLET.match(line)):
            lines.append(line)
        elif line.strip():
            if lines:
                blocks.append("\n".join(lines).rstrip() + "\n")
            lines = []
        elif lines:
            lines.append(line)
    return blocks


def blocks(shared, number):
    """The code blocks of a document, in their order."""
    text = text_of(shared, number)
    return [textwrap.dedent(block) for block in FENCE.findall(text) or unfenced(text)]


def block_with(shared, number, text):
    """The only block that contains a text."""
    found = [block for block in blocks(shared, number) if text in block]
    assert len(found) == 1, "%d blocks of document %s contain %r" % (len(found), number, text)
    return found[0]


def own_module(shared, number, text):
    """A module made of the document's own code: the block that contains `text`."""
    made = types.ModuleType("document_" + number)
    exec(compile(block_with(shared, number, text), "document " + number, "exec"), vars(made))
    return made


def own_function(shared, number, name, scope):
    """A function of a document whose lines have lost their indentation, defined in `scope`."""
    lines = iter(text_of(shared, number).partition("\ndef %s(" % name)[2].splitlines())
    made = ["def %s(%s" % (name, next(lines))]
    for run in DEPTHS[name].split()[1:]:
        depth, _, count = run.partition("x")
        made += ["    " * int(depth) + next(lines) for _ in range(int(count or 1))]
    exec(compile("\n".join(made), "document %s, %s" % (number, name), "exec"), scope)
    return scope[name]


def with_our_import(number, block):
    """A block as its reader would change it: the imports name our modules."""
    for theirs, ours in IMPORTS[number].items():
        block = re.sub(r"^(\s*(?:from|import) )%s\b" % re.escape(theirs), r"\g<1>" + ours, block, flags=re.M)
    return block


def needs(name):
    """A module of ours; a test of what is not built yet is skipped, and says so."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        pytest.skip(name + " is not built yet")
    return importlib.import_module(name)


def run_blocks(shared, number, names, chosen):
    """Runs blocks with our imports, one after the other, on the names that a reader would have."""
    for number_of, block in enumerate(blocks(shared, number)):
        if chosen(block):
            exec(compile(with_our_import(number, block), "document %s, block %d" % (number, number_of), "exec"), names)
    return names
