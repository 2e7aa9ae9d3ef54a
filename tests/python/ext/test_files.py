"""Files, recordings and columns: what is opened, how it is read, and how long its memory stays."""
import array
import doctest
import gc
import gzip
import io
import os
import shutil
import subprocess
import sys
import threading

import pytest
import vramscope
from conftest import PACKAGE, ROOT, run

OOM = ROOT / "examples" / "oom.pickle"


def test_a_path_bytes_or_a_stream(tmp_path):
    want = vramscope.load(OOM).peak().to_dict()["devices"]
    data = OOM.read_bytes()
    odd = tmp_path / os.fsdecode(b"name \xff.pickle")
    shutil.copy(OOM, odd)
    for source in (str(OOM), OOM, data, bytearray(data), memoryview(data), io.BytesIO(data),
                   open(OOM, "rb"), gzip.compress(data), odd):
        with vramscope.load(source) as recording:
            assert recording.peak().to_dict()["devices"] == want
    assert vramscope.open(odd).path == str(odd) and vramscope.open(data).path is None


def test_a_stream_may_give_little_and_misbehave():
    data = OOM.read_bytes()

    class Stream:
        def __init__(self, give):
            self.at, self.give = 0, give

        def read(self, size):
            part = data[self.at:self.at + self.give(size)]
            self.at += len(part)
            return part

    assert vramscope.load(Stream(lambda n: min(n, 1 + n % 977))).oom().verdict is True
    with pytest.raises(ValueError, match="more than it was asked for"):
        vramscope.load(Stream(lambda n: n + 1))
    with pytest.raises(ZeroDivisionError):
        vramscope.load(Stream(lambda n: n // 0))
    with pytest.raises(TypeError):
        vramscope.load(1)
    with pytest.raises(vramscope.Error):
        vramscope.load(b"no snapshot")
    text = io.StringIO("text")
    with pytest.raises(TypeError):
        vramscope.load(text)


def test_failures_say_what_and_where(tmp_path):
    missing = tmp_path / "no such file"
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(missing)
    assert (raised.value.status, raised.value.path, raised.value.offset) == ("io", str(missing), None)
    assert run("report", missing).err.startswith(f"vramscope: {raised.value}\n")
    text = tmp_path / "text.pickle"
    text.write_text("nothing")
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(text)
    done = run("report", text)
    assert raised.value.status == "unsupported" and done.err.startswith(f"vramscope: {raised.value}\n")
    cut = tmp_path / "cut.pickle"
    cut.write_bytes(OOM.read_bytes()[:500])
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(cut)
    assert raised.value.offset is not None
    assert run("report", cut).err.startswith(f"vramscope: {raised.value}\n") and str(cut) in str(raised.value)
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(OOM, limits={"items": 10})
    assert raised.value.status == "limit"
    for limits in ({"rows": 1}, {"items": 0}, {"items": "many"}):
        with pytest.raises(vramscope.Error) as raised:
            vramscope.load(OOM, limits=limits)
        assert raised.value.status == "usage"
    with pytest.raises(vramscope.Error, match="replay"):
        vramscope.load(OOM, replay="sometimes")
    with pytest.raises(ValueError):
        vramscope.load(OOM, threads=65)


def test_strings_are_of_the_file():
    recording = vramscope.load(OOM)
    texts = [recording.string(i) for i in range(len(recording["strings.offset"]))]
    assert "forward" in texts and all(isinstance(t, str) for t in texts)
    for i in (len(texts), 1 << 33):
        with pytest.raises(IndexError):
            recording.string(i)


def test_misuse_of_a_column():
    column = vramscope.load(OOM)["events.size"]
    for index in (len(column), -len(column) - 1, 1 << 70):
        with pytest.raises(IndexError):
            column[index]
    with pytest.raises(TypeError):
        column["x"]
    with pytest.raises(TypeError):
        column[0] = 1
    with pytest.raises((BufferError, TypeError)):
        io.BytesIO(b"x" * 100).readinto(column)
    for made in (vramscope.Column, vramscope.File, vramscope.Recording, vramscope.Result):
        with pytest.raises(TypeError):
            made()
    with pytest.raises(KeyError):
        vramscope.load(OOM)["events.nothing"]
    with pytest.raises(KeyError):
        vramscope.load(OOM).table("nothing")


def test_views_outlive_the_file():
    """Nothing frees what a view shows: not close, not the collector, not the end of the objects."""
    file = vramscope.open(OOM)
    column = file[0]["events.size"]
    view, want = memoryview(column), list(column)
    assert file.views == 1
    recording = file[0]
    file.close()
    file.close()
    for call in (lambda: recording.peak(), lambda: recording["events.size"], lambda: recording.string(0),
                 lambda: len(file), lambda: file[0], lambda: file.names, lambda: file.views):
        with pytest.raises(ValueError, match="closed"):
            call()
    del file, recording, column
    gc.collect()
    assert view.tolist() == want
    with vramscope.load(OOM) as recording, pytest.raises(ZeroDivisionError):
        with recording.file:
            1 // 0
    with pytest.raises(ValueError):
        recording.steps()


def test_pages_have_several(tmp_path):
    page = tmp_path / "two.html"
    a, b = ROOT / "examples" / "oom.pickle", ROOT / "examples" / "train.pickle"
    run("view", a, b, "-o", page, expect=0)
    assert vramscope.is_own(page) and not vramscope.is_own(a)
    answer = tmp_path / "answer.json"
    for text, own in ((run("peak", "--json", a).out, True), ('{"schema":"vramscope.run/1"}', True), ("", False),
                      ('{"segments": [], "schema": "vramscope.run/1"}', False), ('{"schema": "v"}', False)):
        answer.write_text(text)
        assert vramscope.is_own(answer) == own
    with pytest.raises(vramscope.Error):
        vramscope.load(page)


def test_progress_is_told_and_may_raise():
    told = []
    vramscope.load(OOM, progress=lambda done, total: told.append((done, total)))
    assert all(done <= total for done, total in told)
    data = OOM.read_bytes()

    class Slow(io.BytesIO):
        """Long enough for a progress to be due."""

        def readinto(self, buffer):
            threading.Event().wait(0.06)
            return super().readinto(memoryview(buffer)[:20000])

    with pytest.raises(LookupError, match="mine"):
        def stop(done, total):
            raise LookupError("mine")
        vramscope.load(Slow(data), progress=stop)
    seen = []
    assert vramscope.load(Slow(data), progress=lambda d, t: seen.append(d)).oom().verdict and seen == sorted(seen)


def test_an_interrupt_ends_a_load():
    """A stream that never ends is left by KeyboardInterrupt, which is no Error."""
    code = """if True:
        import signal, sys, threading
        sys.path.insert(0, sys.argv[1])
        import vramscope
        class Endless:
            begun = False
            def read(self, size):
                if not self.begun:
                    self.begun = True
                    threading.Timer(0.3, signal.raise_signal, [signal.SIGINT]).start()
                    return b"\\x80\\x02"
                return b"N0" * (size // 2) or b"N"
        try:
            vramscope.load(Endless())
        except KeyboardInterrupt:
            print("interrupted")
        """
    done = subprocess.run([sys.executable, "-c", code, PACKAGE], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", (done.stdout, done.stderr)


def test_sizes_and_versions():
    assert vramscope.size("1.5 GiB") == 3 << 29 and vramscope.size("4096") == 4096
    with pytest.raises(vramscope.Error):
        vramscope.size("much")
    with pytest.raises(TypeError):
        vramscope.size(1)
    assert run("--version", expect=0).out.split()[-1] == vramscope.__version__ == vramscope.version()
    assert "rule" in vramscope.category_rules() or vramscope.category_rules()


def test_the_example_of_the_package_runs(monkeypatch):
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(vramscope.__doc__, {}, "vramscope", None, 0)
    done = doctest.DocTestRunner().run(test)
    assert done.attempted > 1 and done.failed == 0


@pytest.mark.parametrize("ask, told", (
    (lambda: vramscope.load(OOM).peak(by="x"), "these are known: culprit, owner, site,"),
    (lambda: vramscope.load(OOM).export("x"), "these are known: csv, json,"),
    (lambda: vramscope.load(OOM, entry="x"), "this file has one recording, leave entry out"),
))
def test_a_word_that_is_not_known_is_answered_with_those_that_are(ask, told):
    with pytest.raises(vramscope.Error, match=told) as raised:
        ask()
    assert "vrs_" not in str(raised.value)
