"""doctor's rows of torch, of the backend and of what it costs to ask it, with torch stood in for."""
import json
import os
import re
import subprocess
import sys

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


@pytest.mark.parametrize("variables, why", (
    ({"RANK": "x"}, "RANK is no whole number: 'x'"),
    ({"RANK": "5", "WORLD_SIZE": "3"}, "RANK=5 is not below WORLD_SIZE=3"),
    ({"SLURM_PROCID": "1", "SLURM_LOCALID": "-1", "SLURM_NTASKS": "2"}, "SLURM_LOCALID is no whole number: '-1'"),
    ({"RANK": "2", "WORLD_SIZE": "3"}, None),
))
def test_ranks_that_cannot_be_are_bad(monkeypatch, variables, why):
    for name in _doctor.RANKS:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    found = _doctor.look_at_ranks()
    assert (found["ok"], found["value"]) == ((True, "found") if why is None else (False, "bad"))
    assert why is None or found["why"] == why


def test_rows_are_as_wide_as_the_output():
    rows = [_doctor.row("reading", "1 us", "a word " * 30), _doctor.row("torch", "none", "b" * 90, "pip install torch")]
    lines = _doctor.text_of(rows, 60).splitlines()
    assert len(lines) > 6 and all(len(line) <= 60 or "b" * 90 in line for line in lines)
    assert lines[0].startswith("ok       reading   1 us: a word") and lines[1].startswith(" " * 19 + "a")


def doctor(*words, **more):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(_doctor.__file__)), "COLUMNS": "70"}
    return subprocess.run([sys.executable, "-m", "vramscope", "doctor", *map(str, words)], env=env, text=True,
                          stderr=subprocess.PIPE, **more)


def test_the_options_of_the_command_are_options_here(tmp_path):
    printed = doctor("--ascii", "--color", "never", stdout=subprocess.PIPE)
    assert (printed.returncode, printed.stderr) == (0, "") and "ASCII: --ascii" in printed.stdout
    written = doctor("--ascii", "-o", tmp_path / "text", stdout=subprocess.PIPE)
    assert (written.returncode, written.stdout, written.stderr) == (0, "", "")
    names = [line.split()[1] for line in printed.stdout.splitlines() if line.startswith(("ok ", "missing "))]
    text = (tmp_path / "text").read_text()
    assert names == [line.split()[1] for line in text.splitlines() if line.startswith(("ok ", "missing "))]
    doctor("-j", "-o", tmp_path / "json")
    assert json.loads((tmp_path / "json").read_text())["command"]["checks"]
    assert sorted(os.listdir(tmp_path)) == ["json", "text"]


@pytest.mark.parametrize("words", ([], ["--json"]))
def test_a_reader_that_is_gone_ends_it_quietly(words):
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as gone:
        done = doctor(*words, stdout=gone)
    assert (done.returncode, done.stderr) == (0, "")


def test_where_it_cannot_write_is_one_line(tmp_path):
    """A file that may not grow is a disk that is full."""
    script = "ulimit -f 0; trap '' XFSZ; exec \"$@\" > out"
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(_doctor.__file__))}
    done = subprocess.run(["sh", "-c", script, "sh", sys.executable, "-B", "-m", "vramscope", "doctor"], cwd=tmp_path,
                          env=env, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (3, "vramscope: standard output: File too large\n")
    nowhere = doctor("-o", tmp_path / "none" / "text")
    assert nowhere.returncode == 3
    assert nowhere.stderr == f"vramscope: {tmp_path / 'none' / 'text'}: No such file or directory\n"
