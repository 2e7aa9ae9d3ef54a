"""vramscope.compat.methodology on simulated devices: rows D02 to D30, by golden texts of calls on the virtual clock.

test_method_documents.py runs the document's functions beside these where the document is.
"""
import array
import contextlib
import inspect
import io
import os
import re
import sys
import time
from pathlib import Path

import pytest
import vramscope
from method_program import CALLS, FIXED_CALLS, SGD, Loader, program
from stand_in import installed
from stand_in.simulated import Simulated
from vramscope import sim
from vramscope.compat import methodology
from vramscope.compat.methodology import _given

GOLDEN = Path(__file__).parent / "golden/method"
TEXTS = {"%s%02d_%s.txt" % (kind, number, call[0]): call for kind, calls in (("", CALLS), ("fixed_", FIXED_CALLS))
         for number, call in enumerate(calls)}
NAN = "nan"
OURS = {name: getattr(methodology, name) for name in methodology.__all__}


@pytest.fixture
def said(monkeypatch, tmp_path):
    """said(call, prepare, **how): what it printed, and returned, on a simulated device."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)))

    def run(call, prepare=lambda scope: None, encoding="utf-8", form="2.15", **how):
        raw = io.BytesIO()
        stdout = io.TextIOWrapper(raw, encoding=encoding)
        with sim.Device("80GiB") as device, installed(form, [Simulated(device)]) as torch:
            torch.cuda.init()
            scope = {**OURS, **program(torch, device, **how)}
            prepare(scope)
            with contextlib.redirect_stdout(stdout):
                found = eval(call, scope)
            stdout.flush()
            return raw.getvalue().decode(encoding), found
    return run


@pytest.fixture
def without_a_device(capsys):
    """A program whose model is nowhere, as on a machine without torch; run(call): (what it printed, its value); `slow` is made of the loader."""
    class Model:
        training = True
        train = eval = lambda self: self
        parameters = lambda self: iter(())

        def __call__(self, data):
            return self

        def backward(self):
            pass

    class Batch:
        shape = (4, 2)

    class Optimizer:
        state = {}
        step = zero_grad = lambda self: None
    scope = {**OURS, "model": Model(), "batch": Batch(), "target": Batch(), "optimizer": Optimizer(),
             "criterion": lambda output, target: output, "dataloader": [(Batch(), Batch())] * 6}

    def run(call, slow=iter):
        found = eval(call, {**scope, "slow": slow(scope["dataloader"])})
        return capsys.readouterr().out, found
    return run


@pytest.mark.parametrize("encoding", ("utf-8", "ascii"))
@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_those_of_the_rows(said, name, encoding):
    _, call, how = TEXTS[name]
    golden = (GOLDEN / name).read_text(encoding="utf-8")
    if encoding == "ascii":
        for drawn, plain in (("⚠️", "!"), ("✅", "ok"), ("🎯", ">>"), ("↔", "<->")):
            golden = golden.replace(drawn, plain)
    assert said(call, encoding=encoding, **how)[0] == golden


def test_every_golden_text_is_asked_for():
    assert {path.name for path in GOLDEN.iterdir()} == set(TEXTS)


def test_names_are_keywords_or_the_callers(said):
    """Rule 0.1.5: a keyword wins over a global, and what is neither is a NameError with the name."""
    used = []

    def spy(scope):
        real = scope["criterion"]
        scope["other"] = lambda output, target: used.append("other") or real(output, target)
        scope["criterion"] = lambda output, target: used.append("global") or real(output, target)
    said("measure_memory(model, on_device)", spy)
    said("measure_memory(model, on_device, criterion=other)", spy)
    assert used == ["global", "other"]
    for name in ("criterion", "target"):
        with pytest.raises(NameError, match="^name %r is not defined$" % name) as raised:
            said("measure_memory(model, on_device)", lambda scope: scope.pop(name))
        assert raised.value.name == name
    with pytest.raises(NameError, match="optimizer"):
        said("measure_throughput(model, dataloader)", lambda scope: scope.pop("optimizer"))


def test_names_are_looked_up_when_it_is_called(said):
    """Not those of this file, nor of the caller's caller."""
    scope = {"measure_memory": methodology.measure_memory}
    exec("def inside(model, batch): return measure_memory(model, batch)", scope)
    with pytest.raises(NameError, match="criterion"):
        said("inside(model, on_device)", lambda names: names.update(inside=scope["inside"]))


def test_a_loader_that_is_empty_or_short(said):
    def shorten(scope):
        scope["empty"] = []
        scope["short"] = Loader(scope["model"].device, 10, rows=(8, 4))
    text, found = said("measure_throughput(model, short)", shorten)
    # 10 ms, 90 + 11 + 3; 11 ms, 7 + 11 + 3; and some microseconds.
    assert found == pytest.approx(12 / 0.146, rel=1e-2) and "Time per batch: 73.0" in text
    text, found = said("measure_throughput(model, empty)", shorten)
    assert str(found) == NAN and text == "Throughput: nan samples/sec\nTime per batch: nan ms\n"
    text, found = said("profile_dataloader_vs_model(model, empty)", shorten)
    assert [str(value) for value in found] == [NAN, NAN] and "Bottleneck" not in text
    assert str(said("measure_latency(model, batch, 0, warmup=0)")[0]).count(NAN) == 5


def test_texts_that_speak_of_a_gpu_say_that_none_was_used(without_a_device, monkeypatch, tmp_path):
    """In one line more, where the words of the document stay; below a verdict of loading, too."""
    monkeypatch.chdir(tmp_path)

    class Slow(list):
        num_workers = 0

        def __iter__(self):
            for batch in super().__iter__():
                time.sleep(0.02)
                yield batch
    for name in ("diagnose_bottleneck_type", "diagnose_cpu_bottleneck", "comprehensive_profiling", "profile_dataloader_vs_model"):
        for loader in ("slow", "dataloader"):
            text, _ = without_a_device("%s(model, %s)" % (name, loader), slow=Slow)
            said = name != "profile_dataloader_vs_model" or loader == "slow"
            assert text.splitlines().count(_given.NO_DEVICE) == said, (name, loader)
            assert ("pin_memory" in text or "GPU-bound" in text or "CPU-bound" in text or "GPU Utilization" in text) == said


def test_workers_to_try_are_processors_of_this_process(without_a_device, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5})

    def slow(batches):
        for batch in batches:
            time.sleep(0.005)
            yield batch
    assert "\n Current: unknown, try: 2\n" in without_a_device("diagnose_cpu_bottleneck(model, slow)", slow=slow)[0]


def test_times_are_the_hosts_without_a_device(without_a_device):
    note = "Times are the host's: there is no device."
    for call in ("measure_throughput(model, dataloader)", "measure_latency(model, batch, 3)",
                 "benchmark_with_warmup(model, batch, 1, 3)", "profile_dataloader_vs_model(model, dataloader, 5)",
                 "profile_training_phases(model, batch, target)"):
        text, found = without_a_device(call)
        assert text.splitlines()[-1] == note, call
        assert NAN not in text
    assert "Times" not in without_a_device("track_memory('x')")[0]


def test_memory_is_unknown_without_a_device(without_a_device):
    note = "Memory is that of a device alone: there is no device."
    text, found = without_a_device("measure_memory(model, batch)")
    assert text.startswith("Peak memory: nan GB\n" + note) and str(found) == NAN
    text, found = without_a_device("analyze_peak_memory(model, batch, target)")
    assert set(map(str, found.values())) == {NAN} and note in text and "dominate" not in text and "balanced" not in text
    text, found = without_a_device("profile_memory_usage(model, batch, target)")
    assert str(found["peak_gb"]) == NAN and found["parameters_gb"] == 0 and note in text and "fragmentation" not in text
    assert without_a_device("track_memory('x')")[0].count(NAN) == 2
    assert "no device whose memory is known" in without_a_device("print_memory_summary()")[0]
    assert without_a_device("capture_memory_snapshot()")[0] == (
        "There is no memory snapshot: torch is not imported and no simulated device is active.\n")


def test_without_numpy_times_are_an_array(said, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    found = said("measure_latency(model, batch, 4)")[1]
    assert isinstance(found, array.array) and found.typecode == "d" and len(found) == 4


def test_a_failing_model_has_its_mode_back(said):
    models = []

    def break_it(scope):
        scope["model"].inside = None
        models.append(scope["model"])
    with pytest.raises(TypeError):
        said("measure_latency(model, batch)", break_it)
    assert models[0].training


def test_measurements_do_not_disturb_each_other(said):
    """Peaks go through the ledger: a profiler around has the peak that it would have had alone."""
    def around(scope):
        scope["profiler"] = vramscope.Profiler()
        device = scope["model"].device
        device.free(device.alloc("40GiB"))
    text, peak = said("(measure_memory(model, on_device), profiler.checkpoint('after').peak_bytes)[1]", around)
    assert text == "Peak memory: 0.01 GB\n" and 40 << 30 <= peak < 41 << 30


def test_a_snapshot_is_captured(said, tmp_path):
    enabled = []

    def watch(scope):
        real, device = scope["criterion"], scope["model"].device
        device.history_stop()
        scope["criterion"] = lambda output, target: enabled.append(device.history_enabled()) or real(output, target)
        scope["device"] = device
    text, enabled_after = said("(capture_memory_snapshot('a.pickle'), device.history_enabled())[1]", watch)
    assert enabled == [True] * 5 and enabled_after is False
    assert text.splitlines()[0].endswith("Memory snapshot saved to a.pickle")
    assert len(vramscope.load("a.pickle")["events.size"]) > 20

    with pytest.raises(NameError, match="optimizer"):
        said("capture_memory_snapshot('b.pickle')", lambda scope: scope.pop("optimizer"))

    def break_the_third(scope):
        watch(scope)
        scope["dataloader"] = [*scope["dataloader"]][:2] + [(None, None)]
        devices.append(scope["device"])
    devices = []
    with pytest.raises(AttributeError):
        said("capture_memory_snapshot('b.pickle')", break_the_third)
    assert not devices[0].history_enabled() and not (tmp_path / "b.pickle").exists()


def test_reserved_far_above_allocated_is_told(said):
    text, found = said("profile_memory_usage(model, batch, target)", lambda scope: scope.update(
        optimizer=SGD(scope["model"].parameters())), columns=1_000_000)
    assert re.search(r"Memory fragmentation detected\n Reserved: \S+ GB, Allocated: \S+ GB\n Suggestion: ", text)
    assert 1.5 < found["fragmentation_ratio"] < 2.1 and "\nOptimizer states (SGD): 4.00 GB\n" in text


def test_the_summary_before_cuda_is_used(capsys):
    with installed("2.15"):
        methodology.print_memory_summary()
    assert capsys.readouterr().out.startswith("There is no memory summary: CUDA is not in use yet.\n\nAllocated: ")


def test_signatures():
    """The document's arguments, in its order and with its defaults; what it took from globals is a keyword."""
    none = inspect.Parameter.empty
    wanted = {
        "measure_throughput": [("model", none), ("dataloader", none), ("num_batches", 100)],
        "measure_latency": [("model", none), ("sample_input", none), ("num_iterations", 100), ("warmup", 10)],
        "measure_memory": [("model", none), ("sample_batch", none)],
        "profile_dataloader_vs_model": [("model", none), ("dataloader", none), ("num_batches", 50)],
        "profile_training_phases": [("model", none), ("batch", none), ("target", none)],
        "diagnose_bottleneck_type": [("model", none), ("dataloader", none)],
        "diagnose_cpu_bottleneck": [("model", none), ("dataloader", none)],
        "diagnose_gpu_bottleneck": [("model", none), ("sample_input", none)],
        "diagnose_memory_bottleneck": [("model", none), ("sample_input", none)],
        "profile_training_step": [("model", none), ("dataloader", none), ("num_steps", 10)],
        "profile_model_modules": [("model", none), ("sample_input", none)],
        "profile_operations_detailed": [("model", none), ("sample_input", none)],
        "comprehensive_profiling": [("model", none), ("dataloader", none), ("device", "cuda")],
        "track_memory": [("stage_name", none)],
        "analyze_peak_memory": [("model", none), ("batch", none), ("target", none)],
        "print_memory_summary": [],
        "capture_memory_snapshot": [("filename", "memory_snapshot.pickle")],
        "benchmark_with_warmup": [("model", none), ("sample_input", none), ("warmup", 5), ("iterations", 100)],
        "profile_memory_usage": [("model", none), ("sample_batch", none), ("sample_target", none)],
    }
    assert set(wanted) == set(methodology.__all__)
    for name, arguments in wanted.items():
        parameters = inspect.signature(getattr(methodology, name)).parameters.values()
        assert [(p.name, p.default) for p in parameters if p.kind is not p.KEYWORD_ONLY] == arguments, name
        assert all(p.default is None for p in parameters if p.kind is p.KEYWORD_ONLY), name


def test_names_that_are_loaded_late():
    """Those of the module, and no others, all of which dir() has."""
    assert set(methodology._HOMES) < set(methodology.__all__) <= set(dir(methodology))
    assert {function.__module__.rsplit(".", 1)[0] for function in OURS.values()} == {methodology.__name__}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        methodology.nothing
