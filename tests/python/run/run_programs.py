"""Programs on simulated devices, and how they are run with and without `vramscope run`."""
import re
import subprocess
import sys

from conftest import PACKAGE, SANITIZER, environment

DIES = """
from vramscope import sim
def train(device):
    batch = device.alloc("200MiB")
    acts = [device.alloc("50MiB") for _ in range(3)]
    return device.alloc("800MiB", tag="logits")
with sim.Device("1GiB") as device:
    weights = device.alloc("400MiB", tag="weights")
    train(device)
"""
CATCHES = """
from vramscope import sim
import sys
with sim.Device("1GiB") as device:
    for size in ("2GiB", "3GiB"):
        try:
            device.alloc(size)
        except sim.OutOfMemoryError:
            pass
sys.exit(STATUS)
"""
FAILS_AGAIN = """
from vramscope import sim
from vramscope.history import oom
import sys
def step(device, size, caught):
    try:
        return device.alloc(size)
    except sim.OutOfMemoryError:
        if not caught:
            raise
with sim.Device("1GiB") as device:
    kept = device.alloc("600MiB", tag="kept")
    for number in range(7):
        step(device, "%dMiB" % (500 + number), True)
        PACE
    after = device.alloc("20MiB", tag="after")
    step(device, "900MiB", CAUGHT)
"""
ENDS = """
from vramscope import sim
import sys
device = sim.Device("1GiB")
with device:
    kept = device.alloc("100MiB", tag="kept")
    device.free(device.alloc("300MiB", tag="batch"))
print("done")
"""


def python(*words, cwd, under=(), stdin=b"", preexec=None, env=None, executable=None, **more):
    """(exit status, stdout, stderr) of python WORDS, or of the same under run."""
    before = ["-m", "vramscope", "run", *under] if under is not None else []
    done = subprocess.run([executable or sys.executable, "-B", *before, *map(str, words)], input=stdin, capture_output=True,
                          cwd=cwd, timeout=300, preexec_fn=preexec,
                          env=environment(**{"PYTHONPATH": PACKAGE, **(env or {})}), **more)
    assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def without_addresses(result):
    return tuple(re.sub(r"0x[0-9a-f]+", "0x", part) if isinstance(part, str) else part for part in result)


def script(folder, text, name="prog.py"):
    path = folder / name
    path.write_text(text)
    return path
