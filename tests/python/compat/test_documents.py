"""The documents themselves: their blocks run with the import changed, and beside their own code."""
import contextlib
import io
import types

import documents
import pytest
import vram_scenarios
from stand_in import installed, tensors
from stand_in.counters import SimCounters
from test_model_size_profiler import GOLDEN, Language, Many, Named

from vramscope import sim

PROFILERS = {"vram": "class VRAMProfiler", "model size": "class ModelSizeProfiler"}


def test_blocks_are_found_whole(shared):
    """So that a change of a document, or of how blocks are found, is seen."""
    assert [len(documents.blocks(shared, number)) for number in ("000", "001", "003")] == [8, 12, 8]
    for block in documents.blocks(shared, "000") + documents.blocks(shared, "001"):
        compile(block, "block", "exec")
    changed = [documents.with_our_import("000", block) for block in documents.blocks(shared, "000")]
    assert sum("vramscope.compat" in block for block in changed) == 3
    assert not any("FastAvatar" in block for block in changed)


def out_of(call):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        value = call()
    return text.getvalue(), value


def test_model_size_blocks_run_with_our_import(shared):
    with installed():
        reader = {"self": types.SimpleNamespace(model=Language())}
        text, _ = out_of(lambda: documents.run_blocks(
            shared, "000", reader, lambda block: "import profile_model_size" in block))
    assert reader["profile_model_size"].__module__ == "vramscope.compat.model_size_profiler"
    assert text == (GOLDEN / "summary.txt").read_text(encoding="utf-8")


def stdout_of(scenario, module, device):
    return out_of(lambda: scenario(module, vram_scenarios.Holder(device)))[0]


@pytest.mark.parametrize("scenario", vram_scenarios.ALL, ids=lambda scenario: scenario.__name__)
def test_checkpoints_are_those_of_the_document(shared, scenario):
    """The document's program counts by torch.cuda, ours by its own way, each on a device of its own."""
    with sim.Device() as device, installed(devices=[SimCounters(device)]) as torch:
        torch.cuda.init()
        theirs = stdout_of(scenario, documents.own_module(shared, "000", PROFILERS["vram"]), device)
    with sim.Device() as device:
        ours = stdout_of(scenario, documents.needs("vramscope.compat.vram_profiler"), device)
    assert ours == theirs.replace("document_000", "vram_scenarios")


def test_checkpoint_blocks_run_with_our_import(shared, tmp_path, capsys):
    with sim.Device() as device:
        points = vram_scenarios.tensor(5000, 3)
        reader = {"query_points": points, "report_path": str(tmp_path / "report.txt"), "kept": device.alloc("1GiB")}
        documents.run_blocks(shared, "000", reader, lambda block: "import enable_profiling" in block)
        documents.run_blocks(shared, "000", reader, lambda block: "import get_profiler" in block)
        documents.run_blocks(shared, "000", reader, lambda block: "save_report(report_path)" in block)
    assert reader["profiler"].checkpoints[0]["name"] == "Query Points Generated"
    assert "Query Points Generated" in (tmp_path / "report.txt").read_text() and "VRAM PROFILING" in capsys.readouterr().out


@pytest.mark.parametrize("make", (Language, Many, Named, tensors.Module, lambda: tensors.Linear(30, 40)))
def test_model_size_is_that_of_the_document(shared, make):
    """The document's program and ours on the same models: texts byte for byte, dicts key for key."""
    with installed():
        theirs = documents.own_module(shared, "000", PROFILERS["model size"])
        ours = documents.needs("vramscope.compat.model_size_profiler")
        model = make()
        said = []
        for module in (theirs, ours):
            profiler = module.ModelSizeProfiler()
            figures = [profiler.profile_module(model), profiler.profile_module(model, "a name")]
            text = [out_of(lambda: call(module, profiler))[0] for call in (
                lambda m, p: p.print_model_summary(model), lambda m, p: p.print_model_summary(model, True),
                lambda m, p: p.print_model_summary(model, detailed=False), lambda m, p: p.print_detailed_breakdown(model),
                lambda m, p: p.print_detailed_breakdown(model, 1), lambda m, p: p.print_detailed_breakdown(model, top_n=-1),
                lambda m, p: m.profile_model_size(model), lambda m, p: m.profile_model_size(model, False))]
            said.append((text, figures, [list(f) for f in figures], type(module.profile_model_size).__name__))
    assert said[0] == said[1] and len(set(said[1][0])) > 4


def gpu_memory_of_a_reader(torch):
    """What a reader of document 001 has when he pastes its blocks: the names that they take as given."""
    held = []

    def buggy_function():
        held.append(torch.randn(1000, 1000).cuda())
        raise ValueError("of the reader")

    return {"torch": torch, "my_function": lambda: torch.randn(2000, 1000).cuda(), "buggy_function": buggy_function,
            "create_tensors": lambda: held.extend(torch.randn(10).cuda() for _ in range(3)), "held": held}


def watched(block):
    return "start_monitoring" in block


def test_gpu_profiler_blocks_run_with_our_import(shared):
    """Every block but that of monitoring, in the document's order, on the names that the ones before have made."""
    printed = []
    with installed(devices=[SimCounters(sim.Device())]) as torch:
        reader = gpu_memory_of_a_reader(torch)
        for block in documents.blocks(shared, "001"):
            if watched(block):
                continue
            code = compile(documents.with_our_import("001", block), "document 001", "exec")
            if "buggy_function" in block:
                with pytest.raises(ValueError, match="of the reader"):
                    printed.append(out_of(lambda: exec(code, reader))[0])
            else:
                printed.append(out_of(lambda: exec(code, reader))[0])
            if "profile_function(my_function)" in block:
                assert reader["result"].memory_diff() == reader["result"].memory_allocated == 8_000_000
    assert reader["GPUMemoryProfiler"].__module__ == "vramscope.compat.gpumemprof.profiler"
    text = "".join(printed)
    # Gradients of a million weights and of the bias, and the loss, which the function returns.
    assert "Memory allocated: %.2f MB" % ((4_000_256 + 4096 + 512) / 2**20) in text and "Tensors created: 3" in text and "Total function calls: " in text
    assert str(reader["profiler"].device) == "cuda:0"
