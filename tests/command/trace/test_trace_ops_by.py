"""Operators by more than their names: shapes of inputs, module, phase, step, Python frames."""
import csv
import io
import json

from recordings import traces
from recordings.small_traces import span, steps, trace, write

from conftest import ROOT, run, some

EXAMPLE = ROOT / "examples" / "traces" / "training.pt.trace.json.gz"
PARTS = ("shapes", "module", "phase", "step", "stack")
NUMBERS = ("calls", "self_cpu_ns", "cpu_total_ns", "self_device_ns", "device_total_ns", "self_cpu_bytes", "cpu_bytes",
           "self_device_bytes", "device_bytes")


def rows(path, by, *options):
    return run("trace", "--ops", "--by", by, "-j", *options, path, expect=0).json()["ops_by"]


def parts(path, by, name):
    """Of each row of a name: its calls, by the parts that were asked for."""
    words = [word.partition(":")[0] for word in by.split(",")]
    return {tuple(row[word] for word in words): row["calls"] for row in rows(path, by) if row["name"] == name}


def op(start, ns, name="aten::mm", **args):
    return span(name, "cpu_op", start, ns, **args)


def frame(name, start, ns, number, parent=None, tid=1):
    return span(name, "python_function", start, ns, tid=tid, **{"Python id": number, "Python parent id": parent})


# Sums ---------------------------------------------------------------------------------

def assert_sums(path, by, *options):
    doc = run("trace", "--ops", "--by", by, "-j", *options, path, expect=0).json()
    sums = {}
    for row in doc["ops_by"]:
        for number in NUMBERS:
            of = sums.setdefault(row["name"], dict.fromkeys(NUMBERS, 0))
            of[number] += row[number]
    assert sums == {row["name"]: {number: row[number] for number in NUMBERS} for row in doc["ops"]}, (path, by)
    keys = [(row["name"], *(row[part] for part in PARTS)) for row in doc["ops_by"]]
    assert len(set(keys)) == len(keys), (path, by)


def test_rows_of_a_name_add_up_to_its_row(tmp_path):
    for by in some(["shapes,module,phase,step,stack:3"], ["shapes,module,phase,step,stack:3", *PARTS]):
        for exact in ([], ["--framework-exact"]):
            assert_sums(EXAMPLE, by, *exact)
    for period in some(["2025"], list(traces.PERIODS)):
        path = tmp_path / (period + ".json")
        path.write_bytes(traces.as_json(traces.make(3, period)))
        assert_sums(path, ",".join(PARTS))


def test_real_traces(shared):
    for path in sorted((shared / "data" / "traces").glob("*.json*"))[:some(3, 100)]:
        assert_sums(path, ",".join(PARTS))


def test_without_by_there_is_no_such_table():
    assert run("trace", "--ops", "-j", EXAMPLE, expect=0).json()["ops_by"] is None


# Shapes -------------------------------------------------------------------------------

def test_shapes(tmp_path):
    events = [op(0, 10, **{"Input Dims": [[2, 3], [3, 4]]}), op(20, 10, **{"Input Dims": [[2, 3], [3, 4]]}),
              op(40, 10, **{"Input Dims": [[5, 3], []]}), op(60, 10), op(80, 10, **{"Input dims": [[[1], [2]], 7]})]
    path = write(tmp_path, "a.json", trace(events))
    wanted = {("[[2, 3], [3, 4]]",): 2, ("[[5, 3], []]",): 1, (None,): 1, ("[[[1], [2]], 7]",): 1}
    assert parts(path, "shapes", "aten::mm") == wanted
    # Blanks say nothing, wherever they stand.
    text = path.read_text()
    path.write_text(text.replace('"Input Dims": [[2, 3], [3, 4]]', '"Input Dims"\n :\t[ [2,3] ,[ 3,4]\n]\n', 1))
    assert parts(path, "shapes", "aten::mm") == wanted


def test_shapes_that_are_not_known(tmp_path):
    path = tmp_path / "a.json"
    text = json.dumps(trace([op(0, 10, **{"Input Dims": "HERE", "External id": 3})]))
    for value in ('"[[1]]"', "7", "null", '{"a": [1]}', "[" + "1, " * 2000 + "1]"):
        path.write_text(text.replace('"HERE"', value))
        assert parts(path, "shapes", "aten::mm") == {(None,): 1}, value[:20]


def test_of_two_lists_the_last_stands(tmp_path):
    path = tmp_path / "a.json"
    text = json.dumps(trace([op(0, 10, **{"Input Dims": "HERE"})]))
    for value, wanted in (('[[1]], "Input Dims": [[2]]', "[[2]]"), ('[[1]], "Input Dims": 3', None),
                          ('[[1]]}, "args": {"x": 1', None)):
        path.write_text(text.replace('"HERE"', value))
        assert parts(path, "shapes", "aten::mm") == {(wanted,): 1}, value


def test_shapes_of_a_mended_event(tmp_path):
    path = tmp_path / "a.json"
    text = json.dumps(trace([op(0, 10, **{"Input Dims": [[2, 3]], "x": "HERE"}), op(20, 10, **{"Input Dims": [[4]]})]))
    path.write_text(text.replace('"HERE"', "nan"))
    assert parts(path, "shapes", "aten::mm") == {("[[2, 3]]",): 1, ("[[4]]",): 1}


def test_shapes_are_written_again(tmp_path):
    path = write(tmp_path, "a.json", trace([op(0, 10, **{"Input Dims": [[2, 3], []]}), op(20, 10)]))
    run("trace", "--repair", "-o", tmp_path / "b.json", path, expect=0)
    assert parts(tmp_path / "b.json", "shapes", "aten::mm") == {("[[2, 3], []]",): 1, (None,): 1}


# The other parts ----------------------------------------------------------------------

def test_steps_and_phases(tmp_path):
    events = steps(1000, 1000) + [span("Optimizer.step#SGD.step", "user_annotation", 600, 300), op(700, 50), op(5000, 10)]
    path = write(tmp_path, "a.json", trace(events))
    assert parts(path, "step", "aten::mm") == {("ProfilerStep#0",): 2, ("ProfilerStep#1",): 1, (None,): 1}
    assert parts(path, "phase", "aten::mm") == {("optimizer",): 1, ("other",): 3}
    assert parts(path, "step", "ProfilerStep*") == {("ProfilerStep#0",): 1, ("ProfilerStep#1",): 1}
    assert parts(path, "phase", "ProfilerStep*") == {("other",): 2}


def test_modules_and_frames(tmp_path):
    """Net calls a layer; what an arrow leads to from there is the backward pass of the layer, and has its frames."""
    arrow = {"cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1}
    events = [frame("main.py(1): main", 0, 1000, 1), frame("nn.Module: Net_0", 10, 400, 2, 1),
              frame("net.py(7): forward", 20, 300, 3, 2), frame("nn.Module: Linear_0", 30, 100, 4, 3), op(40, 50),
              op(200, 20), op(600, 20), op(2000, 100, "MmBackward0", ), op(2010, 50)]
    events[-2]["tid"] = events[-1]["tid"] = 2
    events += [{**arrow, "ph": "s", "tid": 1, "ts": 0.04}, {**arrow, "ph": "f", "tid": 2, "ts": 2.0, "bp": "e"}]
    path = write(tmp_path, "a.json", trace(events))
    assert parts(path, "module", "aten::mm") == {("Net_0.Linear_0",): 1, ("Net_0",): 1, (None,): 1,
                                                 ("Net_0.Linear_0.backward",): 1}
    assert parts(path, "module", "MmBackward0") == {("Net_0.Linear_0.backward",): 1}
    layer = "nn.Module: Linear_0; net.py(7): forward"
    assert parts(path, "stack:2", "aten::mm") == {(layer,): 2, ("net.py(7): forward; nn.Module: Net_0",): 1,
                                                  ("main.py(1): main",): 1}
    assert parts(path, "stack:1,module", "MmBackward0") == {("nn.Module: Linear_0", "Net_0.Linear_0.backward"): 1}
    assert parts(path, "stack", "aten::mm") == {(layer + "; nn.Module: Net_0; main.py(1): main",): 2,
                                                ("net.py(7): forward; nn.Module: Net_0; main.py(1): main",): 1,
                                                ("main.py(1): main",): 1}


def test_device_work_goes_with_its_operator(tmp_path):
    events = []
    for i, dims in enumerate(([1], [2], [1])):
        at = 100 * i
        events += [op(at, 50, **{"Input Dims": [dims]}), span("cudaLaunchKernel", "cuda_runtime", at + 5, 10, correlation=i),
                   span("gemm", "kernel", at + 20, 10 * (i + 1), 0, 7, correlation=i)]
    path = write(tmp_path, "a.json", trace(events))
    of = {row["shapes"]: row["self_device_ns"] for row in rows(path, "shapes") if row["name"] == "aten::mm"}
    assert of == {"[[1]]": 40, "[[2]]": 20}


# What people read, and tables ---------------------------------------------------------

def test_text_and_csv(tmp_path):
    path = write(tmp_path, "a.json", trace([op(0, 10, **{"Input Dims": [[2, 3]]}), op(20, 40, **{"Input Dims": [[4]]})]))
    said = run("trace", "--ops", "--by", "shapes,phase", path, expect=0).out
    lines = [line.split() for line in said.splitlines() if line.startswith("  ")][-3:]
    assert lines[0][:3] == ["name", "shapes", "phase"] and lines[1][:3] == ["aten::mm", "[[4]]", "other"]
    assert "and 1 row more" in run("trace", "--ops", "--by", "shapes", "-n", "1", path, expect=0).out
    assert "record_shapes=True" in run("trace", "--ops", "--by", "shapes", write(tmp_path, "b.json", trace([op(0, 10)])),
                                       expect=0).out
    table = list(csv.DictReader(io.StringIO(run("trace", "--ops", "--by", "shapes", "--csv", path, expect=0).out)))
    assert [(row["name"], row["shapes"], row["self_cpu_ns"], row["step"]) for row in table] == [
        ("aten::mm", "[[4]]", "40", ""), ("aten::mm", "[[2, 3]]", "10", "")]
    assert "shapes" not in run("trace", "--ops", "--csv", path, expect=0).out


def test_words_that_make_no_sense(tmp_path):
    for by, words in (("", "split by shapes"), ("shapes,", "split by shapes"), ("name", "not by \"name\""),
                      ("step:2", "not by \"step:2\""), ("stack:0", "from 1 to 64"), ("stack:65", "from 1 to 64"),
                      ("stack:", "from 1 to 64"), ("stack:99999999999", "from 1 to 64"), ("shapes,shapes", "twice")):
        said = run("trace", "--ops", "--by", by, EXAMPLE, expect=2)
        assert words in said.err and said.out == "", by
    assert "--ops" in run("trace", "--by", "shapes", EXAMPLE, expect=2).err
