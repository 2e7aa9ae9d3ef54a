"""docs/python.md: its blocks run, in their order, as one program that a reader types."""
import contextlib
import io
import re
import subprocess
import sys

from conftest import PACKAGE, ROOT, environment

GUIDE = ROOT / "docs" / "python.md"


def blocks(kind="python"):
    return re.findall(r"^```%s\n(.*?)^```$" % kind, GUIDE.read_text(), re.S | re.M)


def test_the_blocks_run_in_their_order(monkeypatch):
    monkeypatch.chdir(ROOT)
    reader, said = {"__name__": "__main__"}, []
    for block in blocks():
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            exec(compile(block, str(GUIDE), "exec"), reader)
        said.append(text.getvalue())
    expected = ("The program holds too much", "10.00 GiB", "", "20.00 MiB in each", "activation", "memory snapshot",
                "aten::",
                "expandable_segments:True in 24.00 GiB", "exact", "kind     cannot be told", "faster True", "epoch 1", "3.00 GiB", "Tried to allocate")
    assert len(said) == len(expected)
    for text, words in zip(said, expected):
        assert words in text, text
    reader.clear()  # what its functions refer to, and what other tests would find alive


def test_the_test_is_one_of_pytest(tmp_path):
    (block,) = blocks("python pytest")
    (tmp_path / "test_guide.py").write_text(block)
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-p", "vramscope.pytest_plugin", "-p", "no:cacheprovider", "--vram"],
                          cwd=tmp_path, capture_output=True, text=True, timeout=300,
                          env=environment(PYTHONPATH=PACKAGE, COLUMNS="120", PYTEST_ADDOPTS=""))
    assert done.returncode == 0 and re.search("5.00 GiB +5.00 GiB +0 B +test_guide.py::test_forward_fits", done.stdout), done.stdout


def test_every_block_is_of_a_kind_that_runs():
    kinds = set(re.findall(r"^```(.+)$", GUIDE.read_text(), re.M))
    assert kinds == {"python", "python pytest", "python torch", "ipython"}
