"""The recipes for recording, viewing and planning a snapshot: rows C01, C02, C09, C11."""
import os
import re
import subprocess
import sys

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment
from stand_in import Counters, installed
from vramscope import sim

MIB = 1 << 20


def test_one_block_begins_bounds_dumps_and_stops():
    """The keywords of torch's recorder are given, never its defaults, of which one has no bound."""
    with installed("2.15", [Counters()]) as torch:
        torch.cuda.init()
        with pytest.raises(KeyError), vramscope.record("/nonexistent/run.pickle"):
            raise KeyError  # the dump fails, too
        begun, ended = torch.cuda.stand_in.settings
    assert (begun["max_entries"], begun["stacks"], begun["context"]) == (100_000, "python", "all")
    assert ended["enabled"] is None


def python(*words, cwd):
    done = subprocess.run([sys.executable, "-B", "-m", "vramscope", *map(str, words)], cwd=cwd, capture_output=True,
                          text=True, timeout=300, env=environment(PYTHONPATH=PACKAGE))
    assert done.returncode == 0, done.stderr
    return done


def test_older_words_make_the_page(tmp_path):
    """Three spellings, one page; without a name it lies beside the file, wherever the command runs."""
    (tmp_path / "files").mkdir()
    (tmp_path / "run").mkdir()
    file = tmp_path / "files" / "leak.pickle"
    file.write_bytes((ROOT / "examples" / "leak.pickle").read_bytes())
    python("trace_plot", file, cwd=tmp_path / "run")
    assert os.listdir(tmp_path / "run") == [] and sorted(os.listdir(file.parent)) == ["leak.html", "leak.pickle"]
    page = (file.parent / "leak.html").read_bytes()
    python("trace_plot", "../files/leak.pickle", "-o", "a.html", cwd=tmp_path / "run")
    python("snapshot", "html", "../files/leak.pickle", "-o", "b.html", cwd=tmp_path / "run")
    made = [(tmp_path / "run" / name).read_bytes() for name in ("a.html", "b.html")]
    assert made[0] == made[1] and abs(len(made[0]) - len(page)) < 1000
    assert page.startswith(b"<!doctype html>") or page.startswith(b"<!DOCTYPE html>")
    # Nothing is fetched: no element names another place.
    assert not re.search(rb"<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=\s*[\"']?(?:https?:)?//", page)


def test_what_is_expected_is_what_is_recorded(tmp_path):
    with sim.Device("20GiB", history=0) as device:
        def step():
            held = [device.alloc(64 * 1024 + 512 * number) for number in range(50)]
            for handle in held:
                device.free(handle)
        step()  # whose segments later ones use
        expected = vramscope.expect_recording(step, steps=20)
        with vramscope.record(tmp_path / "run.pickle") as recorder:
            for _ in range(20):
                step()
    assert expected.events_per_step == 150 and expected.events == 3000
    assert len(recorder.recording["events.size"]) == 3000
    assert expected.least_bytes <= (tmp_path / "run.pickle").stat().st_size <= expected.most_bytes
    # After recording, the report begins with both figures.
    said = " ".join(recorder.recording.report().text(ascii=True).split())
    assert re.search(r"run.pickle: [\d.]+ KiB, 3[ ,]?000 events, complete", said)


def test_a_recorder_that_is_too_small_is_foreseen():
    with sim.Device() as device:
        expected = vramscope.expect_recording(lambda: device.free(device.alloc(MIB)), steps=100, max_entries=100)
    assert (expected.events, expected.steps_that_fit) == (100, 33)
    assert "takes 3.91 KiB to 39.06 KiB." in str(expected)
    assert str(expected).endswith(" 100 entries keep the last 33 steps: the start will be missing.")


def test_without_a_device_nothing_is_expected():
    ran = []
    expected = vramscope.expect_recording(lambda: ran.append(1))
    assert expected.events is expected.most_bytes is None and ran == [1] and "no device" in str(expected)


def test_a_snapshot_has_events_stacks_segments_and_blocks(tmp_path):
    with sim.Device("1GiB", history=0) as device:
        with vramscope.record(tmp_path / "run.pickle") as recorder:
            kept = device.alloc("20MiB")
            device.free(device.alloc("30MiB"))
            first = recorder.dump(tmp_path / "first.pickle")
            with pytest.raises(sim.OutOfMemoryError):
                device.alloc("2GiB")
            second = recorder.dump(tmp_path / "second.pickle")
        assert kept.live
    one, two = vramscope.load(first), vramscope.load(second)
    actions = " ".join(two.report(trust=True).text().split())
    for action in ("alloc 2", "free_requested 1", "free_completed 1", "segment_alloc 2", "oom 1"):
        assert action in actions
    assert len(two["events.size"]) == len(one["events.size"]) + 2  # the cached segment is given back before the failure
    assert all(two["events.stack"][place] for place in range(len(two["events.stack"])))
    assert len(one["segments.address"]) == 2 and len(one["blocks.address"]) == 2


def test_a_full_recorder_says_that_the_start_is_missing(tmp_path):
    """And what was in use before the first event that is left."""
    with sim.Device("20GiB", history=0) as device:
        with vramscope.record(tmp_path / "run.pickle", max_entries=50) as recorder:
            kept = device.alloc("3GiB")
            for _ in range(100):
                device.free(device.alloc("4MiB"))
    recording = recorder.recording
    assert len(recording["events.size"]) == 50 and kept.bytes == 3 << 30
    text = " ".join(recording.report().text().split())
    assert "3.00 GiB were in use and 3.02 GiB reserved before the first event" in text
    trust = " ".join(recording.report(trust=True).text().split())
    assert "a recorder that was full and dropped events looks the same" in trust and "start 3.00 GiB in use" in trust
