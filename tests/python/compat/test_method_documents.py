"""The functions of document 004 and ours, in the same program on simulated devices: rows D02 to D30.

The document's functions read a stand-in for torch; ours read it too (`torch`), or the simulated device itself
(`sim`).  The time is the device's virtual one, so that texts and values are equal, but for what rows mark fixed.
"""
import contextlib
import io
import pickle
import re
import time
import types

import documents
import numpy
import pytest
from stand_in import installed, tensors
from stand_in.simulated import Simulated
from vramscope import sim
from vramscope.compat import methodology

MS = 1_000_000
FUNCTIONS = sorted(documents.DEPTHS)
WAYS = ("torch", "sim")


class Net(tensors.Module):
    """Its calls take the scripted times, the first the longest; what it returns has so many columns."""

    def __init__(self, device, columns=1000):
        super().__init__()
        self.inside = tensors.Linear(1000, columns)
        self.device, self.calls = device, 0

    def forward(self, data):
        self.calls += 1
        self.device.advance(90 * MS if self.calls == 1 else (5 + self.calls % 3) * MS)
        return self.inside(data)


class Loss:
    def __init__(self, device, output):
        self.device, self.value = device, output.sum()

    def backward(self):
        self.device.advance(11 * MS)
        self.value.backward()


class Adam(tensors.Adam):
    def __init__(self, device, parameters):
        super().__init__(parameters)
        self.device = device

    def step(self):
        self.device.advance(3 * MS)
        super().step()


class Loader:
    """Batches of which each takes a while to be loaded."""
    num_workers = 2

    def __init__(self, device, ms, rows=(64,) * 12):
        self.device, self.ms, self.rows = device, ms, rows

    def __iter__(self):
        for number, rows in enumerate(self.rows):
            self.device.advance((self.ms + number) * MS)
            yield tensors.Tensor((rows, 1000)), tensors.Tensor((rows,))


def program(torch, device, loading_ms=4, columns=1000):
    """The names that a file of the document has."""
    model = Net(device, columns).cuda()
    return {"torch": torch, "np": numpy, "record_function": torch.profiler.record_function, "__name__": "program",
            "time": types.SimpleNamespace(time=lambda: device.clock / 1e9), "model": model,
            "criterion": lambda output, target: Loss(device, output), "optimizer": Adam(device, model.parameters()),
            "dataloader": Loader(device, loading_ms), "batch": tensors.Tensor((64, 1000)),
            "on_device": tensors.Tensor((64, 1000), device="cuda:0"), "target": tensors.Tensor((64,))}


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
            scope = program(torch, device, **how)
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


CALLS = [
    ("measure_throughput", "measure_throughput(model, dataloader, num_batches=7)", {}),
    ("measure_latency", "measure_latency(model, batch)", {}),
    ("measure_latency", "measure_latency(model, batch, 20, warmup=0)", {}),
    ("measure_memory", "measure_memory(model, on_device)", {"columns": 500_000}),
    ("profile_dataloader_vs_model", "profile_dataloader_vs_model(model, dataloader, 9)", {}),
    ("profile_dataloader_vs_model", "profile_dataloader_vs_model(model, dataloader, num_batches=9)", {"loading_ms": 200}),
    ("profile_training_phases", "profile_training_phases(model, batch, target)", {}),
    ("track_memory", "track_memory('a stage')", {"columns": 1_000_000}),
    ("track_memory", "track_memory('a stage whose name is longer than thirty columns')", {}),
    ("analyze_peak_memory", "analyze_peak_memory(model, batch, target)", {"columns": 4_000_000}),
    ("analyze_peak_memory", "analyze_peak_memory(model, batch, target)", {}),
    ("benchmark_with_warmup", "benchmark_with_warmup(model, batch)", {}),
    ("benchmark_with_warmup", "benchmark_with_warmup(model, batch, 1, iterations=3)", {}),
    ("profile_memory_usage", "profile_memory_usage(model, batch, target)", {"columns": 4_000_000}),
    ("profile_memory_usage", "profile_memory_usage(model, batch, target)", {"columns": 300}),
]


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


class SGD:
    """Its state is 4 GB, and has a number beside its tensor."""
    state = {"weight": {"momentum": tensors.Tensor((10**9,)), "step": 3}}

    def step(self):
        pass

    zero_grad = step


def test_the_document_knows_no_state_but_adams(said):
    """Fixed: of another optimizer the tensors of its state are counted."""
    def prepare(scope):
        scope["optimizer"] = SGD()
    call = "profile_memory_usage(model, batch, target)"
    with pytest.raises(UnboundLocalError):
        said(None, "profile_memory_usage", call, prepare)
    assert "\nOptimizer states (SGD): 4.00 GB\n" in said("torch", "profile_memory_usage", call, prepare)[0]
