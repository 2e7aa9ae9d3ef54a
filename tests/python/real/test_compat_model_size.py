"""Real models: the drop-in model size profiler gives what the document's own program gives."""
import os

import in_torch
import pytest

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def said():
    shared = os.environ.get("VRAMSCOPE_TEST_SHARED")
    return in_torch.answer("real/compat_model_size.py", *([shared] if shared else []))


def test_figures_of_known_models(said):
    figures = {name: of["ours"][1] for name, of in said.items()}
    assert figures["leaf"]["total_params"] == 100_100
    # Vector V1 of the conformance list.
    assert figures["meta"]["param_memory_mb"] == (2_000_000_000 + 200_000) / 2**20
    assert figures["mixed"]["param_memory_mb"] == (2 * 2 * (64 * 64 + 64) + 2 * 64 * 4 + 64 * 64) / 2**20
    assert figures["mixed"]["buffer_memory_mb"] == (2 * 64 * 4 + 8) / 2**20
    assert figures["frozen"]["frozen_params"] == figures["frozen"]["trainable_params"] == 32 * 33
    assert figures["own"]["buffer_memory_mb"] == 32 * 32 / 2**20
    assert figures["quantised"]["total_params"] == 0
    assert figures["quantised_buffer"]["buffer_memory_mb"] == 64 * 64 / 2**20
    assert figures["sparse"]["total_params"] == 32 * 32
    assert said["lazy"]["ours"][0] == "ValueError"


def test_traps_are_kept(said):
    text = {name: of["ours"][0] for name, of in said.items()}
    assert text["tied"].count("64,000") == 4  # of the embedding and of the head, in both tables
    rows = {name: of.split("LARGEST MODULES")[1].splitlines()[4:-2] for name, of in text.items() if "LARGEST" in of}
    assert rows["leaf"] == []
    assert [row.split()[:2] for row in rows["attention"]] == [["out_proj", "4,160"]]  # of 16,640


@pytest.mark.usefixtures("shared")
def test_all_is_what_the_document_gives(said):
    for name, of in said.items():
        assert of["ours"] == of["theirs"], name
        assert list(of["ours"][1]) == list(of["theirs"][1]), name
