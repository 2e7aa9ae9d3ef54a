"""The functions of document 004 and ours, in the same program on simulated devices: rows D02 to D30.

The document's functions read a stand-in for torch; ours read it too (`torch`), or the simulated device itself
(`sim`).  The time is the device's virtual one, so that texts and values are equal, but for what rows mark fixed.
"""
import contextlib
import io
import pickle
import re
import time

import documents
import numpy
import pytest
from method_program import CALLS, SGD, program
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import sim
from vramscope.compat import methodology

FUNCTIONS = sorted(documents.DEPTHS)
WAYS = ("torch", "sim")


@pytest.fixture
def said(shared, monkeypatch, tmp_path):
    """said(way, name, call, prepare, **how): what a call printed, what it returned, and the program's names after it.  `way`
    None is the document's function."""
    monkeypatch.chdir(tmp_path)

    def run(way, name, call, prepare=lambda scope: None, **how):
        monkeypatch.setenv("VRAMSCOPE_BACKEND", way or "torch")
        text = io.StringIO()
        with sim.Device("80GiB") as device, installed("2.15", [Simulated(device)]) as torch:
            torch.cuda.init()
            monkeypatch.setattr(time, "perf_counter_ns", lambda: device.clock)
            scope = {**program(torch, device, **how), "np": numpy}
            if way is None:
                documents.own_function(shared, "004", name, scope)
            else:
                scope[name] = getattr(methodology, name)
            prepare(scope)
            with contextlib.redirect_stdout(text):
                found = eval(call, scope)
            scope["ranges"] = torch.profiler.times.ranges
            del scope["on_device"]
            return text.getvalue(), found, scope
    return run


def without_indent(text):
    """The document has lost blanks at the beginnings of lines, which row D11 gives back."""
    return re.sub(r"^ +", " ", text, flags=re.M)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name, call, how", CALLS)
def test_figures_are_those_of_the_document(said, name, call, how, way):
    theirs, ours = said(None, name, call, **how), said(way, name, call, **how)
    if way == "sim":  # which has no summary of the framework
        theirs, ours = ((re.sub(r"(DETAILED MEMORY SUMMARY\n=+\n).*?\n\n=", r"\1=", text, flags=re.S), *more)
                        for text, *more in (theirs, ours))
    assert without_indent(ours[0]) == without_indent(theirs[0]) and ours[0]
    if isinstance(theirs[1], dict):
        assert list(ours[1]) == list(theirs[1])
        assert list(ours[1].values()) == pytest.approx(list(theirs[1].values()), rel=1e-12)
    elif theirs[1] is not None:
        assert isinstance(theirs[1], type(ours[1]))  # numpy's float of the document is one
        assert numpy.array(ours[1]) == pytest.approx(numpy.array(theirs[1]), rel=1e-9)
    assert ours[2]["model"].calls == theirs[2]["model"].calls
    if name != "measure_latency":  # fixed
        assert ours[2]["model"].training == theirs[2]["model"].training
    if way == "torch":
        assert ours[2]["ranges"] == theirs[2]["ranges"]


def test_every_function_is_compared():
    beside = {name for name, _, _ in CALLS} | {"print_memory_summary", "capture_memory_snapshot"}
    assert beside == set(FUNCTIONS) == set(methodology.__all__)


def test_the_summary_begins_as_that_of_the_document(said):
    theirs, ours = (said(way, "print_memory_summary", "print_memory_summary()")[0] for way in (None, "torch"))
    assert ours.startswith(theirs) and "framework's summary" in theirs
    for figure in ("Allocated", "Reserved", "Active", "Inactive"):
        assert "\n%s: " % figure in ours


def test_a_snapshot_is_captured_as_by_the_document(said, tmp_path):
    """The document's line for the viewer is followed by ours."""
    found = []
    for way in (None, "torch"):
        (tmp_path / "memory_snapshot.pickle").unlink(missing_ok=True)
        text, value, scope = said(way, "capture_memory_snapshot", "capture_memory_snapshot()")
        settings = scope["torch"].cuda.stand_in.settings
        assert settings[0]["max_entries"] == 100_000 and settings[-1]["enabled"] is None and len(settings) == 2
        assert (settings[0]["stacks"], settings[0]["context"]) == ("all", "all")
        assert "segments" in pickle.loads((tmp_path / "memory_snapshot.pickle").read_bytes())
        found.append((text, value, scope["model"].calls))
    theirs, ours = found
    assert ours[0].startswith(theirs[0]) and ours[1:] == theirs[1:] == (None, 5)
    assert "python -m vramscope trace_plot memory_snapshot.pickle" in ours[0][len(theirs[0]):]


def test_a_short_loader_crashes_the_document_alone(said):
    """Fixed: means are those of the batches that ran, 12 of 50."""
    call = "profile_dataloader_vs_model(model, dataloader)"
    with pytest.raises(StopIteration):
        said(None, "profile_dataloader_vs_model", call)
    data_ms, _ = said("torch", "profile_dataloader_vs_model", call)[1]
    assert data_ms == pytest.approx(sum(4 + number for number in range(12)) / 12, rel=1e-2)


def test_the_document_divides_by_batches_that_never_ran(said):
    """Fixed: time per batch is that of the 12 that ran."""
    per_batch = []
    for way in (None, "torch"):
        text, value, _ = said(way, "measure_throughput", "measure_throughput(model, dataloader)")
        per_batch.append((float(re.search(r"batch: (\S+) ms", text)[1]), value))
    assert per_batch[0][1] == pytest.approx(per_batch[1][1])
    assert per_batch[1][0] == pytest.approx(per_batch[0][0] * 100 / 12, rel=1e-2)


def test_latency_gives_the_mode_back(said):
    """Fixed: the document leaves a model that trains in the mode of evaluation."""
    call = "measure_latency(model, batch, 1, warmup=1)"
    assert not said(None, "measure_latency", call)[2]["model"].training
    assert said("torch", "measure_latency", call)[2]["model"].training


def test_the_document_knows_no_state_but_adams(said):
    """Fixed: of another optimizer the tensors of its state are counted."""
    def prepare(scope):
        scope["optimizer"] = SGD()
    call = "profile_memory_usage(model, batch, target)"
    with pytest.raises(UnboundLocalError):
        said(None, "profile_memory_usage", call, prepare)
    assert "\nOptimizer states (SGD): 4.00 GB\n" in said("torch", "profile_memory_usage", call, prepare)[0]
