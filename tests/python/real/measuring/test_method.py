"""The performance method and the recorder's drop-in with the real torch, whose models are on the CPU."""
import gzip
import json

import in_torch
import pytest
from conftest import validate

pytestmark = [pytest.mark.torch, pytest.mark.alone]
NOTE = "Times are the host's: there is no device."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("method")


@pytest.fixture(scope="module")
def real(folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return in_torch.answer("real/measuring/method.py")


def test_times_are_the_hosts_and_say_so(real):
    for name in ("measure_throughput", "measure_latency", "profile_dataloader_vs_model", "profile_training_phases",
                 "benchmark_with_warmup"):
        text = real["answers"][name][0]
        assert text.splitlines()[-1] == NOTE and "nan" not in text, name
    assert real["answers"]["measure_throughput"][1] > 0 and real["moved"]
    for name, count in (("measure_latency", 6), ("benchmark_with_warmup", 5)):
        times = real["answers"][name][1]
        assert len(times) == count and all(time > 0 for time in times)
    assert set(real["answers"]["profile_training_phases"][1]) == {"forward", "backward", "optimizer"}


def test_modes_are_as_the_rows_say(real):
    assert real["answers"]["measure_latency"][2] and not real["answers"]["benchmark_with_warmup"][2]
    assert real["training_after"]


def test_memory_is_the_devices_alone_without_a_device(real):
    """Of a torch that was built with CUDA it is known to be nothing, but for the model's, which is on the CPU."""
    for name in ("measure_memory", "analyze_peak_memory", "profile_memory_usage"):
        assert "Memory is that of a device alone: there is no device." in real["answers"][name][0], name
    assert "Allocated:" in real["answers"]["track_memory"][0]
    assert real["answers"]["capture_memory_snapshot"][0].startswith("There is no memory snapshot: ")
    usage = real["answers"]["profile_memory_usage"]
    assert usage[1]["parameters_gb"] == 4 * (32 * 64 + 64 + 64 * 10 + 10) / 1e9 and "Optimizer states (Adam" in usage[0]
    assert real["answers"]["print_memory_summary"][0].startswith("There is no memory summary: ")
    assert real["initialised"] is False


def test_native_measurements(real):
    for document in (real["training"], real["latency"]):
        validate(document)
        assert {row["clock"] for row in document["times"]} == {"host"} and document["notes"] == [NOTE]
    figures = {row["name"]: row["value"] for row in real["training"]["figures"]}
    assert figures["throughput"] < figures["throughput_without_loading"] and figures["utilisation"] is None
    assert {row["count"] for row in real["training"]["times"]} == {4}
    assert real["latency"]["conditions"]["mode"] == "eval" and "Throughput: " in real["texts"][0]


def test_conditions_of_a_real_model(real):
    assert real["conditions"] == {
        "model": "Sequential", "batch_size": 8, "input_shape": [32], "device": "cpu", "dtype": "bfloat16",
        "mode": "train", "num_workers": 0, "cudnn_benchmark": False, "gpu": None}
    assert real["training"]["conditions"]["dtype"] == "float32"


def test_the_recorder_says_that_there_is_no_device(real):
    recording = ["__main__", "INFO", "CUDA unavailable. Not recording memory history"]
    assert real["lines"] == [recording, ["__main__", "INFO", "CUDA unavailable. Not exporting memory snapshot"], recording]


def test_a_real_trace_is_written(real, folder):
    trace, = folder.glob("*.json.gz")
    text, = folder.glob("*.txt")
    names = {event.get("name") for event in json.load(gzip.open(trace))["traceEvents"]}
    assert {"forward_pass", "backward_pass", "optimizer_step"} <= names
    assert text.name == trace.name.replace(".json.gz", ".txt") and "no device cuda:0" in text.read_text()


def test_real_operators_are_written(real):
    table, guide, result = real["explained"]
    assert "aten::addmm" in table and "CPU Mem" in table and isinstance(result, float)
    assert guide.startswith("How to read this trace") and "is the program on the host" in guide
    assert "There is no device" in guide and "aten::addmm" in guide


def test_the_recipe_of_the_document_runs(real):
    """Five iterations never complete active=6: the handler runs at exit, and the first step is empty."""
    steps, memory = real["recipe"]["steps"], real["recipe"]["memory"]
    assert len(steps) >= 5 and [s["name"] for s in steps] == sorted(s["name"] for s in steps)
    assert {"forward", "backward", "optimizer"} <= {row["phase"] for row in real["recipe"]["phases"]}
    (host,) = [row for row in memory if row["device_type"] == 0]
    assert {"activation", "gradient", "optimizer_state"} & {row["category"] for row in host["categories"]}
