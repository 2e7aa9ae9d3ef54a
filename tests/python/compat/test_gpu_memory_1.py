"""vramscope.compat.gpu_memory_1: rows C10 and C14, on simulated devices and on the stand-in for torch."""
import gzip
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


def test_a_trace_is_written_and_why_there_is_no_timeline(tmp_path):
    with sim.Device():
        compat.trace_handler(traced("{}"))
        compat.trace_handler(traced("[]"))
    first, text, second, _ = sorted(names(tmp_path), key=lambda name: (len(name.partition(".")[0]), name))
    assert all(NAME.fullmatch(name) for name in names(tmp_path)) and len(names(tmp_path)) == 4
    assert gzip.open(first, "rt").read() == "{}" and gzip.open(second, "rt").read() == "[]"
    assert text == first.replace(".json.gz", ".txt") and "vramscope view" in (tmp_path / text).read_text()


def test_without_a_device_the_text_says_that(tmp_path):
    compat.trace_handler(traced("{}"))
    _, text = names(tmp_path)
    assert "no device cuda:0" in (tmp_path / text).read_text()


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
