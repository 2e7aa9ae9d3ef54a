"""The scripts of tests/recordings: read back, trusted, replayed exactly; and what the language does."""
import subprocess
from pathlib import Path

import pytest

from recordings import scripts
from conftest import program, run
from models import reader

EXACT = ("exact", "exact after correction")
NATIVE = "stack n ::at::empty() < model.py:3 f < run.py:1 <module>\n"


def loaded(path):
    return reader.load(Path(path).read_bytes())[0].top


def trace(text, device=0):
    return loaded(scripts.make(text))["device_traces"][device]


def actions(text):
    return [e["action"] for e in trace(text)]


def refused(text, tmp_path):
    script = tmp_path / "x.script"
    script.write_text(text)
    tool = Path(program()).parents[1] / "tests" / "recordings" / "make_recording"
    done = subprocess.run([tool, script, "-o", tmp_path / "x"], stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 2
    return done.stderr.decode()


@pytest.mark.parametrize("name", scripts.NAMES)
def test_is_trusted(name):
    for device in run("report", "--json", scripts.make(name), expect=0).json()["devices"]:
        assert device["trust"]["grade"] in "AB"


@pytest.mark.parametrize("name", scripts.NAMES)
def test_is_replayed_exactly(name):
    for device in run("replay", "--json", scripts.make(name), expect=0).json()["devices"]:
        if device["trust"]["window"] == "state_only":
            assert device["status"] == "needs_trace"
        else:
            agreement = device["result"]["agreement"]
            assert agreement["grade"] in EXACT, agreement


def test_what_an_allocation_leaves_behind():
    made = trace(NATIVE + "alloc a 3MiB+1 n stream 7 pool 2 metadata here\nfree a n\n")
    assert [(e["action"], e["size"]) for e in made] == [
        ("segment_alloc", 20 << 20), ("alloc", (3 << 20) + 1), ("free_requested", (3 << 20) + 1),
        ("free_completed", (3 << 20) + 1)]
    assert [f["name"] for f in made[1]["frames"]] == ["at::empty()", "f", "<module>"]
    assert (made[1]["stream"], tuple(made[1]["pool_id"]), made[1]["user_metadata"]) == (7, (2, 0), "here")
    assert made[1]["addr"] == made[0]["addr"] and made[1]["time_us"] > 0


def test_an_allocation_that_does_not_fit():
    text = NATIVE + "capacity 100MiB\nalloc a 60MiB n\nalloc b 30MiB n\nfree b n\nalloc c 50MiB n\nfree c\nalloc d 30MiB n\n"
    made = trace(text)
    assert [e["action"] for e in made][-5:] == ["free_completed", "segment_free", "oom", "segment_alloc", "alloc"]
    oom = made[-3]
    assert (oom["size"], oom["device_free"]) == (50 << 20, 40 << 20)
    told = text.replace("alloc c", "device_free 7MiB\nalloc c")
    assert [e["device_free"] for e in trace(told) if e["action"] == "oom"] == [7 << 20]


def test_a_deferred_free_is_completed_by_the_retry():
    text = "capacity 64MiB\nalloc a 40MiB\nfree_requested a\nalloc b 40MiB\nfree_completed a\nfree b\n"
    assert actions(text) == ["segment_alloc", "alloc", "free_requested", "free_completed", "segment_free",
                             "segment_alloc", "alloc", "free_requested", "free_completed"]


def test_loops_count():
    text = "repeat 2 as o {\nrepeat 3 {\nif $i != 1 {\nalloc a$o.$i $o*10KiB+$i*512+512\n}\n}\n}\nfree a1.$(4/2)\n"
    assert [e["size"] for e in trace(text)[1:]] == [512, 1536, 10752, 11776, 11776, 11776]


@pytest.mark.parametrize("window,stacks", [("late", 0), ("ring", 3)])
def test_windows(window, stacks):
    path = scripts.make(NATIVE + "alloc a 2MiB n\nwindow %s\nalloc b 3MiB n\nalloc c 3MiB n\n" % window)
    top = loaded(path)
    assert [e["action"] for e in top["device_traces"][0]] == ["alloc", "alloc"]
    assert len(top["segments"][0]["blocks"][0]["frames"]) == stacks
    device, = run("report", "--json", path, expect=0).json()["devices"]
    assert device["trust"]["window"] == "late_start"


def test_what_the_recorder_leaves_out():
    body = NATIVE + "alloc a 2MiB n\n"
    assert [f["name"] for f in trace("python_only\n" + body)[1]["frames"]] == ["f", "<module>"]
    assert not trace("no_stacks\n" + body)[1].get("frames")
    assert not any(loaded(scripts.make("no_trace\n" + body))["device_traces"])


def test_settings_are_kept():
    text = "settings expandable_segments:True,garbage_collection_threshold:0.6\ncapacity 1GiB\nalloc a 3MiB\n"
    top = loaded(scripts.make(text))
    assert top["allocator_settings"]["PYTORCH_CUDA_ALLOC_CONF"] == text.split()[1]
    assert top["segments"][0]["is_expandable"] and top["device_traces"][0][0]["action"] == "segment_map"


def test_marks_and_notes():
    text = "mark step start\nalloc a 1KiB\nuser_defined hello there\nsnapshot\nmark step end\n"
    top = loaded(scripts.make(text))
    marks = top["external_annotations"]
    assert [(m["name"], m["stage"]) for m in marks] == [("step", "START"), ("step", "END")]
    user, snapshot = top["device_traces"][0][2:]
    assert user["user_metadata"] == "hello there" and snapshot["size"] == 1024
    assert marks[0]["time_us"] < user["time_us"] < marks[1]["time_us"]


@pytest.mark.parametrize("text,why", [
    ("alloc a\n", "x.script:1: wanted: alloc ID"),
    ("\n# nothing\nfree a\n", "x.script:3: a is not allocated"),
    ("alloc a 1\nalloc a 1\n", "x.script:2: a is allocated already"),
    ("alloc a 1 s\n", "no stack is called s"),
    ("repeat 3 {\n", "x.script:1: the line begins no block"),
    ("alloc a $n\n", "no loop is called n"),
    ("alloc a 1-\n", "wanted: alloc"),
    ("free a$(1/0)\n", "not a number: $(1/0)"),
    ("hello\n", "no statement is called hello"),
    ("settings nothing:1\n", "x.script:1: "),
    ("include nowhere\n", "cannot be read"),
    ("include x.script\n", "too deep"),
    ("repeat 99999999 {\nrepeat 2 {\n}\n}\n", "does not come to an end"),
])
def test_errors_name_the_line(text, why, tmp_path):
    assert why in refused(text, tmp_path)
