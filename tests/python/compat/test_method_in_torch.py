"""Operators by the performance method with the real torch, whose models are on the CPU: rows D09, D10, D12, D13, D24 to D26, D29."""
import json

import in_torch
import pytest
from vramscope.compat.methodology import _operators

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("profiled")


@pytest.fixture(scope="module")
def real(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return in_torch.answer("method_in_torch.py")


def test_a_real_training_is_profiled(real, folder):
    text, kind = real["answers"]["profile_training_step"]
    assert kind == "profile" and "ProfilerStep*" in text and "aten::" in text and "needed" not in text
    assert _operators.BY_HOST in text and "Trace exported to ./profiler_logs" in text
    traces = [*(folder / "profiler_logs").glob("*.pt.trace.json")]
    assert any("ProfilerStep#7" in trace.read_text() for trace in traces)


def test_too_few_real_steps_are_told(real):
    for steps, (text, kind) in real["short"].items():
        assert "%s steps ran, and 8 are needed" % steps in text and kind == "profile"
    assert ["ProfilerStep*" in real["short"][steps][0] for steps in "017"] == [False, False, True]


def test_real_modules_are_timed(real):
    text, _ = real["answers"]["profile_model_modules"]
    table, _, modules = text.partition("Time by module:\n")
    assert "module_0" in table and "model_forward" in table and "[[8, 1, 32], [4, 1, 3]" in table
    rows = [line.split() for line in modules.splitlines() if line.startswith("  ")]
    assert sorted(row[0] for row in rows) == list("01234") and all(row[-2:] == ["1", "call"] for row in rows)
    times = [float(row[1]) for row in rows]
    assert times == sorted(times, reverse=True) and times[0] > 0
    assert text.endswith("Times are the host's: there is no device.\n")


def test_real_operators_by_time_memory_and_shape(real, folder):
    text, kind = real["answers"]["profile_operations_detailed"]
    tables = text.split("\n=== ")
    assert kind == "profile" and [part.partition(" ===")[0] for part in tables[1:]] == [
        "Top Operations by CUDA Time", "Top Operations by Memory", "Grouped by Input Shape"]
    assert all("aten::" in part for part in tables[1:]) and "Input Shapes" in tables[3]
    names = {event.get("name") for event in json.loads((folder / "detailed_trace.json").read_text())["traceEvents"]}
    assert "aten::convolution" in names


def test_nothing_ran_on_a_device(real):
    assert real["answers"]["diagnose_gpu_bottleneck"] == ["Top 10 GPU operations:\nNothing ran on a device.\n", []]
    text, kind = real["answers"]["diagnose_memory_bottleneck"]
    assert "GB/s\n" not in text.partition("If bandwidth")[0] and kind == "NoneType"
    assert real["initialised"] is False


def test_real_trainings_are_judged(real):
    text, _ = real["answers"]["diagnose_bottleneck_type"]
    assert "GPU Utilization: unknown" in text and "Device copy: unknown, there is no device." in text
    assert "\nBOTTLENECK: " in text and "nan" not in text
    text, found = real["answers"]["diagnose_cpu_bottleneck"]
    assert text.startswith("GPU Utilization: unknown\n") and found is None and "Avg computation time" in text


def test_a_failing_real_model_leaves_nothing_behind(real):
    for name, (error, hooks, modes, goes_on) in real["failed"].items():
        assert error == "of the model" and hooks == 0 and goes_on is False, name
        assert modes == [True, True, True, True, False, True], name
    assert real["training"] is False and "Time by module:" in real["kept"][0]


def test_the_whole_of_a_real_training(real, folder):
    """On a machine without a device the model stays on the host, and four phases end."""
    text, found = real["answers"]["comprehensive_profiling"]
    assert "\nThere is no device cuda: the model stays where it is.\n" in text
    assert [line for line in text.splitlines() if line.startswith(("PHASE", "PROFILING COMPLETE"))] == [
        "PHASE 1: ESTABLISH BASELINE", "PHASE 2: IDENTIFY BOTTLENECK TYPE", "PHASE 3: NARROW TO COMPONENT",
        "PHASE 4: IDENTIFY OPERATION", "PROFILING COMPLETE"]
    assert found.pop("gpu_utilization") is None and all(value > 0 for value in found.values()) and len(found) == 6
    by_time, by_memory = text.partition("Top operations by CUDA time:\n")[2].split("Top operations by memory:\n")
    assert "ProfilerStep*" in by_time and "aten::" in by_memory and "needed" not in text and text.count(" s\n") == 4
    trace = (folder / "detailed_trace.json").read_text()  # the last that was written
    assert trace in [log.read_text() for log in (folder / "profiler_logs").iterdir()]
