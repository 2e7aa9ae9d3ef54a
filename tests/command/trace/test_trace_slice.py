"""Traces written anew: without their damage, or some of their steps."""
import gzip
import json

import pytest
from recordings import traces
from recordings.small_traces import memory, span, steps, trace, write

from conftest import run, some

# Counts of what a file has beside what is read of it, and how it is written.
OF_THE_FILE = ("events", "ph", "ts_form", "form", "other_categories", "ooms")


def figures(path):
    doc = run("trace", "-j", path, expect=0).json()
    return {k: v for k, v in doc["figures"].items() if k not in OF_THE_FILE}, doc


def rewritten(path, folder, *options):
    out = folder / "out.json"
    run("trace", path, *options, "-o", out, expect=0)
    json.loads(out.read_text())
    return out


def assert_same(path, folder):
    (have, doc), (want, _) = figures(rewritten(path, folder, "--repair")), figures(path)
    wrong = {k: (have[k], want[k]) for k in want if have[k] != want[k]}
    assert not wrong, (path.name, wrong)
    kinds = [one["kind"] for one in doc["file"]["damage"]]
    was_cut = not figures(path)[1]["file"]["complete"]
    assert kinds == (["truncated"] if was_cut else []) and doc["file"]["complete"] is not was_cut, path.name


# Repair -------------------------------------------------------------------------------

def test_real_traces_repaired(shared, tmp_path):
    for path in sorted((shared / "data" / "traces").glob("*.json*")):
        if path.stat().st_size < some(100_000, 1 << 30):
            assert_same(path, tmp_path)


def test_random_traces_repaired(tmp_path):
    for period in some(["2021", "2025", "rocm"], list(traces.PERIODS)):
        path = tmp_path / (period + ".json")
        path.write_bytes(traces.as_json(traces.make(1, period)))
        assert_same(path, tmp_path)


def test_links_without_their_begin_are_kept(tmp_path):
    """As of work that was launched before the recording."""
    links = [{"ph": ph, "id": i, "pid": 1, "tid": 1, "ts": 1, "cat": "ac2g", "name": "ac2g"} for i, ph in ((1, "s"), (1, "f"), (2, "f"))]
    path = write(tmp_path, "run.json", trace(steps(1000, 1200) + links))
    found = json.loads(rewritten(path, tmp_path, "--repair").read_text())["traceEvents"]
    assert [(e["ph"], e["id"]) for e in found if e["ph"] in "sf"] == [("s", 1), ("f", 1), ("f", 2)]


def test_damaged_traces_repaired(tmp_path):
    whole = json.dumps(trace(steps(1000, 1200, 1400)))
    damaged = {
        "cut": whole[:-30],
        "escape": whole.replace("aten::mm", "aten::\\cmm"),
        "quote": whole.replace('"gemm"', '"ge"mm"', 1),
        "comma": whole.replace("}}, {", "}},, {", 1),
        "word": whole.replace('"correlation": 1}', '"correlation": 1, "x": nan}'),
        "control": whole.replace("gemm", "ge\x01mm"),
        "junk": whole.replace("}}, {", "}}, ]]]junk {", 1),
    }
    for name, text in damaged.items():
        path = tmp_path / (name + ".json")
        path.write_text(text)
        assert figures(path)[1]["file"]["damage"], name
        assert_same(path, tmp_path)


def test_what_is_written_from_a_cut_file_says_so(tmp_path):
    """Also as a list alone, packed, and written once more."""
    events = trace(steps(1000, 1200, 1400))
    for name, doc in (("object", events), ("list", events["traceEvents"])):
        whole = json.dumps(doc)
        path = tmp_path / (name + ".json")
        path.write_text(whole[:-30])
        once = rewritten(path, tmp_path, "--repair").rename(tmp_path / (name + " 1.json"))
        twice = rewritten(once, tmp_path, "--repair").rename(tmp_path / (name + " 2.json"))
        packed = tmp_path / (name + ".json.gz")
        packed.write_bytes(gzip.compress(once.read_bytes()))
        at = json.loads(once.read_text())["recordingCutAtByte"]
        assert at <= len(whole) - 30
        for one in (once, twice, packed):
            page = " ".join(run("trace", one, expect=0).out.split())
            assert "INCOMPLETE: it was written from a file that ends too early" in page
            assert f"this file was written from one that ended too early, at its byte {at}; the whole events before are kept" in page
        assert "INCONCLUSIVE" in run("check", "--min-busy=99%", once, expect=0).out
        run("trace", "--strict", once, expect=3)


# Slices -------------------------------------------------------------------------------

def of_steps(path):
    return {s["name"]: (s["ns"], s["device_ns"], s["work"]) for s in run("trace", "-j", path, expect=0).json()["steps"]}


def test_steps_of_a_slice(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 1200, 1400, 1600, kernel=1.5)))
    all_steps = of_steps(path)
    for asked, kept in (("1..2", (1, 2)), ("0..0", (0,)), ("3..3", (3,)), ("2..", (2, 3)), ("..1", (0, 1)), ("0..", (0, 1, 2, 3))):
        out = rewritten(path, tmp_path, "--slice", asked)
        assert of_steps(out) == {"ProfilerStep#%d" % i: all_steps["ProfilerStep#%d" % i] for i in kept}
    assert of_steps(rewritten(path, tmp_path, "--slice", "2")) == {"ProfilerStep#2": all_steps["ProfilerStep#2"]}
    assert of_steps(rewritten(path, tmp_path, "--slice", "0..3")) == all_steps


def test_a_real_slice(shared, tmp_path):
    path = shared / "data" / "traces" / "transformer_gh200_2026.pt.trace.json"
    want, have = of_steps(path), of_steps(rewritten(path, tmp_path, "--slice", "8..8"))
    assert list(have) == ["ProfilerStep#8"] and have["ProfilerStep#8"] == want["ProfilerStep#8"]
    doc = run("trace", "-j", tmp_path / "out.json").json()
    links, rungs = doc["figures"]["link"], doc["figures"]["link"]["rungs"]
    assert links["attributed_ns"] == links["device_ns"] and sum(rungs.values()) == have["ProfilerStep#8"][2]
    assert doc["capture"]["devices"] and (tmp_path / "out.json").stat().st_size < path.stat().st_size / 2


def test_links_and_memory_of_a_slice(tmp_path):
    events = steps(1000, 1000, 1000)
    for i in range(3):
        events += [{"ph": "s", "cat": "ac2g", "id": i, "pid": 1, "tid": 1, "ts": i},
                   {"ph": "f", "cat": "ac2g", "id": i, "pid": 0, "tid": 7, "ts": i + 2.1, "bp": "e"},
                   {"ph": "f", "cat": "other", "id": i, "pid": 0, "tid": 7, "ts": i},
                   dict(memory(512), ts=i + 0.5)]
    out = rewritten(write(tmp_path, "a.json", trace(events)), tmp_path, "--slice", "1")
    made = json.loads(out.read_text())["traceEvents"]
    flows = sorted((e["ph"], e["cat"], e["id"]) for e in made if e["ph"] in "sf")
    assert flows == [("f", "ac2g", 1), ("s", "ac2g", 1)]
    assert sum(e["name"] == "[memory]" for e in made) == 1


def test_what_is_left_out(tmp_path):
    events = steps(10_000) + [span("train.py(1): f", "python_function", 10, 5000), span("aten::tiny", "cpu_op", 7000, 20)]
    path = write(tmp_path, "a.json", trace(events))

    def names(*options):
        return {e["name"] for e in json.loads(rewritten(path, tmp_path, "--repair", *options).read_text())["traceEvents"]}

    everything = names()
    assert {"train.py(1): f", "aten::tiny", "cudaLaunchKernel", "gemm"} <= everything
    assert everything - names("--drop-python") == {"train.py(1): f"}
    # The launch lasts 10 ns and the kernel needs it.
    assert everything - names("--min-duration", "21ns") == {"aten::tiny"}
    assert everything - names("--min-duration", "20ns") == set()
    assert everything - names("--min-duration", "1s", "--drop-python") == {"train.py(1): f", "aten::tiny"}


def test_a_slice_of_standard_input_on_standard_output(tmp_path):
    data = json.dumps(trace(steps(1000, 1200))).encode()
    made = json.loads(run("trace", "-", "--slice", "1", stdin=data, expect=0).out)
    assert [e["name"] for e in made["traceEvents"] if e["name"].startswith("Prof")] == ["ProfilerStep#1"]


@pytest.mark.parametrize("options, words", [
    (["--slice", "5..3"], "3..5"), (["--slice", "x"], "3..5"), (["--slice", ""], "3..5"), (["--slice", "-1"], "3..5"), (["--slice", ".."], "3..5"),
    (["--drop-python"], "name one of the two"), (["--min-duration", "5us"], "name one of the two"),
    (["--repair", "--json"], "leave one of them out"), (["--repair", "--ops"], "leave one of them out"),
    (["--slice", "1", "--min-duration", "5"], "takes a time"), (["--slice", "7..9"], "no step from 7 to 9"), (["--slice", "7"], "no step 7:")])
def test_words_that_make_no_sense(tmp_path, options, words):
    path = write(tmp_path, "a.json", trace(steps(1000, 1200)))
    said = run("trace", path, *options, expect=2)
    assert words in said.err and said.out == ""


def test_a_folder_has_no_slice(tmp_path):
    write(tmp_path, "a.json", trace(steps(1000, 1200)))
    for options in (["--slice", "1"], ["--repair"]):
        assert "is a folder; --repair and --slice take one FILE of it at a time" in run("trace", tmp_path, *options, expect=2).err


@pytest.mark.parametrize("asked, there, first, last", [("1..9", 0, 1, 2), ("..9", 0, 0, 2), ("0..1", 1, 1, 1)])
def test_steps_are_not_cut_down_unsaid(tmp_path, asked, there, first, last):
    events = steps(1000, 1200, 1400)
    path, out = write(tmp_path, "a.json", trace(events[4 * there:])), tmp_path / "out.json"
    said = run("trace", path, "--slice", asked, "-o", out, expect=2)
    words = "not all of these steps are there: the trace has %d to 2; %d..%d takes those of them" % (there, first, last)
    assert words in said.err and not out.exists()


@pytest.mark.parametrize("events, there", [(steps(1000, 1200), "are 0 to 1 "), ([span("aten::mm", "cpu_op", 0, 9)], "no ProfilerStep#N is in the trace"),
                                           (steps(1000, 1200)[4:], "are 1 to 1 ")])
def test_steps_beyond_those_of_the_trace(tmp_path, events, there):
    path, out = write(tmp_path, "a.json", trace(events)), tmp_path / "out.json"
    said = run("trace", path, "--slice", "7..9", "-o", out, expect=2)
    assert "no step from 7 to 9: " in said.err and there in said.err and not out.exists()


def test_a_trace_is_not_replaced_by_its_slice(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000, 1200)))
    before = path.read_bytes()
    run("trace", path, "--slice", "1", "-o", path, expect=2)
    run("trace", path, "--slice", "9", "-o", tmp_path / "b.json", expect=2)
    assert path.read_bytes() == before and not (tmp_path / "b.json").exists()
    run("trace", path, path, "--repair", expect=2)
    run("trace", tmp_path / "none.json", "--repair", expect=3)
