"""vramscope.compat.gpu_memory_1: rows C10 and C14, on simulated devices and on the stand-in for torch."""
import gzip
import json
import logging
import pickle
import re
import socket
import time
import types

import documents
import pytest
import vramscope
from stand_in import Counters, installed
from vramscope import sim
from vramscope.compat import gpu_memory_1 as compat

NAME = re.compile(re.escape(socket.gethostname()) + r"_[A-Z][a-z]{2}_\d\d_\d\d_\d\d_\d\d(_\d+)?\.(pickle|json\.gz|txt)")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO)


def lines(caplog):
    return [(record.levelname, record.getMessage()) for record in caplog.records]


def names(tmp_path):
    return sorted(path.name for path in tmp_path.iterdir())


def test_constants():
    assert compat.TIME_FORMAT_STR == "%b_%d_%H_%M_%S" and compat.MAX_NUM_OF_MEM_EVENTS_PER_SNAPSHOT == 100_000


def test_a_run_is_recorded_and_written(caplog, tmp_path, monkeypatch):
    moment = time.localtime()
    strftime = time.strftime
    monkeypatch.setattr(time, "strftime", lambda form: strftime(form, moment))
    with sim.Device("1GiB", history=0) as device:
        compat.start_record_memory_history()
        kept = device.alloc("20MiB", tag="kept")
        compat.export_memory_snapshot()
        device.free(kept)
        compat.export_memory_snapshot()
        assert device.history_enabled()
        compat.stop_record_memory_history()
        assert not device.history_enabled()
    first, second = sorted(names(tmp_path), key=len)
    assert NAME.fullmatch(first) and NAME.fullmatch(second) and second == first.replace(".pickle", "_1.pickle")
    assert lines(caplog) == [("INFO", text) for text in (
        "Starting snapshot record_memory_history", "Saving snapshot to local file: " + first,
        "Saving snapshot to local file: " + second, "Stopping snapshot record_memory_history")]
    counts = [len(vramscope.load(name)["events.size"]) for name in (first, second)]
    assert counts == [2, 4]  # a segment and a block; its free in two events


def test_files_of_one_second_do_not_meet(tmp_path, monkeypatch):
    """Fixed: the document writes over the first."""
    monkeypatch.setattr(time, "strftime", lambda form: "Jan_01_00_00_00")
    with sim.Device():
        for _ in range(3):
            compat.export_memory_snapshot()
    stem = socket.gethostname() + "_Jan_01_00_00_00"
    assert names(tmp_path) == [stem + ".pickle", stem + "_1.pickle", stem + "_2.pickle"]


def test_without_a_device_there_is_one_line_each(caplog, tmp_path):
    compat.start_record_memory_history()
    compat.stop_record_memory_history()
    compat.export_memory_snapshot()
    recording = ("INFO", "CUDA unavailable. Not recording memory history")
    assert lines(caplog) == [recording, recording, ("INFO", "CUDA unavailable. Not exporting memory snapshot")]
    assert names(tmp_path) == []


def test_lines_are_of_the_callers_package(caplog):
    scope = {"__name__": "training.inside.loop", "go": compat.start_record_memory_history}
    eval("go()", scope)
    compat.stop_record_memory_history()
    assert [record.name for record in caplog.records] == ["training", __name__]


def test_a_failing_dump_is_a_line(caplog, tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with sim.Device():
        compat.export_memory_snapshot()
    (_, saving), (level, failed) = lines(caplog)
    assert level == "ERROR" and saving.startswith("Saving ") and "No such file" in failed
    assert failed.startswith("Failed to capture memory snapshot ")


def test_a_block_that_records_is_left_alone(tmp_path):
    with sim.Device("1GiB", history=0) as device:
        with vramscope.record(tmp_path / "block.pickle"):
            device.alloc("20MiB")
            compat.start_record_memory_history()
            device.alloc("20MiB")
            compat.stop_record_memory_history()
            assert device.history_enabled()
        assert not device.history_enabled()
    assert len(vramscope.load("block.pickle")["events.size"]) > 2


def test_torchs_recorder_is_called_as_by_the_document():
    with installed("2.15", [Counters()]) as torch:
        cuda = torch.cuda.stand_in
        compat.start_record_memory_history()
        assert cuda.settings == [] and not cuda.ready  # CUDA is not initialised for it
        torch.cuda.init()
        compat.stop_record_memory_history()
    begun, ended = cuda.settings
    defaults = {name: p.default for name, p in cuda.signature.parameters.items()}
    assert begun == {**defaults, "max_entries": 100_000} and ended == {**defaults, "enabled": None}


def test_what_was_ended_before_cuda_does_not_begin_with_it():
    with installed("2.15", [Counters()]) as torch:
        compat.start_record_memory_history()
        compat.stop_record_memory_history()
        torch.cuda.init()
        assert not torch._C._cuda_isHistoryEnabled()


def test_a_release_without_recorder_is_a_line(caplog):
    with installed("1.13", [Counters()]) as torch:
        torch.cuda.init()
        del torch.cuda.memory._record_memory_history
        compat.start_record_memory_history()
    assert lines(caplog) == [("ERROR", "Not recording memory history: torch 1.13.0 has no recorder of memory")]


def traced(text):
    def export(path):
        with gzip.open(path, "wt") as file:
            file.write(text)
    return types.SimpleNamespace(export_chrome_trace=export)


def loop(number=0, **without):
    """A trace of the document's loop: step() first, ranges with its names, memory of a device."""
    def span(name, start, duration, category="user_annotation"):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": {}}

    def memory(ts, size, address, total):
        args = {"Device Type": 1, "Device Id": number, "Bytes": size, "Addr": address, "Total Allocated": total}
        return {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
                "args": {name: value for name, value in args.items() if name not in without}}

    events = [span("ProfilerStep#0", 0, 5)]
    for step in range(5):
        at = 10 + step * 100
        events += [span(f"ProfilerStep#{step + 1}", at, 100), span("## forward ##", at, 40), span("## backward ##", at + 40, 40),
                   span("## optimizer ##", at + 80, 20), span("aten::mm", at + 5, 5, "cpu_op"),
                   memory(at + 7, 512, 1, 1512), memory(at + 50, 256, 2, 1768), memory(at + 60, -512, 1, 1256),
                   memory(at + 90, -256, 2, 1000)]
    return json.dumps({"traceEvents": events})


def test_a_trace_is_written_with_its_timeline(tmp_path):
    """Fixed: the document's call is of a function that torch no longer has."""
    compat.trace_handler(traced(loop()))
    page, trace = names(tmp_path)
    assert NAME.fullmatch(trace) and page == trace.replace(".json.gz", ".html")
    assert gzip.open(trace, "rt").read() == loop()
    text = (tmp_path / page).read_text()
    assert "<svg" in text and "<script" not in text and "http" not in text.replace("http://www.w3.org/2000/svg", "")
    for words in ("Memory of cuda:0 by category", "activation", "gradient", "pre existing", "1.73 KiB in use at the peak"):
        assert words in text, words


def test_files_of_one_second_have_one_number(tmp_path, monkeypatch):
    monkeypatch.setattr(time, "strftime", lambda form: "Jan_01_00_00_00")
    compat.trace_handler(traced(loop()))
    compat.trace_handler(traced(loop(number=1)))
    stem = socket.gethostname() + "_Jan_01_00_00_00"
    assert names(tmp_path) == [stem + ".html", stem + ".json.gz", stem + "_1.json.gz", stem + "_1.txt"]


@pytest.mark.parametrize("text, why", (
    (loop(number=1), "the trace has no memory of a device cuda:0: record with profile_memory=True"),
    (loop(Addr=True), "tell no addresses"), ("{}", "the trace cannot be read: "), ("[]", "the trace cannot be read: ")))
def test_a_trace_without_a_timeline_says_why(tmp_path, text, why):
    with sim.Device():
        compat.trace_handler(traced(text))
    trace, reason = names(tmp_path)
    assert NAME.fullmatch(trace) and reason == trace.replace(".json.gz", ".txt")
    assert gzip.open(trace, "rt").read() == text and why in (tmp_path / reason).read_text()


def test_without_a_device_the_text_says_that(tmp_path):
    compat.trace_handler(traced("{}"))
    _, text = names(tmp_path)
    assert "no device cuda:0" in (tmp_path / text).read_text()


def test_phases_of_the_recipe_are_ours(tmp_path):
    """Five iterations of the document's loop: what its ranges say is the phase, and its empty first step is none."""
    trace = vramscope.load(loop().encode())
    steps = trace.steps()
    assert [(row["name"], row["kind"]) for row in steps["steps"]][0] == ("ProfilerStep#0", "empty")
    assert steps["step_statistics"]["count"] == 5 and steps["step_statistics"]["max_ns"] == 100_000
    assert {row["phase"]: row["wall_ns"] for row in steps["phases"]} == {
        "forward": 200_000, "backward": 200_000, "optimizer": 100_000}
    assert trace.memory()["memory"][0]["peak_phase"] == "backward"


def test_lines_are_those_of_the_document(shared, caplog, tmp_path, monkeypatch):
    """The document's module and ours, on the stand-in, with and without a device, and with a dump that fails."""
    theirs = {"__name__": "theirs"}
    block = documents.block_with(shared, "003", "def export_memory_snapshot() -> None")
    code = block[:block.index("# Simple Resnet50")].replace("from torchvision import models\n", "")
    for devices, folder in (([Counters()], "with"), ([], "without"), ([Counters()], "failing")):
        found = []
        for ours in (False, True):
            place = tmp_path / ("%s %s" % (folder, ours))
            place.mkdir()
            monkeypatch.chdir(place)
            caplog.clear()
            with installed("2.15", devices) as torch:
                if devices:
                    torch.cuda.init()
                exec(compile(code, "document 003", "exec"), theirs)
                if folder == "failing":
                    place.rmdir()
                module = vars(compat) if ours else theirs
                for name in ("start_record_memory_history", "export_memory_snapshot", "stop_record_memory_history"):
                    module[name]()
                kept = [s["enabled"] for s in torch.cuda.stand_in.settings]
            found.append(([(level, NAME.sub("NAME", text)) for level, text in lines(caplog)], kept,
                          len(names(place)) if place.exists() else None))
        if folder == "failing":  # the sentence of the failure names another file, which is renamed
            (said, *more), (ours_said, *ours_more) = found
            assert more == ours_more and [level for level, _ in said] == [level for level, _ in ours_said]
            assert [t[:34] for _, t in said] == [t[:34] for _, t in ours_said]
        else:
            assert found[0] == found[1]
