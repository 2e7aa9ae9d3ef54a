"""Operators of a model, by vramscope.compat.methodology: words, thresholds, releases, failures; rows D10, D12, D13, D25, D26."""
import re

import pytest
from method_program import MS
from stand_in import tensors
from test_methodology import said, without_a_device  # noqa: F401  fixtures
from vramscope.compat.methodology import _operators, profiled

CALLS = {
    "profile_training_step": "profile_training_step(model, dataloader)",
    "profile_model_modules": "profile_model_modules(model, batch)",
    "profile_operations_detailed": "profile_operations_detailed(model, batch)",
    "diagnose_gpu_bottleneck": "diagnose_gpu_bottleneck(model, on_device)",
    "diagnose_memory_bottleneck": "diagnose_memory_bottleneck(model, on_device)",
}


@pytest.mark.parametrize("name, kind", [
    ("aten::conv2d", "Conv"), ("aten::convolution", "Conv"), ("aten::_convolution", "Conv"),
    ("aten::cudnn_convolution", "Conv"), ("ConvolutionBackward0", "Conv"), ("aten::conv_transpose1d", "Conv"),
    ("implicit_convolve_sgemm", "Conv"), ("cudnn::cnn::conv2d_grouped_direct_kernel", "Conv"), ("Conv2d", "Conv"),
    ("aten::mm", "Matrix"), ("aten::addmm", "Matrix"), ("aten::bmm", "Matrix"), ("aten::baddbmm", "Matrix"),
    ("aten::_scaled_mm", "Matrix"), ("AddmmBackward0", "Matrix"), ("MmBackward0", "Matrix"), ("aten::matmul", "Matrix"),
    ("ampere_sgemm_128x64_tn", "Matrix"), ("sm90_xmma_gemm_f32f32_tf32", "Matrix"), ("void gemmSN_TN_kernel<float>", "Matrix"),
    ("aten::copy_", "Memory"), ("aten::_to_copy", "Memory"), ("direct_copy_kernel_cuda", "Memory"), ("CopySlices", "Memory"),
    ("ncclDevKernel_AllReduce_comm", None), ("c10d::comm_hook", None), ("aten::common", None), ("record_communication", None),
    ("aten::convert_element_type", None), ("aten::copysign", None), ("aten::add", None), ("", None), ("aten::summand", None)])
def test_kinds_are_known_by_words(name, kind):
    found = profiled._kind_of(name)
    assert found is None if kind is None else found[0].startswith(kind)


@pytest.mark.parametrize("us, size, told", [
    (10_001, 1_000_000_001, True), (10_000, 1_000_000_001, False), (9_999, 1_000_000_001, False),
    (10_001, 1_000_000_000, False), (10_001, 999_999_999, False), (0, 5 * 10**9, False), (20_000, -5 * 10**9, False)])
def test_what_is_told_of_memory(said, us, size, told):  # noqa: F811
    text, found = said(CALLS["diagnose_memory_bottleneck"], script=[("aten::a", us, size), ("aten::b", 10, 10)])
    assert text.count(" GB/s\n") == told and "likely memory-bound" in text and found is None


@pytest.mark.parametrize("name", CALLS)
def test_figures_have_the_names_of_any_release(said, name):  # noqa: F811
    """cuda_time_total, and device_time_total since 2.4."""
    script = [("aten::a", 11_000, 10**10), ("aten::b", 12_000, 5)]
    old, new = (said(CALLS[name], form=form, script=script) for form in ("2.1", "2.15"))
    assert old[0] == new[0] and "aten::a" in old[0]
    if name != "diagnose_memory_bottleneck":  # which tells them as they come, and the first alone
        assert old[0].index("aten::b") < old[0].index("aten::a")
    if name == "diagnose_gpu_bottleneck":
        assert old[1] == new[1] == [("aten::b", 12_000), ("aten::a", 11_000)]


@pytest.mark.parametrize("name", CALLS)
def test_where_nothing_ran_on_a_device_the_host_is_told(said, name):  # noqa: F811
    text = said(CALLS[name], script=[("aten::a", 0, 0)])[0]
    tables = {"profile_training_step": 1, "profile_model_modules": 1, "profile_operations_detailed": 3}.get(name, 0)
    assert text.count("| by ") == len(re.findall(r"\| by (?:self_)?cpu_", text)) == tables
    assert (_operators.BY_HOST in text) == bool(tables)
    assert ("Nothing ran on a device.\n" in text) == (name == "diagnose_gpu_bottleneck")


@pytest.mark.parametrize("steps", (0, 1, 3, 7, 8, 12))
def test_too_few_steps_are_told(said, steps):  # noqa: F811
    text, prof = said("profile_training_step(model, dataloader, 20)", batches=steps)
    assert prof.step_num == steps
    assert ("%d steps ran, and 8 are needed" % steps in text) == (steps < 8)
    assert ("Trace exported" in text) == ("| by " in text) == (steps >= 3)


def test_the_schedule_and_the_files(said, tmp_path):  # noqa: F811
    prof = said(CALLS["profile_training_step"])[1]
    assert (prof.schedule.first, prof.schedule.end, prof.step_num) == (3, 8, 10)
    assert prof.shapes and prof.memory and prof.stacks and prof.activities == ["CPU", "CUDA"]
    assert len([*(tmp_path / "profiler_logs").iterdir()]) == 1
    prof = said(CALLS["profile_operations_detailed"])[1]
    assert prof.shapes and prof.memory and prof.stacks and (tmp_path / "detailed_trace.json").exists()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("training", (True, False))
def test_a_failing_model_leaves_nothing_behind(said, name, training):  # noqa: F811
    """No hook, no open range, no profile that goes on, and the mode that it had; as one that does not fail."""
    kept = {}

    def prepare(scope):
        scope["model"].train(training)
        scope["model"].inside.training = not training  # a part that is in another mode
        kept.update(model=scope["model"], profiler=scope["torch"].profiler)

    def fail(scope):
        prepare(scope)
        scope["model"].inside.forward = lambda data: 1 / 0
    said(CALLS[name], prepare)
    assert (kept["model"].training, kept["model"].inside.training) == (training, not training)
    with pytest.raises(ZeroDivisionError):
        said(CALLS[name], fail)
    assert (kept["model"].training, kept["model"].inside.training) == (training, not training)
    assert not kept["profiler"].profile.active and len(kept["profiler"].profiles) == 1
    assert not getattr(kept["model"].inside, "hooks", [])


def test_a_model_is_watched_in_the_mode_of_evaluation(said):  # noqa: F811
    for name in ("profile_model_modules", "profile_operations_detailed"):
        modes = []
        said(CALLS[name], lambda scope: scope["model"].inside.register_forward_hook(
            lambda module, given, output: modes.append(module.training)))
        assert modes == [False]


class Leaf(tensors.Module):
    def __init__(self, device, ms, fails=False):
        super().__init__()
        self.device, self.ms, self.fails = device, ms, fails

    def forward(self, data):
        self.device.advance(int(self.ms * MS))
        if self.fails:
            raise ValueError("of a leaf")
        return data


class Tree(tensors.Module):
    """Calls its leaves, the first twice, and goes on where one fails."""
    def __init__(self, *leaves):
        super().__init__()
        for number, leaf in enumerate(leaves):
            setattr(self, "leaf%d" % number, leaf)

    def forward(self, data):
        for leaf in [self.leaf0, *self.children()]:
            try:
                leaf(data)
            except ValueError:
                pass


def of_modules(said, *leaves):  # noqa: F811
    """The lines on modules, of a model whose leaves take so long."""
    def prepare(scope):
        device = scope["model"].device
        scope["model"] = Tree(*(leaf if callable(leaf) else Leaf(device, leaf) for leaf in
                                (leaf(device) if callable(leaf) else leaf for leaf in leaves)))
    return said(CALLS["profile_model_modules"], prepare)[0].partition("Time by module:\n")[2].splitlines()


def test_modules_are_timed(said):  # noqa: F811
    assert of_modules(said, 2, 5, 1) == [
        "  leaf1                                        5.00 ms ( 50.0%), 1 call",
        "  leaf0                                        4.00 ms ( 40.0%), 2 calls",
        "  leaf2                                        1.00 ms ( 10.0%), 1 call"]
    lines = of_modules(said, *range(1, 23))
    assert len(lines) == 21 and lines[-1] == "  and 2 more" and lines[0].startswith("  leaf21 ")


def test_a_leaf_that_fails_is_none_of_the_next(said):  # noqa: F811
    lines = of_modules(said, 2, lambda device: Leaf(device, 30, fails=True), 1)
    assert [(line.split()[0], line.split()[1]) for line in lines] == [("leaf0", "4.00"), ("leaf2", "1.00")]


def test_a_model_that_is_a_leaf_has_the_name_of_its_class(said):  # noqa: F811
    text = said(CALLS["profile_model_modules"], lambda scope: scope.update(model=Leaf(scope["model"].device, 3)))[0]
    assert re.search(r"^  Leaf +3\.00 ms \(100\.0%\), 1 call$", text, re.M)


def test_without_torch_it_is_said(without_a_device, monkeypatch):  # noqa: F811
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    for name, call in CALLS.items():
        text, found = without_a_device(call.replace("on_device", "batch"))
        assert text == _operators.NO_PROFILER + "\n", name
        assert found == ([] if name == "diagnose_gpu_bottleneck" else None)


def test_names_are_the_callers(said):  # noqa: F811
    for name, missing in (("profile_training_step", "optimizer"), ("diagnose_gpu_bottleneck", "target")):
        with pytest.raises(NameError, match="^name '%s' is not defined$" % missing):
            said(CALLS[name], lambda scope: scope.pop(missing))


@pytest.mark.parametrize("name, activities, shapes, memory", [
    ("profile_model_modules", ["CPU", "CUDA"], True, False), ("diagnose_gpu_bottleneck", ["CUDA"], False, False),
    ("diagnose_memory_bottleneck", ["CPU", "CUDA"], False, True)])
def test_what_is_recorded(said, name, activities, shapes, memory):  # noqa: F811
    """Shapes and memory are known of operators of the host alone; kernels are told without them."""
    kept = []
    said(CALLS[name], lambda scope: kept.append(scope["torch"].profiler))
    (prof,) = kept[0].profiles
    assert (prof.activities, prof.shapes, prof.memory) == (activities, shapes, memory)
