"""The blocks of document 001, one after the other as a reader runs them, on a simulated device: rows B01 to B14."""
import contextlib
import io
import re

import documents
import pytest
from stand_in import installed
from stand_in.simulated import Simulated

MB = 1024**2


def reader(torch):
    """What a reader of the document has besides its blocks."""
    def my_function():
        return torch.randn(1000, 1000, device="cuda:0").sum()

    def create_tensors():
        kept.extend(torch.randn(10, device="cuda:0") for _ in range(3))

    def buggy_function():
        torch.randn(5000, 1000, device="cuda:0")
        raise KeyError("a mistake of the program")

    def train_epoch(model, dataloader):
        for batch in dataloader:
            model(batch).sum().backward()
    kept = []
    return {"torch": torch, "dataloader": [torch.randn(8, 1000, device="cuda:0") for _ in range(2)], "kept": kept,
            "my_function": my_function, "create_tensors": create_tensors, "buggy_function": buggy_function,
            "train_epoch": train_epoch}


def run(block, names, number):
    text = io.StringIO()
    code = compile(documents.with_our_import("001", block), "document 001, block %d" % number, "exec")
    # The block that shows a failure lets it through.
    expected = pytest.raises(KeyError, match="a mistake of the program") if block.rstrip().endswith("raise") \
        else contextlib.nullcontext()
    with contextlib.redirect_stdout(text), expected:
        exec(code, names)
    return text.getvalue()


@pytest.fixture(scope="module")
def told(shared):
    """What each block printed, and the names it left; by a word of the block."""
    sim, ours = documents.needs("vramscope.sim"), documents.needs("vramscope.compat.gpumemprof")
    if not hasattr(ours, "GPUMemoryProfiler"):
        pytest.skip("vramscope.compat.gpumemprof has no GPUMemoryProfiler yet")
    found = []
    with sim.Device("80GiB") as device, installed("2.9", [Simulated(device)]) as torch:
        torch.cuda.init()
        names = reader(torch)
        for number, block in enumerate(documents.blocks(shared, "001")):
            text = run(block, names, number)
            found.append((block, text, dict(names), list(names["profiler"].results), len(names["profiler"].snapshots)))
        yield lambda word: next(entry[1:] for entry in found if word in entry[0])
        # Before the device goes.
        names.clear()
        found.clear()


def test_a_function_is_profiled(told):
    text, names, results, _ = told("def train_step")
    printed = re.fullmatch(r"Memory allocated: (\S+) MB\nPeak memory: (\S+) MB\nExecution time: \S+s\n", text)
    allocated, peak = float(printed[1]), float(printed[2])
    # The gradients stay; the outputs lived meanwhile.
    assert 4_004_000 / MB <= allocated <= 5 and peak >= allocated + 4_004_000 / MB
    result = names["result"]
    assert results == [result] and result.function_name.endswith("train_step")
    assert result.memory_diff() == result.memory_allocated > 0 == result.memory_freed


def test_a_block_is_profiled(told):
    _, _, results, _ = told("with profiler.profile_context")
    assert len(results) == 2 and results[1].function_name == "data_loading"
    assert results[1].memory_diff() >= 3 * 4_000_000


def test_monitoring_collects(told):
    text, _, _, snapshots = told("start_monitoring")
    assert re.fullmatch(r"Collected \d+ snapshots\n", text) and snapshots >= int(text.split()[1]) > 0


def test_results_tell_their_snapshots(told):
    _, names, _, _ = told("result.memory_before ")
    result = names["result"]
    # The value of the function is alive when memory is read after it: a block of 512 bytes.
    assert result.memory_diff() == 512 and result.peak_memory_usage() >= result.memory_before.allocated_memory + 4_000_000
    snapshot = told("snapshot = result.memory_after")[1]["snapshot"]
    assert snapshot.operation == "after_" + result.function_name and snapshot.device_id == 0
    assert snapshot.reserved_memory >= snapshot.allocated_memory > 0


def test_the_summary_is_printed(told):
    text, names, results, _ = told("summary = profiler.get_summary()")
    lines = text.splitlines()
    calls = sum(stats["call_count"] for stats in names["summary"]["function_summaries"].values())
    assert lines[1] == "Total function calls: %d" % calls == "Total function calls: %d" % len(results)
    assert sum(line.startswith("  Calls: ") for line in lines) == len(names["summary"]["function_summaries"])


def test_a_failure_is_recorded_and_passes(told):
    text, names, results, _ = told("buggy_function")
    assert names["last_result"] is results[-1] and results[-1].function_name.endswith("buggy_function")
    assert text.splitlines()[1] == "Memory before error: %d" % results[-1].memory_after.allocated_memory


def test_clearing_begins_anew(told):
    _, _, results, snapshots = told("profiler.clear_results()")
    assert results == [] and snapshots == 0  # they are monitoring's; the new baseline stands apart


def test_tensors_are_counted(told):
    text, names, _, _ = told("create_tensors")
    assert text == "Tensors created: 3\nTensors deleted: 0\n" and len(names["kept"]) == 3


def test_devices_have_four_forms(told):
    assert str(told("# All of these work")[1]["profiler"].device) == "cuda:0"
