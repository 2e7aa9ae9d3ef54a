"""The whole method on real models on the CPU: diagnose(), and comprehensive_profiling() of the drop-in."""
import json
import math

import in_torch
import pytest
from conftest import validate

pytestmark = [pytest.mark.torch, pytest.mark.alone]


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    folder = in_torch.answered(tmp_path_factory, "real/measuring/models.py")
    return json.loads((folder / "answer").read_text())


MODELS = {"bert": ("BertForSequenceClassification", "BertLayer"), "gpt2": ("GPT2LMHeadModel", "GPT2Block"), "resnet": ("ResNet", "BasicBlock")}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_diagnosed(real, name):
    document, page = real[name]["document"], real[name]["page"]
    model, part = MODELS[name]
    validate(document)
    assert page.startswith(f"training {model} on cpu, 4 samples a batch, float32\n")
    assert max(map(len, page.splitlines())) <= 80 and "##" not in page
    assert document["bottleneck"]["kind"] == "host" and set(document["checklist"].values()) == {True}
    training = document["training"]
    parts = [training[phase + "_ns"] for phase in ("copy", "forward", "backward", "optimizer")]
    assert all(parts) and sum(parts) == pytest.approx(training["step_ns"], rel=0.5)
    assert any(part in row["path"] for row in document["trace"]["modules"])
    assert len(document["trace"]["steps"]) == 3


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_profiled_as_by_the_document(real, name):
    said, figures = real[name]["said"], dict(real[name]["figures"])
    assert [line for line in said.splitlines() if line.startswith("PHASE")] == [
        "PHASE 1: ESTABLISH BASELINE", "PHASE 2: IDENTIFY BOTTLENECK TYPE", "PHASE 3: NARROW TO COMPONENT", "PHASE 4: IDENTIFY OPERATION"]
    assert math.isnan(figures.pop("gpu_utilization")) and "GPU Utilization: unknown" in said
    assert all(0 < value < math.inf for value in figures.values())
    assert "Times are the host's: there is no device." in said and "aten::" in said
