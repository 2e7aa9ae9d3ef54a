"""Real torch without a device: what compat.gpumemprof refuses, and modules of torch that it wraps."""
import in_torch
import pytest

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def said():
    return in_torch.answer("real/compat_gpumemprof.py")


def test_what_there_is_without_a_device(said):
    assert said["errors"] == {"None": "RuntimeError", **dict.fromkeys(
        ("cuda:0", "0", "cuda", "cpu", "torch cpu", "torch cuda:0", "1.5"), "ValueError")}
    assert said["initialised"] is False and said["info"] == {"error": "CUDA is not available"}
    assert said["system"] == [True, False, "cpu"] and said["decorated"] == "RuntimeError"
    assert said["on_sim"] == [True, "cuda:1", 1]


def test_the_command_and_the_flight_recorder(said):
    assert said["command"] == [0, ["CUDA Available: False", "Detected Backend: cpu", "MPS Built: False", "MPS Available: False"]]
    assert said["out_of_memory"] == [True, "torch.cuda.OutOfMemoryError", "cpu", "RuntimeError", "ValueError"]


def test_a_wrapped_module_is_one_of_torch(said):
    assert said["module"] == {
        "is": [True, True], "parameters": ["0.module.weight", "0.module.bias"], "hooks": [3], "gradient": True, "in_features": 4,
        "eval": True, "names": ["head_forward"], "tensors": 0, "missing": "AttributeError", "loaded": True}
