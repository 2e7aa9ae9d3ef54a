"""What a trace tells of how it was recorded: by its header, or by events that only such a recording has."""
import json

from recordings.small_traces import memory, span, steps, trace, write

from conftest import run

SHOWS = {"record_shapes": span("aten::mm", "cpu_op", 0, 10, **{"Input Dims": [[2, 3]]}), "profile_memory": memory(512),
         "with_stack": span("aten::mm", "cpu_op", 0, 10, **{"Call stack": "train.py(3): main"})}
SWITCHES = (*SHOWS, "with_modules", "with_flops")
UNKNOWN = dict.fromkeys(SWITCHES)


def captured(folder, top):
    found = run("trace", "-j", write(folder, "run.json", top), expect=0).json()["capture"]
    return {switch: found[switch] for switch in SWITCHES}


def test_a_switch_that_the_file_does_not_tell_of_is_unknown(tmp_path):
    assert captured(tmp_path, trace(steps(1000))) == UNKNOWN
    for switch in SWITCHES:
        for value, is_on in ((1, True), (True, True), (0, False), (False, False), (None, None), ([1], None)):
            assert captured(tmp_path, trace(steps(1000), **{switch: value})) == {**UNKNOWN, switch: is_on}, (switch, value)


def test_events_show_what_was_recorded(tmp_path):
    for switch, event in SHOWS.items():
        assert captured(tmp_path, trace([*steps(1000), event])) == {**UNKNOWN, switch: True}
        assert captured(tmp_path, trace([event], **{switch: 0}))[switch], "events are what was recorded"
    assert captured(tmp_path, trace([*steps(1000), span("train.py(3): f", "python_function", 0, 9)]))["with_stack"]


def test_a_real_trace_of_2021(shared):
    path = shared / "data" / "traces" / "resnet50_v100_2021_memory_stacks.pt.trace.json.gz"
    found = run("trace", "-j", path, expect=0).json()["capture"]
    assert [found[switch] for switch in SWITCHES] == [True, True, True, None, None] and found["missing"] == []


def test_switches_are_written_again(tmp_path):
    path = write(tmp_path, "a.json", trace(steps(1000), record_shapes=1, with_flops=0))
    run("trace", "--repair", "-o", tmp_path / "b.json", path, expect=0)
    made = json.loads((tmp_path / "b.json").read_text())
    assert (made["record_shapes"], made["with_flops"]) == (1, 0) and "with_stack" not in made
