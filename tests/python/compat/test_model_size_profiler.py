"""vramscope.compat.model_size_profiler: rows A17 to A23, by golden texts, one for each branch.

The models are of the stand-in for torch; tests of the document's own code and of real models are
in test_documents.py and in tests/python/real.
"""
import contextlib
import inspect
import io
from pathlib import Path

import pytest
from stand_in import installed, tensors

from vramscope.compat import model_size_profiler as compat

GOLDEN = Path(__file__).parent / "golden/model_size"


class Attention(tensors.Module):
    """Its own parameter beside children, and a buffer."""

    def __init__(self, width):
        super().__init__()
        self.scale = tensors.Parameter((width,))
        self.inside = tensors.Linear(width, 3 * width)
        self.outside = tensors.Linear(width, width, bias=False)
        self.register_buffer("mask", tensors.Tensor((512, 512), tensors.INT8))


class Embedding(tensors.Module):
    def __init__(self, rows, width):
        super().__init__()
        self.weight = tensors.Parameter((rows, width))


class Language(tensors.Module):
    """Tied embeddings, half precision beside bytes, a frozen half, what the root owns itself."""

    def __init__(self):
        super().__init__()
        self.embed = Embedding(10_000, 256)
        self.attention = Attention(256)
        self.narrow = tensors.Linear(256, 1024, dtype=tensors.FLOAT16)
        self.bytes = tensors.Linear(1024, 256, dtype=tensors.INT8)
        self.head = tensors.Linear(256, 10_000, bias=False)
        self.head.weight = self.embed.weight
        self.temperature = tensors.Parameter((1,))
        for parameter in self.bytes.parameters():
            parameter.requires_grad = False


class Named(tensors.Module):
    """Names that a terminal of ASCII does not know, and one that is longer than its column."""

    def __init__(self):
        super().__init__()
        setattr(self, "größe", tensors.Linear(64, 64))
        setattr(self, "a_module_whose_name_is_longer_than_any_column_has_room_for", tensors.Linear(8, 8))


class Many(tensors.Module):
    """Twenty leaves, those of one size in the order of the model."""

    def __init__(self):
        super().__init__()
        for i in range(20):
            setattr(self, "layer%d" % i, tensors.Linear(64 * (1 + i % 7), 100))


def empty():
    return tensors.Module()


# Golden text: what is called, on which model.
TEXTS = {
    "summary": (Language, lambda m: compat.ModelSizeProfiler().print_model_summary(m)),
    "summary_detailed": (Language, lambda m: compat.ModelSizeProfiler().print_model_summary(m, detailed=True)),
    "summary_of_a_leaf": (lambda: tensors.Linear(1000, 1000),
                          lambda m: compat.ModelSizeProfiler().print_model_summary(m, True)),
    "summary_of_nothing": (empty, lambda m: compat.ModelSizeProfiler().print_model_summary(m, True)),
    "breakdown": (Language, lambda m: compat.ModelSizeProfiler().print_detailed_breakdown(m)),
    "breakdown_of_a_leaf": (lambda: tensors.Linear(1000, 1000),
                            lambda m: compat.ModelSizeProfiler().print_detailed_breakdown(m)),
    "breakdown_of_three": (Many, lambda m: compat.ModelSizeProfiler().print_detailed_breakdown(m, top_n=3)),
    "breakdown_of_ten": (Many, lambda m: compat.ModelSizeProfiler().print_detailed_breakdown(m)),
    "profile": (Many, lambda m: compat.profile_model_size(m)),
    "profile_not_detailed": (Many, lambda m: compat.profile_model_size(m, detailed=False)),
    "names": (Named, lambda m: compat.profile_model_size(m)),
}


def printed(call, encoding):
    """The bytes that reach a stdout of an encoding."""
    raw = io.BytesIO()
    stdout = io.TextIOWrapper(raw, encoding=encoding)
    with contextlib.redirect_stdout(stdout):
        call()
    stdout.flush()
    return raw.getvalue()


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ("utf-8", "ascii"))
def test_texts_are_those_of_the_rows(name, encoding):
    make, call = TEXTS[name]
    with installed():
        have = printed(lambda: call(make()), encoding)
    ascii_too = GOLDEN / (name + ".ascii.txt")
    golden = ascii_too if encoding == "ascii" and ascii_too.exists() else GOLDEN / (name + ".txt")
    assert have == golden.read_bytes()


def test_every_golden_text_is_asked_for():
    assert {path.name.split(".")[0] for path in GOLDEN.iterdir()} == set(TEXTS)


def test_a_module_has_these_figures_in_this_order():
    with installed():
        profiler = compat.ModelSizeProfiler()
        assert profiler.module_stats == {}
        found = profiler.profile_module(Language())
    assert list(found.items()) == [
        ("name", "Model"),
        ("total_params", 10_000 * 256 + 256 * 768 + 768 + 256 * 256 + 256 + 256 * 1024 + 1024 + 1024 * 256 + 256 + 1),
        ("trainable_params", 10_000 * 256 + 256 * 768 + 768 + 256 * 256 + 256 + 256 * 1024 + 1024 + 1),
        ("frozen_params", 1024 * 256 + 256),
        ("param_memory_mb", (4 * (10_000 * 256 + 256 * 768 + 768 + 256 * 256 + 256 + 1) + 2 * (256 * 1024 + 1024)
                             + 1024 * 256 + 256) / 2**20),
        ("buffer_memory_mb", 0.25),
        ("total_memory_mb", found["param_memory_mb"] + 0.25),
        ("submodules", {}),
    ]
    assert profiler.module_stats == {"Model": found}


def test_the_last_figures_are_kept_by_name():
    with installed():
        profiler = compat.profile_model_size(Many())
        assert list(profiler.module_stats) == ["Overall Model", *("layer%d" % i for i in range(20))]
        again = profiler.profile_module(tensors.Linear(2, 2), "layer0")
    assert profiler.module_stats["layer0"] is again and again["total_params"] == 6


def test_signatures():
    def defaults(call):
        return [(p.name, p.default) for p in inspect.signature(call).parameters.values()]
    none = inspect.Parameter.empty
    assert defaults(compat.ModelSizeProfiler) == []
    assert defaults(compat.ModelSizeProfiler().profile_module) == [("module", none), ("name", "Model")]
    assert defaults(compat.ModelSizeProfiler().print_model_summary) == [("model", none), ("detailed", False)]
    assert defaults(compat.ModelSizeProfiler().print_detailed_breakdown) == [("model", none), ("top_n", 10)]
    assert defaults(compat.profile_model_size) == [("model", none), ("detailed", True)]
