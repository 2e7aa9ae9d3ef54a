"""What notebooks are shown: self-contained, without a script, and every foreign name is text."""
import html.parser

import pytest
import vramscope
from vramscope import _core, leaks, sim
from vramscope.objects import model, tensor_table

NAMES = ("<script>alert(1)</script>", "\"'&<img src=x onerror=alert(1)>", "</pre><b>", "\x1b[2J\ud800\nx", "größe", "\0")
TENSOR = (0, "weight", "(2, 3)", "float32", "cpu", 0, True, 6, 24, 24, 1, 24, 0)


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.text = [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        assert not attributes

    def handle_data(self, data):
        self.text += data


def pages(name):
    """Of each object that is shown with a name in it: (the page, the text)."""
    tensor = (0, name, *TENSOR[2:])
    size = model.ModelSize(_core.model_size([("", name)], [tensor], None, 0))
    table = tensor_table.TensorTable(_core.tensors([tensor], []))
    census = (1, 0, []), (7, 0, [(0, name, name, name, name, *TENSOR[5:])])
    grown = leaks.Leaks(_core._growth(list(range(6)), 1, 1, 6, 1, None, None, *census))
    with sim.Device() as device, vramscope.Profiler() as profiler:
        with profiler.scope(name) as scope:
            device.alloc("1MiB")
        kept = profiler.summary()
    yield size._repr_html_(), size.text(width=120)
    yield table._repr_html_(), table.text(width=120)
    yield grown._repr_html_(), grown.text(width=120)
    yield kept._repr_html_(), kept.text(width=120)
    yield scope.result._repr_html_(), None


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_names_are_text(name):
    for page, text in pages(name):
        tags = Tags(page)
        assert tags.seen == ["pre"] and "\x1b" not in page and "\0" not in page
        assert text is None or tags.text == text
        page.encode()
    assert NAMES[0] in Tags(next(pages(NAMES[0]))[0]).text


def test_a_scope_says_what_it_measured():
    class Odd(Exception):
        pass
    Odd.__name__ = "<i>"
    with sim.Device() as device, vramscope.Profiler() as profiler:
        scope = profiler.scope("step")
        with pytest.raises(Odd), scope:
            kept = device.alloc("3MiB")
            device.alloc("5MiB")
            raise Odd
        del kept
    text = Tags(scope.result._repr_html_()).text
    lines = {line.split()[0]: line.split(None, 1)[1] for line in text.splitlines()[1:]}
    assert text.startswith("step\n") and lines["start"] == "0 B" and lines["raised"] == "<i>"
    assert lines["peak"].split() == ["8.00", "MiB", "8.00", "MiB", "above", "the", "start"]
    assert lines["end"] == "3.00 MiB  changed by 3.00 MiB" and lines["state"] == "exact"


def test_sizes_are_told_as_in_other_texts():
    assert [_core._size_text(n) for n in (None, 0, 1023, -1024, 3 << 30)] == ["-", "0 B", "1023 B", "-1.00 KiB", "3.00 GiB"]
    with pytest.raises(TypeError):
        _core._size_text("1")
    with pytest.raises(OverflowError):
        _core._size_text(1 << 64)
