"""Every figure of a report against the naive model, in every form a recording can take."""
import importlib.util
import io
import json
import pickle
import sys

import pytest
from models import grouping, model, reader
from recordings import random_recording, writers
from hypothesis import given, settings, strategies

from conftest import batch, figure_problems, peak_problems, some, without_file

SEEDS = some(18, 90)
GROUPINGS = ("site", "culprit", "owner", "file", "function", "module", "size", "pool", "stream", "age")


@pytest.fixture(scope="module")
def forms(tmp_path_factory):
    """A folder with all forms of all seeds, and the model's reading of each seed."""
    folder = tmp_path_factory.mktemp("forms")
    names, recordings = {}, {}
    for seed in range(SEEDS):
        top = random_recording.make(seed)
        for form, data in writers.every_form(top):
            name = "%03d-%s" % (seed, form)
            (folder / name).write_bytes(data)
            names[name] = seed
            if form == "p4":
                recordings[seed] = reader.load(data)[0]
    return folder, names, recordings


@pytest.fixture(scope="module")
def reports(forms):
    folder, names, recordings = forms
    found, errors = batch("report", folder, names)
    assert not errors, errors
    return found


def test_figures_equal_the_model(forms, reports):
    _, names, recordings = forms
    problems = [(name, figure_problems(reports[name][0], recordings[seed])) for name, seed in names.items()]
    problems = [p for p in problems if p[1]]
    assert not problems, "%d of %d forms: %s" % (len(problems), len(names), problems[:6])


def test_every_form_says_the_same(forms, reports):
    """Write then read is identity, whoever wrote and whatever the container."""
    _, names, _ = forms
    differ = [name for name, seed in names.items()
              if without_file(reports[name][0]) != without_file(reports["%03d-p4" % seed][0])]
    assert not differ, "%d of %d forms: %s" % (len(differ), len(names), differ[:10])


def test_file_object_names_the_form(forms, reports):
    folder, names, _ = forms
    for name in names:
        form, f = name.split("-", 1)[1], reports[name][0]["file"]
        assert f["complete"] and f["size_bytes"] == (folder / name).stat().st_size
        assert f["compression"] == ("gzip" if "gz" in form else "zstd" if "zst" in form else "none"), name
        assert f["wrapper"] == ("html" if "page" in form else "none"), name
        assert f["encoding"] == ("json" if "json" in form else "pickle"), name
        if form in ("p0", "p1"):    # no byte in the file says which of the two
            assert f["pickle_protocol"] in (0, 1, None), name
        else:
            protocol = None if "json" in form else int(form[1]) if form[1:].isdigit() else 2 if form in ("cpp", "cpp.zst", "page.gz") else 4
            assert f["pickle_protocol"] == protocol, name
        assert f["entry"] == {"page": "snapshot.pickle", "page.gz": "#1"}.get(form), name


@pytest.mark.parametrize("by", GROUPINGS)
def test_peak_groupings_equal_the_model(forms, by):
    folder, _, recordings = forms
    found, errors = batch("peak", folder, ["%03d-p4" % s for s in recordings], "--by", by)
    assert not errors, errors
    problems = [(seed, peak_problems(found["%03d-p4" % seed][0], r, by)) for seed, r in recordings.items()]
    problems = [p for p in problems if p[1]]
    assert not problems, "%d recordings: %s" % (len(problems), problems[:4])


@pytest.mark.parametrize("key", range(4))
def test_peak_stack_keys_equal_the_model(forms, key):
    folder, _, recordings = forms
    found, errors = batch("peak", folder, ["%03d-cpp" % s for s in recordings], "--by", "site", "--key", "K%d" % key)
    assert not errors, errors
    problems = [(s, peak_problems(found["%03d-cpp" % s][0], r, "site", key=key)) for s, r in recordings.items()]
    problems = [p for p in problems if p[1]]
    assert not problems, "%d recordings: %s" % (len(problems), problems[:4])


def moments(device):
    """(--at value, event) pairs that the definitions fix for a device."""
    n, events = len(device.events), device.events
    yield "start", -1
    yield "end", n - 1
    yield "peak", device.curves["requested"].first
    for k in {0, n // 3, n // 2, n - 1}:
        yield str(k), k
    ooms = [i for i, e in enumerate(events) if e["action"] == "oom"]
    if ooms:
        yield "oom", ooms[-1]
        yield "oom:1", ooms[0]
    times = [e.get("time_us") for e in events]
    if None not in times:
        span = (times[-1] - times[0]) // 2
        yield "%d.%06ds" % (span // 10**6, span % 10**6), max(i for i in range(n) if times[i] - times[0] <= span)


def test_live_set_at_any_moment(tmp_path):
    problems, tried = [], 0
    for seed in range(500, 500 + some(3, 12)):
        top = random_recording.make(seed, devices=1, gap=False, layout="new", steps=60, extras=("oom",))
        (tmp_path / "r.pickle").write_bytes(writers.pickled(top, 4))
        recording = reader.load(writers.pickled(top, 4))[0]
        device, = model.devices(recording)
        for at, event in moments(device) if len(device.events) > 1 else ():
            found, errors = batch("peak", tmp_path, ["r.pickle"], "--at", at, "--by", "size")
            assert not errors, errors
            tried += 1
            problems += [(seed, at, p) for p in peak_problems(found["r.pickle"][0], recording, "size", event)]
    assert tried > some(14, 60) and not problems, problems[:5]


class NoNames(pickle.Unpickler):
    """Real files are from strangers: nothing in them may be looked up."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError("global %s.%s" % (module, name))


def safe_loads(data):
    return NoNames(io.BytesIO(data)).load()


# Real recordings ------------------------------------------------------------------------

def expected_rows(shared):
    return [json.loads(line) for line in (shared / "spec" / "expected-snapshots.jsonl").read_text().splitlines() if line]


def test_real_files_equal_the_expected_figures(shared, real):
    found, errors = batch("report", shared / "data" / "snapshots", real)
    assert not errors, errors
    rows = expected_rows(shared)
    assert len(rows) == 37
    for row in rows:
        d, = [d for d in found[row["file"]][0]["devices"] if d["device"] == row["device"]]
        q = d["requested"]
        have = dict(row, events=d["events"], segments=d["segments"], blocks=d["blocks"], oom_events=d["oom_events"],
                    double_allocs=d["double_allocs"], pending_bytes=d["pending_bytes"], start_bytes=q["start_bytes"],
                    peak_bytes=q["peak_bytes"], end_bytes=q["end_bytes"], peak_first=q["peak_event"] + 1,
                    peak_event=q["peak_last_event"] + 1, orphans=d["orphan_frees"],
                    end_rounded=d["active"]["end_bytes"], reserved_end=d["reserved"]["end_bytes"],
                    reserved_peak=d["reserved"]["peak_bytes"])
        assert have == row


def test_real_files_equal_the_model(shared, real):
    found, errors = batch("report", shared / "data" / "snapshots", real)
    problems = [(name, figure_problems(found[name][0], recording)) for name, (_, recording) in real.items()]
    assert not [p for p in problems if p[1]], [p for p in problems if p[1]][:5]


def test_page_equals_its_pickle(shared):
    names = "lm_forward_bf16.pickle", "lm_forward_bf16_embedded.html"
    for verb in "report", "peak":
        found, _ = batch(verb, shared / "data" / "snapshots", names)
        a, b = (json.dumps(without_file(found[n][0])) for n in names)
        assert a == b


def test_real_files_in_other_dialects(shared, real, tmp_path):
    """The small ones, written again by every writer."""
    small = [name for name, (path, _) in real.items() if path.stat().st_size < 160_000]
    names = []
    for name in small:
        data = real[name][0].read_bytes()
        (tmp_path / name).write_bytes(data)
        names.append(name)
        for form, data in writers.every_form(safe_loads(data)):
            names.append("%s-%s" % (name, form))
            (tmp_path / names[-1]).write_bytes(data)
    found, errors = batch("report", tmp_path, names)
    assert not errors, errors
    for name in names:
        original = next(s for s in small if name.startswith(s))
        assert without_file(found[name][0]) == without_file(found[original][0]), name


def test_bundled_recordings_equal_the_model(bundled):
    for name, (path, recording) in bundled.items():
        found, errors = batch("report", path.parent, [name])
        assert not errors and figure_problems(found[name][0], recording) == [], name


# The tools themselves -------------------------------------------------------------------

def load_tool(shared, name):
    sys.path.insert(0, str(shared / "spec" / "tools"))
    spec = importlib.util.spec_from_file_location(name, shared / "spec" / "tools" / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_model_equals_the_expected_figures(shared, real):
    rows = {(r["file"], r["device"]): r for r in expected_rows(shared)}
    for name, (_, recording) in real.items():
        for d in model.devices(recording):
            f, row = d.figures(), rows.pop((name, d.number))
            q = f["requested"]
            assert (q["peak_bytes"], q["peak_event"] + 1, q["peak_last_event"] + 1, q["start_bytes"], q["end_bytes"]) == \
                   tuple(row[k] for k in ("peak_bytes", "peak_first", "peak_event", "start_bytes", "end_bytes")), name
            assert (f["orphan_frees"], f["double_allocs"], f["pending_bytes"], f["active"]["end_bytes"]) == \
                   tuple(row[k] for k in ("orphans", "double_allocs", "pending_bytes", "end_rounded")), name
            assert (f["reserved"]["end_bytes"], f["reserved"]["peak_bytes"]) == (row["reserved_end"], row["reserved_peak"])
    assert not rows


def test_cpp_writer_equals_the_reference(shared, real):
    tool = load_tool(shared, "cpp_writer")
    for seed in range(60):
        top = random_recording.make(seed, missing=False, unknown=False)
        ours = writers.cpp(top)
        back = tool.Restricted(io.BytesIO(ours)).load()
        assert back == tool.signed(top), seed
    for name, (path, _) in real.items():
        if path.stat().st_size < 700_000 and path.suffix != ".html" and "torch20" not in name:
            top = safe_loads(path.read_bytes())
            assert writers.cpp(top) == bytes(tool.Writer(top).out), name


def test_random_recordings_are_valid(shared):
    """No invariant is broken; a free of which only the completion lies in the window is allowed."""
    tool = load_tool(shared, "snapshot_oracle")
    for seed in range(120):
        top = random_recording.make(seed, layout="new", missing=False)
        assert set(tool.check(top)) <= {"T5 free_completed after free_requested"}, seed
        figures = {r["device"]: r for r in tool.figures(top, "")}
        for d in model.devices(reader.load(writers.pickled(top, 4))[0]):
            assert d.curves["requested"].peak == figures[d.number]["peak_bytes"]
            assert d.adjust_bytes == 0


@settings(max_examples=some(10, 60), deadline=None, database=None, derandomize=True)
@given(strategies.integers(1000, 10**9))
def test_model_reads_every_form_alike(seed):
    top = random_recording.make(seed)
    wanted = None
    for form, data in writers.every_form(top):
        recording, = reader.load(data)
        assert recording.complete
        figures = [d.figures() for d in model.devices(recording)]
        wanted = wanted or figures
        assert figures == wanted, form


def test_model_groupings_add_up():
    for seed in range(60):
        recording, = reader.load(writers.pickled(random_recording.make(seed), 4))
        for d in model.devices(recording):
            at = d.curves["requested"].first
            live = grouping.live_at(d, at)
            assert sum(a.req for a in live) + d.adjust_bytes == d.curves["requested"].values[at + 1]
            for by in GROUPINGS:
                for rows in grouping.partitions(d, live, by, at) or []:
                    assert sum(r[0] for r in rows) == sum(a.req for a in live)
