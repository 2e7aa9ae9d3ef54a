"""Rules about traces: each fires where it should and just not beside it, and says nothing untrue of real ones."""
import re

import pytest
from recordings import trace_rules

from conftest import ROOT, answers, run

EXAMPLE = ROOT / "examples" / "traces" / "training.pt.trace.json.gz"
# What one trace alone never decides.
NEVER = {"COMM-SKEW"}


def read(path, *options):
    return run("trace", "--json", *options, path, expect=0).json()


def ids(answer):
    return {f["id"] for f in answer["findings"]}


def clause(answer, rule):
    return next(s["clause"] for s in answer["silent"] if s["id"] == rule)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """(id, what is tested) -> the answers about the trace that fires and its twin."""
    folder = tmp_path_factory.mktemp("rules")
    for i, (_, _, fires, silent) in enumerate(trace_rules.CASES):
        (folder / ("%d fires" % i)).write_bytes(trace_rules.as_json(fires))
        (folder / ("%d silent" % i)).write_bytes(trace_rules.as_json(silent))
    names = sorted(p.name for p in folder.iterdir())
    found = answers(run("trace", "--json", *names, cwd=folder, expect=0))
    return {case[:2]: (found["%d fires" % i][0], found["%d silent" % i][0])
            for i, case in enumerate(trace_rules.CASES)}


@pytest.mark.parametrize("rule, what", [case[:2] for case in trace_rules.CASES])
def test_fires_and_just_not(judged, rule, what):
    fires, silent = judged[rule, what]
    assert rule in ids(fires), clause(fires, rule)
    assert rule not in ids(silent), [f for f in silent["findings"] if f["id"] == rule]
    assert clause(silent, rule)


def test_each_rule_is_tested(judged):
    answer = next(iter(judged.values()))[0]
    every = ids(answer) | {s["id"] for s in answer["silent"]}
    assert every == {case[0] for case in trace_rules.CASES} | NEVER


def test_findings_are_whole(judged):
    """Sentences have no place left open, the gain falls, and what is compared is among the evidence."""
    for fires, silent in judged.values():
        for answer in (fires, silent):
            bounds = [f["gain_bound_ns"] for f in answer["findings"]]
            known = [b for b in bounds if b is not None]
            assert known == sorted(known, reverse=True) and bounds == known + [None] * (len(bounds) - len(known))
            for f in answer["findings"]:
                whole, one = f["gain_bound_ns"], f["gain_bound_step_ns"]
                assert one is None or 0 <= one <= whole and (one == whole == 0 or 1 <= -(-whole // one) <= len(answer["steps"]))
                assert f["advice"] and not re.search(r"^$|[{}]|  |\(\)| - ", f["text"]), f
                assert all(isinstance(v, (int, float)) for v in f["evidence"].values())
            assert len(answer["findings"]) + len(answer["silent"]) == len({case[0] for case in trace_rules.CASES} | NEVER)


# Thresholds -----------------------------------------------------------------------------

def test_a_threshold_can_be_replaced(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.busy(750)))
    assert "GPU-LOW" not in ids(read(path))
    answer = read(path, "--threshold", "gpu-low-busy_ratio=0.8", "--threshold", "profiler-steps=0")
    assert {"GPU-LOW", "PROF-LONG"} <= ids(answer)
    found = next(f for f in answer["findings"] if f["id"] == "GPU-LOW")
    assert found["threshold"] == {"gpu-low-busy_ratio": 0.8} and found["evidence"]["busy_ratio"] == 0.75


def test_a_threshold_that_is_none(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.busy(750)))
    wrong = run("trace", path, "--threshold", "gpu-low=0.8", expect=2)
    assert 'no rule has a threshold "gpu-low"' in wrong.err and "  gpu-low-busy_ratio\n" in wrong.err
    for text in ("gpu-low-busy_ratio", "gpu-low-busy_ratio=", "gpu-low-busy_ratio=x", "gpu-low-busy_ratio=-1"):
        assert "is a number from 0 on" in run("trace", path, "--threshold", text, expect=2).err


@pytest.mark.parametrize("words, why", [
    (["--threshold", "gpu-low-busy_ratio=abc"], "is a number from 0 on"), (["--threshold", "gpu=1"], 'no rule has a threshold "gpu"'),
    (["--ops", "--by", "colour"], "colour"), (["--ops", "--by", "stack:0"], "stack"), (["--ops", "--by", "shapes,shapes"], "shapes"),
    (["--tree", "--min-share", "2x"], "a share is a percentage"), (["--tree", "--min-share", "-1"], "a share is a percentage")])
def test_words_are_judged_before_a_file_is_opened(tmp_path, words, why):
    said = run("trace", *words, tmp_path / "there_is_none.json", expect=2)
    assert why in said.err and "there_is_none" not in said.err and said.out == ""


def test_docs_have_the_table():
    """docs/trace-rules.md has every rule and every threshold with its default."""
    text = (ROOT / "docs" / "trace-rules.md").read_text()
    listed = run("trace", EXAMPLE, "--threshold", "x=1", expect=2).err
    names = re.findall(r"^  (\S+)$", listed, re.M)
    rows = dict(re.findall(r"^\| `([a-z_-]+)` \| ([^|]+) \|", text, re.M))
    assert list(rows) == names
    table = (ROOT / "src" / "analysis" / "trace" / "rules" / "thresholds.c").read_text()
    values = re.findall(r'\{ "([a-z_-]+)", ([0-9.e]+),', table)
    assert {k: float(v) for k, v in rows.items()} == {k: float(v) for k, v in values}
    assert set(re.findall(r"^\| ([A-Z0-9]+(?:-[A-Z0-9]+)*) \|", text, re.M)) == {c[0] for c in trace_rules.CASES} | NEVER


# Real ones ------------------------------------------------------------------------------

def test_the_example_says_what_is_true_of_it():
    """A loop on the CPU whose loader sleeps, without workers."""
    answer = read(EXAMPLE)
    assert ids(answer) == {"DATA-1", "DATA-2", "DATA-3", "PROF-COARSE"}
    assert all("_SingleProcessDataLoaderIter" in f["culprit"] for f in answer["findings"] if f["id"] != "PROF-COARSE")
    text = run("trace", EXAMPLE, "--findings", expect=0).out
    assert "num_workers" in text and "GPU-LOW       no device activity was recorded" in text


READINGS = {
    "resnet50_v100_2021_memory_stacks.pt.trace.json.gz": {"DATA-3", "GPU-LOW", "H2D-PAGEABLE"},
    "particle_transformer_a100_single_sample.json": {"SLOW-LAUNCH"},
    "matmul_a10g_int_ts.json": {"H2D-PAGEABLE", "HOST-1"},
    "transformer_gh200_2026.pt.trace.json": {"HOST-1", "TC-IDLE"},
    "vgg16_t4.json": {"GPU-HIGH"},
}
SILENT = {
    "resnet50_v100_2021_memory_stacks.pt.trace.json.gz": {"ALLOC-STEP": "no allocation calls were recorded"},
    "particle_transformer_a100_single_sample.json": {"ALLOC-STEP": "the trace has no steps",
                                                     "PROF-NOWARM": "the trace has no steps"},
    "qwen0.5b_h100_memory.json.gz": {"DATA-1": "no range", "DATA-2": "no range", "DATA-3": "no range"},
    "vgg16_t4.json": {"GPU-LOW": "is not below", "HOST-1": "is not below"},
    "particle_transformer_cpu_only_memory.pt.trace.json": {"GPU-LOW": "a GPU is listed, but nothing ran on it"},
    "cpu_only_gloo.pt.trace.json.gz": {"GPU-LOW": "no device activity", "DATA-1": "no range"},
    "pipeline_not_kineto.json": {"GPU-LOW": "not one of torch.profiler", "PROF-NOMEM": "not one of torch.profiler"},
}


@pytest.mark.parametrize("name", sorted(READINGS.keys() | SILENT.keys()))
def test_readings_of_real_traces(shared, name):
    answer = read(shared / "data" / "traces" / name)
    assert READINGS.get(name, set()) <= ids(answer)
    for rule, text in SILENT.get(name, {}).items():
        assert text in clause(answer, rule)


def test_who_is_named_in_real_traces(shared):
    folder = shared / "data" / "traces"
    by_id = {f["id"]: f for f in read(folder / "matmul_a10g_int_ts.json")["findings"]}
    assert by_id["HOST-1"]["culprit"] == "aten::normal_"
    by_id = {f["id"]: f for f in read(folder / "particle_transformer_a100_single_sample.json")["findings"]}
    assert by_id["SLOW-LAUNCH"]["evidence"]["longest_ns"] > 670e6
    by_id = {f["id"]: f for f in read(folder / "resnet50_v100_2021_memory_stacks.pt.trace.json.gz")["findings"]}
    assert "_SingleProcessDataLoaderIter" in by_id["DATA-3"]["culprit"]


def test_tf32_is_advised_where_the_device_has_it(tmp_path):
    path = tmp_path / "trace.json"
    for major, is_advised in ((7, False), (8, True)):
        path.write_bytes(trace_rules.as_json(trace_rules.products(9, trace_rules.FP32, major)))
        advice = next(f["advice"] for f in read(path)["findings"] if f["id"] == "TC-IDLE")
        assert "torch.autocast" in advice and ("set_float32_matmul_precision" in advice) == is_advised


def test_what_gains_little_does_not_stand_on_the_first_screen_alone(tmp_path):
    """A device that is fully used, where of 2000 waiting costs 9."""
    path = tmp_path / "trace.json"
    trace = trace_rules.Trace().steps(990, 1010).work(0, 500).work(500, 499).work(1008, 990, launch=1008)
    trace.call("cudaStreamSynchronize", 500, 10).call("cudaStreamSynchronize", 998, 10)
    path.write_bytes(trace_rules.as_json(trace))
    found = next(f for f in read(path)["findings"] if f["id"] == "SYNC-STEP")
    assert found["gain_bound_ns"] == found["evidence"]["sync_idle_ns"] == 9
    assert "(1 call, in 1 of 1 step); 9 ns of the device's idle time are owed to that" in found["text"]
    page = run("trace", path, expect=0).out
    assert "GPU-HIGH" in page and "SYNC-STEP" not in page
    page = run("trace", path, "--threshold", "lead-gain_ratio=0.001", expect=0).out
    assert "SYNC-STEP" in page and "GPU-HIGH" not in page


def test_a_gain_is_told_for_one_step_and_for_all(tmp_path):
    """Half of each step of 100 loads."""
    path = tmp_path / "trace.json"
    for steps, words in ((2, "at most 50 ns a step to gain, 100 ns in 2 steps: "), (1, "at most 50 ns to gain in the one step: ")):
        trace = trace_rules.Trace().steps(*[100] * steps)
        for number in range(steps):
            trace.range("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 100 * number + 10, 50)
        path.write_bytes(trace_rules.as_json(trace))
        found = next(f for f in read(path)["findings"] if f["id"] == "DATA-3")
        assert (found["gain_bound_ns"], found["gain_bound_step_ns"]) == (50 * steps, 50)
        for verb in ("trace", "diagnose"):
            assert words in " ".join(run(verb, path, expect=0).out.split()), verb


def data_3(tmp_path, trace):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace))
    return next(f for f in read(path)["findings"] if f["id"] == "DATA-3")


def test_where_loading_passes(tmp_path):
    """By the function in which most of it passes, and what that does; a share of one half is not most."""
    frame, op, loading = trace_rules.Loop.frame, trace_rules.Loop.op, trace_rules.loading
    read_it = (frame, "data.py(9): read", 10, 251)
    found = data_3(tmp_path, loading(read_it, (frame, "<built-in function sleep>", 11, 126)))
    assert found["line"] == "data.py(9): read" and found["culprit"].startswith("enumerate(DataLoader)#_Single")
    assert found["advice"].startswith("252 ns of it data.py(9): read slept or read files: keep samples in memory")
    assert found["evidence"]["line_ns"] == 2 * 251
    found = data_3(tmp_path, loading(read_it, (frame, "<built-in function sleep>", 11, 125)))
    assert found["line"] == "data.py(9): read" and "502 ns of it data.py(9): read computed: do that once" in found["advice"]
    found = data_3(tmp_path, loading((frame, "data.py(9): read", 10, 250)))
    assert found["line"] is None and found["advice"].startswith("give the loader workers")
    found = data_3(tmp_path, loading((op, "aten::flip", 10, 246)))
    assert found["advice"].startswith("502 ns of it are operators: ")
    found = data_3(tmp_path, loading((op, "aten::flip", 10, 245)))
    assert found["advice"].startswith("give the loader workers")
    found = data_3(tmp_path, loading((frame, "queue.py(9): get", 10, 400), loader="_MultiProcessingDataLoaderIter"))
    assert found["line"] == "train.py(3): train" and "with num_workers=0 to see which line" in found["advice"]


WORKERS = "num_workers=8, or the number of processors if that is less; persistent_workers=True, prefetch_factor=4"


def test_a_device_is_advised_where_one_worked(tmp_path):
    """As is pinned memory, which only a device is copied from."""
    frame, op, loading = trace_rules.Loop.frame, trace_rules.Loop.op, trace_rules.loading
    for inside, host, device in (
            ([], "give the loader workers (%s), or keep decoded samples",
             "give the loader workers (%s), keep decoded samples, or augment on the device"),
            ([(frame, "data.py(9): read", 10, 400)], "or for the whole batch at once; else give the loader workers (%s)",
             "or on the device for the whole batch; else give the loader workers (%s)"),
            ([(op, "aten::flip", 10, 400)], "or for the whole batch at once; else give the loader workers (%s)",
             "or on the device for the whole batch; else give the loader workers (%s)")):
        assert data_3(tmp_path, loading(*inside))["advice"].endswith(host % WORKERS)
        assert data_3(tmp_path, loading(*inside).work(900, 50))["advice"].endswith(device % (WORKERS + ", pin_memory=True"))
    waits = loading(loader="_MultiProcessingDataLoaderIter")
    assert f"use more of them, as long as there are processors for them ({WORKERS}); record" in data_3(tmp_path, waits)["advice"]


def test_a_comprehension_is_part_of_its_function(tmp_path):
    inside = [(trace_rules.Loop.frame, "data.py(9): read", 10, 400), (trace_rules.Loop.frame, "data.py(10): <listcomp>", 20, 380)]
    assert data_3(tmp_path, trace_rules.loading(*inside))["line"] == "data.py(9): read"


def test_an_operator_of_the_loss_is_part_of_the_forward(tmp_path):
    """It has the number of a node that ran backward in its step, behind the first module."""
    path = tmp_path / "trace.json"
    for number, place, gain in ((7, 1, 0), (8, 1, 200), (7, 0, 200)):
        trace = trace_rules.Trace().steps(1000, 1000).span("python_function", "train.py(3): train", 0, 2000)
        for at in (0, 1000):
            trace.range("enumerate(DataLoader)#x", at, 300).span("python_function", "nn.Module: N_0", at + 500, 200)
            trace.op("aten::nll_loss", at + (300, 700)[place], 200, **{"Sequence number": number + at})
            trace.op("autograd::engine::evaluate_function: NllBackward0", at + 900, 100, **{"Sequence number": 7 + at})
        path.write_bytes(trace_rules.as_json(trace))
        found = next(f for f in read(path)["findings"] if f["id"] == "STEP-OTHER")
        assert found["evidence"]["other_ns"] == 2 * (200 + gain), (number, place)


REMEDIES = ["num_workers=8", "persistent_workers=True", "prefetch_factor=4", "pin_memory=True", "keep samples in memory",
            "SSD", "on the device", "torch.autocast", "multiples of 8, of 16 in bfloat16", "torch.compile", "non_blocking=True"]


def test_remedies_are_named(judged, tmp_path):
    given = [f["advice"] for answers_of_a_case in judged.values() for answer in answers_of_a_case for f in answer["findings"]]
    slow = trace_rules.loading((trace_rules.Loop.frame, "data.py(9): read", 10, 400),
                               (trace_rules.Loop.frame, "<built-in method read of _io.FileIO object at 0x1>", 11, 390))
    given.append(data_3(tmp_path, slow)["advice"])
    for remedy in REMEDIES:
        assert any(remedy in advice for advice in given), remedy


# Which of several reasons comes first ---------------------------------------------------

def judgement(tmp_path, trace):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace))
    found = {f["id"]: f for f in read(path)["findings"]}
    return next(((i, found[i]["advice"]) for i in ("GPU-LOW", "GPU-HIGH", "GPU-MIXED") if i in found), None)


def test_loading_comes_before_the_host(tmp_path):
    """Loading that takes longer than computing is named, however little the device works."""
    rule, advice = judgement(tmp_path, trace_rules.loop(501).work(0, 100))
    assert rule == "GPU-LOW" and advice.startswith("begin with the loading of data")
    rule, advice = judgement(tmp_path, trace_rules.loop(400).work(0, 100))
    assert rule == "GPU-LOW" and advice.startswith("the host is late")


def test_below_half_it_is_the_host_and_above_by_what_the_gaps_say(tmp_path):
    assert judgement(tmp_path, trace_rules.busy(499))[1].startswith("the host is late")
    assert judgement(tmp_path, trace_rules.busy(600))[1].startswith("look at the gaps")
    assert judgement(tmp_path, trace_rules.late(600))[1].startswith("the host is late")


def test_fewer_launches_are_advised_where_there_are_many(tmp_path):
    """One operator of the host makes the device wait, or many launches do."""
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.late(400)))
    for found in (f for f in read(path)["findings"] if f["id"] in ("GPU-LOW", "HOST-1")):
        assert "(2.0 launches a step): do on the device what aten::normal_ does" in found["advice"]
        assert found["evidence"]["launches_per_step"] == 2 and found["threshold"]["host-launches"] == 10
    path.write_bytes(trace_rules.as_json(trace_rules.late(400)).replace(b"aten::normal_", b"aten::item"))
    assert all(f["advice"].endswith("wait for the device less often, as aten::item does") for f in read(path)["findings"]
               if f["id"] in ("GPU-LOW", "HOST-1"))
    answer = read(path, "--threshold", "host-launches=2")
    assert all("launch less and larger work" in f["advice"] for f in answer["findings"] if f["id"] in ("GPU-LOW", "HOST-1"))


def test_shapes_are_missed_where_a_rule_would_use_them(tmp_path):
    path = tmp_path / "trace.json"
    half, single = "ampere_bf16_s16816gemm_bf16_64x64_tn", "ampere_sgemm_64x64_tn"
    for name, kernel, is_missed in (("aten::mm", half, True), ("aten::mm", single, False), ("aten::add", half, False)):
        path.write_bytes(trace_rules.as_json(trace_rules.Trace().op(name, 0, 10).work(20, 90, launch=1, name=kernel)))
        assert ("no input shapes" in run("trace", path, expect=0).out) == is_missed


def test_sizes_of_the_longest_product_are_told(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.shaped([[64, 32], [32, 50257]])))
    found = next(f for f in read(path)["findings"] if f["id"] == "TC-ALIGN")
    assert re.search(r"no multiple of 8, the longest 64 x 32 by 32 x 50\s257$", found["text"]), found["text"]
    assert found["culprit"] == "aten::mm" and found["gain_bound_ns"] == 90


def test_memory_that_was_to_be_recorded(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.Trace(profile_memory=1).op("a", 0, 9)))
    assert "no event of it is in the trace" in clause(read(path), "PROF-NOMEM")
    path.write_bytes(trace_rules.as_json(trace_rules.Trace(profile_memory=1).op("a", 0, 9).memory(1, 9)))
    assert clause(read(path), "PROF-NOMEM") == "memory was recorded"


def test_above_it_is_mixed_or_the_device(tmp_path):
    assert [judgement(tmp_path, trace_rules.busy(ns))[0] for ns in (699, 700, 900, 901)] == \
        ["GPU-LOW", "GPU-MIXED", "GPU-MIXED", "GPU-HIGH"]


def test_slow_launches_are_told_from_a_late_host(tmp_path):
    trace = trace_rules.Trace().work(0, 10).work(900_000, 10, launch=20, took=850_000)
    assert judgement(tmp_path, trace)[1].startswith("launches themselves were slow")
