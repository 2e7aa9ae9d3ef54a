"""Programs that end while something of ours is open: no crash, no hang, nothing from a child."""
import os

import pytest
from run_programs import python, script

BEGINS = """
import os, sys, threading, vramscope
from vramscope import sim
device = sim.Device("1GiB")
device.__enter__()
vramscope.on_oom("dumps")
recorder = vramscope.record("run.pickle")
recorder.__enter__()
scope = vramscope.scope("outer")
scope.__enter__()
watch = vramscope.watch_cycles(print)
kept = device.alloc("20MiB")
"""
ENDS = {
    "normal": "print('end')",
    "exit": "sys.exit(3)",
    "raises": "1 / 0",
    "exit in a thread": "threading.Thread(target=sys.exit, args=(4,)).start()",
    "daemon threads": """
def work():
    while True:
        with vramscope.scope("inner"):
            device.free(device.alloc("1MiB"))
for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
""",
    "fork": """
child = os.fork()
if child == 0:
    with vramscope.scope("inner"):
        sys.exit(5)
assert os.waitpid(child, 0)[1] == 5 << 8
""",
    "fork beside a thread": """
def work():
    for _ in range(200):
        with vramscope.scope("inner"):
            device.free(device.alloc("1MiB"))
thread = threading.Thread(target=work)
thread.start()
child = os.fork()
if child == 0:
    sys.exit(6)
assert os.waitpid(child, 0)[1] == 6 << 8
thread.join()
""",
    "os._exit": "os._exit(7)",
    "dies of memory": "device.alloc('2GiB')",
    "generator": "def f():\n    with vramscope.scope('inner'):\n        yield\ng = f()\nnext(g)",
    "device goes first": "device.__exit__()\ndel device, kept",
}
STATUS = {"exit": 3, "raises": 1, "os._exit": 7, "dies of memory": 1}


def check(tmp_path, name, times):
    path = script(tmp_path, BEGINS + ENDS[name])
    for under in ([None, ["--on-oom=note"]] * times)[:times]:
        status, out, err = python(path, cwd=tmp_path, under=under)
        assert status == STATUS.get(name, 0), err
        assert out == ("end\n" if name == "normal" else "")
        wanted = {"raises": "ZeroDivisionError", "dies of memory": "memory ran out"}.get(name)
        assert wanted in err if wanted else err == ""
    # The block never ended; of the failure there is a bundle each time.
    assert {f for f in os.listdir(tmp_path) if f != "prog.py"} == ({"dumps"} if name == "dies of memory" else set())


@pytest.mark.parametrize("name", ENDS)
def test_exits(tmp_path, name):
    check(tmp_path, name, 2)


@pytest.mark.long
@pytest.mark.parametrize("name", ENDS)
def test_a_thousand_exits(tmp_path, name):
    check(tmp_path, name, 1000 // len(ENDS))
