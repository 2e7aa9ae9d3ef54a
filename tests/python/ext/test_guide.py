"""docs/python.md: its blocks run, in their order, as one program that a reader types."""
import contextlib
import io
import re

from conftest import ROOT

GUIDE = ROOT / "docs" / "python.md"


def blocks():
    return re.findall(r"^```python\n(.*?)^```$", GUIDE.read_text(), re.S | re.M)


def test_the_blocks_run_in_their_order(monkeypatch):
    monkeypatch.chdir(ROOT)
    reader, said = {"__name__": "__main__"}, []
    for block in blocks():
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            exec(compile(block, str(GUIDE), "exec"), reader)
        said.append(text.getvalue())
    expected = ("The program holds too much", "10.00 GiB", "", "activation", "memory snapshot",
                "expandable_segments:True in 24.00 GiB", "exact", "epoch 1", "3.00 GiB",
                "Tried to allocate")
    assert len(said) == len(expected)
    for text, words in zip(said, expected):
        assert words in text, text
