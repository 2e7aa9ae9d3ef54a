"""The checkpoint profiler of document 000 and ours, in the same program on simulated devices: rows A01 to A14.

The document's program reads a stand-in for torch.cuda that stands on a simulated device; ours reads a device
like it.  Both run the same calls, and what they print, return and write is equal byte for byte, but for the
moments of records.
"""
import contextlib
import importlib
import io
import sys

import documents
import pytest
from stand_in import installed, tensors
from stand_in.simulated import Simulated

THEIRS = "class VRAMProfiler"


def work(torch, *sizes):
    """Tensors of so many MB on the device; what is not kept is freed at once."""
    return [torch.randn(size, 250_000, device="cuda:0") for size in sizes]


def plain(module, torch, folder):
    p = module.enable_profiling()
    kept = work(torch, 100)
    p.checkpoint("model loaded")
    work(torch, 300)
    p.checkpoint("transient work is over")
    kept += work(torch, 50, 25)
    p.checkpoint("a stage whose name is longer than the forty columns that it has")
    del kept[0]
    p.checkpoint("freed")
    return p


def with_tensors(module, torch, folder):
    p = module.enable_profiling()
    for shape in ((1000, 1000), (7,), ()):
        made = torch.randn(*shape, device="cuda:0")
        p.checkpoint("made %d" % len(shape), tensor=made)
        p.checkpoint("and said", tensor=made, tensor_info="Query Points")
    p.checkpoint("info alone", tensor_info="")
    return p


def one(module, torch, folder):
    p = module.enable_profiling()
    p.checkpoint("only")
    return p


def empty(module, torch, folder):
    return module.enable_profiling()


def disabled(module, torch, folder):
    first = module.get_profiler()
    assert not first.enabled
    first.checkpoint("nothing")
    p = module.enable_profiling()
    assert module.get_profiler() is p and p is not first and not first.enabled
    kept = work(torch, 10)
    p.checkpoint("kept", tensor=kept[0])
    module.disable_profiling()
    p.checkpoint("not written")
    p.reset()
    return p


def falling(module, torch, folder):
    """No growth between any two records."""
    p = module.enable_profiling()
    kept = work(torch, 40, 30, 20)
    for i in range(3):
        p.checkpoint("left %d" % len(kept))
        kept.pop()
    return p


def many(module, torch, folder):
    """More growth than is listed, some of it equal."""
    p, kept = module.enable_profiling(), []
    for i, size in enumerate((5, 9, 5, 1, 9, 7, 3, 5)):
        kept += work(torch, size)
        p.checkpoint("stage %d" % i)
    return p


def blocks(module, torch, folder):
    p = module.enable_profiling()
    kept = work(torch, 10)
    with module.profile_memory(p, "block"):
        kept += work(torch, 20)
    with module.profile_memory(p, "with a tensor", tensor=kept[0]):
        work(torch, 200)
    with contextlib.suppress(KeyError), module.profile_memory(p, "raises"):
        raise KeyError

    @module.profile_function(p)
    def step(count):
        """A step."""
        return work(torch, count)[0]

    @module.profile_function(p, name="named")
    def number():
        return 7

    assert step(3).shape == (3, 250_000) and number() == 7
    assert (step.__name__, step.__doc__) == ("step", "A step.")
    p.enabled = False
    step(1)
    p.enabled = True
    return p


def again(module, torch, folder):
    p = plain(module, torch, folder)
    p.reset()
    assert (p.checkpoints, p.peak_memory) == ([], 0)
    p.checkpoint("after the reset")
    return p


PROGRAMS = (plain, with_tensors, one, empty, disabled, falling, many, blocks, again)


def said(module, program, torch, folder):
    """All that can be seen of a profiler after a program."""
    text = io.StringIO()
    folder.mkdir()
    with contextlib.redirect_stdout(text), contextlib.chdir(folder):
        p = program(module, torch, folder)
        p.print_summary()
        report = p.get_report()
        p.save_report("report.txt")
    records = [[(key, value) for key, value in record.items() if key != "timestamp"] for record in p.checkpoints]
    assert all(list(record)[4] == "timestamp" for record in p.checkpoints)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    return text.getvalue(), report, records, files, p.enabled, p.peak_memory, str(p.device)


def fresh(name):
    """A module of ours as it is after its import: the profiler of the process is another."""
    documents.needs(name)
    sys.modules.pop(name)
    return importlib.import_module(name)


def on_a_device(sim, make_module, program, folder):
    """Runs a program on a device of its own, with torch standing on it."""
    with sim.Device("80GiB") as device, installed("2.9", [Simulated(device)]) as torch:
        torch.cuda.init()
        return said(make_module(), program, torch, folder)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_checkpoints_are_those_of_the_document(shared, program, tmp_path):
    sim = documents.needs("vramscope.sim")
    ours = fresh("vramscope.compat.vram_profiler")
    theirs = on_a_device(sim, lambda: documents.own_module(shared, "000", THEIRS), program, tmp_path / "theirs")
    assert theirs == on_a_device(sim, lambda: ours, program, tmp_path / "ours")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_comparison_sees_a_difference(shared, program, tmp_path):
    """The document's own program twice, on devices that only count, of which one rounds otherwise."""
    from stand_in import Counters
    found = []
    for rounded in (512, 512, 4096):
        with installed("2.9", [Counters(rounded=rounded)]) as torch:
            torch.cuda.init()
            # What rounds to whole GB in texts has to differ in records at least.
            kept = torch.randn(77, device="cuda:0")
            found.append(said(documents.own_module(shared, "000", THEIRS), program, torch, tmp_path / str(len(found))))
            del kept
    assert found[0] == found[1]
    assert (found[0] != found[2]) == (program is not empty)


def test_checkpoint_blocks_run_with_our_import(shared, tmp_path, monkeypatch):
    """The blocks of the document that enable a profiler, write a checkpoint, print and save."""
    sim = documents.needs("vramscope.sim")
    documents.needs("vramscope.compat.vram_profiler")
    monkeypatch.chdir(tmp_path)
    text = io.StringIO()
    with sim.Device("80GiB") as device, installed("2.9", [Simulated(device)]) as torch, contextlib.redirect_stdout(text):
        torch.cuda.init()
        reader = {"query_points": tensors.Tensor((1000, 3), device="cuda:0"), "report_path": "report.txt"}
        documents.run_blocks(shared, "000", reader, lambda block: "profiler" in block and "class " not in block
                             and "profile_model_size" not in block and "prof." not in block and "profile(" not in block)
    assert "Query Points Generated" in text.getvalue() and "Info:           Query Points" in (tmp_path / "report.txt").read_text("utf-8")
