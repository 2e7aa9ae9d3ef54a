"""Row D31: two measurements on simulated devices, before a change and after it; and two traces."""
import json
import random
import re
import runpy

import pytest
import vramscope
from conftest import ROOT, validate
from recordings.small_traces import steps, trace, write
from vramscope import sim

MS = 1_000_000
TRACE = ROOT / "examples" / "traces" / "training.pt.trace.json.gz"


def measured(forward_ms=6.0, *, seed=1, batches=40, spread=0.03, mib=100, load_ms=1.0):
    """A training whose forward takes so long, give or take `spread`, its backward 3 ms, its optimizer 1 ms."""
    draw = random.Random(seed)

    class Part:
        training = True

        def __call__(self, data):
            self.kept = device.alloc(mib << 20)
            work(forward_ms)

        def backward(self):
            work(3)
            device.free(self.kept)

        def step(self):
            work(1)

        def zero_grad(self):
            pass

    def work(ms):
        device.advance(int(ms * MS * max(draw.gauss(1, spread), 0)))

    def loader():
        while True:
            work(load_ms)
            yield b"data", b"target"

    with sim.Device("8GiB") as device:
        part = Part()
        return vramscope.measure_training(part, loader(), criterion=lambda output, target: part, optimizer=part,
                                          batches=batches)


def compared(before, after, **how):
    made = vramscope.compare(before, after, **how)
    validate(dict(made))
    return made


def times(made):
    return {row["name"]: row for row in made["times"]}


def test_the_same_program_twice_is_no_change():
    verdicts = [compared(measured(seed=2 * i), measured(seed=2 * i + 1))["verdict"] for i in range(20)]
    assert verdicts.count("within_noise") + verdicts.count("no_difference") >= 19
    steady = compared(measured(spread=0), measured(spread=0))
    assert steady["verdict"] == "no_difference" and times(steady)["step"]["change"] == 0
    assert "no difference: the median step takes 10.0 ms in both" in steady.text()
    assert times(compared(measured(seed=1, spread=0.2), measured(seed=1, spread=0.2)))["step"]["verdict"] == "within_noise"


def test_a_planted_change_is_found_and_its_size_lies_in_the_interval():
    """The whole of many comparisons, so that the interval is no luck."""
    for forward_ms, verdict in ((7.0, "slower"), (5.0, "faster")):
        held = 0
        for seed in range(20):
            step = times(compared(measured(seed=seed), measured(forward_ms, seed=100 + seed)))["step"]
            assert step["verdict"] == verdict
            assert (step["change_low"] > 0) == (verdict == "slower") and step["change_low"] <= step["change_high"]
            held += step["change_low"] <= forward_ms - 6.0 <= step["change_high"]
        assert held >= 18


def test_what_runs_differ_by_is_noise_where_the_program_was_measured_again():
    """Three processes of one program, whose forward takes 6, 6.6 and 5.5 ms: a shift, that is in no interval."""
    first, other, third = (measured(ms, seed=seed) for seed, ms in enumerate((6.0, 6.6, 5.5)))
    alone = compared(first, other)
    assert alone["verdict"] == "slower" and alone["again"] == []
    assert {(row["between_runs"], row["repeats"]) for row in alone["times"]} == {(None, 0)}
    assert "what two runs of one program differ by on this machine is not in them" in " ".join(alone.text().split())
    both = compared(first, other, again=[third, other])
    step, was = times(both)["step"], times(alone)["step"]
    medians = [made.time("step")["median"] for made in (first, other, third)]
    assert both["verdict"] == "within_noise" and step["repeats"] == 2
    assert step["between_runs"] == pytest.approx(max(abs(each - medians[0]) for each in medians))
    assert step["change_high"] - was["change_high"] == pytest.approx(step["between_runs"])
    assert was["change_low"] - step["change_low"] == pytest.approx(step["between_runs"])
    assert "as 2 repeats tell it: up to" in " ".join(both.text().split())
    assert both["memory"] == alone["memory"] and both["figures"] == alone["figures"]
    assert compared(first, measured(9.0, seed=7), again=[third, other])["verdict"] == "slower"
    assert compared(first, measured(3.0, seed=8), again=[third, other])["verdict"] == "faster"
    limited = [vramscope.compare(first, other, again=again, fail_over="1%").verdict for again in ([], [third, other])]
    assert limited == [False, False]  # noise or not


def test_repeats_are_objects_paths_and_diagnoses(tmp_path):
    before, after, again = measured(), measured(5.0, seed=2), measured(seed=3)
    (tmp_path / "again.json").write_text(again.json())
    wanted = compared(before, after, again=[again])
    assert wanted["again"] == [{"path": "(again)", "size_bytes": len(again.json()), "tool": again["tool"], "conditions": []}]
    diagnosis = {"schema": "vramscope.diagnosis/1", "tool": "1.0.0", "verdict": {"kind": "x"}, "measurement": dict(again)}
    (tmp_path / "diagnosis.json").write_text(json.dumps(diagnosis))
    for given in ((tmp_path / "again.json",), iter([str(tmp_path / "diagnosis.json")])):
        assert compared(before, after, again=given)["times"] == wanted["times"]


def test_a_repeat_that_is_not_like_the_program_is_said(tmp_path):
    before, after = measured(), measured(7.0, seed=2)
    few = compared(before, after, again=[measured(9.0, batches=5)])
    assert few["verdict"] == "slower" and {row["between_runs"] for row in few["times"]} == {None}
    assert "is not known, and not in the intervals" in " ".join(few.text().split())
    document = json.loads(before.json())
    document["conditions"]["dtype"] = "bfloat16"
    (tmp_path / "other.json").write_text(json.dumps(document))
    made = compared(before, after, again=[tmp_path / "other.json"])
    assert [row["name"] for row in made["again"][0]["conditions"]] == ["dtype"] and made["conditions"] == []
    assert "bfloat16 in" in " ".join(made.text().split())


def test_what_is_no_repeat():
    good = measured()
    latency = vramscope.measure_latency(lambda: None, iterations=1)
    for sides, again, words in (((good, good), [latency], "repeat 1 measured another thing than A"),
                                ((good, good), [TRACE], "a profiler trace; again takes measurements of the program of before"),
                                ((good, good), [good] * 17, "16 measurements at most"),
                                ((TRACE, TRACE), [good], "traces are compared by their steps")):
        with pytest.raises(vramscope.Error, match=words) as raised:
            vramscope.compare(*sides, again=again)
        assert raised.value.status == "usage"
    for nonsense in (good, "again.json", TRACE, None, 7, [None]):
        with pytest.raises(TypeError):
            vramscope.compare(good, good, again=nonsense)


def test_a_change_below_one_percent_is_no_difference():
    made = compared(measured(6.0, spread=0), measured(6.05, spread=0))
    assert made["verdict"] == "no_difference" and times(made)["step"]["change"] == pytest.approx(0.05)
    assert "which is within 1 %" in " ".join(made.text().split())
    assert compared(measured(6.0, spread=0), measured(6.2, spread=0))["verdict"] == "slower"


def test_loading_and_computing_are_told_apart():
    made = compared(measured(load_ms=8), measured(load_ms=2, seed=2))
    assert made["judged"] == "step" and made["verdict"] in ("within_noise", "no_difference")
    assert times(made)["data"]["verdict"] == "faster"
    first, second = made.text().split("loading ")[:2]
    assert first.startswith("verdict") and "faster in this pair of runs: the median batch is loaded in" in " ".join(second.split())


def test_few_values_are_too_few():
    made = compared(measured(batches=5), measured(20.0, batches=5))
    assert made["verdict"] == "not_judged" and {row["reason"] for row in made["times"]} == {"few_values"}
    assert "too few values to tell" in made.text()
    assert compared(measured(batches=6), measured(20.0, batches=6))["verdict"] == "slower"


def test_values_are_those_of_the_statistics():
    row = measured(batches=7).time("step")
    assert len(row["values"]) == row["count"] == 7 and sorted(row["values"])[3] == row["median"]
    with sim.Device() as device:
        many = vramscope.measure_latency(lambda: device.advance(MS), iterations=5000, warmup=1).time("latency")
    assert many["count"] == 5000 and len(many["values"]) == 4096


def test_documents_without_values_have_medians_alone(tmp_path):
    document = dict(measured())
    for row in document["times"]:
        del row["values"]
    (tmp_path / "old.json").write_text(json.dumps(document))
    made = compared(tmp_path / "old.json", measured(9.0))
    step = times(made)["step"]
    assert (step["verdict"], step["reason"], step["change_low"]) == ("not_judged", "no_values", None)
    assert step["change"] == pytest.approx(3, abs=0.5)


def test_memory_is_compared_by_phase():
    made = compared(measured(mib=100), measured(mib=60))
    peaks = {row["path"]: (row["verdict"], row["change_bytes"], row["change_delta_bytes"]) for row in made["memory"]}
    assert peaks["forward"] == ("less", -40 << 20, -40 << 20) and peaks["copy"][0] == "equal"
    assert {row["path"]: row["verdict"] for row in compared(measured(mib=60), measured(mib=100))["memory"]}["forward"] == "more"


def test_paths_objects_and_diagnoses_are_one(tmp_path):
    before, after = measured(), measured(5.0, seed=2)
    (tmp_path / "after.json").write_text(after.json())
    diagnosis = {"schema": "vramscope.diagnosis/1", "tool": "1.0.0", "verdict": {"kind": "x"}, "measurement": dict(before)}
    (tmp_path / "before.json").write_text(json.dumps(diagnosis))
    wanted = compared(before, after)
    for a, b in ((before, str(tmp_path / "after.json")), (tmp_path / "before.json", after),
                 (str(tmp_path / "before.json").encode(), tmp_path / "after.json")):
        made = compared(a, b)
        assert made["times"] == wanted["times"] and made["memory"] == wanted["memory"]
    assert (wanted["a"]["path"], wanted["b"]["path"]) == ("(before)", "(after)")
    assert wanted["a"]["size_bytes"] == len(before.json())
    assert "A: (before): measurement of training" in wanted.text() and wanted.csv().startswith("name,")


def test_two_diagnoses_are_compared(tmp_path):
    made = []
    for ms in (2, 3):
        with sim.Device() as device:
            made.append(vramscope.diagnose(None, [b"batch"] * 30, step=lambda batch: device.advance(ms * MS)))
    paths = [tmp_path / "before.json", tmp_path / "after.json"]
    for found, path in zip(made, paths):
        found.save(path)
    for before, after in (made, paths, (made[0], paths[1])):
        step = times(compared(before, after))["step"]
        assert (step["verdict"], step["change"], step["change_ratio"]) == ("slower", 1.0, 0.5)
    assert compared(made[0], made[0])["verdict"] == "no_difference"


def test_a_limit_gives_a_verdict():
    before, after = measured(), measured(7.0)
    assert vramscope.compare(before, after).verdict is None
    assert vramscope.compare(before, after, fail_over="2ms").verdict is True
    assert vramscope.compare(before, after, fail_over="2%").verdict is False
    assert vramscope.compare(after, before, fail_over="0%").verdict is True
    with pytest.raises(vramscope.Error, match="fail_over takes a time"):
        vramscope.compare(before, after, fail_over="5MiB")


def test_traces_are_compared_as_diff_does(tmp_path):
    a, b = (write(tmp_path, name, trace(steps(*lengths))) for name, lengths in (("a", (1000, 1010, 1020)), ("b", (1500, 1510, 1520))))
    with vramscope.load(a) as one, vramscope.load(b) as other:
        made = vramscope.compare(one, other, fail_over="10%")
        assert made["step"] == vramscope.compare(a, other)["step"] == vramscope.compare(a, b)["step"]
    assert made["schema"] == "vramscope.trace-diff/1" and made.verdict is False and "B is slower" in made.text()
    with pytest.raises(ValueError, match="closed"):
        vramscope.compare(one, b)


def test_rows_are_columns():
    made = vramscope.compare(measured(), measured(7.0))
    times = made.table("times")
    assert list(times["name"]) == [row["name"] for row in made["times"]]
    assert list(times["change"]) == pytest.approx([row["change"] for row in made["times"]])


def test_the_bundled_measurements_are_what_their_program_makes():
    folder = ROOT / "examples" / "measurements"
    program = runpy.run_path(str(folder / "measure.py"))
    for name, how in program["MADE"].items():
        bundled = json.loads((folder / f"{name}.json").read_text())
        made = program["measured"](**how)
        for member in ("times", "phases", "conditions", "notes"):
            assert made[member] == bundled[member]
        for row in bundled["figures"]:  # of sums, whose last digit is no promise
            assert made.figure(row["name"]) == (None if row["value"] is None else pytest.approx(row["value"]))


def test_the_side_that_failed_is_named(tmp_path):
    good, missing, snapshot = measured(), tmp_path / "missing.json", ROOT / "examples" / "oom.pickle"
    for before, after, again, words in (
            (missing, good, [], f"before: {missing}: cannot be opened"), (good, missing, [], f"after: {missing}: cannot be opened"),
            (good, good, [good, missing], f"again[1]: {missing}: cannot be opened"),
            (snapshot, good, [], "before: a memory snapshot"), (good, snapshot, [], "after: a memory snapshot"),
            (good, TRACE, [], "before is a measurement and after a profiler trace"), (TRACE, good, [], "before is a profiler trace and after a measurement"),
            (good, good, [TRACE], "again[0]: a profiler trace"), (good, good, [good, snapshot], "again[1]: a memory snapshot")):
        with pytest.raises(vramscope.Error, match="^" + re.escape(words)) as raised:
            vramscope.compare(before, after, again=again)
        assert raised.value.path == (str(missing) if missing in (before, after, *again) else None)
    with pytest.raises(TypeError, match=r"^again\[1\] is a Measurement.* not 7"):
        vramscope.compare(good, good, again=[good, 7])
    document = json.loads(good.json())
    document["times"][-1]["median"] *= 2
    wrong = vramscope.Measurement("training", *(document[name] for name in ("times", "phases", "figures", "conditions", "notes")))
    with pytest.raises(vramscope.Error, match=r'^after: byte \d+: "times\[5\].median" is '):
        vramscope.compare(good, wrong)


def test_a_limit_is_read_before_files(tmp_path):
    for limit in ("5MiB", "5x", ""):
        with pytest.raises(vramscope.Error, match="fail_over takes a time"):
            vramscope.compare(tmp_path / "missing", tmp_path / "missing", fail_over=limit)


def test_what_cannot_be_compared(tmp_path):
    good = measured()
    wrong = tmp_path / "wrong.json"
    wrong.write_text(good.json().replace('"count": 40', '"count": -1'))
    for before, after, status, words in (
            (good, TRACE, "usage", "which cannot be compared"), (TRACE, good, "usage", "which cannot be compared"),
            (good, ROOT / "examples" / "oom.pickle", "usage", "Recording.diff"), (good, wrong, "corrupt", "times\\[0\\].count"),
            (good, tmp_path / "missing", "io", "missing"),
            (good, vramscope.measure_latency(lambda: None, iterations=1), "usage", "measured different things")):
        with pytest.raises(vramscope.Error, match=words) as raised:
            vramscope.compare(before, after)
        assert raised.value.status == status
    for nonsense in (None, 7, {"schema": 1}):
        with pytest.raises(TypeError, match="^after is a Measurement"):
            vramscope.compare(good, nonsense)
    with pytest.raises(vramscope.Error, match="vramscope compare holds two"):
        vramscope.load(ROOT / "examples" / "measurements" / "before.json")
