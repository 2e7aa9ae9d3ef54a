"""Files that Python writes: whole, private, where a link leads, and into what is no regular file."""
import os
import threading

import pytest
import vramscope
from vramscope import Profiler, sim
from vramscope.files import write_whole


def profile(path):
    with Profiler() as p:
        p.checkpoint("x")
        p.save(path)


def drawn(path):
    write_whole(path, lambda file: file.write(b"drawn"))


@pytest.fixture
def device():
    with sim.Device("1GiB") as made:
        kept = made.alloc("20MiB")
        yield made
        assert kept.live


WRITERS = {"history_dump": lambda path: sim.active().history_dump(path), "names": lambda path: vramscope.names(path),
           "save": profile, "content": drawn,
           "record": lambda path: vramscope.record(path).__enter__().__exit__(None, None, None)}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_link_stays_and_its_target_is_written(device, write, tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write(link)
    assert link.is_symlink() and target.stat().st_size > 3 and sorted(os.listdir(tmp_path)) == ["link", "target"]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_pipe_stays_a_pipe(device, write, tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)

    def read():
        with open(pipe, "rb") as file:
            got.append(file.read())
    reader = threading.Thread(target=read)
    reader.start()
    write(pipe)
    reader.join()
    assert pipe.is_fifo() and got[0] and os.listdir(tmp_path) == ["pipe"]


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_whole(tmp_path / "x", lambda file: 1 / 0)
    with pytest.raises(OSError):
        write_whole(tmp_path / "missing" / "x", "text")
    assert os.listdir(tmp_path) == []
    write_whole(tmp_path / "x", "\ud800")
    assert (tmp_path / "x").read_bytes() == b"\\ud800" and (tmp_path / "x").stat().st_mode & 0o777 == 0o600
