"""on_oom where IPython shows the exceptions."""
import in_torch
import pytest


@pytest.mark.torch
def test_a_verdict_follows_the_traceback_of_a_cell():
    cells = in_torch.answer("real/shell_oom.py")
    out, err, raised = cells["dies"]
    assert raised == "OutOfMemoryError" and "device.alloc('800MiB')" in out and "CUDA out of memory" in out
    assert err.startswith("vramscope: memory ran out on cuda:0\n") and "weights" in err
    assert cells["other"] == cells["plain"] and cells["plain"][2] == "ZeroDivisionError"
    out, err, raised = cells["after"]
    assert raised == "OutOfMemoryError" and "CUDA out of memory" in out and err == ""


@pytest.mark.torch
def test_a_handler_of_the_program_stays_in_charge():
    cells = in_torch.answer("real/shell_oom.py")
    assert cells["theirs"][0] == "theirs OutOfMemoryError\n" and "vramscope: memory ran out" in cells["theirs"][1]
    assert "ZeroDivisionError" in cells["not theirs"][0] and "theirs" not in cells["not theirs"][0]
    assert cells["theirs after"][:2] == ["theirs OutOfMemoryError\n", ""]
