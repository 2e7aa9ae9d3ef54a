"""What is said where a file is no trace, no whole trace, or lacks what was asked for."""
import base64
import gzip
import json

from conftest import ROOT, run

EVENTS = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(40)]
TRACE = {"schemaVersion": 1, "deviceProperties": [], "traceEvents": EVENTS}


def said(*args, **more):
    result = run("trace", *args, **more)
    return " ".join((result.out + result.err).split())


def stored(text, checksum=None):
    """A gzip file of one stored block, whose checksum may be that of another text."""
    packed = gzip.compress(text, 0)
    return packed if checksum is None else packed[:-8] + gzip.compress(checksum, 0)[-8:-4] + packed[-4:]


def test_a_corrupt_file_is_not_called_a_cut_one(tmp_path):
    text = json.dumps(TRACE).encode()
    cut = text[:-30]
    path = tmp_path / "a.json.gz"
    path.write_bytes(stored(cut, text))
    words = said(path)
    assert "INCOMPLETE: the file is corrupt" in words and "ends too early" not in words
    assert f"the packed data is corrupt, and its text does not end, at byte {len(cut)} of what it unpacks to" in words
    assert "INCOMPLETE: the file is corrupt" in run("trace", path, "--csv").err
    path.write_bytes(stored(cut))
    assert f"the file ends too early, at byte {len(cut)} of what it unpacks to; " in said(path)
    plain = tmp_path / "a.json"
    plain.write_bytes(cut)
    assert f"the file ends too early, at byte {len(cut)}; " in said(plain)


def test_failures_of_packed_text_say_whose_offsets_they_have(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"schemaVersion": 1, "a": x}'))
    assert said(path).endswith("(offset in the unpacked bytes)")


def test_repeated_lists_of_events(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(TRACE)[:-1] + ', "traceEvents": []}')
    assert "a trace with several lists of events (traceEvents), of which the last counts and is empty" in said(path, expect=3)
    path.write_text('{"traceEvents": []}')
    assert "nothing ran while the profiler recorded" in said(path, expect=3)


def test_arrays_are_not_called_objects(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("[" * 100_000)
    assert "value nested deeper than 256; is this a profiler trace?" in said(path, expect=3)


def test_texts_of_other_encodings_are_counted(tmp_path):
    path = tmp_path / "a.json"
    for count, words in ((1, "damage 1 text not in UTF-8, wrong bytes replaced"), (2, "damage 2 texts not in UTF-8, wrong bytes replaced")):
        path.write_bytes(json.dumps({"traceEvents": EVENTS[:1] * count}).encode().replace(b"aten::op0", b"\xff\xfe"))
        assert words in said(path, expect=0)


def test_pages_are_told_apart(tmp_path):
    path = tmp_path / "a.html"
    snapshot = base64.b64encode((ROOT / "examples/leak.pickle").read_bytes()).decode()
    path.write_text('<!DOCTYPE html><script>add_local_files([{"name": "a.pickle", "base64": "%s"}], "x")</script>' % snapshot)
    assert said(path, expect=3).endswith("a page with a memory snapshot, and no profiler trace: vramscope report reads it")
    path.write_text("<!DOCTYPE html><p>nothing</p>")
    assert said(path, expect=3).endswith("a page, and no profiler trace: what export_chrome_trace() of torch.profiler writes is one")


def test_nothing_to_read(tmp_path):
    assert "no recording in this folder: memory snapshots end in .pickle, .pkl, .json or .html, profiler traces in .json" in \
        said(tmp_path, expect=3)
    assert said("-", expect=3) == "vramscope: standard input: empty: the program that wrote it died or could not write; record it again"


def test_memory_that_was_to_be_recorded(tmp_path):
    path = tmp_path / "a.json"
    for flag, words in ((0, "none: events of the allocators are recorded with profile_memory=True"),
                        (1, "none: the file says that memory was recorded (profile_memory), but has no event of the allocators")):
        path.write_text(json.dumps({"profile_memory": flag, **TRACE}))
        assert words in said(path, "--memory", expect=0)
