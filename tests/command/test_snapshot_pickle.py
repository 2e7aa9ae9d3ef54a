"""Recordings written back as snapshots: what CPython loads of them, and what the program reads."""
import pickle
import pickletools
import subprocess
from pathlib import Path

import pytest
from models import reader
from recordings import random_recording, writers

from conftest import SANITIZER, batch, program, without_file

# What PyTorch writes where nothing is known; the writer gives or leaves out each of them.
DEFAULTS = {"compile_context": "N/A", "user_metadata": "", "is_expandable": False}

# All that CPython's pickler has for such values; None stands only where a file had no size or state.
OPCODES = {"PROTO", "FRAME", "STOP", "MARK", "EMPTY_DICT", "EMPTY_LIST", "SETITEM", "SETITEMS", "APPEND", "APPENDS",
           "TUPLE2", "MEMOIZE", "BINGET", "LONG_BINGET", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT",
           "SHORT_BINUNICODE", "BINUNICODE", "NEWTRUE", "NEWFALSE"}


def rewriter():
    tool = Path(program()).parents[1] / "tests" / "recordings" / "rewrite"
    if not tool.exists():
        pytest.skip("%s is not built" % tool)
    return tool


def rewrite(source, folder):
    """Each recording of a file, written as a snapshot: their paths."""
    tool, target = rewriter(), folder / (Path(source).name + ".again")
    done = subprocess.run([tool, source, target], stderr=subprocess.PIPE, timeout=300)
    assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
    assert done.returncode == 0, (source, done.returncode, done.stderr)
    written, k = [], 0
    while (target.parent / ("%s.%d" % (target.name, k))).exists():
        written.append(target.parent / ("%s.%d" % (target.name, k)))
        k += 1
    return written


def as_cpython_writes(data):
    """The object of a pickle that CPython would have written byte for byte."""
    value = pickle.loads(data)
    assert pickle.dumps(value, 4) == data
    return value


def plain_record(record):
    """A segment, block, event or history entry without what stands for nothing or is not known."""
    kept = {k: v for k, v in record.items()
            if DEFAULTS.get(k) != v and not (k == "frames" and not v) and not k.startswith("new_")}
    if kept.get("state") == "active_awaiting_free":
        kept["state"] = "active_pending_free"
    if "history" in kept:
        kept["history"] = [plain_record(h) for h in kept["history"]]
    for key in ("segment_pool_id", "pool_id"):
        if key in kept:
            kept[key] = tuple(kept[key])
    for frame in kept.get("frames", ()):
        assert set(frame) >= {"name", "filename", "line"}
    if kept.get("frames"):
        kept["frames"] = [dict(f, line=-1 if f["line"] == 2 ** 64 - 1 else f["line"]) for f in kept["frames"]]
    return kept


def plain_block(block, address):
    return dict(plain_record(block), address=block.get("address", address))


def plain_segment(segment):
    kept, blocks, at = plain_record(segment), [], segment["address"]
    for block in segment["blocks"]:
        blocks.append(plain_block(block, at))
        at += block["size"]
    return dict(kept, blocks=blocks)


def plain(top):
    """A snapshot in one form, whatever version of PyTorch wrote it."""
    if isinstance(top, list):
        top = {"segments": top}
    traces = [[plain_record(e) for e in t] for t in top.get("device_traces", [])]
    while traces and not traces[-1]:
        traces.pop()
    return {"segments": [plain_segment(s) for s in sorted(top["segments"], key=lambda s: s["device"])],
            "device_traces": traces,
            "allocator_settings": top.get("allocator_settings", {}),
            "external_annotations": top.get("external_annotations", [])}


def same_object(source, data, have, strict=False):
    value = pickle.loads(data)
    if strict:
        assert list(value) == list(have), source
    want, have = plain(value), plain(have)
    for key in want:
        assert have[key] == want[key], (source, key)


def test_bundled_recordings_are_the_same_objects(bundled, tmp_path):
    for path, _ in bundled.values():
        written, = rewrite(path, tmp_path)
        data = written.read_bytes()
        same_object(path, path.read_bytes(), as_cpython_writes(data), strict=True)
        assert {code.name for code, _, _ in pickletools.genops(data)} <= OPCODES


def test_random_recordings_are_the_same_objects(tmp_path):
    for seed in range(3000, 3040):
        top = random_recording.make(seed)
        source = tmp_path / ("r%d.pickle" % seed)
        source.write_bytes(writers.pickled(top, 4))
        written, = rewrite(source, tmp_path)
        same_object(source, source.read_bytes(), as_cpython_writes(written.read_bytes()))


def page_or_pickle(path):
    data = path.read_bytes()
    return [e[1] for e in reader.page_entries(data)] if data.lstrip()[:1] == b"<" else [data]


@pytest.fixture(scope="module")
def real_again(real, tmp_path_factory):
    """name -> paths of a real snapshot's recordings, written back."""
    folder = tmp_path_factory.mktemp("again")
    return {name: rewrite(path, folder) for name, (path, _) in real.items()}


def test_real_recordings_are_the_same_objects(real, real_again):
    for name, (path, _) in real.items():
        for data, written in zip(page_or_pickle(path), real_again[name], strict=True):
            same_object(path, data, as_cpython_writes(written.read_bytes()))


def figures(entry):
    """What an answer says of the memory: keys that are new to this program are not written back."""
    kept = without_file(entry)
    for device in kept["devices"]:
        device["trust"]["items"] = [i for i in device["trust"]["items"] if i["id"] != "unknown_keys"]
    return kept


@pytest.mark.parametrize("verb", ("report", "peak"))
def test_real_recordings_give_the_same_answers(shared, real_again, verb):
    folder = next(iter(real_again.values()))[0].parent
    before, _ = batch(verb, shared / "data" / "snapshots", real_again, check=False)
    after, _ = batch(verb, folder, [p.name for paths in real_again.values() for p in paths], check=False)
    for name, paths in real_again.items():
        assert [figures(e) for e in before[name]] == [figures(e) for p in paths for e in after[p.name]], name


def test_a_cut_recording_is_refused(bundled, tmp_path):
    path, _ = bundled["train.pickle"]
    cut = tmp_path / "cut.pickle"
    cut.write_bytes(path.read_bytes()[:-3000])
    done = subprocess.run([rewriter(), cut, tmp_path / "out"], stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 4 and b"cut at byte" in done.stderr
