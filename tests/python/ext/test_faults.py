"""Each allocation of the extension fails in turn: MemoryError or Error("nomem"), nothing leaks, and the next call works.

The package runs with an extension that counts (tests/python/faults.c), in a process of its own.
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PACKAGE, ROOT, environment, program

FAULTY = Path(program()).parents[1] / "tests" / "python" / "_core.abi3.so"

SCRIPT = """
import ctypes, gc, io, os, pickle, sys, warnings
folder, first, step = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
sys.path.insert(0, folder)
import vramscope, vramscope._core, vramscope.sim, vramscope.html, html, json, threading, array
faults = ctypes.PyDLL(os.path.join(folder, "vramscope", "_core.abi3.so"))
faults.faults_begin.argtypes = [ctypes.c_long]
faults.faults_end.restype, faults.faults_in_use.restype = ctypes.c_bool, ctypes.c_long
os.environ["COLUMNS"] = "80"
warnings.simplefilter("ignore")
gc.collect()

frames = [{"filename": "a.py", "line": 1, "name": "f"}]
segment = {"device": 0, "address": 4096, "total_size": 2 << 20, "stream": 0, "segment_type": "small", "blocks": [
    {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": frames},
    {"address": 5120, "size": (2 << 20) - 1024, "requested_size": 0, "state": "inactive"}]}
events = [{"action": action, "addr": 4096, "size": 1000, "stream": 0, "frames": frames, "time_us": i}
          for i, action in enumerate(("alloc", "free_requested", "free_completed", "alloc"))]
data = pickle.dumps({"segments": [segment], "device_traces": [events]}, protocol=4)
path = os.path.join(folder, "run.pickle")
with open(path, "wb") as file:
    file.write(data)
load = lambda: vramscope.load(data, threads=1)
spans = json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": i, "dur": 1}
                                    for i in range(3)]}).encode()
trace = vramscope.load(spans)
recording = load()
report = recording.report()
pickled = pickle.dumps(report)
out = os.path.join(folder, "out")
backend = vramscope.sim.Device("1GiB", history=0).backend
scenarios = {
    "load a path": lambda: len(vramscope.load(path, threads=1, limits={"items": "4MiB"})),
    "load bytes": lambda: len(load()),
    "load a stream": lambda: len(vramscope.load(io.BytesIO(data), threads=1, progress=lambda d, t: None)),
    "load a trace": lambda: (len(vramscope.load(spans)), vramscope.load(io.BytesIO(spans)).path),
    "a trace": lambda: (len(trace.table("spans")), trace.columns, list(trace), trace.kinds, trace.string(1), repr(trace)),
    "ask a trace": lambda: trace.ops(path="x").text(width=80),
    "a column": lambda: (list(recording["events.size"]), recording["events.size"][1:].tolist(), len(recording.table("events"))),
    "names": lambda: (recording.columns, list(recording), recording.file.names, recording.string(1), repr(recording)),
    "report": lambda: recording.report(path="x", device="cuda:0", user_root="/a").text(width=80),
    "json": lambda: recording.peak(at=1).to_dict()["devices"][0]["device"],
    "check": lambda: recording.check({"max_peak": 5000, "no-oom": None}, baseline=recording).verdict,
    "what_if": lambda: recording.what_if("expandable_segments:True", scale=[("event:0", 0.5)], threads=1).json(),
    "diff": lambda: recording.diff(recording, at="start", to="end", fail_over="5%", threads=1).verdict,
    "export": lambda: recording.export("csv", table=["events"]),
    "export a file": lambda: recording.export("csv", out),
    "view": lambda: len(vramscope.view([recording, recording])),
    "picture": lambda: len(recording.picture(capacity="1GiB")),
    "table": lambda: tables_of(recording.report()),
    "notebook": lambda: (len(recording._repr_html_()), len(report._repr_html_())),
    "merge": lambda: vramscope.merge([recording.report(part=True, path="a"), vramscope.unread("b", "gone")]).json(),
    "index": lambda: len(vramscope.index(vramscope.merge([recording.report(part=True, path="a")]), None, [("a", "b", None)])),
    "pickle": lambda: pickle.loads(pickle.dumps(recording.peak())).text(),
    "unpickle": lambda: pickle.loads(pickled).text(),
    "snapshot": lambda: len(recording.replay(keep_run=True, threads=1).snapshot()),
    "free functions": lambda: (vramscope.size("5MiB"), vramscope.is_own(path), vramscope.category_rules()[:5],
                               vramscope.export_ready("csv"), vramscope.version()),
    "chart": lambda: len(vramscope._core._chart(2, "a", ("", 0), ("b", 1), (400, 0), ["f", "g"], [
        ("s", 1, False, False, [1.0, None], [2.0, 3], [0, 1], ["x", "y"])], [(1.0, None, "m")])),
    "samples": lambda: sampled(),
    "errors": lambda: error_of(lambda: vramscope.load(b"no snapshot")),
}


def tables_of(result):
    return [list(c) for t in result.tables[:3] for c in result.table(t).values()]


def sampled():
    '''A row or a slot that there was no memory for is missing, and told.'''
    sampler = vramscope._core.Sampler(backend=backend, interval=3600, capacity=1024)
    sampler.now()
    sampler.start()
    sampler.stop()
    samples = sampler.table()
    if sampler.counts()["lost"] or {"exact"} != set(samples.column("state")):
        raise MemoryError
    again = pickle.loads(pickle.dumps(samples))
    return len(sampler.samples()), again == samples, samples[1:].to_dict()["index"], repr(samples[0].device)


def error_of(call):
    try:
        call()
    except vramscope.Error as error:
        if error.status == "nomem":
            raise
        return str(error), error.status, error.path


for name, scenario in scenarios.items():
    want, made, swallowed = scenario(), 0, 0
    scenario()
    gc.collect()
    n = first
    while True:
        if os.path.exists(out):
            os.unlink(out)
        gc.collect()
        before, opened = faults.faults_in_use(), len(os.listdir("/proc/self/fd"))
        faults.faults_begin(n)
        try:
            have, failed = scenario(), False
        except (MemoryError, vramscope.Error) as error:
            status = getattr(error, "status", "nomem")
            have, failed = None, True
            assert status == "nomem", (name, n, repr(error))
            del error
        finally:
            fired = faults.faults_end()
        gc.collect()
        assert failed <= fired, (name, n)
        # What was only asked to be quick, or to fit, is done without.
        assert failed or have == want, (name, n, have, want)
        swallowed += fired and not failed
        del have
        gc.collect()
        assert faults.faults_in_use() <= before, (name, n, before, faults.faults_in_use())
        assert len(os.listdir("/proc/self/fd")) == opened, (name, n)
        assert not [f for f in os.listdir(folder) if f.startswith(".")], (name, n)
        if not fired:
            break
        made += 1
        n += step
    assert made > 0 or step > 1, name
    assert scenario() == want
    print("%s: %d of about %d, %d did without" % (name, made, n, swallowed))
"""


def fail(tmp_path, first, step, seconds):
    if not FAULTY.exists():
        pytest.skip("the build has no faulty extension")
    package = tmp_path / "vramscope"
    shutil.copytree(Path(PACKAGE) / "vramscope", package, ignore=shutil.ignore_patterns("*.so", "*.p"))
    shutil.copy(FAULTY, package / "_core.abi3.so")
    done = subprocess.run([sys.executable, "-B", "-c", SCRIPT, tmp_path, str(first), str(step)], capture_output=True,
                          text=True, timeout=seconds, env=environment(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "")
                                                                      + ":allocator_may_return_null=1"))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.long
def test_some_allocations_fail(tmp_path):
    """One of 76."""
    assert fail(tmp_path, 3, 76, 600).count("\n") > 10


@pytest.mark.long
def test_every_allocation_fails(tmp_path):
    assert fail(tmp_path, 0, 1, 7200).count("\n") > 20
