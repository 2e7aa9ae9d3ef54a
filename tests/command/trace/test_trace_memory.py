"""What memory was used for at the peak: two steps of a loop whose truth is known, and what the text says of it."""
import csv
import io
import json

import pytest

from conftest import answers, run, validate


def span(category, name, start, duration, tid=1, pid=1, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}


def memory(ts, size, address, total, reserved=8192):
    return {"ph": "i", "s": "t", "name": "[memory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": ts,
            "args": {"Device Type": 1, "Device Id": 0, "Bytes": size, "Addr": address, "Total Allocated": total,
                     "Total Reserved": reserved}}


def loop(kept):
    """Steps of 100 us, each of which keeps `kept` bytes that its forward took."""
    events, total = [span("kernel", "gemm", 30, 5, 7, 0, correlation=1)], 1000
    for step in range(5):
        at = step * 100
        events += [span("user_annotation", f"ProfilerStep#{step}", at, 100), span("user_annotation", "## forward ##", at, 40),
                   span("user_annotation", "## backward ##", at + 40, 40), span("cpu_op", "aten::mm", at + 10, 10),
                   span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at + 45, 20),
                   span("user_annotation", "## optimizer ##", at + 80, 20)]
        for ts, size, address in ((12, 512, 1), (22, kept, 100 + step), (50, 256, 2), (60, -512, 1), (90, -256, 2)):
            total += size
            events += [memory(at + ts, size, address, total)] if size else []
    return json.dumps({"traceEvents": events}).encode()


@pytest.fixture
def answer(tmp_path):
    def ask(kept, *options):
        (tmp_path / "run.json").write_bytes(loop(kept))
        return run("trace", *options, "run.json", cwd=tmp_path, expect=0).out
    return ask


def test_csv_has_what_json_has_of_a_device(answer):
    [row] = csv.DictReader(io.StringIO(answer(64, "--memory", "--csv")))
    [device] = json.loads(answer(64, "--json"))["memory"]
    for name in ("device_type", "device_number", "events", "base_bytes", "peak_bytes", "peak_ns", "final_bytes"):
        assert row[name] == str(device[name])


def test_the_peak_and_what_it_consisted_of(answer):
    document = json.loads(answer(0, "-j"))
    validate(document)
    row, = document["memory"]
    assert document["devices"][0]["memory"] == row
    assert (row["peak_bytes"], row["peak_ns"], row["peak_reserved_bytes"]) == (1768, 50000, 8192)
    assert (row["peak_step"], row["peak_phase"], row["peak_op"]) == (
        "ProfilerStep#0", "backward", "autograd::engine::evaluate_function: MmBackward0")
    assert (row["live"], row["live_bytes"], row["before_bytes"], row["unknown_ratio"]) == (2, 768, 1000, 0)
    assert {c["category"]: c["bytes"] for c in row["categories"]} == {
        "pre_existing": 1000, "activation": 512, "gradient": 256}
    assert [(b["bytes"], b["category"], b["op"], b["address"]) for b in row["largest"]] == [
        (512, "activation", "aten::mm", 1), (256, "gradient", "autograd::engine::evaluate_function: MmBackward0", 2)]
    assert row["growth"] == {"leaks": False, "steps": 0, "from_bytes": 1000, "to_bytes": 1000,
                             "step_end_bytes": [1000] * 5, "held_steps": 0, "held_blocks": [0] * 5}
    text = answer(0, "--memory")
    assert "GPU 0: 1.73 KiB in use at the peak" in text and "8.00 KiB reserved at most" in text
    assert "there before the recording" in text and "It grows" not in text


def test_growth_has_its_numbers(answer):
    row, = json.loads(answer(100, "-j"))["memory"]
    assert row["growth"] == {"leaks": True, "steps": 4, "from_bytes": 1100, "to_bytes": 1500,
                             "step_end_bytes": [1100, 1200, 1300, 1400, 1500],
                             "held_steps": 4, "held_blocks": [0, 1, 2, 3, 4]}
    assert "It grows: the last 4 steps each ended with over 1 % more" in " ".join(answer(100, "--memory").split())


def test_what_earlier_steps_made_may_grow_where_the_whole_does_not(answer):
    row, = json.loads(answer(10, "-j"))["memory"]
    assert (row["growth"]["leaks"], row["growth"]["steps"], row["growth"]["held_steps"]) == (True, 0, 4)
    text = " ".join(answer(10, "--memory").split())
    assert "It grows" not in text  # below 1 % a step
    assert ("The last 4 steps each ended with more gradients and activations that earlier steps had made: "
            "from 0 to 4.") in text


def test_without_addresses_nothing_is_told_apart(tmp_path):
    events = [e for e in json.loads(loop(0))["traceEvents"]]
    for event in events:
        event["args"].pop("Addr", None)
    (tmp_path / "run.json").write_text(json.dumps({"traceEvents": events}))
    document, = answers(run("trace", "-j", "run.json", cwd=tmp_path, expect=0)).values()
    row, = document[0]["memory"]
    assert row["live"] is row["live_bytes"] is row["before_bytes"] is row["unknown_ratio"] is None
    assert row["categories"] == row["largest"] == [] and row["peak_op"].startswith("autograd::")
    assert "the events tell no addresses" in run("trace", "--memory", "run.json", cwd=tmp_path, expect=0).out
