"""Results: mapping, text of a terminal, tables, frames of pandas, pages of notebooks, pickles."""
import collections.abc
import copy
import html.parser
import io
import json
import math
import pickle
import subprocess
import sys
import threading
import types

import pytest
import vramscope
from conftest import PACKAGE, ROOT, environment, run

EXAMPLES = {p.stem: p for p in sorted((ROOT / "examples").glob("*.pickle"))}
ASKED = {
    "report": {"timeline": True, "trust": True}, "peak": {"categories": True}, "oom": {}, "leaks": {}, "fragments": {},
    "steps": {}, "categories": {}, "advise": {"waste": True}, "replay": {"sweep": True, "smallest": True},
    "check": {"budget": "max-peak = 1GiB\nmax-site = .*=1MiB\nno-oom\n"},
}


@pytest.fixture
def leaks():
    return vramscope.load(EXAMPLES["leak"]).leaks()


def test_a_result_is_a_mapping(leaks):
    document = leaks.to_dict()
    assert isinstance(leaks, collections.abc.Mapping)
    assert dict(leaks) == document == leaks and leaks == vramscope.load(EXAMPLES["leak"]).leaks()
    assert leaks != {} and not leaks == 1 and leaks != vramscope.load(EXAMPLES["oom"]).leaks()
    assert list(leaks) == list(leaks.keys()) == list(document) and len(leaks) == len(document)
    assert list(leaks.values()) == list(document.values()) and list(leaks.items()) == list(document.items())
    assert leaks.keys() & {"devices", "other"} == {"devices"}
    assert "devices" in leaks and "other" not in leaks and leaks.get("other") is None and leaks.get("other", 5) == 5
    assert leaks["devices"] is leaks["devices"] and leaks.get("devices") is leaks["devices"]
    assert type(leaks["devices"]) is list and type(leaks["devices"][0]) is dict
    with pytest.raises(KeyError):
        leaks["other"]
    for wrong in (lambda: hash(leaks), lambda: leaks < leaks, lambda: leaks.get(), lambda: leaks[[]]):
        with pytest.raises(TypeError):
            wrong()
    document["devices"].clear()
    assert leaks["devices"] and leaks.to_dict()["devices"]
    assert leaks.kind == "leaks" and repr(leaks) == "<vramscope.Result of leaks>"


def test_a_recording_is_a_mapping():
    recording = vramscope.load(EXAMPLES["leak"])
    assert isinstance(recording, collections.abc.Mapping)
    assert list(recording.keys()) == recording.columns == [n for n, _ in recording.items()]
    assert {**recording}.keys() == set(recording.columns) and [c.name for c in recording.values()] == recording.columns
    assert "events.size" in recording and "events.other" not in recording and 1 not in recording
    assert recording.get("events.other") is None and recording.get("events.size").name == "events.size"
    assert repr(recording) == "<vramscope.Recording of %r>" % str(EXAMPLES["leak"])
    assert str(recording) == str(recording.report())
    recording.close()
    assert str(recording) == repr(recording)


def test_a_document_that_holds_its_result_is_collected():
    import gc
    before = len(gc.get_objects())
    for _ in range(20):
        result = vramscope.load(EXAMPLES["leak"]).steps()
        result["devices"].append(result)
        del result
    gc.collect()
    assert len(gc.get_objects()) < before + 50


# Text.


def test_text_fits_the_terminal_and_its_encoding(leaks, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    wide, ascii_text = leaks.text(width=120, ascii=False), leaks.text(width=80, ascii=True)
    unicode_text = leaks.text(width=80, ascii=False)
    assert ascii_text != unicode_text != wide

    def said(encoding, **more):
        stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", stream)
        for name, value in more.items():
            monkeypatch.setenv(name, value)
        text, asked = leaks.text(), str(leaks)
        monkeypatch.undo()
        assert text == asked
        return text

    assert said("utf-8") == unicode_text and said("ascii") == said("latin-1") == ascii_text
    assert said("utf-8", COLUMNS="120") == wide
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.delenv("COLUMNS", raising=False)
    assert leaks.text() == unicode_text


def test_text_has_the_width_of_a_terminal(leaks):
    import fcntl
    import os
    import pty
    import struct
    import termios
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 123, 0, 0))
    code = "import sys; sys.path.insert(0, %r); import vramscope; t = vramscope.load(%r).leaks()\n" \
           "assert t.text() == t.text(width=123, ascii=False) != t.text(width=80); print('same')" % (PACKAGE, str(EXAMPLES["leak"]))
    env = environment()
    env.pop("COLUMNS", None)
    done = subprocess.run([sys.executable, "-c", code], stdout=its, stderr=subprocess.PIPE, env=env, timeout=120)
    assert done.returncode == 0 and os.read(ours, 100).startswith(b"same"), done.stderr
    os.close(ours), os.close(its)


def test_forms_of_a_result(leaks):
    path = EXAMPLES["leak"]
    assert leaks.json(rows=1) == run("leaks", "--json", "-n", "1", path, expect=0).out
    assert vramscope.load(path).peak().text(width=90, rows=2, stacks=True, all_frames=True, ascii=False) == run(
        "peak", "-n", "2", "--stacks", "--all-frames", path, expect=0, env=environment(COLUMNS="90")).out
    check = vramscope.load(path).check([("max-peak", "1GiB"), ("no-oom", None)])
    options = ("--max-peak", "1GiB", "--no-oom", path)
    for form in ("junit", "sarif", "markdown"):
        assert getattr(check, form)() == run("check", "--format", form, *options, expect=1).out
        with pytest.raises(vramscope.Error):
            getattr(vramscope.load(path).peak(), form)()
    for wrong in ({"width": -1}, {"rows": 1 << 40}):
        with pytest.raises(OverflowError):
            leaks.text(**wrong)
    for wrong in ({"width": "80"}, {"other": 1}):
        with pytest.raises(TypeError):
            leaks.text(**wrong)


# Verbs with options of several kinds.


def test_limits_are_a_mapping_or_pairs():
    recording, base = (vramscope.load(EXAMPLES[n]) for n in ("leak", "train"))
    mapping = recording.check({"max_peak": 1 << 30, "no-oom": None})
    assert mapping.verdict is False and mapping == recording.check([("max-peak", "1073741824"), ["no-oom", None]])
    assert recording.check({"max-peak": "80GiB"}, strict=True).verdict is True
    assert recording.check({"max-growth-per-step": "0"}).json() == run(
        "check", "--json", "--max-growth-per-step", "0", EXAMPLES["leak"], expect=1).out
    assert vramscope.load(EXAMPLES["oom"].read_bytes()[:120000]).check({"max-slack": "1MiB"}).verdict is None
    assert recording.check(budget="max-peak = 80GiB\n").verdict is True
    with pytest.raises(vramscope.Error, match="limits.txt"):
        recording.check(budget="max-peek = 80GiB\n", budget_name="limits.txt")
    grown = recording.check({"max-delta": "0%"}, baseline=base)
    assert grown.json() == run("check", "--json", "--max-delta", "0%", "--baseline", EXAMPLES["train"], EXAMPLES["leak"]).out
    for wrong in ({"max-peek": "1GiB"}, {"max-peak": "much"}, {}, {"max-delta": "1%"}):
        with pytest.raises(vramscope.Error) as raised:
            recording.check(wrong)
        assert raised.value.status == "usage"
    for wrong in (1, [1], [("a", "b", "c")], {1: "1GiB"}, {"max-peak": 1.5}):
        with pytest.raises(TypeError):
            recording.check(wrong)
    base.close()
    with pytest.raises(ValueError, match="closed"):
        recording.check({"max-delta": "0%"}, baseline=base)


def test_what_if_is_a_replay_with_a_question():
    recording = vramscope.load(EXAMPLES["leak"])
    asked = recording.what_if("expandable_segments:True", capacity="24GiB")
    assert asked.json() == recording.replay(set=["expandable_segments:True"], capacity=24 << 30).json()
    assert asked.kind == "replay"
    scaled = recording.what_if(scale=[("train.py", 0.5), "model.py=2"])
    assert scaled == recording.replay(scale=("train.py=0.5", ["model.py", 2]))
    for call in (recording.what_if, lambda: recording.what_if(anyway=True, keep_run=True),
                 lambda: recording.what_if("no:1"), lambda: recording.what_if(scale=[("train.py", "much")])):
        with pytest.raises(vramscope.Error) as raised:
            call()
        assert raised.value.status == "usage"
    for call in (lambda: recording.what_if(1), lambda: recording.what_if(scale=[("a", "b", "c")]),
                 lambda: recording.what_if(set=["x:1"]), lambda: recording.what_if(scale="train.py=1")):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        recording.what_if("expandable_segments:True", threads=65)


@pytest.mark.parametrize("limit, verdict", (("0%", False), ("0", False), (0, False), ("1TiB", True), ("5000%", True),
                                            (1 << 40, True), (None, True)))
def test_a_diff_may_fail(limit, verdict):
    a, b = (vramscope.load(EXAMPLES[n]) for n in ("leak", "train"))
    assert a.diff(b, fail_over=limit).verdict is (None if limit is None else verdict)


def test_a_diff_takes_devices_and_sizes():
    a, b = (vramscope.load(EXAMPLES[n]) for n in ("leak", "train"))
    assert a.diff(b, device=0, b_device="cuda:0").json() == run(
        "diff", "--json", "--device", "0", "--to-device", "0", EXAMPLES["leak"], EXAMPLES["train"], expect=0).out
    with pytest.raises(vramscope.Error):
        a.diff(b, fail_over="much")
    with pytest.raises(OverflowError):
        a.diff(b, fail_over=(1 << 64) - 1)
    for call in (lambda: a.diff(), lambda: a.diff(b, b), lambda: a.diff(b, other=b)):
        with pytest.raises(TypeError):
            call()


# Tables.


def rows_at(value, path):
    """The rows of a list in a document, of all above it."""
    for name in path:
        value = [v.get(name) for v in value if isinstance(v, dict)]
        while any(isinstance(v, list) for v in value):
            value = [row for v in value if v is not None for row in (v if isinstance(v, list) else [v])]
    return value


def equal(have, want):
    if isinstance(want, dict):  # of any form, so that its column has its text
        return json.loads(have) == want
    if isinstance(want, float) and have is not None:
        return math.isclose(have, want, rel_tol=1e-5, abs_tol=1e-5)
    return have == (int(want) if isinstance(want, bool) else want)


@pytest.mark.parametrize("verb", ASKED)
@pytest.mark.parametrize("name", EXAMPLES)
def test_tables_are_the_lists_of_the_document(name, verb):
    recording = vramscope.load(EXAMPLES[name])
    result = getattr(recording, verb)(**ASKED[verb])
    recording.close()
    assert "devices" in result.tables and len(set(result.tables)) == len(result.tables)
    compared = 0
    for table in result.tables:
        rows = rows_at([dict(result)], table.split("."))
        # An object whose names come from the recording is a list of names here.
        if not rows or table.endswith(("actions", "settings", "_keys")):
            continue
        columns = result.table(table)
        for column, values in columns.items():
            assert values.name == "%s.%s" % (table, column)
            # Objects inside a row have columns of their own; a row of "stacks" is one of all files.
            inside = any(other.startswith(column + ".") for other in columns)
            if values.dtype == "list" or "." in column or inside or column.endswith("stack") or not isinstance(rows[0], dict):
                continue
            assert len(values) == len(rows), (table, column)
            for have, row in zip(values, rows):
                assert equal(have, row.get(column)), (table, column, have, row.get(column))
            compared += len(rows)
    assert compared > 0
    with pytest.raises(KeyError):
        result.table("no.such.table")
    with pytest.raises(KeyError):
        result.table("devices.result")
    with pytest.raises(TypeError):
        result.table(1)


def test_columns_of_a_result(leaks):
    sites = leaks.table("devices.result.sites")
    slopes, names, lists = sites["slope_bytes"], sites["site.culprit"], sites["survivors"]
    assert (slopes.dtype, names.dtype, lists.dtype) == ("int64", "string", "list")
    assert slopes[0] == 262144000 and slopes[1] is None and list(slopes.valid)[:2] == [1, 0]
    assert names[0] == "train.py:45 main" and memoryview(names).format == "I" and names.valid is None
    assert memoryview(slopes)[0] == 262144000 and memoryview(slopes).readonly
    assert len(lists) == len(slopes) + 1 and lists[-1] == len(leaks.table("devices.result.sites.survivors")["bytes"])
    text, want = json.loads(leaks.json()), list(names)
    del leaks, sites
    assert list(names) == want == [s["site"]["culprit"] for s in text["devices"][0]["result"]["sites"]]


def test_columns_outlive_a_merge():
    parts = [vramscope.load(p).leaks() for p in EXAMPLES.values()]
    names = parts[0].table("devices.result.sites")["site.culprit"]
    want = list(names)
    merged = vramscope.merge(parts)
    with pytest.raises(ValueError, match="merged"):
        parts[0].table("devices")
    assert len(merged.table("files.devices" if "files.devices" in merged.tables else "devices")["device"]) == len(parts)
    del merged, parts
    assert list(names) == want


def test_many_threads_ask_one_result():
    result = vramscope.load(EXAMPLES["train"]).report(timeline=True)
    seen, failed = [], []

    def ask(i):
        try:
            for table in result.tables[i % 3::3]:
                for column in result.table(table).values():
                    column[:1], column.dtype
            seen.append((result.json(), id(result["devices"]), result.text(width=80, ascii=True), result.verdict))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert failed == [] and len(seen) == 16 and len(set(seen)) == 1


def test_one_of_many_threads_merges():
    result, other = (vramscope.load(EXAMPLES[n]).leaks() for n in ("train", "leak"))
    made, refused = [], []

    def merge():
        try:
            made.append(vramscope.merge([result, other]))
        except ValueError:
            refused.append(1)

    threads = [threading.Thread(target=merge) for _ in range(8)] + [
        threading.Thread(target=lambda: [result.text() for _ in range(5)]) for _ in range(2)]
    hook, threading.excepthook = threading.excepthook, lambda args: None  # those that came too late
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    threading.excepthook = hook
    assert len(made) == 1 and len(refused) == 7 and len(made[0]["files"]) == 2


# pandas.


def test_frames_of_pandas(leaks):
    """With pandas where it is installed, else with what it is called with."""
    pandas = pytest.importorskip("pandas", reason="pandas is not installed: the frame was not made")
    frame = leaks.to_pandas("devices.result.sites")
    assert list(frame["class"])[:2] == ["leak", "stable"] and frame["slope_bytes"].dtype == "Int64"
    assert frame["slope_bytes"][1] is pandas.NA and frame["generations"].dtype == "uint32"
    assert len(frame) == len(leaks["devices"][0]["result"]["sites"]) and "survivors" not in frame


def test_a_frame_is_made_of_columns(leaks, monkeypatch):
    pandas, numpy = types.ModuleType("pandas"), types.ModuleType("numpy")
    pandas.DataFrame, pandas.array = dict, lambda values, dtype: (dtype, values)
    numpy.asarray = lambda column: memoryview(column)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    monkeypatch.setitem(sys.modules, "numpy", numpy)
    frame = leaks.to_pandas("devices.result.sites")
    assert frame["class"][:2] == ["leak", "stable"] and frame["slope_bytes"][0] == "Int64"
    assert frame["slope_bytes"][1][:2] == [262144000, None] and frame["generations"].format == "I"
    assert "survivors" not in frame and "boundary_bytes" not in frame
    with pytest.raises(KeyError):
        leaks.to_pandas("other")


def test_without_pandas_there_is_no_frame(leaks, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError):
        leaks.to_pandas("devices")


# Pages of notebooks.


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.text, self.addresses = [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        self.addresses += [v for k, v in attributes if k in ("href", "src", "xlink:href") and not v.startswith("#")]
        assert not [k for k, _ in attributes if k.startswith("on")]

    def handle_data(self, data):
        self.text += data if self.seen[-1:] == ["pre"] else ""


HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


def hostile(name):
    frames = [{"filename": name + ".py", "line": 1, "name": name}]
    segment = {"device": 0, "address": 4096, "total_size": 2 << 20, "stream": 0, "segment_type": "small", "blocks": [
        {"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": frames},
        {"address": 5120, "size": (2 << 20) - 1024, "requested_size": 0, "state": "inactive"}]}
    events = [{"action": action, "addr": 4096, "size": 1000, "stream": 0, "frames": frames, "time_us": i}
              for i, action in enumerate(("alloc", "free_requested", "free_completed", "alloc"))]
    return pickle.dumps({"segments": [segment], "device_traces": [events]}, protocol=4)


def test_a_page_of_a_report_has_the_picture_above_the_text():
    recording = vramscope.load(EXAMPLES["oom"])
    report, peak = recording.report(), recording.peak()
    page, tags = report._repr_html_(), Tags(report._repr_html_())
    assert page.startswith("<svg") and recording.picture().decode() in page and tags.seen[-1] == "pre"
    assert tags.text == report.text(width=80, ascii=False) and tags.addresses == [] and "script" not in tags.seen
    assert Tags(peak._repr_html_()).seen == ["pre"] and peak.kind == "peak"
    own = Tags(recording._repr_html_())
    assert own.seen[0] == "svg" and own.text == repr(recording)
    recording.close()
    assert Tags(report._repr_html_()).seen == ["pre"] and "closed" in Tags(recording._repr_html_()).text


def test_names_are_shown_as_text():
    recording = vramscope.load(hostile(HOSTILE))
    for thing in (recording, recording.report(), recording.peak(by="function"), recording.leaks()):
        tags = Tags(thing._repr_html_())
        assert not {"script", "img"} & set(tags.seen) and tags.addresses == []
    assert "alert(1)" in Tags(recording.peak(by="function")._repr_html_()).text


# Pickles.


@pytest.mark.parametrize("verb", ASKED)
def test_a_pickled_result_keeps_its_document_and_its_text(verb):
    recording = vramscope.load(EXAMPLES["leak"])
    result = getattr(recording, verb)(**ASKED[verb])
    for again in [pickle.loads(pickle.dumps(result, protocol=p)) for p in range(2, pickle.HIGHEST_PROTOCOL + 1)] + [
            copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(result))))]:
        assert again == result and again.json() == result.json() and again.kind == verb == result.kind
        assert again.text() == again.text(width=80) == str(again) == result.text(width=80, ascii=False)
        assert again.verdict is result.verdict
        for refused in (lambda: again.text(width=100), lambda: again.text(stacks=True), lambda: again.json(rows=1),
                        again.csv, lambda: again.table("devices"), lambda: again.tables, again.snapshot,
                        lambda: vramscope.merge([again])):
            with pytest.raises(vramscope.Error, match="unpickled") as raised:
                refused()
            assert raised.value.status == "usage"
        assert Tags(again._repr_html_()).text == again.text()
    assert vramscope.load(EXAMPLES["leak"]).leaks().text(width=100)


def test_nothing_else_is_pickled():
    recording = vramscope.load(EXAMPLES["leak"])
    merged = vramscope.merge([recording.peak()])
    for thing in (recording, recording.file, recording["events.size"]):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
    part = recording.peak()
    vramscope.merge([part])
    with pytest.raises(ValueError, match="merged"):
        pickle.dumps(part)
    assert pickle.loads(pickle.dumps(merged)) == merged


def test_a_recording_that_is_needed_is_not_none():
    recording = vramscope.load(ROOT / "examples" / "leak.pickle")
    for call in (recording.diff, lambda other: recording.diff(other=other)):
        with pytest.raises(TypeError, match="other, which None is not"):
            call(None)
    assert recording.check({"max-peak": "80GiB"}, baseline=None).verdict is True
