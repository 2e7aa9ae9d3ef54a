"""Traces of the profiler: what is opened, its columns, its answers, and how long its memory stays."""
import array
import gc
import gzip
import io
import json
import os
import shutil
import subprocess
import sys
import threading

import pytest
import vramscope
from conftest import PACKAGE, ROOT, run, validate

EXAMPLE = ROOT / "examples" / "traces" / "training.pt.trace.json.gz"
CODES = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "int64": "q"}
PARTS = ("ops", "kernels", "gaps", "steps", "memory", "calls", "phases", "launches", "findings", "method", "modules", "tree")
UNKNOWN = -1 << 63


def event(name, start, duration, category="cpu_op", tid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration, "args": args}


# An operator that launches a kernel, which a copy follows.
SMALL = {"schemaVersion": 1, "traceEvents": [
    event("aten::mm", 10, 20, **{"External id": 7}), event("cudaLaunchKernel", 12, 3, "cuda_runtime", correlation=3),
    event("gemm", 20, 30, "kernel", 7, correlation=3),
    event("Memcpy HtoD", 60, 5, "gpu_memcpy", 7, bytes=4096),
    {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 13, "args": {"Bytes": 512, "Device Type": 1, "Device Id": 0}},
]}


@pytest.fixture(scope="module")
def small():
    return vramscope.load(json.dumps(SMALL).encode())


@pytest.fixture(scope="module")
def example():
    return vramscope.load(EXAMPLE)


def test_a_path_bytes_or_a_stream(tmp_path):
    packed = EXAMPLE.read_bytes()
    data = gzip.decompress(packed)
    odd = tmp_path / os.fsdecode(b"no name \xff.pickle")
    shutil.copy(EXAMPLE, odd)
    want = vramscope.load(EXAMPLE).report(path="x").to_dict()
    del want["file"]
    for source in (str(EXAMPLE), EXAMPLE, odd, packed, data, bytearray(packed), memoryview(data), io.BytesIO(packed),
                   io.BytesIO(data), open(EXAMPLE, "rb")):
        with vramscope.load(source) as trace:
            assert isinstance(trace, vramscope.Trace)
            document = trace.report(path="x").to_dict()
            assert document.pop("file")["path"] == "x" and document == want
    assert vramscope.load(odd).path == str(odd) and vramscope.load(data).path is None
    assert type(vramscope.load(ROOT / "examples" / "oom.pickle")) is vramscope.Recording


def test_commands_name_no_file_where_there_is_none():
    packed = EXAMPLE.read_bytes()
    for source in (packed, io.BytesIO(packed)):
        with vramscope.load(source) as trace:
            assert "vramscope diff BEFORE AFTER" in trace.method().text()
            said = trace.report().text()
            assert "vramscope trace FILE --ops" in said and "vramscope trace '(" not in said
    with vramscope.load(EXAMPLE) as trace:
        assert f"vramscope diff {EXAMPLE} AFTER" in trace.method().text()


def test_standard_input():
    code = "import sys; sys.path.insert(0, sys.argv[1]); import vramscope; print(len(vramscope.load('-')['spans.start']))"
    done = subprocess.run([sys.executable, "-c", code, PACKAGE], input=json.dumps(SMALL), capture_output=True, text=True,
                          timeout=120)
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_an_answer_is_that_of_the_command(example):
    document = json.loads(run("trace", "--json", EXAMPLE, expect=0).out)
    report = example.report()
    assert report.to_dict() == document and report.kind == "trace" and report.verdict is None
    validate(report.to_dict())
    assert report.text(width=80) == run("trace", EXAMPLE, expect=0).out
    assert report.csv() == run("trace", "--csv", EXAMPLE, expect=0).out
    for part in PARTS:
        answer = getattr(example, part)()
        assert answer == report, part
        words = ("diagnose",) if part == "method" else ("trace", "--" + part)
        assert answer.text(width=80) == run(*words, EXAMPLE, expect=0).out, part


def test_paths_of_the_tree_by_their_share(example):
    for share in ("0", "20%", "0.2"):
        assert example.tree(min_share=share).text(width=80) == run("trace", "--tree", "--min-share", share, EXAMPLE, expect=0).out
    with pytest.raises(vramscope.Error, match="a share is") as raised:
        example.tree(min_share="much")
    assert raised.value.status == "usage"
    with pytest.raises(TypeError):
        example.ops(min_share="0")


def test_operators_by_more_than_their_names(example):
    for by in ("shapes", "module,phase,step,stack:2"):
        answer, words = example.ops(by=by), ("trace", "--ops", "--by", by)
        assert answer.to_dict() == json.loads(run(*words, "--json", EXAMPLE, expect=0).out)
        assert answer.text(width=80) == run(*words, EXAMPLE, expect=0).out
        assert answer.csv() == run(*words, "--csv", EXAMPLE, expect=0).out
        validate(answer.to_dict())
        assert len(answer.table("ops_by")["name"]) >= len(answer.table("ops")["name"])
    with pytest.raises(vramscope.Error, match="not by") as raised:
        example.ops(by="much")
    assert raised.value.status == "usage"


def test_tables_are_columns(example):
    ops = example.ops()
    assert {"ops", "steps", "kernels", "runtime", "memory", "devices.gaps.classes"} <= set(ops.tables)
    rows, table = ops["ops"], ops.table("ops")
    assert [list(column) for column in table.values()] == [[row[name] for row in rows] for name in table]


def test_ranges_as_the_framework_counts_them():
    """A frame between a range and its operator takes the operator's time from the range."""
    trace = vramscope.load(json.dumps({"traceEvents": [
        event("step", 0, 100, "user_annotation"), event("train.py(3): f", 10, 80, "python_function"),
        event("aten::mm", 20, 50)]}).encode())
    ours, theirs = ({row["name"]: row["self_cpu_ns"] for row in trace.ops(as_framework=exact)["ops"]}
                    for exact in (False, True))
    assert ours["step"] == 50000 and theirs["step"] == 20000 and ours["aten::mm"] == theirs["aten::mm"] == 50000


def test_columns_of_a_small_trace(small):
    spans = small.table("spans")
    assert [small.string(i) for i in spans["name"]] == ["aten::mm", "cudaLaunchKernel", "gemm", "Memcpy HtoD"]
    assert [small.kinds[i] for i in spans["kind"]] == ["op", "runtime", "kernel", "memcpy"]
    assert list(spans["start"]) == [10000, 12000, 20000, 60000] and list(spans["duration"]) == [20000, 3000, 30000, 5000]
    assert list(spans["bytes"]) == [UNKNOWN] * 3 + [4096]
    assert list(small["memory.bytes"]) == [512] and list(small["memory.total_allocated"]) == [UNKNOWN]
    tracks = small.table("tracks")
    assert [tracks["tid"][i] for i in spans["track"]] == [1, 1, 7, 7]


def test_every_column_is_a_sequence_and_a_buffer(example):
    assert len(example) == len(example.columns) == len(list(example)) == len(set(example)) > 30
    lengths = {}
    for name in example:
        column, view = example[name], memoryview(example[name])
        assert (column.name, view.format, view.readonly, view.shape) == (name, CODES[column.dtype], True, (len(column),))
        assert column[:] == array.array(view.format, view.tolist()) and list(column) == view.tolist()
        lengths.setdefault(name.split(".")[0], set()).add(len(column))
    assert all(len(of) == 1 for of in lengths.values()) and "spans.start" in example and 3 not in example
    assert {c.name for t in lengths for c in example.table(t).values()} == set(example.columns)
    numpy = pytest.importorskip("numpy", reason="numpy is not installed: it read nothing in place")
    start = numpy.asarray(example["spans.start"])
    assert start.dtype == "int64" and not start.flags.owndata and start.tolist() == list(example["spans.start"])


def test_what_is_printed_is_where_the_time_went(example):
    assert str(example) == str(example.report()) and "\nverdict " in str(example) and str(example) != repr(example)


def test_views_outlive_the_trace():
    trace = vramscope.load(EXAMPLE)
    column = trace["spans.start"]
    view, want = memoryview(column), list(column)
    assert trace.views == 1
    trace.close()
    trace.close()
    for call in (trace.report, lambda: trace["spans.start"], lambda: trace.string(0), lambda: trace.views):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert str(trace) == repr(trace) == f"<vramscope.Trace of {str(EXAMPLE)!r}, closed>"
    del trace, column
    gc.collect()
    assert view.tolist() == want
    with vramscope.load(EXAMPLE) as trace:
        answer = trace.report()
    assert answer.text() and answer["steps"]


def test_failures_say_what_and_where(tmp_path):
    cut = tmp_path / "cut.json"
    cut.write_text('{"traceEvents": [{"ph": "X", "na')
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(cut)
    assert raised.value.status == "corrupt" and raised.value.path == str(cut)
    assert run("trace", cut).err == f"vramscope: {raised.value}\n"
    for limits in ({"items": 2}, {"unpacked": "1KiB"}):
        with pytest.raises(vramscope.Error) as raised:
            vramscope.load(EXAMPLE, limits=limits)
        assert raised.value.status == "limit"
    with pytest.raises(vramscope.Error, match="leave entry out") as raised:
        vramscope.load(EXAMPLE, entry=0)
    assert raised.value.status == "usage"
    with pytest.raises(vramscope.Error, match="trace reads it|vramscope.trace"):
        vramscope.open(EXAMPLE)


def test_misuse(small):
    for wrong in (lambda: small["spans.nothing"], lambda: small["spans"], lambda: small.table("nothing"),
                  lambda: small.table(3)):
        with pytest.raises(KeyError):
            wrong()
    for wrong in (lambda: small[1], lambda: small.report(1), lambda: small.ops(device=0), lambda: small.report(path=2),
                  lambda: vramscope.Trace()):
        with pytest.raises(TypeError):
            wrong()
    for index in (1 << 20, 1 << 40):
        with pytest.raises(IndexError):
            small.string(index)
    assert small.get("nothing") is None and small.get("spans.start") is not None
    with pytest.raises(TypeError):
        vramscope.merge([small])


def test_results_are_joined_and_pickled(small):
    import pickle
    joined = vramscope.merge([small.report(path=name) for name in ("a", "b")])
    assert [file["file"]["path"] for file in joined["files"]] == ["a", "b"]
    assert pickle.loads(pickle.dumps(small.report())) == small.report()


def test_threads_ask_one_trace(example):
    want, got = example.report().to_dict(), []
    threads = [threading.Thread(target=lambda: got.append(example.report().to_dict())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [want] * 3


def test_progress_is_told_and_may_raise():
    data = json.dumps(SMALL).encode() + b" " * 100000

    class Slow(io.BytesIO):
        """Long enough for a progress to be due."""

        def readinto(self, buffer):
            threading.Event().wait(0.06)
            return super().readinto(memoryview(buffer)[:30000])

    with pytest.raises(LookupError, match="mine"):
        def stop(done, total):
            raise LookupError("mine")
        vramscope.load(Slow(data), progress=stop)
    seen = []
    trace = vramscope.load(Slow(data), progress=lambda done, total: seen.append(done))
    assert len(trace["spans.start"]) == 4 and seen and seen == sorted(seen)


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
                    return b'{"traceEvents": ['
                part = b'{"ph": "X", "name": "a", "ts": 1, "dur": 1, "pid": 1, "tid": 1},'
                return (part * (size // len(part))) or b" "
        try:
            vramscope.load(Endless())
        except KeyboardInterrupt:
            print("interrupted")
        """
    done = subprocess.run([sys.executable, "-c", code, PACKAGE], capture_output=True, text=True, timeout=120)
    assert done.stdout == "interrupted\n", (done.stdout, done.stderr)


STATES = [[10, 10, 12], [[0, 4096, 0, 512, 0, 0, 0, 0, 0], [0, 4096, 0, 512, 0, 2048, 0, 0, 0], [0, 4096, 8, 512, 0, 0, 0, 0, -3]]]
EVENTS = [[-1, 1, 4096, 0], [10_000, 2, 2048, 4], [12_000, 4, -2048, 4]]


def test_a_memory_timeline_is_a_trace_of_states():
    for data, times, activation in ((STATES, [10_000, 12_000], [2048, 0]), (EVENTS, [10_000, 12_000], [2048, 0])):
        trace = vramscope.load(gzip.compress(json.dumps(data).encode()))
        assert isinstance(trace, vramscope.Trace)
        table = trace.table("timeline")
        assert list(table["time"]) == times and list(table["activation"]) == activation
        assert list(table) == ["time", "parameter", "optimizer_state", "input", "temporary", "activation", "gradient",
                               "autograd_detail", "unknown"]
        assert len(trace["spans.start"]) == 0
        answer = trace.report()
        doc = json.loads(answer.json())
        validate(doc)
        assert doc["schema"] == "vramscope.trace-timeline/1" and doc["sum"]["before_bytes"] in (4608, 4096)
        assert list(answer.table("categories")["category"])[0] == "parameter"
        assert answer.text() == trace.memory().text()


def test_a_memory_timeline_has_no_events(tmp_path):
    trace = vramscope.load(json.dumps(EVENTS).encode())
    for part in PARTS:
        if part == "memory":
            continue
        with pytest.raises(vramscope.Error, match="memory timeline.* no "):
            getattr(trace, part)()


def test_a_trace_has_no_states(small):
    assert all(len(column) == 0 for column in small.table("timeline").values())
