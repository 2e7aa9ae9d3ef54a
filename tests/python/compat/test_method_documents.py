"""The functions of document 004 and ours, in the same program on simulated devices: rows D02 to D30.

The document's functions read a stand-in for torch; ours read it too (`torch`), or the simulated device itself
(`sim`).  The time is the device's virtual one, so that texts and values are equal, but for what rows mark fixed.
"""
import contextlib
import io
import os
import pickle
import re
import subprocess
import time
import types

import documents
import numpy
import pytest
from method_program import CALLS, FIXED_CALLS, SGD, program
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import sim
from vramscope.compat import methodology
from vramscope.measuring import measure

FUNCTIONS = sorted(documents.DEPTHS)
WAYS = ("torch", "sim")
# What functions of the document call, and what theirs lack: an import.
NEEDS = {"diagnose_cpu_bottleneck": ["profile_dataloader_vs_model"], "diagnose_bottleneck_type": ["profile_training_phases"]}
LACKS = {"diagnose_cpu_bottleneck": {"os": os}}


def nvidia_smi(device, with_memory):
    """What it prints of one device."""
    return "%d%s\n" % (device.utilisation() or 0, ",%d" % (device.stats()["reserved_bytes"] >> 20) if with_memory else "")


@pytest.fixture
def said(shared, monkeypatch, tmp_path):
    """said(way, name, call, prepare, **how): what a call printed, what it returned, and the program's names after it.  `way`
    None is the document's function."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(os.cpu_count()))

    def run(way, name, call, prepare=lambda scope: None, form="2.15", **how):
        monkeypatch.setenv("VRAMSCOPE_BACKEND", way or "torch")
        text = io.StringIO()
        with sim.Device("80GiB") as device, installed(form, [Simulated(device)]) as torch:
            torch.cuda.init()
            monkeypatch.setattr(time, "perf_counter_ns", lambda: device.clock)
            of_profiler = {name: getattr(torch.profiler, name) for name in ("profile", "schedule", "ProfilerActivity")}
            scope = {**program(torch, device, **how), "np": numpy, **of_profiler}
            if way is None:
                monkeypatch.setattr(subprocess, "run", lambda words, **how: types.SimpleNamespace(
                    stdout=nvidia_smi(device, "memory" in words[1])))
                monkeypatch.setattr(time, "time", lambda: device.clock / 1e9)
                scope.update(LACKS.get(name, {}))
                for needed in [*NEEDS.get(name, []), name]:
                    documents.own_function(shared, "004", needed, scope)
            else:
                scope[name] = getattr(methodology, name)
            if way == "torch":  # whose driver is none that can be asked: it tells what the simulated one does
                monkeypatch.setattr(measure._Busy, "figures", lambda busy: [
                    {"value": busy._found[-1] if busy._found else device.utilisation()}, {},
                    {"value": device.stats()["reserved_bytes"]}])
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
    elif isinstance(theirs[1], list):
        assert ours[1] == theirs[1] and len(ours[1]) > 30
    elif theirs[1] is not None:
        assert isinstance(theirs[1], type(ours[1]))  # numpy's float of the document is one
        assert numpy.array(ours[1]) == pytest.approx(numpy.array(theirs[1]), rel=1e-9)
    assert ours[2]["model"].calls == theirs[2]["model"].calls
    if name not in ("measure_latency", "profile_operations_detailed"):  # fixed
        assert ours[2]["model"].training == theirs[2]["model"].training
    if way == "torch":
        assert ours[2]["ranges"] == theirs[2]["ranges"]


def test_every_function_is_compared():
    beside = {name for name, _, _ in CALLS + FIXED_CALLS} | {"print_memory_summary", "capture_memory_snapshot"}
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


def test_the_document_can_not_tell_a_type(said):
    """Fixed: it calls its own function with an argument too few, and reads a time that nobody has measured."""
    call = "diagnose_bottleneck_type(model, dataloader)"
    with pytest.raises(TypeError, match="target"):
        said(None, "diagnose_bottleneck_type", call, form="2.1")
    assert "BOTTLENECK" in said("torch", "diagnose_bottleneck_type", call)[0]


def test_the_document_samples_an_idle_device(said):
    """Fixed: it asks before anything runs, and has not imported what it counts processors with."""
    call = "diagnose_cpu_bottleneck(model, dataloader)"

    def idle_at_first(scope):
        device = scope["model"].device
        device.set_util(0, seconds=0.14)
        device.set_util(88, seconds=3600)
        scope.pop("os", None)
    with pytest.raises(NameError, match="'os'"):
        said(None, "diagnose_cpu_bottleneck", call, idle_at_first, batches=60, loading_ms=50)
    text, percent, _ = said("sim", "diagnose_cpu_bottleneck", call, idle_at_first, batches=60, loading_ms=50)
    assert percent == 88 and "healthy" in text


def test_the_document_times_no_module(said):
    """Fixed: its hook takes both moments after the call, and its shapes are not recorded."""
    found = {}
    for way in (None, "torch"):
        text, value, scope = said(way, "profile_model_modules", "profile_model_modules(model, batch)")
        found[way] = text, scope["torch"].profiler.profiles[-1].shapes, scope["ranges"]
        assert value is None and not scope["model"].inside.hooks and scope["model"].training == (way is not None)
    assert found["torch"][0].startswith(found[None][0]) and "Time by module:" in found["torch"][0]
    assert (found[None][1], found["torch"][1]) == (False, True)
    assert found["torch"][2] == [*found[None][2], "module_inside"] == ["model_forward", "module_inside"]


def test_the_document_fails_where_nothing_ran_on_a_device(said):
    """Fixed; as are the names of later releases, and names in which other words are."""
    call = "diagnose_gpu_bottleneck(model, on_device)"
    with pytest.raises(IndexError):
        said(None, "diagnose_gpu_bottleneck", call, form="2.1", script=[])
    assert said("torch", "diagnose_gpu_bottleneck", call, form="2.1", script=[])[1] == []
    with pytest.raises(AttributeError, match="cuda_time_total"):
        said(None, "diagnose_gpu_bottleneck", call)
    assert len(said("torch", "diagnose_gpu_bottleneck", call)[1]) == 39
    script = [("ncclDevKernel_common", 9, 0)]
    theirs, ours = (said(way, "diagnose_gpu_bottleneck", call, form="2.1", script=script)[0] for way in (None, "torch"))
    assert "Matrix" in theirs and "Matrix" not in ours and theirs.startswith(ours)


def test_the_document_says_nothing_of_too_few_steps(said):
    """Fixed: a line says how many are needed; before the first step the document crashes."""
    call = "profile_training_step(model, dataloader, 7)"
    theirs, ours = (said(way, "profile_training_step", call)[0] for way in (None, "torch"))
    assert ours.endswith(theirs) and "8 are needed" in ours and "needed" not in theirs
    with pytest.raises(AssertionError):
        said(None, "profile_training_step", "profile_training_step(model, [])")
    assert "8 are needed" in said("torch", "profile_training_step", "profile_training_step(model, [])")[0]


def in_parts(text):
    """(its words, its numbers with a point)"""
    return re.sub(r" +", " ", re.sub(r"\d+\.\d+", "#", text)), [float(n) for n in re.findall(r"\d+\.\d+", text)]


def exports_twice(scope):
    """What the document asks of a profile."""
    scope["torch"].profiler.profile.export_chrome_trace = lambda prof, path: None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", [how for name, _, how in FIXED_CALLS if name == "comprehensive_profiling" and "util" in how])
def test_the_whole_is_that_of_the_document(said, tmp_path, way, how):
    """Fixed: it exports its trace twice, which no profile can, and so never comes to its end."""
    call = "comprehensive_profiling(model, dataloader)"
    with pytest.raises(RuntimeError, match="already saved"):
        said(None, "comprehensive_profiling", call, **how)
    theirs = said(None, "comprehensive_profiling", call, exports_twice, **how)
    ours = said(way, "comprehensive_profiling", call, **how)
    text, _, taken = ours[0].partition("\nTime taken:\n")
    # It holds results of the step before, so that the allocator takes some microseconds more.
    (our_words, our_numbers), (their_words, their_numbers) = (in_parts(text) for text in (text, theirs[0]))
    assert our_words == their_words and our_numbers == pytest.approx(their_numbers, abs=0.1, rel=1e-3)
    assert list(ours[1]) == list(theirs[1]) and taken.count(" s\n") == 4
    assert list(ours[1].values()) == pytest.approx(list(theirs[1].values()), rel=2e-3)
    assert ours[2]["model"].calls == theirs[2]["model"].calls == 5 + 10 + 20 + 1 + 10
    assert (tmp_path / "detailed_trace.json").exists()


def test_the_document_asks_for_the_utilisation_of_an_idle_device(said):
    """Fixed: it is that of the baseline; what the driver tells later is another's."""
    def busy_in_the_baseline(scope):
        device = scope["model"].device

        class Watched:
            epochs = 0

            def __iter__(self):
                self.epochs += 1
                if self.epochs == 2:  # ten batches of 30 ms, and 20 ms on each
                    device.set_util(88, seconds=0.52)
                    device.set_util(3, seconds=3600)
                for _ in range(25):
                    device.advance(30_000_000)
                    yield scope["rows"](64), scope["target"]
        scope["dataloader"] = Watched()

    def of_the_document(scope):
        busy_in_the_baseline(scope)
        exports_twice(scope)
    call = "comprehensive_profiling(model, dataloader)"
    assert said(None, "comprehensive_profiling", call, of_the_document)[1]["gpu_utilization"] == 3
    assert said("sim", "comprehensive_profiling", call, busy_in_the_baseline)[1]["gpu_utilization"] == 88
