"""Trainings of the real frameworks on the host: each hook counted, and what loggers are given."""
import sys

import in_torch
import pytest
from conftest import ROOT, validate

MIB = 1 << 20
GIB = 1 << 30
PHASES = ["## forward ##", "## backward ##", "## optimizer ##"]


@pytest.fixture(scope="module")
def lightning(tmp_path_factory):
    return in_torch.answer("real/lightning_training.py", tmp_path_factory.mktemp("lightning"))


@pytest.fixture(scope="module")
def transformers(tmp_path_factory):
    return in_torch.answer("real/transformers_training.py", tmp_path_factory.mktemp("transformers"))


@pytest.mark.torch
def test_each_hook_of_lightning_runs(lightning):
    plain = lightning["plain"]
    steps = ("on_train_batch_start", "on_train_batch_end", "on_before_backward", "on_after_backward",
             "on_before_optimizer_step", "on_before_zero_grad")
    assert plain["counts"] == {**dict.fromkeys(steps, 5), "setup": 1, "on_validation_start": 1, "on_validation_end": 1,
                               "teardown": 1}
    assert plain["raised"] is None and plain["losses"] == {"failed": 0} and plain["dumps"] == []
    assert plain["marks"] == [name for n in range(5) for name in ("step %d" % n, *PHASES)] + ["## validation ##"]
    assert plain["listening"] == 0


@pytest.mark.torch
def test_loggers_of_lightning_get_the_keys(lightning):
    (metrics,) = lightning["plain"]["metrics"]
    assert [step for step, _ in metrics] == [2, 4]
    assert metrics[0][1] == {"vram/allocated_gib": 40 * MIB / GIB, "vram/interval_peak_gib": 80 * MIB / GIB,
                             "vram/reserved_gib": 100 * MIB / GIB, "vram/alloc_retries": 0.0,
                             "vram/device_used_gib": 100 * MIB / GIB}
    scopes = lightning["scopes"]["metrics"]
    assert len(scopes) == 2 and scopes[0] == scopes[1] == [[n, {"vram/allocated_gib": 20 * n * MIB / GIB}] for n in range(1, 6)]
    assert lightning["silent"]["raised"] is None and lightning["silent"]["losses"] == {"failed": 0}


@pytest.mark.torch
def test_phases_of_lightning_are_measured(lightning):
    summary = lightning["scopes"]["summary"]
    assert lightning["plain"]["summary"].keys() == {"step"}
    assert summary["forward"] == [5, 60 * MIB] and summary["validation"] == [1, 30 * MIB]
    assert summary["backward"] == [5, 0] and summary["optimizer"] == [5, 0]


@pytest.mark.torch
@pytest.mark.parametrize("which, name", (("lightning", "scopes"), ("transformers", "every")))
def test_what_grows_is_found(which, name, request):
    found = request.getfixturevalue(which)[name]["leaks"]
    validate(found)
    assert found["class"] == "suspect" and found["trend"]["slope_bytes"] == 20 * MIB


@pytest.mark.torch
def test_an_error_of_lightning_passes_and_leaves_a_folder(lightning):
    fails = lightning["fails"]
    assert fails["raised"] == "OutOfMemoryError" and fails["counts"]["on_exception"] == 1
    assert len(fails["dumps"]) == 1 and fails["listening"] == 0 and fails["losses"] == {"failed": 0}


@pytest.mark.torch
def test_each_hook_of_transformers_runs(transformers):
    plain = transformers["plain"]
    steps = ("on_step_begin", "on_pre_optimizer_step", "on_optimizer_step", "on_step_end")
    assert {name: plain["counts"][name] for name in steps} == dict.fromkeys(steps, 5)
    assert plain["counts"]["on_train_begin"] == plain["counts"]["on_train_end"] == plain["counts"]["on_evaluate"] == 1
    assert plain["counts"]["on_log"] >= 5 and plain["losses"] == {"failed": 0} and plain["listening"] == 0
    assert plain["marks"] == [name for n in range(5) for name in ("step %d" % n, "## gradients ##", "## optimizer ##")]


@pytest.mark.torch
def test_logs_of_transformers_get_the_keys(transformers):
    plain = transformers["plain"]
    assert [logs["vram/allocated_gib"] for logs in plain["seen"]] == [20 * n * MIB / GIB for n in range(1, 6)]
    assert [logs["vram/allocated_gib"] for logs in plain["history"]] == [20 * n * MIB / GIB for n in range(1, 6)]
    assert plain["seen"][0]["vram/interval_peak_gib"] == 60 * MIB / GIB
    last = transformers["last"]
    assert not any("vram/allocated_gib" in logs for logs in last["seen"])
    assert all("vram/allocated_gib" in logs for logs in last["history"])


@pytest.mark.torch
def test_transformers_are_read_every_n_steps(transformers):
    every = transformers["every"]
    assert [logs.get("vram/allocated_gib") for logs in every["seen"]] == [n and 20 * n * MIB / GIB for n in
                                                                         (None, 2, 2, 4, 4)]
    assert all(key in ("loss", "vram/allocated_gib") for logs in every["seen"] for key in logs if key.startswith("vram"))
    assert every["summary"]["gradients"] == [5, 60 * MIB] and every["summary"]["optimizer"] == [5, 0]


@pytest.mark.torch
def test_an_error_of_transformers_passes_and_leaves_a_folder(transformers):
    fails = transformers["fails"]
    assert fails["raised"] == "OutOfMemoryError" and len(fails["dumps"]) == 1
    # No hook tells of it: it is on until the callback is used again, or ended.
    assert fails["listening"] == 1 and fails["losses"] == {"failed": 0}


@pytest.mark.torch
def test_the_blocks_of_the_guide_run(tmp_path):
    said = in_torch.answer("real/guide.py", ROOT / "docs" / "python.md", tmp_path)
    assert "forward" in said[0] and "40.00 MiB" in said[0] and "'vram/allocated_gib': 0.0" in said[1]
    assert all(text.startswith("load\n") and "4.00 GiB" in text for text in said[2:])


@pytest.mark.torch
def test_tensors_that_grow_are_named_by_shape_and_dtype():
    found = in_torch.answer("real/leaks.py")
    for one in found.values():
        validate(one["document"])
    rows = {name: [(row["dtype"], row["shape"], row["first_count"], row["last_count"], row["growth_bytes"])
                   for row in one["document"]["rows"]] for name, one in found.items()}
    assert rows["losses"] == [("float32", "(256, 1024)", 3, 8, 5 * MIB), ("float32", "(1024, 256)", 3, 8, 0)]
    assert rows["gradients"] == [("float32", "(512, 512)", 6, 16, 10 * MIB)]
    assert rows["graph"] == [("bfloat16", "(16,)", 3, 8, 5 * 32)]
    assert found["graph"]["document"]["census"]["invisible_bytes"] == 10 * MIB
    assert "10.00 MiB of the growth belongs to none that Python can reach" in " ".join(found["graph"]["text"].split())
    assert found["cycles"]["cycles"] and rows["cycles"] == [("float32", "(512, 1024)", 3, 8, 10 * MIB)]
    assert found["nothing"]["document"]["class"] == "stable" and not rows["nothing"]


@pytest.mark.parametrize("module, extra", (("lightning", "lightning"), ("transformers", "transformers")))
def test_without_the_framework_the_error_names_the_extra(module, extra, monkeypatch):
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning", "transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "vramscope." + module, raising=False)
    with pytest.raises(ImportError, match=r"pip install 'vramscope\[%s\]'" % extra):
        __import__("vramscope." + module)
