"""vramscope.compat.vram_profiler: rows A01 to A16, by golden texts, one for each branch.

The texts were made by the document's own program from the scenarios of vram_scenarios.py, and read
against the rows; test_documents.py runs the two beside each other where the documents are.
"""
import asyncio
import contextlib
import inspect
import io
import json
import sys
import threading
import time
import types
from pathlib import Path

import pytest
import vram_scenarios
import vramscope
from conftest import ROOT
from stand_in import installed, tensors

from vramscope import sim
from vramscope.compat import vram_profiler as compat

GOLDEN = Path(__file__).parent / "golden/vram"
KEYS = ["name", "current_gb", "peak_gb", "peak_since_last_gb", "timestamp"]
GB = 1_000_000_000


def printed(call, encoding):
    """The bytes that reach a stdout of an encoding."""
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding=encoding)
    with contextlib.redirect_stdout(stdout):
        call()
    stdout.flush()
    return raw.getvalue()


@pytest.fixture
def device():
    with sim.Device() as made:
        yield made


@pytest.mark.parametrize("encoding", ("utf-8", "ascii"))
@pytest.mark.parametrize("scenario", vram_scenarios.ALL, ids=lambda scenario: scenario.__name__)
def test_texts_are_those_of_the_rows(scenario, encoding, device):
    golden = (GOLDEN / (scenario.__name__ + ".txt")).read_text(encoding="utf-8")
    if encoding == "ascii":
        golden = golden.replace("└─", "+-")
    assert printed(lambda: scenario(compat, vram_scenarios.Holder(device)), encoding) == golden.encode(encoding)


def test_names_that_stdout_does_not_know_are_escaped(device):
    profiler = compat.VRAMProfiler()
    profiler.checkpoint("größer \ud800")
    assert b"\n" + rb"gr\xf6\xdfer \ud800  " in printed(profiler.print_summary, "ascii")


def test_every_golden_text_is_asked_for():
    assert {path.stem for path in GOLDEN.iterdir()} == {scenario.__name__ for scenario in vram_scenarios.ALL}


def test_attributes():
    with sim.Device():
        profiler = compat.VRAMProfiler()
        assert (profiler.enabled, profiler.checkpoints, profiler.peak_memory) == (True, [], 0)
        assert str(profiler.device) == "cuda"
        assert str(compat.VRAMProfiler(enabled=False).device) == "cuda"
    assert str(compat.VRAMProfiler(enabled=False).device) == "cpu"


def test_the_first_interval_begins_with_the_profiler(device):
    first, second = compat.VRAMProfiler(), compat.VRAMProfiler()
    device.free(device.alloc(GB))
    second.reset()
    first.checkpoint("x")
    assert first.checkpoints[0]["peak_since_last_gb"] >= 1


def test_an_empty_tensor_has_its_line(device):
    with installed():
        profiler = compat.VRAMProfiler()
        profiler.checkpoint("none", tensor=vram_scenarios.tensor(0, 4))
    line = "Tensor: (0, 4) (torch.float16) = 0.000 GB"
    assert line.encode() in printed(profiler.print_summary, "utf-8") and "(0, 4)" in profiler.get_report()


def test_the_constructor_resets_nothing(device):
    before = device.backend.stats()
    device.free(device.alloc(GB))
    profiler = compat.VRAMProfiler()
    assert device.backend.stats()["allocated_peak_bytes"] >= GB > before["allocated_peak_bytes"]
    profiler.checkpoint("first")
    # The peak since whoever reset it last, as the counter of the framework tells it.
    assert profiler.checkpoints[0]["peak_since_last_gb"] >= 1


def test_a_record_has_these_keys(device):
    profiler = compat.VRAMProfiler()
    before = time.time()
    assert profiler.checkpoint("plain") is None
    profiler.checkpoint("with all", tensor=vram_scenarios.tensor(3, 4), tensor_info="info")
    plain, full = profiler.checkpoints
    assert list(plain) == KEYS
    assert list(full) == [*KEYS, "tensor_gb", "tensor_shape", "tensor_dtype", "info"]
    assert before <= plain["timestamp"] <= full["timestamp"] <= time.time()
    assert (full["tensor_gb"], full["tensor_shape"], full["tensor_dtype"]) == (24 / 1e9, "(3, 4)", "torch.float16")


def test_without_a_device_nothing_is_recorded():
    profiler = compat.VRAMProfiler()
    profiler.checkpoint("none")
    profiler.reset()
    assert profiler.checkpoints == [] and profiler.get_report() == "No profiling data available."


def test_a_disabled_profiler_keeps_its_peak(device):
    profiler = compat.VRAMProfiler()
    kept = device.alloc(GB)
    profiler.checkpoint("one")
    profiler.enabled = False
    profiler.reset()
    assert profiler.checkpoints == [] and profiler.peak_memory == kept.block_bytes


def alone(intervals, number):
    """What profiler `number` of two sees when only it takes records."""
    with sim.Device() as device:
        profiler = compat.VRAMProfiler()
        for which, much in intervals:
            device.free(device.alloc(much * GB))
            if which == number:
                profiler.checkpoint("c")
        return [kept["peak_since_last_gb"] for kept in profiler.checkpoints]


def test_two_profilers_do_not_disturb_each_other():
    """Fixed: each resets the peak that the other's interval needs."""
    intervals = [(0, 1), (1, 5), (0, 2), (0, 7), (1, 3), (1, 1), (0, 6)]
    with sim.Device() as device:
        both = compat.VRAMProfiler(), compat.VRAMProfiler()
        for which, much in intervals:
            device.free(device.alloc(much * GB))
            both[which].checkpoint("c")
    for number in (0, 1):
        assert [kept["peak_since_last_gb"] for kept in both[number].checkpoints] == alone(intervals, number)


def test_two_threads_do_not_disturb_each_other():
    with sim.Device() as device:
        held, done, seen = threading.Event(), threading.Event(), []

        def other():
            profiler = compat.VRAMProfiler()
            for _ in range(200):
                profiler.checkpoint("often")
                held.set()
            done.wait(10)

        profiler = compat.VRAMProfiler()
        thread = threading.Thread(target=other)
        thread.start()
        held.wait(10)
        device.free(device.alloc(4 * GB))
        while thread.is_alive() and len(seen) < 20:
            seen.append(1)
            time.sleep(0.001)
        profiler.checkpoint("mine")
        done.set()
        thread.join()
    assert round(profiler.checkpoints[0]["peak_since_last_gb"], 2) == 4


def test_a_function_that_raises_has_an_end(device):
    """Fixed: the original loses it."""
    profiler = compat.VRAMProfiler()

    @compat.profile_function(profiler, "work")
    def work():
        raise KeyError("of the program")

    with pytest.raises(KeyError, match="of the program"):
        work()
    assert [(kept["name"], kept.get("info")) for kept in profiler.checkpoints] == [
        ("work - START", None), ("work - END", "raised KeyError")]


def test_coroutines_and_generators_end_when_they_are_over(device):
    """Fixed: the original's END comes before they have begun."""
    profiler = compat.VRAMProfiler()
    decorate = compat.profile_function(profiler, "f")

    @decorate
    async def coroutine():
        profiler.checkpoint("inside")
        return 1

    @decorate
    def generator():
        profiler.checkpoint("inside")
        got = yield 1
        return got

    @decorate
    async def agenerator():
        profiler.checkpoint("inside")
        yield 1

    def through():
        assert (yield from generator()) == "sent"

    async def all_of_them():
        assert await coroutine() == 1
        assert [value async for value in agenerator()] == [1]

    asyncio.run(all_of_them())
    running = through()
    next(running)
    with pytest.raises(StopIteration):
        running.send("sent")
    closed = generator()
    next(closed)
    closed.close()
    assert [kept["name"] for kept in profiler.checkpoints] == ["f - START", "inside", "f - END"] * 4
    assert inspect.iscoroutinefunction(coroutine) and inspect.isgeneratorfunction(generator)


def test_the_result_is_recorded_if_it_is_a_tensor():
    with installed() as torch:
        torch.cuda.init()
        profiler = compat.VRAMProfiler()

        @compat.profile_function(profiler)
        def make():
            return tensors.Tensor((1000,), tensors.FLOAT16, "cuda")

        kept = make()
    start, end = profiler.checkpoints
    assert "tensor_gb" not in start and end["tensor_shape"] == str(tuple(kept.shape)) == "(1000,)"
    assert start["name"] == f"{__name__}.{make.__qualname__.rsplit('.', 1)[-1]} - START"


def test_globals(device, monkeypatch):
    monkeypatch.setattr(compat, "_global_profiler", None)
    compat.disable_profiling()  # there is none yet: nothing happens
    first = compat.get_profiler()
    assert not first.enabled and compat.get_profiler() is first
    second = compat.enable_profiling()
    assert second.enabled and second is compat.get_profiler() is not first and not first.enabled
    compat.disable_profiling()
    assert not second.enabled


def test_a_saved_report_is_the_report_in_utf8(device, tmp_path, capsys):
    profiler = compat.VRAMProfiler()
    path = tmp_path / "report.txt"
    profiler.save_report(str(path))
    assert path.read_text() == "No profiling data available."
    profiler.checkpoint("größer")
    profiler.save_report(path)
    assert path.read_bytes() == profiler.get_report().encode()
    assert capsys.readouterr().out == f"Profiling report saved to: {path}\n" * 2
    assert [each.name for each in tmp_path.iterdir()] == ["report.txt"]
    profiler.enabled = False
    path.unlink()
    profiler.save_report(path)
    assert not path.exists() and capsys.readouterr().out == ""
    profiler.enabled = True
    with pytest.raises(FileNotFoundError):
        profiler.save_report(tmp_path / "no/such/folder")
    assert list(tmp_path.iterdir()) == []


def test_signatures():
    def defaults(call):
        return [(p.name, p.default) for p in inspect.signature(call).parameters.values()]
    none = inspect.Parameter.empty
    assert defaults(compat.VRAMProfiler) == [("enabled", True)]
    assert defaults(compat.VRAMProfiler.checkpoint)[1:] == [("name", none), ("tensor", None), ("tensor_info", None)]
    assert defaults(compat.VRAMProfiler.save_report)[1:] == [("filepath", none)]
    assert defaults(compat.profile_memory) == [("profiler", none), ("name", none), ("tensor", None)]
    assert defaults(compat.profile_function) == [("profiler", none), ("name", None)]
    for call in (compat.get_profiler, compat.enable_profiling, compat.disable_profiling):
        assert defaults(call) == []


class Profile:
    """torch.profiler.profile as far as one call of it goes; its table takes one of two names to sort by."""

    known, made = "device_memory_usage", []

    def __init__(self, **options):
        self.options, self.asked = options, []
        Profile.made.append(self)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.ended = True

    def key_averages(self, **options):
        self.grouped = options
        return self

    def table(self, **options):
        self.asked.append(options)
        if options["sort_by"] != self.known:
            raise AttributeError(options["sort_by"])
        return "the table\n"

    def export_chrome_trace(self, path):
        with open(path, "w") as file:
            file.write("{}")


@pytest.mark.parametrize("known", ("device_memory_usage", "cuda_memory_usage"))
def test_operators_are_sorted_by_memory_however_it_is_spelt(tmp_path, monkeypatch, known):
    module = types.ModuleType("torch.profiler")
    module.profile, module.ProfilerActivity = Profile, types.SimpleNamespace(CPU="cpu", CUDA="cuda")
    monkeypatch.setitem(sys.modules, "torch", types.ModuleType("torch"))
    monkeypatch.setitem(sys.modules, "torch.profiler", module)
    monkeypatch.setattr(Profile, "known", known)
    assert compat.profile_operators(lambda: 42, tmp_path / "ops.txt", tmp_path / "run.json") == 42
    prof = Profile.made.pop()
    assert (tmp_path / "ops.txt").read_text() == "the table\n" and (tmp_path / "run.json").read_text() == "{}"
    assert prof.ended and prof.options == {"activities": ["cpu", "cuda"], "profile_memory": True, "record_shapes": True,
                                           "with_stack": True}
    assert prof.grouped == {"group_by_stack_n": 5}
    assert prof.asked[-1] == {"sort_by": known, "row_limit": 30, "max_name_column_width": 60}
    assert "net" in compat.profile_operators.__doc__


def test_a_trace_is_explained(tmp_path):
    """The device's process is called as the host's, and what lies above its work is no stack of calls."""
    def named(pid, label):
        return [{"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": "python"}},
                {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": label}}]

    def span(category, name, pid, tid, start, duration, **args):
        return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}

    host = [*named(3201404, "CPU"), span("cpu_op", "aten::mm", 3201404, 9, 0, 20),
            span("cuda_runtime", "cudaLaunchKernel", 3201404, 9, 2, 3, correlation=1)]
    device = [*named(0, "GPU 0"), span("kernel", "gemm", 0, 7, 10, 5, correlation=1),
              span("gpu_user_annotation", "step", 0, 7, 9, 9)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": host + device}))
    text = compat.explain_trace(path)
    assert "* `python 3201404` is the program on the host" in text and "1 runtime" in text
    assert "* `python 0` is a device, and no process of the host" in text and "streams (1): 1 gpu_annotation, 1 kernel" in text
    assert "are no call stack" in text and "never nests" in text and "It is no peak." in text and "gemm" in text
    path.write_text(json.dumps({"traceEvents": host}))
    assert "There is no device" in compat.explain_trace(path)
    with pytest.raises(vramscope.Error, match="memory snapshot"):
        compat.explain_trace(ROOT / "examples" / "oom.pickle")
