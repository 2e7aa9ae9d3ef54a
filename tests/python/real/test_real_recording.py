"""record, on_oom and names with the real torch, on a machine without a GPU."""
import in_torch
import pytest


@pytest.fixture(scope="module")
def real():
    return in_torch.answer("real/live_names.py")


@pytest.mark.torch
def test_nothing_is_initialised_and_nothing_written(real):
    assert not real["before"] and not real["initialised"] and real["forked"] == 0 and real["files"] == []
    assert real["spec"] == ["torch", False] and real["enabled"] is False
    if real["cuda"] is None:
        assert "without CUDA" in real["refused"] and "without CUDA" in real["on_oom"]


@pytest.mark.torch
def test_the_private_functions_that_are_used_are_there(real):
    assert real["lacks"] == [] or real["cuda"] is None and set(real["lacks"]) <= {"_on", "_attach"}
    assert real["data_address"] and real["lazy_call"]


@pytest.mark.torch
def test_names_and_kinds(real):
    names = real["names"]
    weight = names["net.first.weight"]
    assert (weight["kind"], weight["bytes"], weight["shape"], weight["dtype"], weight["of"]) == (
        "parameter", 4800, [40, 30], "float32", "Net")
    assert {"net.tied.weight", "net.other.weight"} & set(weight["shared"])
    kinds = {entry["kind"] for entry in names.values()}
    assert kinds == {"parameter", "gradient", "buffer", "optimizer_state", "tensor"}
    assert names["net.first.bias.grad"]["kind"] == "gradient"
    assert names["net.norm.running_mean"]["kind"] == "buffer"
    assert names["optimizer.exp_avg of net.first.bias"]["kind"] == "optimizer_state"
    assert names["train.batch"]["bytes"] == 4 * 77 * 88 and names["train.held[0]"]["bytes"] == 4 * 66 * 99
    assert "train.bare" not in names, "a tensor without memory has no place"


@pytest.mark.torch
def test_no_reference_is_kept(real):
    assert real["alive"] == 0
