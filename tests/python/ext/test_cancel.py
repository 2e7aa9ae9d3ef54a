"""What ends a load: Ctrl-C at any moment, a progress that raises, a file object that raises, lies or closes itself."""
import io
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment, program

MAKER = Path(program()).parents[1] / "tests" / "bench" / "make_snapshot"
DATA = (ROOT / "examples" / "oom.pickle").read_bytes()

# SIGINT at a moment between the start of a load and its end; prints the milliseconds to KeyboardInterrupt.
SCRIPT = """
import gc, os, random, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import vramscope
path, count, threads = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
start = time.monotonic()
vramscope.load(path, replay="never", threads=threads).close()
whole = time.monotonic() - start
random.seed(7)
fds, late = len(os.listdir("/proc/self/fd")), 0


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)


for i in range(count):
    sent = []
    timer = threading.Timer(random.uniform(0.02, 0.7) * whole, interrupt)
    try:
        timer.start()
        vramscope.load(path, replay="never", threads=threads)
        timer.join()
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt as error:
        ended = time.monotonic()
        assert error.__context__ is None
    timer.join()
    print("%.1f" % ((ended - sent[0]) * 1000))
    gc.collect()
    if i == count // 4:
        base = resident()
assert len(os.listdir("/proc/self/fd")) == fds
assert threading.active_count() == 1 and len(os.listdir("/proc/self/task")) == 1
print("grown", (resident() - base) >> 20)
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "large.pickle"
    subprocess.run([MAKER, "--bytes", "100000000", path], check=True, stdout=subprocess.DEVNULL, timeout=300)
    return path


def interrupted(path, count, threads):
    done = subprocess.run([sys.executable, "-c", SCRIPT, PACKAGE, path, str(count), str(threads)], capture_output=True,
                          text=True, timeout=3000, env=environment(
                              ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"))
    assert done.returncode == 0, done.stderr[-3000:]
    *times, grown = done.stdout.splitlines()
    took = sorted(float(t) for t in times)
    assert len(took) == count
    # On a machine that does other things, one in many waits for a processor.
    assert took[len(took) // 2] <= 100 and took[-1] <= 1000, took[-5:]
    assert int(grown.split()[1]) <= 64, grown


def test_an_interrupt_ends_a_load_at_any_moment(large):
    interrupted(large, 10, 0)


@pytest.mark.long
@pytest.mark.parametrize("threads", (0, 1))
def test_two_hundred_interrupts_end_loads(large, threads):
    interrupted(large, 200, threads)


def test_progress_that_raises_ends_the_load(large):
    calls = []

    def stop(done, total):
        calls.append((done, total))
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as raised:
        vramscope.load(large, progress=stop)
    assert len(calls) == 1 and 0 < calls[0][0] <= calls[0][1] == os.path.getsize(large)
    assert raised.value.__cause__ is None and raised.value.__context__ is None
    told = []
    vramscope.load(large, replay="never", progress=lambda done, total: told.append(done))
    assert told == sorted(told) and len(told) > 1


def test_progress_is_a_line_on_a_terminal(tmp_path):
    """Slow enough for the line, which comes after a second."""
    path = tmp_path / "slow.pickle"
    subprocess.run([MAKER, "--bytes", "4000000", path], check=True, stdout=subprocess.DEVNULL, timeout=300)
    code = """if True:
        import sys, time
        sys.path.insert(0, sys.argv[1])
        import vramscope
        class Slow:
            def __init__(self):
                self.file = open(sys.argv[2], "rb")
            def readinto(self, buffer):
                time.sleep(0.05)
                return self.file.readinto(memoryview(buffer)[:160 << 10])
        vramscope.load(Slow(), replay="never", progress=True)
        """
    ours, its = pty.openpty()
    done = subprocess.run([sys.executable, "-c", code, PACKAGE, path], stdout=subprocess.PIPE, stderr=its, timeout=300)
    said = os.read(ours, 1 << 16).decode()
    os.close(ours), os.close(its)
    assert done.returncode == 0 and done.stdout == b"", said
    assert "\rreading: " in said and said.endswith("\r\033[K") and " MiB" in said
    piped = subprocess.run([sys.executable, "-c", code, PACKAGE, path], capture_output=True, timeout=300)
    assert piped.stderr == b""
    for wrong in (1, "yes"):
        with pytest.raises(TypeError):
            vramscope.load(DATA, progress=wrong)


# File objects.


class Stream(io.RawIOBase):
    """Gives the recording, and misbehaves at the n-th read."""

    def __init__(self, act, at=2, most=50000):
        self.rest, self.act, self.at, self.most, self.reads, self.kept = DATA, act, at, most, 0, []

    def readinto(self, buffer):
        self.reads += 1
        if self.reads == self.at:
            return self.act(self, buffer)
        part = self.rest[:min(len(buffer), self.most)]
        self.rest = self.rest[len(part):]
        buffer[:len(part)] = part
        return len(part)


def keep(stream, buffer):
    stream.kept.append(buffer)
    return 0


@pytest.mark.parametrize("act, error", (
    (lambda s, b: 1 / 0, ZeroDivisionError), (lambda s, b: len(b) + 1, ValueError), (lambda s, b: -1, ValueError),
    (lambda s, b: 1 << 70, OverflowError), (lambda s, b: "many", TypeError), (lambda s, b: None, BlockingIOError),
    (lambda s, b: sys.exit(3), SystemExit),
    (lambda s, b: next(iter(())), StopIteration), (lambda s, b: b.release() or 5, ValueError),
), ids=("raises", "more", "less than none", "far more", "text", "would block", "exit", "stop", "released"))
def test_a_stream_that_misbehaves(act, error):
    stream = Stream(act)
    with pytest.raises((error, vramscope.Error) if error is ValueError else error) as raised:
        vramscope.load(stream)
    assert raised.value.__cause__ is None
    assert vramscope.load(DATA).oom().verdict is True


def test_a_stream_that_closes_itself():
    class Closing(io.BytesIO):
        def readinto(self, buffer):
            got = super().readinto(memoryview(buffer)[:50000])
            self.close()
            return got

    with pytest.raises(ValueError, match="closed file"):
        vramscope.load(Closing(DATA))


def test_a_stream_that_ends_early_or_keeps_its_buffer():
    stream = Stream(keep)
    with pytest.raises((vramscope.Error, AssertionError)) as raised:
        recording = vramscope.load(stream)
        assert recording.report()["file"]["complete"], "cut"
    assert raised.value and len(stream.kept) == 1
    with pytest.raises(ValueError, match="released"):
        stream.kept[0][0] = 1


def test_a_stream_may_load_another_one_meanwhile():
    def act(stream, buffer):
        assert vramscope.load(DATA).oom().verdict is True
        return Stream.readinto(stream, buffer)

    assert vramscope.load(Stream(act)).oom().verdict is True


WAITS = """
import signal, sys
sys.path.insert(0, sys.argv[1])
import vramscope
signal.signal(signal.SIGUSR1, lambda *args: print("heard", flush=True))
print("ready", flush=True)
try:
    vramscope.load(sys.argv[2])
except KeyboardInterrupt as error:
    assert error.__context__ is None
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("writer", (False, True), ids=("nobody writes", "somebody waits"))
@pytest.mark.parametrize("name", ("fifo", "-"))
def test_a_wait_for_bytes_ends_by_ctrl_c(name, writer, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    keeps = os.open(fifo, os.O_RDWR) if writer or name == "-" else None
    source = str(fifo) if name == "fifo" else "-"
    with subprocess.Popen([sys.executable, "-c", WAITS, PACKAGE, source], stdout=subprocess.PIPE, text=True,
                          stdin=keeps, env=environment()) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            if keeps is not None:
                os.write(keeps, DATA[:1000])
            for _ in range(3):  # a handler of the program runs, and the wait goes on
                waits_in_the_kernel(child.pid)
                child.send_signal(signal.SIGUSR1)
                assert child.stdout.readline() == "heard\n"
            waits_in_the_kernel(child.pid)
            child.send_signal(signal.SIGINT)
            assert child.stdout.readline() == "interrupted\n"
        finally:
            child.kill()
            if keeps is not None:
                os.close(keeps)


def waits_in_the_kernel(pid):
    """Returns when the process sleeps, which before has read all that there is."""
    while Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"S":
        time.sleep(0.01)
