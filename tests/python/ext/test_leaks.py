"""Opening, asking and closing again and again: the memory in use and the number of objects stay as they are."""
import os
import pickle
import shutil
import subprocess
import sys

import pytest
from conftest import PACKAGE, ROOT, environment

SUPPRESSIONS = ROOT / "tests" / "python" / "valgrind.supp"

SCRIPT = """
import gc, os, sys
sys.path.insert(0, sys.argv[1])
import vramscope
data, count = open(sys.argv[2], "rb").read(), int(sys.argv[3])
source = data if sys.argv[4] == "bytes" else sys.argv[2]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def once():
    with vramscope.load(source, threads=1) as recording:
        result = recording.peak()
        assert len(result.json()) > 10 and len(recording["events.size"]) and result["devices"]


for i in range(count):
    once()
    if i == count // 100 + 20:
        gc.collect()
        base, objects = resident(), len(gc.get_objects())
gc.collect()
print(resident() - base, len(gc.get_objects()) - objects, len(os.listdir("/proc/self/fd")))
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    frames = [{"filename": "a.py", "line": 1, "name": "f"}]
    events = [{"action": action, "addr": 4096, "size": 1000, "stream": 0, "frames": frames, "time_us": i}
              for i, action in enumerate(("alloc", "free_requested", "free_completed"))]
    path = tmp_path_factory.mktemp("tiny") / "tiny.pickle"
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [events]}, protocol=4))
    return path


def grown(path, count, source):
    # What a sanitizer keeps of freed memory is no leak.
    kept = ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"
    done = subprocess.run([sys.executable, "-c", SCRIPT, PACKAGE, path, str(count), source], capture_output=True, text=True,
                          timeout=7000, env=environment(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + kept))
    assert done.returncode == 0, done.stderr[-3000:]
    resident, objects, files = map(int, done.stdout.split())
    assert resident <= 1 << 20 and objects <= 20 and files < 10, done.stdout


@pytest.mark.parametrize("source", ("bytes", pytest.param("path", marks=pytest.mark.long)))
def test_memory_stays_as_it_is(tiny, source):
    grown(tiny, 1500, source)


@pytest.mark.long
def test_memory_stays_as_it_is_over_the_smallest_example():
    grown(min((ROOT / "examples").glob("*.pickle"), key=lambda p: p.stat().st_size), 100000, "path")


def test_valgrind_finds_no_error(tiny):
    if os.environ.get("LD_PRELOAD"):
        pytest.skip("the package has a sanitizer, which valgrind cannot run")
    if shutil.which("valgrind") is None:
        pytest.skip("there is no valgrind")
    done = subprocess.run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite",
                           "--errors-for-leak-kinds=definite", "--suppressions=%s" % SUPPRESSIONS, sys.executable, "-c",
                           SCRIPT, PACKAGE, tiny, "30", "path"], capture_output=True, text=True, timeout=600,
                          env=environment(PYTHONMALLOC="malloc"))
    assert done.returncode == 0, done.stderr[-6000:]
