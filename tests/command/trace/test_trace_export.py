"""Traces in the formats of other tools: each read back, and compared with a slow call tree of the same trace."""
import base64
import csv
import gzip
import html
import io
import json
import os
import random
import re
import sqlite3
import struct
from collections import Counter, defaultdict

import pytest
from recordings import traces

from conftest import ROOT, answers, run, some

BUNDLED = ROOT / "examples/traces/training.pt.trace.json.gz"
HOST = {"cpu_op": "op", "operator": "op", "python_function": "python", "python": "python"}
WORK = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
UNLINKED = "(device work that no call is known to have launched)"


def export(path, to, *more, **options):
    return run("export", path, "--to", to, *more, expect=0, **options)


# A trace of known truth -----------------------------------------------------------------

def span(cat, name, tid, ts, dur, pid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def given(ts, size, device=(1, 0), tid=1):
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": tid, "ts": ts,
            "args": {"Device Type": device[0], "Device Id": device[1], "Bytes": size, "Addr": 4096}}


KNOWN = [
    span("python_function", "train.py(3): main", 1, 0, 100),
    span("user_annotation", "forward", 1, 5, 60),
    span("cpu_op", "aten::mm", 1, 10, 30, **{"External id": 1}),
    span("cuda_runtime", "cudaLaunchKernel", 1, 20, 5, correlation=7),
    span("kernel", "gemm;v2", 7, 50, 40, pid=0, correlation=7),
    span("cpu_op", "aten::mm", 1, 50, 10),
    span("cpu_op", "line\nbreak", 2, 10, 4),
    span("kernel", "lost", 7, 95, 2, pid=0),
    given(15, 512), given(16, -512), given(55, 100, (0, -1)), given(99, 64),
]
PATHS = {  # outermost first: (host, device, bytes given out on devices, calls)
    ("thread 1", "train.py(3): main"): (60000, 0, 64, 1),
    ("thread 1", "train.py(3): main", "aten::mm"): (35000, 0, 512, 2),
    ("thread 1", "train.py(3): main", "aten::mm", "cudaLaunchKernel"): (5000, 0, 0, 1),
    ("thread 1", "train.py(3): main", "aten::mm", "cudaLaunchKernel", "gemm;v2"): (0, 40000, 0, 1),
    ("thread 2", "line\nbreak"): (4000, 0, 0, 1),
    (UNLINKED, "lost"): (0, 2000, 0, 1),
}
WEIGHTS = ("host", "device", "bytes", "calls")


@pytest.fixture
def known(tmp_path):
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"traceEvents": KNOWN}))
    return path


def of_weight(weight):
    return {p: v[WEIGHTS.index(weight)] for p, v in PATHS.items() if v[WEIGHTS.index(weight)]}


def folded(path, weight, *more):
    lines = export(path, "folded", "--weight", weight, *more).out.splitlines()
    return {tuple(stack.split(";")): int(n) for stack, n in (line.rsplit(" ", 1) for line in lines)}


def as_folded(paths):
    return {tuple(f.replace(";", ",").replace("\n", "\\x0a") for f in p): n for p, n in paths.items()}


@pytest.mark.parametrize("weight", WEIGHTS)
def test_folded(known, weight):
    assert folded(known, weight) == as_folded(of_weight(weight))
    turned = {p[::-1]: n for p, n in as_folded(of_weight(weight)).items()}
    assert folded(known, weight, "--inverse") == turned


def test_nothing_that_weighs_is_said():
    for weight, why in (("device", "no device activity was recorded"), ("host", "")):
        done = export(BUNDLED, "folded", "--weight", weight)
        assert (why in done.err and not done.raw) if why else (done.raw and not done.err)


def test_one_thread_is_no_frame(tmp_path):
    path = tmp_path / "one.json"
    path.write_text(json.dumps([span("cpu_op", "a", 1, 0, 9), span("cpu_op", "b", 1, 1, 2)]))
    assert folded(path, "host") == {("a",): 7000, ("a", "b"): 2000}


# speedscope -----------------------------------------------------------------------------

def frame_text(f):
    return "%s(%d): %s" % (f["file"], f["line"], f["name"]) if "file" in f else f["name"]


def scope(path, *more):
    doc = json.loads(export(path, "speedscope", *more).raw)
    assert doc["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert doc["exporter"].startswith("vramscope ") and 0 <= doc["activeProfileIndex"] <= len(doc["profiles"])
    return doc


def self_times(profile, frames):
    """Of an evented profile, checked as speedscope checks it: path -> time while it is the innermost."""
    own, stack, at = Counter(), [], profile["startValue"]
    for e in profile["events"]:
        assert at <= e["at"] <= profile["endValue"]
        own[tuple(frames[i] for i in stack)] += e["at"] - at
        at = e["at"]
        if e["type"] == "O":
            stack.append(e["frame"])
        else:
            assert e["type"] == "C" and stack.pop() == e["frame"]
    assert not stack
    return {p: n for p, n in own.items() if n and p}


def test_speedscope_from_moment_to_moment(known):
    doc = scope(known)
    frames = [frame_text(f) for f in doc["shared"]["frames"]]
    found = {}
    for p in doc["profiles"]:
        assert (p["type"], p["unit"]) == ("evented", "nanoseconds")
        found |= {(p["name"], *path): n for path, n in self_times(p, frames).items()}
    streams = {("device 0 stream 7", "gemm;v2"): 40000, ("device 0 stream 7", "lost"): 2000}
    assert found == of_weight("host") | streams
    assert {"file": "train.py", "line": 3, "name": "main"} in doc["shared"]["frames"]


@pytest.mark.parametrize("weight", WEIGHTS[1:])
def test_speedscope_by_weight(known, weight):
    doc = scope(known, "--weight", weight)
    frames = [frame_text(f) for f in doc["shared"]["frames"]]
    found = {}
    for p in doc["profiles"]:
        assert p["type"] == "sampled" and p["name"].endswith(": " + weight)
        assert p["startValue"] == 0 and p["endValue"] == sum(p["weights"]) and len(p["weights"]) == len(p["samples"])
        root = p["name"].removesuffix(": " + weight)
        found |= {(root, *(frames[i] for i in s)): n for s, n in zip(p["samples"], p["weights"])}
    assert found == of_weight(weight)


# pprof ----------------------------------------------------------------------------------

def numbers(data, at=0):
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                break
        yield value, at


def fields(data):
    """number -> values of the fields of a message."""
    found, at = defaultdict(list), 0
    while at < len(data):
        key, at = next(numbers(data, at))
        value, at = next(numbers(data, at))
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            assert key & 7 == 0
        found[key >> 3].append(value)
    return found


def packed(data):
    return [value for value, _ in numbers(data)]


def pprof(path, *more):
    """(types, the usual one, [(frames, innermost first, values, labels)]) of a profile."""
    p = fields(gzip.decompress(export(path, "pprof", *more).raw))
    words = [s.decode() for s in p[6]]
    assert words[0] == ""
    functions = {f[1][0]: f for f in map(fields, p[5])}
    lines = {}
    for place in map(fields, p[4]):
        line = fields(place[4][0])
        function = functions[line[1][0]]
        name = words[function[2][0]]
        lines[place[1][0]] = "%s(%d): %s" % (words[function[4][0]], line[2][0], name) if 4 in function else name
    samples = []
    for s in map(fields, p[2]):
        labels = {words[fields(one)[1][0]]: words[fields(one)[2][0]] for one in s[3]}
        samples.append((tuple(lines[i] for i in packed(s[1][0])), packed(s[2][0]), labels))
    types = [tuple(words[fields(t)[i][0]] for i in (1, 2)) for t in p[1]]
    return types, words[p[14][0]], samples


def test_pprof(known):
    types, usual, samples = pprof(known)
    assert types == [("calls", "count"), ("host", "nanoseconds"), ("device", "nanoseconds"), ("allocated_space", "bytes")]
    assert usual == "host" and pprof(known, "--weight", "device")[1] == "device"
    found = {(labels["thread"], *frames[::-1]): values for frames, values, labels in samples}
    assert len(found) == len(samples)
    assert found == {p: [calls, host, device, size] for p, (host, device, size, calls) in PATHS.items()}


# The page -------------------------------------------------------------------------------

def tree_of(page):
    """The JSON that a page of a call tree holds."""
    packed, = re.findall(r'<script type="application/octet-stream" id="tree">([A-Za-z0-9+/=]*)</script>', page)
    return json.loads(gzip.decompress(base64.b64decode(packed, validate=True)))


def flame(path, *more):
    doc = tree_of(export(path, "html", *more).raw.decode())
    rows = len(doc["up"])
    assert doc["schema"] == "vramscope.flame/1" and len(doc["name"]) == len(doc["kind"]) == rows
    assert all(len(column) == rows and any(column) for column in doc["self"].values())
    return doc


def stacks_of(doc, weight):
    """path -> weight, threads outermost; of a tree with one thread without it."""
    stacks, found, roots = [], {}, doc["up"].count(0)
    for i, (up, name) in enumerate(zip(doc["up"], doc["name"])):
        stacks.append((stacks[i - up] if up else ()) + (doc["names"][name],))
        assert (doc["kinds"][doc["kind"][i]] == "thread") == (up == 0)
        if weight in doc["self"] and doc["self"][weight][i]:
            stack = stacks[i] if roots > 1 or not up else stacks[i][1:]
            assert stack not in found
            found[stack] = doc["self"][weight][i]
    return found


@pytest.mark.parametrize("weight", WEIGHTS)
def test_the_page_has_the_tree(known, weight):
    doc = flame(known, "--weight", weight)
    assert (doc["weight"], doc["inverse"], doc["device_bytes"], doc["incomplete"]) == (weight, False, True, None)
    assert stacks_of(doc, weight) == of_weight(weight)
    kinds = {doc["names"][n]: doc["kinds"][k] for n, k in zip(doc["name"], doc["kind"])}
    assert (kinds["train.py(3): main"], kinds["gemm;v2"]) == ("python", "kernel")
    assert flame(known, "--inverse")["inverse"]


def test_the_page_holds_the_weights_that_there_are(tmp_path):
    path = tmp_path / "host.json"
    path.write_text(json.dumps([span("cpu_op", "a", 1, 0, 9), span("cpu_op", "b", 1, 1, 2)]))
    doc = flame(path)
    assert list(doc["self"]) == ["host", "calls"] and not doc["device_bytes"]
    assert stacks_of(doc, "host") == {("a",): 7000, ("a", "b"): 2000}
    path.write_text(json.dumps([span("user_annotation", "of no call", 1, 0, 9)]))
    assert flame(path)["self"] == {}


def test_the_page_says_that_the_trace_is_cut(known):
    whole = known.read_bytes()
    known.write_bytes(whole[:len(whole) - 60])
    done = export(known, "html")
    assert tree_of(done.raw.decode())["incomplete"].startswith("INCOMPLETE: the file ends too early, at byte ")
    assert not done.err


def test_the_page_is_the_same_twice_and_shows_its_file_as_text(known, tmp_path):
    first = export(known, "html").raw
    assert first == export(known, "html").raw
    path = tmp_path / "<img src=x onerror=alert(1)> &.json"
    path.write_bytes(known.read_bytes())
    page = export(path, "html").raw.decode()
    assert html.unescape(re.search("<title>(.*?) - vramscope</title>", page)[1]) == str(path)
    assert "<img" not in page and tree_of(page)["file"] == str(path)


def test_a_page_of_many_paths_is_small(tmp_path):
    """Some bytes for a path: what a trace of hundreds of megabytes has fits into a page that can be sent."""
    rng, paths = random.Random(1), some(4000, 100_000)
    path = tmp_path / "wide.json"
    events = [span(rng.choice(("cpu_op", "python_function")), "torch/nn/modules/module.py(%d): call" % (i % 997), 1,
                   200 * (i // 2) + i % 2 * 5, (100, 20)[i % 2]) for i in range(paths)]
    events += [span("python_function", "f%d" % i, 1, 200 * i, 190) for i in range(paths // 2)]
    path.write_text(json.dumps(events))
    page = export(path, "html").raw.decode()
    doc = tree_of(page)
    assert len(doc["up"]) == paths + paths // 2 + 1
    assert len(page) < 60_000 + 16 * len(doc["up"]), len(page) / len(doc["up"])


# Tables ---------------------------------------------------------------------------------

def table(path, name):
    rows = csv.DictReader(io.StringIO(export(path, "csv", "-t", name).raw.decode(), newline=""))
    return list(rows)


def test_csv(known):
    assert export(known, "csv").raw == export(known, "csv", "-t", "operators").raw
    spans = table(known, "spans")
    assert [r["name"] for r in spans] == [e["name"] for e in KNOWN if e["ph"] == "X"]
    assert [int(r["start_ns"]) for r in spans] == [e["ts"] * 1000 for e in KNOWN if e["ph"] == "X"]
    kernel = spans[4]
    assert (kernel["launch"], kernel["owner"], kernel["owner_found_by"]) == ("3", "2", "launch_nesting")
    assert [(r["bytes"], r["address"]) for r in table(known, "memory")][:2] == [("512", "0x1000"), ("-512", "0x1000")]
    assert {(r["name"], r["calls"], r["total_ns"]) for r in table(known, "kernels")} == {("gemm;v2", "1", "40000"), ("lost", "1", "2000")}
    ranges = {(r["range"], r["calls"], r["self_host_ns"]) for r in table(known, "ranges")}
    assert ("forward", "2", "35000") in ranges


def has_sqlite(path):
    done = run("export", path, "--to", "sqlite")
    return "without sqlite" not in done.err


def test_sqlite(known, tmp_path):
    if not has_sqlite(known):
        pytest.skip("this build is without SQLite")
    target = tmp_path / "x.db"
    run("export", known, "--to", "sqlite", "-o", target, expect=0)
    db = sqlite3.connect(target)
    assert db.execute("SELECT schema, path, incomplete FROM about").fetchall() == [("vramscope.trace-export/1", str(known), None)]
    for name in ("threads", "spans", "flows", "memory", "steps", "operators", "kernels", "copies", "calls", "paths", "ranges"):
        have = [["" if v is None else str(v) for v in row] for row in db.execute("SELECT * FROM " + name)]
        assert have == [list(r.values()) for r in table(known, name)], name
    assert db.execute("SELECT operator, device_ns FROM device_time_by_operator").fetchall() == [("aten::mm", 40000), (None, 2000)]
    assert db.execute("SELECT launch_delay_ns FROM device_work WHERE name = 'gemm;v2'").fetchall() == [(25000,)]
    assert sum(n for n, in db.execute("SELECT self_host_ns FROM self_time_by_name")) == 104000
    found = {}
    names = {None: (), **{p: None for p, in db.execute("SELECT path FROM paths")}}
    for path, parent, thread, name in db.execute("SELECT path, parent, thread, name FROM paths ORDER BY path"):
        names[path] = names[parent] + (name if parent is not None else thread,)
        found[names[path]] = path
    assert len(found) == len(PATHS) + 3


# Chrome ---------------------------------------------------------------------------------

UNKEPT = ("events", "ph", "ts_form", "ooms")  # of events that are not read


def figures(path):
    (answer,), = answers(run("trace", "--json", path, expect=0)).values()
    return {k: v for k, v in answer["figures"].items() if k not in UNKEPT}


@pytest.mark.parametrize("period", list(traces.PERIODS))
def test_chrome_has_the_figures_of_what_was_read(tmp_path, period):
    for seed in range(some(1, 30)):
        path, again, twice = (tmp_path / name for name in ("a.json", "b.json", "c.json"))
        path.write_bytes(traces.as_json(traces.make(seed, period)))
        for source, target in ((path, again), (again, twice)):
            run("export", source, "--to", "chrome", "-o", target, expect=0)
        json.loads(again.read_bytes())
        have, want = figures(again), figures(path)
        assert have == want, {k: (have[k], want[k]) for k in want if have[k] != want[k]}
        assert again.read_bytes() == twice.read_bytes() == export(path, "perfetto").raw


def test_chrome_mends(tmp_path):
    whole = traces.as_json(traces.make(3, "2025"))
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[:len(whole) * 2 // 3])
    done = export(cut, "chrome", "-o", tmp_path / "mended.json")
    assert "INCOMPLETE: the file ends too early, at byte" in done.err and "chrome has no place to say so" in done.err
    json.loads((tmp_path / "mended.json").read_bytes())
    assert figures(tmp_path / "mended.json") == figures(cut)


# All of them ----------------------------------------------------------------------------

def naive(top):
    """Own time of the host by path of names, for each thread, without a tree: each ns belongs to who began last."""
    events = top["traceEvents"] if isinstance(top, dict) else top
    threads = defaultdict(list)
    for i, e in enumerate(events):
        kind = e.get("cat", "").lower()
        if e["ph"] == "X" and (kind in HOST or kind.endswith("_runtime") or kind.endswith("_driver") or kind in ("runtime", "driver")):
            threads[e["pid"], e["tid"]].append((e["ts"], -e["ts"] - e["dur"], i, e["name"]))
    total = Counter()
    for rows in threads.values():
        open_ = []
        for start, minus_end, _, name in sorted(rows):
            while open_ and open_[-1][0] <= start:
                open_.pop()
            assert not open_ or -minus_end <= open_[-1][0]
            path = (open_[-1][1] if open_ else ()) + (name,)
            length = -minus_end - start
            total[path] += length
            if open_:
                total[open_[-1][1]] -= length
            open_.append((-minus_end, path))
    return {p: n * 1000 for p, n in total.items() if n}


def nested(rng, depth, start, end, tid, out):
    """Spans that lie in one another, on whole microseconds."""
    at = start
    while at < end and len(out) < 300:
        first = rng.randint(at, end)
        last = rng.randint(first, end)
        kind = rng.choice(("cpu_op", "python_function", "cuda_runtime"))
        out.append(span(kind, rng.choice("abc"), tid, first, last - first))
        if depth < 6 and last - first > 1:
            nested(rng, depth + 1, first, last, tid, out)
        at = last + 1


def test_trees_as_by_hand(tmp_path):
    for seed in range(some(10, 200)):
        rng, events = random.Random(seed), []
        for tid in range(rng.randint(1, 3)):
            nested(rng, 0, 0, 400, tid, events)
        rng.shuffle(events)
        path = tmp_path / "t.json"
        path.write_text(json.dumps(events))
        several = len({e["tid"] for e in events}) > 1
        have = Counter()
        for p, n in folded(path, "host").items():
            have[p[1:] if several else p] += n
        assert have == naive(events), seed


FORMATS = [("csv", "-t", "spans"), ("folded",), ("speedscope",), ("pprof",), ("chrome",)]


def test_same_bytes_from_files_and_pipes():
    data = BUNDLED.read_bytes()
    for words in FORMATS:
        first = run("export", BUNDLED, "--to", *words, expect=0).raw
        piped = run("export", "-", "--to", *words, stdin=data, expect=0).raw
        assert first == run("export", BUNDLED, "--to", *words, expect=0).raw
        assert first == piped.replace(b'"name": "-"', b'"name": "%s"' % str(BUNDLED).encode()), words


def test_texts_of_a_stranger(tmp_path):
    names = ["=1+1", "a\"b,c", "l\nm", "'); DROP TABLE spans;--", "\x1b[31mred", "a;b", "\u202e", "", "x" * 3000]
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps([span("cpu_op", n, 1, i * 10, 5) for i, n in enumerate(names)]))
    out = export(path, "folded").out
    assert not set("\x1b\u202e") & set(out) and len(out.splitlines()) == len(names)
    shown = {f["name"] for f in scope(path)["shared"]["frames"]}
    assert {n or "(no name)" for n in names} <= shown
    assert {n or "(no name)" for n in names} == {frames[0] for frames, _, _ in pprof(path)[2]}
    assert {n or "(no name)" for n in names} == {stack[-1] for stack in stacks_of(flame(path), "host")}
    assert [e["name"] for e in json.loads(export(path, "chrome").raw) if e["name"]] == [n for n in names if n]


def test_deep_trees(tmp_path):
    """Stacks are cut where written out whole; from moment to moment they are not."""
    depth = some(1200, 20_000)
    path = tmp_path / "deep.json"
    path.write_text(json.dumps([span("python_function", "f%d" % (i % 3), 1, i, 2 * depth - 2 * i) for i in range(depth)]))
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in export(path, "folded").out.splitlines()]
    assert max(map(len, stacks)) == 1025 and stacks[-1][0] == "(frames left out)"
    doc = scope(path)
    assert len(doc["profiles"][0]["events"]) == 2 * depth
    assert len(pprof(path)[2]) == depth
    assert flame(path)["up"] == [0] + [1] * depth
    tree = run("trace", path, "--tree", "--min-share", "0", "-n", "50", expect=0).out
    assert "and %d paths more" % (depth + 1 - 50) in tree.replace("\u202f", "").replace("\u2009", "")


# Real traces ----------------------------------------------------------------------------

REAL_BYTES = some(120_000, 1 << 30)  # as stored


def test_real_traces(shared, tmp_path):
    """What is written has the figures of what was read, and the trees have all of its device time."""
    for path in sorted((shared / "data/traces").glob("*.json*")):
        if path.stat().st_size > REAL_BYTES:
            continue
        again = tmp_path / "again.json"
        run("export", path, "--to", "chrome", "-o", again, expect=0)
        have, want = figures(again), figures(path)
        assert have == want, (path.name, {k: (have[k], want[k]) for k in want if have[k] != want[k]})
        assert sum(folded(path, "device").values()) == want["self_device_ns"], path.name
        for weight, self in flame(path)["self"].items():
            assert sum(self) == sum(folded(path, weight).values()), (path.name, weight)
        if path.name == "pipeline_not_kineto.json":
            continue  # figures count no call of another tool's ranges
        rows = table(path, "paths")
        tree, roots = want["call_tree"], [r for r in rows if r["parent"] == ""]
        assert sum(r["kind"] not in ("thread", "kernel", "memcpy", "memset") for r in rows) == tree["distinct_paths"], path.name
        assert len([r for r in roots if r["thread"]]) == tree["threads"], path.name
        assert max([int(r["depth"]) for r in rows if r["kind"] not in ("kernel", "memcpy", "memset")], default=0) == tree["max_depth"]
        if not tree["partial_overlaps"]:
            assert sum(folded(path, "host").values()) == sum(int(r["host_ns"]) for r in roots), path.name


# Words ----------------------------------------------------------------------------------

@pytest.mark.parametrize("words, why", [
    (("folded", "--at", "peak"), "--at is for memory snapshots"),
    (("folded", "--device", "0"), "--device is for memory snapshots"),
    (("json",), "a trace is not written as \"json\", but as: csv, folded"),
    (("csv", "-t", "allocations"), "a trace has no table \"allocations\", but one of: threads, spans"),
    (("csv", "-t", "spans", "-t", "paths"), "csv holds one table"),
    (("folded", "--weight", "count"), "a weight of a trace is host, device, bytes or calls"),
    (("html", "-t", "paths"), "html takes no tables"),
    (("html", "--weight", "time"), "--weight"),
    (("pprof", "--inverse"), "direction"),
])
def test_what_means_nothing_for_a_trace_is_said(known, words, why):
    done = run("export", known, "--to", *words, expect=2)
    assert why in done.err and not done.raw


@pytest.mark.parametrize("words, why", [
    (("csv", "-t", "foo"), 'a trace has no table "foo", but one of: threads, spans, flows'),
    (("json", "-t", "foo"), 'a trace is not written as "json", but as: csv, folded'),
    (("folded", "-t", "spans"), "folded takes no tables"),
    (("chrome", "--at", "peak"), "--at is for memory snapshots, and ")])
def test_words_of_no_kind_of_file_are_refused_for_this_one(known, tmp_path, words, why):
    for name, data in (("a.json", known.read_bytes()), ("a.pickle", gzip.compress(known.read_bytes()))):
        path = tmp_path / name
        path.write_bytes(data)
        done = run("export", path, "--to", *words, expect=2)
        assert why in done.err and done.err.count("\n") == 1 and not done.raw


def test_a_table_of_neither_kind(known, tmp_path):
    """Of a snapshot its tables are named, of standard input, which is not looked at, those of both."""
    words = ("--to", "csv", "-t", "foo")
    one = run("export", ROOT / "examples/train.pickle", *words, expect=2).err
    assert "but devices, allocations" in one and "threads" not in one and one.count("\n") == 1
    both = run("export", "-", *words, stdin=known.read_bytes(), expect=2).err
    assert "but devices, allocations" in both and "but one of: threads" in both
    os.mkfifo(tmp_path / "pipe")
    assert "but devices, allocations" in run("export", tmp_path / "pipe", *words, expect=2).err


@pytest.mark.parametrize("words", [("chrome",), ("html",), ("csv", "-t", "spans"), ("folded", "--weight", "device")])
def test_what_means_nothing_for_a_snapshot_is_said(words):
    done = run("export", ROOT / "examples/train.pickle", "--to", *words)
    assert done.code == 2 and not done.raw and done.err.count("\n") == 1
    assert "is no profiler trace, and of memory snapshots: " in done.err


def test_what_is_no_trace_says_why(tmp_path):
    path = tmp_path / "none.json"
    for text, why in (("{}", "JSON without a list of events (traceEvents)"), ('{"traceEvents": []}', "a trace without an event")):
        path.write_text(text)
        assert why in run("export", path, "--to", "html", expect=3).err


def test_what_sqlite_left_beside_a_database_is_not_taken_for_a_part_of_the_new_one(tmp_path):
    path = tmp_path / "w.db"
    for end in ("-wal", "-journal"):
        beside = tmp_path / ("w.db" + end)
        beside.write_bytes(b"x")
        said = run("export", BUNDLED, "--to", "sqlite", "-o", path, expect=2).err
        assert str(beside) in said and "remove it, or name another file" in said and not path.exists()
        beside.unlink()


def test_options_of_snapshots_beside_a_format_of_traces():
    said = run("export", "nofile.json", "--to", "html", "--user-root", "/x", expect=2).err
    assert "--user-root is for memory snapshots, and html a format of profiler traces" in said
