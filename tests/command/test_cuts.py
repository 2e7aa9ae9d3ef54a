"""A file cut anywhere gives an error with its offset or a valid prefix, marked as incomplete."""
import base64
import random

import pytest
from models import model, reader
from recordings import random_recording, tiny, writers

from conftest import batch, error_lines, figure_problems, run, some

pytestmark = pytest.mark.usefixtures("leaks_are_faults")

P4 = {"p4": lambda t: writers.pickled(t, 4)}
FORMS = {"p0": lambda t: writers.pickled(t, 0), "p2": lambda t: writers.pickled(t, 2), **P4,
         "cpp": writers.cpp, "json": writers.as_json,
         "gz": lambda t: writers.gzipped(writers.pickled(t, 4)), "gz2": lambda t: writers.gzipped(writers.cpp(t), 2),
         "zst": lambda t: writers.zstd(writers.cpp(t), 3, notes=True, program=False),
         "page": lambda t: writers.page([("one", writers.pickled(t, 4))])}
CASES = [("plain", form) for form in FORMS] + \
        [("two_devices", form) for form in ("p4", "cpp", "json", "p2")] + \
        [("traces_first", form) for form in ("p4", "cpp", "json")] + \
        [("stranger_between", form) for form in ("p0", "p4", "json")] + [("bare", "p4"), ("bare", "json")]


def readings(data):
    """The right readings of a cut file: none when it must be an error.  Two where a page was cut
    inside four base64 characters, since a decoder may or may not give the bytes that are certain."""
    def read(data):
        try:
            return [reader.load(data)[0]]
        except reader.Refused:
            return []

    found = read(data)
    if data[:1] == b"<":
        at = data.rfind(b'"base64": "') + 11
        odd = (len(data) - at) % 4
        if at > 10 and odd and not data.endswith(b'"'):
            found += read(data[:-odd])
    return found


def problems_of(cut, wanted, entry, error):
    """What is wrong with the program's answer to one cut file."""
    if entry is None:
        if error is None:
            return ["no answer and no message"]
        if wanted and all(model.records(w) for w in wanted):
            return ["refused although something was read: %s" % error]
        return [] if "byte " in error else ["no offset: %s" % error]
    if not wanted:
        # Nothing finished at all may also be answered as an empty, incomplete recording.
        return ["read where nothing is finished"] if entry["devices"] or entry["file"]["complete"] else []
    found = []
    for w in wanted:
        # Only the quote of a page's entry may be missing after STOP.
        if w.wrapper == "html" and w.complete:
            w.complete = entry["file"]["complete"]
        problems = figure_problems(entry, w)
        if not problems:
            return []
        found += problems
    return found


def check_cuts(folder, stem, data, places):
    """Runs all cuts of one file; gives the problems found."""
    names = {}
    for at in places:
        names["%s.%d" % (stem, at)] = at
        (folder / ("%s.%d" % (stem, at))).write_bytes(data[:at])
    found, errors = batch("report", folder, names, size=900, check=False)
    problems, most = [], {}
    for name, at in sorted(names.items(), key=lambda n: n[1]):
        entry = found.get(name, [None])[0]
        problems += [(at, p) for p in problems_of(at, readings(data[:at]), entry, errors.get(name))]
        for d in entry["devices"] if entry else []:
            before = most.get(d["device"], (0, 0))
            now = d["events"], d["segments"]
            if now < before or now[1] < before[1]:
                problems.append((at, "device %d fell from %s to %s events, segments" % (d["device"], before, now)))
            most[d["device"]] = now
    for name in names:
        (folder / name).unlink()
    return problems


@pytest.mark.parametrize("shape,form", CASES)
def test_every_byte(tmp_path, shape, form):
    """Of each eight one in `make test`."""
    data, every = FORMS[form](getattr(tiny, shape)()), some(8, 1)
    problems = check_cuts(tmp_path, form, data, range(1 + random.Random(shape + form).randrange(every), len(data), every))
    assert not problems, "%d of %d bytes: %s" % (len(problems), len(data), problems[:5])


def boundaries(data):
    """The offset of every opcode of a pickle."""
    walker, found = reader.Pickle(data), [0]
    step = walker.step
    walker.step = lambda code, start: (step(code, start), found.append(walker.at))
    walker.read()
    return found


def places(data, count, rng):
    """Opcode boundaries of a window around the border of segments and device_traces, and places anywhere."""
    border = max(data.find(b"device_traces"), data.find(b"segments"))
    near = [b for b in boundaries(data) if abs(b - border) < 32 << 10] if data[:1] == b"\x80" else []
    near = rng.sample(near, min(len(near), count // 2))
    return sorted({b for b in near if b} | {rng.randrange(1, len(data)) for _ in range(count // 2)})


def larger(seed, steps=60):
    return random_recording.make(seed, layout="new", devices=2, steps=steps, before=10, gap=False, missing=False)


@pytest.mark.parametrize("form", list(FORMS)[::some(3, 1)])
def test_larger_files_at_seeded_places(tmp_path, form):
    """Packed forms are cut in their packed bytes; `zst` has raw blocks, so that its prefix needs no program."""
    data = FORMS[form](larger(7))
    problems = check_cuts(tmp_path, form, data, places(data, 60, random.Random(form)))
    assert not problems, problems[:5]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_larger_files_everywhere(tmp_path, form):
    seed = 20 + list(FORMS).index(form)
    data = FORMS[form](larger(seed, steps=30))
    spots = range(1, len(data)) if len(data) <= 24 << 10 else places(data, 2000, random.Random(seed))
    problems = check_cuts(tmp_path, form, data, spots)
    assert not problems, problems[:5]


@pytest.mark.long
def test_real_files_at_seeded_places(tmp_path, real):
    for name, (path, _) in real.items():
        data = path.read_bytes()
        if len(data) <= 250_000:
            spots = range(1, len(data)) if len(data) <= 24 << 10 else places(data, 300, random.Random(name))
            problems = check_cuts(tmp_path, name, data, spots)
            assert not problems, (name, problems[:5])


def test_real_files_at_a_few_places(tmp_path, real):
    for name in ("nca_single_step_tiny.pickle", "linear_grad_tiny.pkl", "attention_inductor_mini.pickle", "no_frames_no_trace.pickle"):
        data = real[name][0].read_bytes()
        problems = check_cuts(tmp_path, name, data, places(data, 60, random.Random(name)))
        assert not problems, (name, problems[:5])


def test_every_case_of_the_table_is_met(tmp_path):
    """The cuts above meet each row of the format's table of anchors."""
    met = set()
    for shape in ("two_devices", "traces_first"):
        data = writers.pickled(getattr(tiny, shape)(), 4)
        for at in boundaries(data)[1:]:
            try:
                recording, = reader.load(data[:at])
            except reader.Refused:
                continue
            for d in model.devices(recording):
                met.add((shape, d.anchored, d.segments_whole, bool(d.events), bool(d.segments)))
    assert {("two_devices", False, False, False, True), ("two_devices", False, True, False, True),
            ("two_devices", False, True, True, True), ("two_devices", True, True, True, True),
            ("traces_first", False, False, True, False), ("traces_first", False, False, True, True),
            ("traces_first", True, True, True, True)} <= met


def test_every_output_marks_a_cut_file(tmp_path):
    """The text of a report says it too, and so does the answer to any other question."""
    data = writers.pickled(tiny.two_devices(), 4)
    (tmp_path / "cut.pickle").write_bytes(data[:-40])
    assert "incomplete" in run("report", "cut.pickle", cwd=tmp_path, expect=0).out.lower()
    assert "incomplete" in run("peak", "cut.pickle", cwd=tmp_path, expect=0).out.lower()
    for entry in run("peak", "--json", "cut.pickle", cwd=tmp_path, expect=0).json()["devices"]:
        assert entry["trust"]["window"] == "incomplete"
        assert "incomplete" in {i["id"] for i in entry["trust"]["items"]}


def test_offset_of_a_cut_counts_unpacked_bytes(tmp_path):
    """A compressed file cut before its first record: the message says which bytes it counts."""
    data = writers.pickled(tiny.plain(), 4)
    (tmp_path / "a.pickle").write_bytes(data[:30])
    (tmp_path / "a.gz").write_bytes(writers.gzipped(data[:30])[:-4])
    r = run("report", "a.pickle", "a.gz", cwd=tmp_path, expect=3)
    lines = error_lines(r.err)
    assert "byte " in lines["a.pickle"] and "unpacked" in lines["a.gz"], r.err


def test_missing_trailer_is_no_cut(tmp_path):
    """The snapshot is whole; only the checksum behind it is not."""
    data = writers.gzipped(writers.pickled(tiny.plain(), 4))
    (tmp_path / "a.gz").write_bytes(data[:-3])
    assert run("report", "--json", "a.gz", cwd=tmp_path, expect=0).json()["file"]["complete"] is True


def test_trailing_bytes_after_stop_are_legal(tmp_path):
    data = writers.pickled(tiny.plain(), 4)
    for k, tail in enumerate((b"\0\0\0", b"junk and more junk", data)):
        (tmp_path / str(k)).write_bytes(data + tail)
        assert run("report", "--json", str(k), cwd=tmp_path, expect=0).json()["file"]["complete"] is True


def test_cut_page_keeps_the_entries_before(tmp_path):
    whole = writers.pickled(tiny.plain(), 4)
    data = writers.page([("a", whole), ("b", whole)])
    at = data.rfind(b'"base64"') + len(b'"base64": "') + len(base64.b64encode(whole)) // 2
    (tmp_path / "p.html").write_bytes(data[:at // 4 * 4])
    first, second = run("report", "--json", "p.html", cwd=tmp_path, expect=0).json()["files"]
    assert first["file"]["complete"] is True and second["file"]["complete"] is False
