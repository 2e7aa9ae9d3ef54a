"""Phases of steps, and launches with their queues: parts that add up, in made and real traces."""
import csv
import io

import pytest
from recordings import trace_rules, traces

from conftest import answers, run, some

WALL = ("data_ns", "optimizer_ns", "recompute_ns", "backward_ns", "forward_ns", "other_ns")


def sound(answer):
    """Phases part each step and all of them; device work is parted too, as far as it is of steps."""
    steps = {(s["name"], s["first_ns"]): s for s in answer["steps"]}
    assert len(answer["step_phases"]) == len(answer["steps"])
    for phases, step in zip(answer["step_phases"], answer["steps"]):
        assert phases["step"] == step["name"]
        assert sum(phases[k] for k in WALL) == step["ns"] and all(phases[k] >= 0 for k in WALL)
        assert sum(v for k, v in phases.items() if k.endswith("_device_ns")) == step["device_ns"]
    if steps:
        whole = sum(s["ns"] for s in answer["steps"] if s["kind"] in ("plain", "warm_up"))
        assert sum(p["wall_ns"] for p in answer["phases"]) == whole
    else:
        assert sum(p["device_ns"] for p in answer["phases"]) == answer["figures"]["self_device_ns"]
    assert sum(q["work"] for q in answer["launches"]["queues"]) == answer["figures"]["link"]["with_launch"]
    for queue in answer["launches"]["queues"]:
        if queue["mean_depth"] is not None:
            assert 0 <= queue["mean_depth"] <= queue["most_depth"] + 1e-3
            assert 0 <= queue["empty_ratio"] + queue["full_ratio"] <= 1.000001


def test_parts_of_random_traces_add_up(tmp_path):
    for period in traces.PERIODS:
        for seed in range(some(2, 40)):
            (tmp_path / ("%s %d.json" % (period, seed))).write_bytes(traces.as_json(traces.make(seed, period)))
    names = sorted(p.name for p in tmp_path.iterdir())
    for found in answers(run("trace", "--json", *names, cwd=tmp_path, expect=0)).values():
        sound(found[0])


def test_parts_of_real_traces_add_up(shared):
    folder = shared / "data" / "traces"
    names = sorted(p.name for p in folder.iterdir() if ".json" in p.name)
    found = answers(run("trace", "--json", *names, cwd=folder, expect=0))
    for one in found.values():
        sound(one[0])
    resnet = found["resnet50_v100_2021_memory_stacks.pt.trace.json.gz"][0]
    by_phase = {p["phase"]: p for p in resnet["phases"]}
    assert all(100.5e6 <= s["device_ns"] <= 100.75e6 for s in resnet["steps"])
    assert by_phase["backward"]["device_ns"] > by_phase["forward"]["device_ns"] > by_phase["optimizer"]["device_ns"] > 0
    assert by_phase["data"]["device_ns"] == 0 and by_phase["data"]["wall_ns"] > 0.3 * 1.04e9
    [queue] = found["vllm_decode_mi300x.json.gz"][0]["launches"]["queues"]
    assert queue["most_depth"] == 434


@pytest.mark.parametrize("section, heading, words", [
    ("phases", "phase,wall_ns,device_ns", "phases of all steps together"),
    ("launches", "device,stream,work,ns", "launch call"),
    ("findings", "id,severity,text,culprit", "silent rules"),
])
def test_each_part_has_its_text_and_rows(tmp_path, section, heading, words):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_rules.as_json(trace_rules.busy(500)))
    assert words in run("trace", "--" + section, path, expect=0).out
    rows = list(csv.reader(io.StringIO(run("trace", "--csv", "--" + section, path, expect=0).out)))
    assert ",".join(rows[0]).startswith("file.path," + heading) and len({len(row) for row in rows}) == 1 and len(rows) > 1


def test_steps_that_only_an_optimizer_marks(tmp_path):
    path = tmp_path / "trace.json"
    trace = trace_rules.Trace().op("aten::mm", 0, 10)
    for at in (100, 200, 300):
        trace.range("Optimizer.step#Adam.step", at, 50)
    path.write_bytes(trace_rules.as_json(trace))
    answer = run("trace", "--json", path, expect=0).json()
    assert answer["step_source"] == "optimizer"
    assert [(s["name"], s["ns"]) for s in answer["steps"]] == [("step 0", 150), ("step 1", 100), ("step 2", 100)]
