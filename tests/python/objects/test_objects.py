"""Sizes, tables and watches in a program that has no torch: what is refused, and what help() shows."""
import doctest
import gc
import sys
import types

import pytest
import vramscope
from conftest import validate
from vramscope import _core
from vramscope.objects import cycles, model, tensor_table

CALLS = (model.model_size, model.summary, tensor_table.tensors, cycles.watch_cycles)
TENSOR = (0, "weight", "(2, 3)", "float32", "cpu", 0, True, 6, 24, 24, 1, 24, 0)


@pytest.mark.parametrize("call", CALLS, ids=lambda c: c.__name__)
def test_examples_of_docstrings_run(call):
    names = {"vramscope": types.SimpleNamespace(**{c.__name__: c for c in CALLS})}
    test = doctest.DocTestParser().get_doctest(call.__doc__, names, call.__name__, None, 0)
    said = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.attempted and not result.failed, "".join(said)


def test_without_torch_there_is_no_tensor():
    assert "torch" not in sys.modules
    table = tensor_table.tensors(device="cuda:0")
    validate(table.to_dict())
    assert table.rows == table.devices == [] and str(table) == "no tensor that Python can reach\n"
    assert "torch" not in sys.modules


def test_what_is_no_model_is_refused():
    for call in (model.model_size, model.summary):
        with pytest.raises(TypeError, match="takes a module of torch, not int"):
            call(1)
    one = types.SimpleNamespace(named_modules=lambda: [])
    with pytest.raises(ValueError, match="at least 0"):
        model.model_size(one, depth=-1)


def test_lists_that_are_no_lists_of_rows_are_refused():
    whole = _core.model_size([("", "M")], [TENSOR], None, 0)
    assert whole["total"]["parameters"] == 6
    for arguments in (([("", "M")], [TENSOR[:-1]], None, 0), ([("", 1)], [], None, 0), ([("",)], [], None, 0),
                      (None, [], None, 0), ([], "text", None, 0), ([("", "M")], [], [(0, 0)], 0),
                      ([("", "M")], [[*TENSOR]], None, 0), ([("", "M")], [(0, *TENSOR[1:10], "key", 1, 0)], None, 0)):
        with pytest.raises((TypeError, SystemError)):
            _core.model_size(*arguments)
    with pytest.raises(OverflowError):
        _core.model_size([("", "M")], [(*TENSOR[:7], -1, *TENSOR[8:])], None, 0)
    for call in (lambda: _core.model_size([], [TENSOR], None, 0),
                 lambda: _core.model_size([("", "M")], [], [(1, 0, 4)], 0),
                 lambda: _core.tensors([(*TENSOR[:5], 7, *TENSOR[6:])], []),
                 lambda: _core.cycles([("A", 0, None)], [(0, 1)], 1, False)):
        with pytest.raises(vramscope.Error) as raised:
            call()
        assert raised.value.status == "usage"
    with pytest.raises(vramscope.Error, match="not joined"):
        vramscope.merge([whole, _core.model_size([], [], None, 0)])


def test_any_name_is_a_name():
    for name in ("<script>", "a\nb", "\ud800", "größe", "\x1b[2J"):
        size = model.ModelSize(_core.model_size([("", name)], [(0, name, *TENSOR[2:])], None, 0))
        validate(size.to_dict())
        assert "\x1b" not in size.text() + size._repr_html_() and "<script>" not in size._repr_html_()
        assert size.text(ascii=True).isascii()


def test_allocated_bytes_are_told_where_they_are_known():
    table = _core.tensors([TENSOR], [("cpu", 1024, 100), ("cuda:1", None, None)])
    validate(table.to_dict())
    cpu, cuda = table["devices"]
    assert (cpu["bytes"], cpu["invisible_bytes"], cpu["rounding_bytes"], cpu["allocated_bytes"]) == (24, 76, 924, 1024)
    assert cuda["allocated_bytes"] is cuda["invisible_bytes"] is None
    assert "bytes,count,kind,name,shape,dtype,device,shared_by" in table.csv()


def test_a_watch_without_torch_finds_nothing_and_frees_all():
    class Lost:
        alive = 0

        def __init__(self):
            self.itself = self
            Lost.alive += 1

        def __del__(self):
            Lost.alive -= 1

    for least in (-1, 1 << 64):
        with pytest.raises(ValueError, match="no number of bytes"):
            cycles.watch_cycles(min_bytes=least)
    assert not any("vramscope" in str(c) for c in gc.callbacks)
    told = []
    with cycles.watch_cycles(told.append, device="cpu") as watch:
        for _ in range(10):
            Lost()
        gc.collect()
        watch.flush()
        assert gc.get_debug() == 0 and not [g for g in gc.garbage if isinstance(g, Lost)]
    assert Lost.alive == 0 and told == [] and not any(watch.losses.values())
    watch.cancel()
