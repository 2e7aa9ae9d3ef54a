"""doctor's rows of torch, of the backend and of what it costs to ask it, with torch stood in for."""
import re

import pytest
from stand_in import installed, torch_forms
from vramscope import _core, _doctor, _torch, sim


def checks():
    rows = _doctor.look()
    assert all(row["ok"] == (row["cure"] is None) for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: row for row in rows}


@pytest.mark.parametrize("form", torch_forms.FORMS)
def test_the_recorder_is_told_with_its_keywords(form):
    with installed(form) as torch:
        found = checks()
        assert not torch.cuda.is_initialized() and not torch.cuda._queued_calls
    assert found["torch"]["value"] == form + ".0" and found["cuda"]["value"] == "13.2"
    if form == "1.13":
        assert found["recorder"]["value"] == "none" and "older than 2.1" in found["recorder"]["why"]
        assert "observer" not in found
        return
    keywords = ", ".join(torch_forms.recorder_signature(form).parameters)
    assert found["recorder"] == _doctor.row("recorder", "found", "it takes " + keywords)
    assert found["observer"]["value"] == "found"


def test_a_private_function_that_is_gone_is_named():
    with installed() as torch:
        there = _torch.gone(torch)
        assert "torch._C._cuda_attach_out_of_memory_observer" not in there
        del torch._C._cuda_attach_out_of_memory_observer
        assert set(_torch.gone(torch)) - set(there) == {"torch._C._cuda_attach_out_of_memory_observer"}
        found = checks()
        assert "torch._C._cuda_attach_out_of_memory_observer" in found["functions"]["why"]
        assert (found["observer"]["value"], found["observer"]["ok"]) == ("none", False)
        for name in there:
            place, _, name = name.rpartition(".")
            assert place == "torch._C"
            setattr(torch._C, name, print)
        torch._C._cuda_attach_out_of_memory_observer = print
        assert checks()["functions"]["value"] == "found"


def test_a_torch_that_is_not_known_is_one_row_more():
    with installed() as torch:
        del torch._C
        found = checks()
    assert "AttributeError" in found["recorder"]["why"] and "AttributeError" in found["backend"]["why"]
    assert "reading" not in found and found["ranks"]["ok"]


@pytest.mark.parametrize("wanted, value, ok, why", (
    (None, "none", False, "no torch for a GPU is here"),
    ("auto", "none", False, "no torch for a GPU is here"),
    ("torch", "none", False, "no torch for a GPU is here"),
    ("none", "none", True, "VRAMSCOPE_BACKEND=none asks for it"),
    ("sim", "sim", True, "VRAMSCOPE_BACKEND=sim asks for it"),
    ("cuda", "broken", False, "there is no backend 'cuda'"),
))
def test_the_backend_is_told_with_the_reason(monkeypatch, wanted, value, ok, why):
    monkeypatch.delenv("VRAMSCOPE_BACKEND", raising=False)
    if wanted is not None:
        monkeypatch.setenv("VRAMSCOPE_BACKEND", wanted)
    found = checks()
    assert (found["backend"]["value"], found["backend"]["ok"]) == (value, ok)
    assert why in found["backend"]["why"]
    assert ("reading" in found) == (value != "broken")


def test_a_torch_without_its_driver_is_told_with_the_cure():
    with installed(driver=False):
        found = checks()
    assert found["backend"]["value"] == "torch" and found["backend"]["cure"] == "install the GPU's driver"
    assert found["reading"]["value"] == "unknown"


def test_a_simulated_device_is_the_backend():
    with sim.Device():
        found = checks()
    assert found["backend"] == _doctor.row("backend", "sim", "a simulated device is active")
    assert "1000 readings of the backend sim" in found["reading"]["why"]
    assert float(re.fullmatch(r"(\d+\.\d\d) us", found["reading"]["value"])[1]) > 0


def test_a_reading_that_fails_is_one_row(monkeypatch):
    """A stand-in whose raw function raises once CUDA is initialised."""
    with installed() as torch:
        torch.cuda.init()

        def gone(device):
            raise OSError("gone")
        torch._C._cuda_memoryStats = gone
        found = checks()
    assert found["backend"]["value"] == "torch" and found["ranks"]["ok"]
    assert found["reading"]["value"] == "unknown" and not found["reading"]["ok"]


@pytest.mark.skipif(not hasattr(_core, "Sampler"), reason="this core has no sampling thread")
def test_the_sampler_tells_how_far_off_it_is():
    found = checks()["sampler"]
    assert found["ok"] and float(re.fullmatch(r"(\d+\.\d{3}) ms", found["value"])[1]) >= 0
    told = re.match(r"median deviation of (\d+) gaps of 10 ms; longest ([\d.]+) ms, (\d+) skipped", found["why"])
    assert 1 <= int(told[1]) <= 51 and float(told[2]) >= 9
