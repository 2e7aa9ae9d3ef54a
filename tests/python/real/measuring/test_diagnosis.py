"""diagnose(), profile_training() and profile_call() with the real torch, whose models are on the CPU."""
import json

import in_torch
import pytest
import vramscope
from conftest import validate

pytestmark = [pytest.mark.torch, pytest.mark.alone]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return in_torch.answered(tmp_path_factory, "real/measuring/diagnosis.py")


@pytest.fixture(scope="module")
def real(folder):
    return json.loads((folder / "answer").read_text())


PROGRAMS = ("clean", "slow loader", "slow loader with workers", "transform in the loader", "transform in the loop", "item", "copy")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_diagnosis_is_whole(real, name):
    document, page = real[name]["document"], real[name]["page"]
    validate(document)
    assert max(map(len, page.splitlines())) <= 80
    labels = [line.split()[0] for line in page.splitlines() if line[:1].strip()]
    # What is clean may have a finding, as the machine happens to be busy, and may have none.
    silent = ("note", "findings") if name == "clean" else ("note",)
    assert [label for label in labels if label not in silent] == [
        "training", "baseline", "kind", *(["phases"] if name == "clean" else []), "recorded", "modules", "ops",
        *([] if name == "clean" else ["findings"]), "verify", "time"]
    assert "training Sequential on cpu, 8 samples a batch, float32" in page
    assert len(document["trace"]["steps"]) == 5 and document["trace"]["step_source"] == "profiler"
    assert document["training"]["steps"] == 6 and not document["training"]["on_device"]
    assert set(document["checklist"].values()) == {True}
    assert "missing" not in page  # of a model on the CPU nothing is


@pytest.mark.parametrize("name, kind", (
    ("clean", "host"), ("slow loader", "data"), ("slow loader with workers", "data"), ("transform in the loader", "data"),
    ("item", "host"), ("copy", "host"), ("transform in the loop", "host"),
))
def test_the_kind_of_a_planted_fault(real, name, kind):
    assert real[name]["kind"] == kind
    workers = {"slow loader": "0 workers", "slow loader with workers": "2 workers"}.get(name)
    if workers:
        assert f"the loader has {workers}; the process may use" in real[name]["page"]


PLANTED = {
    "slow loader": ("DATA-1", "slow_read", "slept or read files"), "kept": ("DATA-1", "slow_read", "slept or read files"),
    "slow loader with workers": ("DATA-1", None, "waited for the loader's workers"),
    "transform in the loader": ("DATA-1", "augment", "computed"),
    "transform in the loop": ("STEP-OTHER", "augment", "outside"),
    "item": ("ITEM-STEP", "<lambda>", "took a value out of a tensor"), "copy": ("COPY-STEP", "counted", "copies of tensors"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found_as_such(real, name):
    """By its rule, with the function of the program that it is in; none of the other faults is found."""
    rule, function, words = PLANTED[name]
    found = {row["id"]: row for row in real[name]["document"]["trace"]["findings"]}
    row = found[rule]
    assert words in row["text"] + row["advice"]
    if function is not None:
        assert row["line"].endswith(": " + function)
    assert "vramscope/" not in real[name]["page"]
    assert not {"DATA-1", "STEP-OTHER", "ITEM-STEP", "COPY-STEP"} - {rule} & set(found)
    assert rule + ": " in real[name]["page"]


def test_none_is_found_in_a_clean_loop(real):
    found = {row["id"] for row in real["clean"]["document"]["trace"]["findings"]}
    assert not {"DATA-1", "STEP-OTHER", "ITEM-STEP", "COPY-STEP"} & found


def test_a_loop_without_a_fault_has_phases(real):
    """Their medians, as measured before the profiler ran; no range of ours is an operator."""
    training = real["clean"]["document"]["training"]
    parts = sum(training[name + "_ns"] for name in ("copy", "forward", "backward", "optimizer"))
    assert parts == pytest.approx(training["step_ns"], rel=0.5) and training["backward_ns"] > training["copy_ns"]
    assert "##" not in real["clean"]["page"]


def test_a_kept_trace_says_the_same(real, folder):
    assert real["kept"]["kind"] == real["kept"]["of the trace"]["kind"] == "data"
    assert (folder / "kept.pt.trace.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert not list(folder.glob("*.part"))


def test_modes_are_given_back_part_by_part(real):
    assert real["modes"] == [False, False, True, False, False] and real["after the call"]


def test_no_worker_is_left_by_an_interrupt(real):
    assert real["interrupted"] == 0


def test_a_training_is_profiled(real):
    """Two steps of it, with shapes, memory and modules."""
    found = real["training"]
    calls = {row["name"]: row["calls"] for row in found["ops"]}
    assert calls["aten::mkldnn_convolution"] == calls["aten::convolution_backward"] == calls["aten::addmm"] == 2
    assert len(found["steps"]) == 2 and found["capture"]["record_shapes"] and found["capture"]["profile_memory"]
    assert {row["phase"] for row in found["phases"]} >= {"data", "forward", "backward", "optimizer"}
    assert any("Conv2d" in row["path"] for row in found["modules"]) and found["memory"]


def test_what_operators_move(real):
    """Row D26: by the tensors alone, in bytes of four to an element; a view moves none."""
    document, text = real["traffic"]
    validate(document)
    rows = {row["name"]: row for row in document["operators"]}
    assert {name: (row["calls"], row["bytes"]) for name, row in rows.items()} == {
        "aten::relu": (1, 4 * (64 + 16 * 64)), "aten::add_": (1, 4 * 2 * 16 * 64),
        "aten::addmm": (1, 4 * (16 * 64 + 64 * 32 + 32 + 16 * 32)),
        # Four rows of a table of a thousand, by numbers of eight bytes; what is only made room for moves nothing.
        "aten::embedding": (1, 2 * 4 * 4 * 64 + 4 * 8), "aten::arange": (1, 4 * 8), "aten::copy_": (1, 2 * 4 * 64)}
    assert list(rows)[:3] == ["aten::addmm", "aten::add_", "aten::relu"]
    for row in [row for row in rows.values() if row["seconds"] is not None]:
        assert row["bytes_per_second"] == pytest.approx(row["bytes"] / row["seconds"])
        assert row["of_copy"] == pytest.approx(row["bytes_per_second"] / document["copy"]["bytes_per_second"])
    assert document["copy"]["bytes_per_second"] > 1e8 and document["copy"]["clock"] == "host"
    assert "aten::addmm" in text and "GB/s, by the host's clock." in text


def test_bytes_of_what_is_no_plain_tensor_are_not_told(real):
    validate(real["sparse"])
    assert any(row["bytes"] is None and row["of_copy"] is None for row in real["sparse"]["operators"])
    assert any("the bytes are not told" in note for note in real["sparse"]["notes"])


def test_a_recording_that_ends_early_has_the_steps_that_were_done(real):
    assert real["short"] == ["whole"] * 2 or len(real["short"]) == 2
    assert len(real["none"]) == 2 and all("ended before a step was recorded" in text for text in real["none"])
    notes, steps = real["cut"]
    assert steps == 3 and notes == ["3 of 9 steps were recorded: the loader gave no further batch, or the time ran out."]


def test_a_profiler_that_runs_keeps_its_recording(real):
    notes, kept = real["inside"]
    assert kept and len(notes) == 1 and "a profiler of torch runs already" in notes[0]


def test_calls_of_a_model_are_profiled(real, folder):
    ops, modules = real["call"]
    shaped = [row for row in ops["ops_by"] if row["name"] == "aten::mkldnn_convolution"]
    assert [row["calls"] for row in shaped] == [2] and "4, 3, 32, 32" in str(shaped[0])
    assert not any("backward" in row["name"] for row in ops["ops"])  # without gradients
    assert {row["path"].rpartition(".")[2] for row in modules} >= {"Conv2d_0", "ReLU_0", "Linear_0"}
    with vramscope.load(folder / "call.json") as trace:
        assert len(trace.report()["steps"]) == 2
