"""`vramscope export`: every format read back by a reader of its own, and compared with the other verbs.

What has a reader in Python's library (csv, json, sqlite3, gzip) is read by that; protobuf by the
fifty lines below.
"""
import csv
import functools
import gzip
import io
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
from collections import defaultdict

import pytest

from recordings import scripts, tiny, writers

from conftest import ROOT, environment, program, run, schemas, some

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
TABLES = ("devices", "allocations", "events", "curves", "segments", "blocks", "sites", "stacks", "frames", "marks", "settings")


def sources():
    """In `make test` one example and every sixth script."""
    return EXAMPLES[:some(1, None)] + [scripts.SCRIPTS / (n + ".script") for n in scripts.NAMES[::some(6, 1)]]


@pytest.fixture(params=sources(), ids=lambda p: p.stem)
def source(request):
    path = request.param
    return scripts.make(path.stem) if path.suffix == ".script" else path


def export(path, to, *more, **options):
    return run("export", path, "--to", to, *more, expect=0, **options)


@functools.cache
def tables(path, *names):
    """The rows of each; who asks again is given the same, and changes nothing."""
    doc = json.loads(export(path, "json", *(w for n in names for w in ("-t", n))).raw)
    schemas.validate("export", doc)
    return doc["tables"]


@functools.cache
def peak(path, *more):
    return run("peak", "--json", path, *more, expect=0).json()["devices"]


def database(path, folder):
    target = folder / "x.db"
    run("export", path, "--to", "sqlite", "-o", target, expect=0)
    return sqlite3.connect(target)


def has_sqlite():
    done = subprocess.run([program(), "export", "--to", "sqlite"], stderr=subprocess.PIPE, env=environment())
    return b"without sqlite" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the name of the library is that of Linux")
def test_without_sqlite_all_else_is_exported(tmp_path):
    """It is loaded for a database alone; without it there is a line that says what to install, and no file."""
    if not has_sqlite():
        pytest.skip("this build is without sqlite")
    (tmp_path / "libsqlite3.so.0").write_bytes(b"none")
    env = environment(LD_LIBRARY_PATH=str(tmp_path))
    target = tmp_path / "x.db"
    done = run("export", EXAMPLES[0], "--to", "sqlite", "-o", target, env=env, expect=3)
    assert "a database needs SQLite: " in done.err and "install it" in done.err
    assert done.err.count("\n") == 1 and not target.exists()
    run("export", EXAMPLES[0], "--to", "csv", "-t", "devices", env=env, expect=0)


def on_terminal(*args):
    """What a program sends to a terminal."""
    try:
        ours, theirs = os.openpty()
    except OSError as e:
        pytest.skip("no terminal can be had here: %s" % e)
    done = subprocess.Popen([program(), *map(str, args)], stdout=theirs, stderr=subprocess.DEVNULL, env=environment())
    os.close(theirs)
    sent = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            break
        sent += piece
    os.close(ours)
    return done.wait(), sent.replace(b"\r\n", b"\n")


def test_a_terminal_is_sent_no_text_of_a_file_as_it_is(tmp_path):
    bad = "\x1b]0;owned\x07\u202e\u009b31m\0"
    frames = [{"filename": "a.py", "line": 1, "name": bad}]
    path = tmp_path / "bad.pickle"
    events = [tiny.event("segment_alloc", tiny.BASE, 20 * tiny.MIB), tiny.event("alloc", tiny.BASE, 4 * tiny.MIB - 100, frames=frames)]
    path.write_bytes(writers.pickled(tiny.top([tiny.half()], events), 4))
    for args in (("--to", "csv", "-t", "sites"), ("--to", "folded")):
        status, sent = on_terminal("export", path, *args)
        assert status == 0 and b"\\x1b]0" in sent and b"owned\\x07" in sent and b"\\u{202e}" in sent and b"\\u{9b}" in sent
        assert not re.search(rb"[\0-\x09\x0b-\x1f\x7f]|\xc2\x9b|\xe2\x80\xae", sent)
        assert b"\\x0d" not in sent  # which ends each line of csv, and is no text
    # A pipe gets the text itself.
    assert b"\x1b" in export(path, "csv", "-t", "sites").raw


# Protobuf -------------------------------------------------------------------------------

def number(data, at):
    value, shift = 0, 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def message(data):
    """field -> its values, in order: numbers, or bytes."""
    fields, at = defaultdict(list), 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        else:
            assert key & 7 == 2, "wire type %d" % (key & 7)
            length, at = number(data, at)
            assert at + length <= len(data)
            value, at = data[at:at + length], at + length
        fields[key >> 3].append(value)
    return fields


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = number(data, at)
        values.append(value)
    return values


def profile(data):
    """(sample types, [(names innermost first, values, device)]), samples of one stack and device added up"""
    types, samples, usual = labelled_profile(data)
    sums = {}
    for names, values, labels in samples:
        key = tuple(names), labels["device"]
        sums[key] = [a + b for a, b in zip(sums.get(key, [0, 0]), values)]
    return types, [(list(names), values, device) for (names, device), values in sums.items()], usual


def labelled_profile(data):
    """The same with each sample as it is, and all of its labels."""
    p = message(gzip.decompress(data))
    text = [b.decode() for b in p[6]]
    assert text[0] == ""
    functions = {f[1][0]: f for f in map(message, p[5])}
    locations = {}
    for one in map(message, p[4]):
        line = message(one[4][0])
        function = functions[line[1][0]]
        locations[one[1][0]] = (text[function[2][0]], text[function[4][0]] if function[4] else "", line[2][0] if line[2] else 0)
    samples = []
    for s in map(message, p[2]):
        labels = [(text[x[1][0]], text[x[2][0]]) for x in map(message, s[3])]
        assert [key for key, _ in labels] in (["device"], ["device", "category"])
        samples.append(([locations[i] for i in packed(s[1][0])], packed(s[2][0]), dict(labels)))
    types = [tuple(text[message(t)[k][0]] for k in (1, 2)) for t in p[1]]
    return types, samples, text[p[14][0]]


# Tables ---------------------------------------------------------------------------------

def test_tables_agree_with_the_report(source):
    made = tables(source, "all")
    assert tuple(made) == TABLES
    for device in run("report", "--json", source, expect=0).json()["devices"]:
        own = {t: [r for r in made[t] if r.get("device") == device["device"]] for t in TABLES}
        counts, = own["devices"]
        assert counts["events"] == device["events"] == len(own["events"])
        assert counts["allocations"] == len(own["allocations"])
        for curve in ("requested", "allocated", "active", "reserved"):
            values = [r[curve + "_bytes"] for r in own["curves"]]
            want = device[curve]
            assert (values[0], max(values), values[-1]) == (want["start_bytes"], want["peak_bytes"], want["end_bytes"]), curve
            assert values.index(max(values)) - 1 == want["peak_event"]


def test_rows_refer_to_rows(source):
    made = tables(source, "all")
    sites = {r["stack"] for r in made["sites"]}
    stacks = {r["stack"]: r for r in made["stacks"]}
    frames = {r["frame"]: r for r in made["frames"]}
    for table in ("allocations", "events", "blocks"):
        for r in made[table]:
            assert r["stack"] is None or r["stack"] in sites
            assert (r["stack"] is None) == (r["culprit"] is None)
    for r in stacks.values():
        assert r["caller"] is None or r["caller"] in stacks
        assert (r["function"], r["file"], r["line"]) == tuple(frames[r["frame"]][k] for k in ("function", "file", "line"))
    lives = {(r["device"], r["allocation"]): r for r in made["allocations"]}
    for e in made["events"]:
        if e["allocation"] is not None:
            life = lives[e["device"], e["allocation"]]
            assert e["event"] in (life["alloc_event"], life["free_requested_event"], life["free_completed_event"])
            assert e["address"] == life["address"]


def test_csv_has_the_rows_of_json(source):
    for table in TABLES:
        rows = tables(source, table)[table]
        raw = export(source, "csv", "-t", table).raw.decode()
        assert raw.endswith("\r\n")
        read = list(csv.reader(io.StringIO(raw, newline="")))
        shown = {None: "", True: "true", False: "false"}
        want = [[shown[v] if v is None or isinstance(v, bool) else str(v) for v in r.values()] for r in rows]
        if rows:
            assert read[0] == list(rows[0])
        assert [[c[1:] if c[:1] == "'" else c for c in r] for r in read[1:]] == want, table


def alive(rows, event):
    at = lambda e, never: never if e is None else e
    return [r for r in rows if at(r["alloc_event"], -1) <= event and (r["free_completed_event"] is None or r["free_completed_event"] > event)]


def check_categories(path, folder, *more):
    made = tables(path, "allocations")["allocations"]
    for at in ("peak", "start", "end"):
        for d in run("categories", "--json", "--at", at, path, expect=0).json()["devices"]:
            own = [r for r in made if r["device"] == d["device"]]
            if d["status"] == "needs_stacks":
                assert all(r[k] is None for r in own for k in ("category", "confidence", "rule", "undecided"))
                continue
            have = defaultdict(lambda: [0, 0, 0, 0, 0])
            rules = defaultdict(lambda: [0, 0])
            for r in alive(own, d["result"]["at_event"]):
                size = r["bytes"] or 0
                row, rule = have[r["category"]], rules[r["category"], r["rule"]]
                row[0], row[1], rule[0], rule[1] = row[0] + size, row[1] + 1, rule[0] + size, rule[1] + 1
                if r["confidence"]:
                    row[("high", "medium", "low").index(r["confidence"]) + 2] += size
                assert (r["confidence"] is None) == (r["category"] == "unknown")
            want = d["result"]["by_category"]
            fields = ("bytes", "count", "high_bytes", "medium_bytes", "low_bytes")
            assert dict(have) == {c["category"]: [c[f] for f in fields] for c in want}, (path, at)
            assert dict(rules) == {(c["category"], u["rule"]): [u["bytes"], u["count"]] for c in want for u in c["rules"]}
            if at == "peak" and has_sqlite():
                rows = database(path, folder).execute("SELECT category, bytes, count FROM peak_by_category WHERE device = ?", (d["device"],))
                assert {c: (b or 0, n) for c, b, n in rows} == {c["category"]: (c["bytes"], c["count"]) for c in want}


def test_categories_add_up(source, tmp_path):
    check_categories(source, tmp_path)


def test_categories_of_real_files_add_up(shared, tmp_path):
    for name in ("lm_fullstep_from_start", "three_gpu_expandable_oom", "no_frames_no_trace"):
        path, = (shared / "data" / "snapshots").glob(name + ".*")
        check_categories(path, tmp_path)


def test_labels_of_samples_are_categories(source):
    """A heap profile by label says what the table of allocations does."""
    for at in ("peak", "end"):
        moments = {d["device"]: d["result"]["at_event"] for d in peak(source, "--at", at)}
        rows = tables(source, "allocations")["allocations"]
        have = defaultdict(lambda: [0, 0])
        keys = set()
        for names, values, labels in labelled_profile(export(source, "pprof", "--at", at).raw)[1]:
            key = int(labels["device"].split()[1]), labels.get("category")
            keys.add((tuple(names), *key))
            have[key] = [a + b for a, b in zip(have[key], values)]
        want = defaultdict(lambda: [0, 0])
        for r in (r for n, event in moments.items() for r in alive(rows, event) if r["device"] == n):
            row = want[r["device"], r["category"]]
            row[0], row[1] = row[0] + 1, row[1] + (r["bytes"] or 0)
        assert have == want
        # A sample is a stack and a category, once.
        assert len(keys) == len(labelled_profile(export(source, "pprof", "--at", at).raw)[1])


def test_rules_of_ones_own_name_categories(tmp_path):
    path = scripts.make("train")
    rules = tmp_path / "my.rules"
    rules.write_text("rule all_of_it kv_cache high\n  alloc.any ~ .\n")
    with_rules = lambda to, *more: export(path, to, "--rules", rules, *more).raw
    own = [r for r in json.loads(with_rules("json"))["tables"]["allocations"] if r["stack"] is not None]
    assert own and {(r["category"], r["rule"]) for r in own} == {("kv_cache", "all_of_it")}
    assert not any(r["category"] == "kv_cache" for r in tables(path)["allocations"])
    assert {labels["category"] for _, _, labels in labelled_profile(with_rules("pprof"))[1]} == {"kv_cache"}
    assert b"category kv_cache" in with_rules("perfetto") and b"category activation" not in with_rules("perfetto")
    if has_sqlite():
        export(path, "sqlite", "--rules", rules, "-o", tmp_path / "x.db")
        assert sqlite3.connect(tmp_path / "x.db").execute("SELECT DISTINCT category FROM peak_by_category").fetchall() == [("kv_cache",)]
    rules.write_text("\nrule x nothing high\n")
    assert "%s:2" % rules in run("export", path, "--to", "pprof", "--rules", rules, expect=2).err
    for args in (["--to", "folded"], ["--to", "csv", "-t", "events"]):
        assert "no categories" in run("export", path, *args, "--rules", rules, expect=2).err


def test_equal_copies_are_undecided(shared):
    """Which block is a parameter and which a gradient nobody knows; what the optimizer makes anew is state."""
    path, = (shared / "data" / "snapshots").glob("lm_compile_adamw.*")
    start = alive(tables(path, "allocations")["allocations"], -1)
    copies = [r for r in start if r["undecided"]]
    assert sum(r["bytes"] for r in copies) == 2 * 761840640
    assert {r["category"] for r in copies} == {"parameter", "gradient"}


def test_a_table_is_chosen():
    path = EXAMPLES[0]
    assert list(tables(path)) == ["allocations"]
    assert export(path, "csv").raw == export(path, "csv", "-t", "allocations").raw
    assert list(tables(path, "blocks", "events")) == ["events", "blocks"]


def hostile(folder):
    """A recording whose texts mean something to spreadsheets, shells of SQL and terminals."""
    texts = ["=1+1", "+x", "-x", "@x", "a\"b,c", "l\nm", "'); DROP TABLE frames;--", "\x1b[31mred", "a;b", "-1", "\u202e"]
    frames = lambda t: [{"name": t, "filename": "/x/" + t, "line": 1}, {"name": "main", "filename": "m.py", "line": 2}]
    trace = [{"action": "alloc", "addr": 0x10000 + i * 512, "size": 300 + i, "stream": 0, "frames": frames(t)} for i, t in enumerate(texts)]
    blocks = [{"address": e["addr"], "size": 512, "requested_size": e["size"], "state": "active_allocated", "frames": e["frames"]} for e in trace]
    blocks.append({"address": 0x10000 + len(texts) * 512, "size": (2 << 20) - len(texts) * 512, "state": "inactive"})
    segment = {"address": 0x10000, "total_size": 2 << 20, "stream": 0, "device": 0, "segment_type": "small", "blocks": blocks}
    path = folder / "hostile.json"
    path.write_text(json.dumps({"segments": [segment], "device_traces": [trace]}))
    return path, texts


def test_text_of_a_stranger(tmp_path):
    path, texts = hostile(tmp_path)
    rows = list(csv.reader(io.StringIO(export(path, "csv", "-t", "frames").raw.decode(), newline="")))
    functions = [r[1] for r in rows[1:] if r[1] != "main"]
    assert sorted(functions) == sorted("'" + t if t[0] in "=+-@" and t != "-1" else t for t in texts)
    assert sorted(r["function"] for r in tables(path, "frames")["frames"] if r["function"] != "main") == sorted(texts)
    folded = export(path, "folded").raw.decode()
    assert len(folded.splitlines()) == len(texts) and "\x1b" not in folded and "\u202e" not in folded
    assert all(line.count(";") == 1 for line in folded.splitlines())
    scope = json.loads(export(path, "speedscope").raw)
    assert set(texts) <= {f["name"] for f in scope["shared"]["frames"]}
    names = {name for sample in profile(export(path, "pprof").raw)[1] for name, _, _ in sample[0]}
    assert set(texts) <= names
    if has_sqlite():
        db = database(path, tmp_path)
        assert sorted(f for f, in db.execute("SELECT function FROM frames WHERE function != 'main'")) == sorted(texts)


# Stacks ---------------------------------------------------------------------------------

@pytest.mark.parametrize("at", ("peak", "end"))
def test_weights_are_those_of_peak(source, at):
    want = {d["device"]: d["result"] for d in peak(source, "--at", at)}
    for weight, field in (("bytes", "bytes"), ("count", "count")):
        lines = export(source, "folded", "--at", at, "--weight", weight).out.splitlines()
        total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
        assert total == sum(r[field] for d in want.values() for r in d["rows"])
    scope = json.loads(export(source, "speedscope", "--at", at).raw)
    assert len(scope["profiles"]) == 2 * len(want)
    for p in scope["profiles"]:
        rows = want[int(p["name"].split()[1].rstrip(":"))]["rows"]
        assert (p["type"], p["startValue"]) == ("sampled", 0)
        assert p["unit"] == ("none" if "allocations" in p["name"] else "bytes")
        field = "count" if p["unit"] == "none" else "bytes"
        assert sum(p["weights"]) == p["endValue"] == sum(r[field] for r in rows)
        assert len(p["samples"]) == len(p["weights"])
        assert all(0 <= f < len(scope["shared"]["frames"]) for s in p["samples"] for f in s) and all(p["samples"])
    types, samples, usual = profile(export(source, "pprof", "--at", at).raw)
    assert (types, usual) == ([("inuse_objects", "count"), ("inuse_space", "bytes")], "inuse_space")
    for number_, result in want.items():
        own = [v for _, v, device in samples if device == "device %d" % number_]
        assert [sum(v[i] for v in own) for i in (0, 1)] == [sum(r[f] for r in result["rows"]) for f in ("count", "bytes")]


def test_three_formats_have_one_tree(source):
    _, samples, _ = profile(export(source, "pprof").raw)
    scope = json.loads(export(source, "speedscope").raw)
    frames = [(f["name"], f.get("file", ""), f.get("line", 0)) for f in scope["shared"]["frames"]]
    ours = sorted((tuple(frames[i] for i in reversed(s)), w) for p in scope["profiles"] if p["unit"] == "bytes"
                  for s, w in zip(p["samples"], p["weights"]))
    assert ours == sorted((tuple(s), v[1]) for s, v, _ in samples)
    text = lambda f: ("%s:%d " % f[1:] if f[2] else f[1] + " " if f[1] else "") + f[0]
    several = len({d for _, _, d in samples}) > 1
    lines = sorted(export(source, "folded").out.splitlines())
    want = sorted(";".join([d] * several + [text(f).replace(";", ",") for f in reversed(s)]) + " %d" % v[1] for s, v, d in samples)
    assert lines == want


def test_inverse_turns_stacks_around():
    path = EXAMPLES[0]
    line = lambda more: [x.rsplit(" ", 1) for x in export(path, "folded", *more).out.splitlines()]
    assert [(s.split(";")[::-1], w) for s, w in line(["--inverse"])] == [(s.split(";"), w) for s, w in line([])]


def test_frames_that_only_make_memory_are_left_out():
    """Each stack ends in what asked: an operator, a node of autograd, a line; the flat view of pprof says so."""
    path = scripts.make("train")
    out = export(path, "folded").out
    leaves = {line.rsplit(" ", 1)[0].rsplit(";", 1)[-1] for line in out.splitlines()}
    assert "at::_ops::addmm::call(…)" in leaves and "at::_ops::gelu::call(…)" in leaves
    for made in ("unwind", "CachingAllocator", "at::detail::", "at::_ops::empty", "StorageImpl"):
        assert not any(made in leaf for leaf in leaves), (made, leaves)
    flat = {sample[0][0][0] for sample in profile(export(path, "pprof").raw)[1] if sample[0]}
    assert not any(made in name for name in flat for made in ("at::detail", "StorageImpl", "at::_ops::empty"))


# Database -------------------------------------------------------------------------------

def test_database(source, tmp_path):
    if not has_sqlite():
        pytest.skip("this build is without SQLite")
    db = database(source, tmp_path)
    db.row_factory = sqlite3.Row
    made = tables(source, "all")
    for table in TABLES:
        rows = [dict(r) for r in db.execute("SELECT * FROM %s" % table)]
        assert rows == [{k: v for k, v in r.items() if k in (rows[0] if rows else r)} for r in made[table]], table
    assert db.execute("SELECT schema FROM about").fetchone()[0] == "vramscope.export/1"
    assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    for d in peak(source):
        have = {r["culprit"]: (r["bytes"], r["count"], r["largest_bytes"])
                for r in db.execute("SELECT * FROM peak_by_culprit WHERE device = ?", (d["device"],))}
        assert have == {r["name"]: (r["bytes"], r["count"], r["largest_bytes"]) for r in d["result"]["rows"]}
        moment = db.execute("SELECT * FROM peaks WHERE device = ?", (d["device"],)).fetchone()
        assert (moment["event"], moment["requested_bytes"]) == (d["result"]["at_event"], d["result"]["total_bytes"])
    lines = db.execute("SELECT count(*) FROM stack_lines").fetchone()[0]
    assert lines == len(made["stacks"])
    assert [dict(r) for r in db.execute("SELECT * FROM allocation_sites")] == made["allocations"]


def test_database_needs_a_file(tmp_path):
    if not has_sqlite():
        pytest.skip("this build is without SQLite")
    path = EXAMPLES[0]
    assert "-o" in run("export", path, "--to", "sqlite", expect=2).err
    old = tmp_path / "x.db"
    old.write_text("something else")
    run("export", path, "--to", "sqlite", "-o", old, expect=0)   # replaced, as any output
    assert sqlite3.connect(old).execute("SELECT count(*) FROM events").fetchone()[0] > 0
    assert [p.name for p in tmp_path.iterdir()] == ["x.db"]


def test_a_database_that_cannot_be_written_is_named(tmp_path):
    if not has_sqlite():
        pytest.skip("this build is without SQLite")
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
    r = run("export", EXAMPLES[0], "--to", "sqlite", "-o", "out.db", cwd=tmp_path, preexec=limit, expect=3)
    assert r.err.startswith("vramscope: -o out.db: the database cannot be written: ") and EXAMPLES[0].name not in r.err
    assert list(tmp_path.iterdir()) == []


# Trace ----------------------------------------------------------------------------------

def packets(path):
    return [message(p) for p in message(export(path, "perfetto").raw)[1]]


def test_trace(source):
    made = tables(source, "curves", "events", "allocations")
    tracks, values, instants = {}, defaultdict(list), defaultdict(list)
    for p in packets(source):
        assert p[10] == [1]
        if p[60]:
            t = message(p[60][0])
            tracks[t[1][0]] = (t[2][0].decode(), t[5][0] if t[5] else 0)
            if t[8]:
                assert message(t[8][0])[3] == [3]   # bytes
            continue
        if not p[11]:
            continue
        e = message(p[11][0])
        if e[9] == [4]:
            values[e[11][0]].append((p[8][0], e[30][0]))
        elif e[23] == [b"out of memory"]:
            notes = {message(a)[10][0].decode(): message(a)[3][0] for a in e[4]}
            instants[e[11][0]].append((p[8][0], notes))
    for uuid, (name, parent) in tracks.items():
        if not parent or name in ("steps", "phases"):
            continue
        device = int(tracks[parent][0].split()[1])
        if name.startswith("category "):
            own = [r for r in made["allocations"] if r["device"] == device and r["category"] == name.split()[1]]
            events = sum(e["device"] == device for e in made["events"])
            assert own
            want = [sum(r["bytes"] or 0 for r in alive(own, event)) for event in range(-1, events)]
        else:
            want = [r[name + "_bytes"] for r in made["curves"] if r["device"] == device]
        have = [v for _, v in values[uuid]]
        changes = [v for i, v in enumerate(want) if i == 0 or v != want[i - 1]]
        assert have == changes, (device, name)
        times = [t for t, _ in values[uuid]]
        assert times == sorted(set(times))
    for uuid, (name, parent) in tracks.items():
        if name.startswith("device"):
            named = {n[9:] for n, p in tracks.values() if p == uuid and n.startswith("category ")}
            assert named == {r["category"] for r in made["allocations"] if r["device"] == int(name.split()[1])} - {None}
            ooms = [e for e in made["events"] if e["action"] == "oom" and e["device"] == int(name.split()[1])]
            assert [n for _, n in instants[uuid]] == [{"event": e["event"], "bytes": e["bytes"],
                                                       "device_free_bytes": e["device_free_bytes"]} for e in ooms]


def slices(path):
    """[(track, name, begin, end)] of a trace, by the rule that an end closes what began last."""
    found, open_ = [], defaultdict(list)
    events = sorted(((p[8][0], i, message(p[11][0])) for i, p in enumerate(packets(path)) if p[11]), key=lambda x: x[:2])
    for time, _, e in events:
        if e[9] == [1]:
            open_[e[11][0]].append((e[23][0].decode(), time))
        elif e[9] == [2]:
            name, begin = open_[e[11][0]].pop()
            found.append((name, begin, time))
    assert not any(open_.values())
    return sorted(found)


def spans(path):
    """{track: [(name, begin, end)]} of its steps and phases."""
    tracks = {t[1][0]: t[2][0].decode() for t in (message(p[60][0]) for p in packets(path) if p[60])}
    open_, found = {}, defaultdict(list)
    for p in packets(path):
        e = message(p[11][0]) if p[11] else {9: []}
        track = tracks[e[11][0]] if p[11] else None
        if track not in ("steps", "phases"):
            continue
        if e[9] == [1]:
            assert track not in open_
            open_[track] = (e[23][0].decode(), p[8][0])
        elif e[9] == [2]:
            found[track].append((*open_.pop(track), p[8][0]))
    assert not open_
    return found


def test_steps_and_phases_are_slices():
    """Each on a track of its device, from its first event to its last, as `steps` has them."""
    path = ROOT / "examples/train.pickle"
    device, = run("steps", "--json", path, expect=0).json()["devices"]
    steps, rows = device["result"]["steps"]["boundaries"], device["result"]["phases"]
    times, found = [e["time_us"] * 1000 for e in tables(path, "events")["events"]], spans(path)
    at = lambda event, time: times[event] <= time < times[event] + len(times)
    assert steps and len(found["steps"]) == len(steps)
    for i, (name, begin, end) in enumerate(found["steps"]):
        assert name == "step %d" % (i + 1)
        assert at(steps[i]["event"], begin) and at(steps[i]["end_event"], end)
    assert {name for name, _, _ in found["phases"]} == {r["phase"] for r in rows} - {"other"}
    for one in found.values():
        assert all(begin <= end for _, begin, end in one) and all(a[2] < b[1] for a, b in zip(one, one[1:]))


def heaps(path, *args):
    """{process: (its track's name, time, {stack, outermost first: (bytes, allocations)})}, read as Perfetto reads it."""
    made = [message(p) for p in message(export(path, "perfetto", *args).raw)[1]]
    clocks = [message(p[6][0]) for p in made if p[6]]
    assert [([message(c)[1][0] for c in k[1]], k[2]) for k in clocks] == [([6, 4], [6])]
    assert all(message(c)[2] == [0] for k in clocks for c in k[1]) and made[0][6]
    process = lambda p: message(message(p[60][0])[3][0])
    names = {process(p)[1][0]: process(p)[6][0].decode() for p in made if p[60] and message(p[60][0])[3]}
    found = {}
    for index, packet in enumerate(p for p in made if p[37]):
        h = message(packet[37][0])
        assert h[7] == [index]
        text = {m[1][0]: m[2][0].decode() for m in map(message, h[1])}
        mappings = {m[1][0] for m in map(message, h[4]) if text[m[2][0]] == ""}
        frames = {f[1][0]: text[f[2][0]] for f in map(message, h[2]) if f[3][0] in mappings and f[4]}
        stacks = {s[1][0]: tuple(frames[i] for i in s[2]) for s in map(message, h[3])}
        dump, = map(message, h[5])
        assert dump[9] == packet[8] and dump[11] == [b"memory of " + names[dump[1][0]].encode()]
        rows = defaultdict(lambda: (0, 0))   # frames of one text are one row of folded
        for sample in map(message, dump[2]):
            b, n = rows[stacks[sample[1][0]]]
            rows[stacks[sample[1][0]]] = b + sample[2][0], n + sample[5][0]
        assert dump[1][0] not in found
        found[dump[1][0]] = names[dump[1][0]], packet[8][0], dict(rows)
    return found


def folded_rows(path, *args):
    """{device's name: {stack: weight}}; folded names the device where the file has several."""
    rows, made = defaultdict(dict), tables(path, "devices")["devices"]
    for line in export(path, "folded", *args).out.splitlines():
        stack, weight = line.rsplit(" ", 1)
        frames = stack.split(";")
        device = frames.pop(0) if len(made) > 1 else "device %d" % made[0]["device"]
        rows[device][tuple(frames)] = int(weight)
    return rows


def test_a_trace_has_the_heap_of_the_peak(source):
    check_heap(source)


@pytest.mark.parametrize("at", ["start", "40", "end", "peak"])
def test_a_trace_has_the_heap_of_a_moment(at):
    check_heap(ROOT / "examples/train.pickle", "--at", at)


def check_heap(path, *args):
    found = {name: rows for name, _, rows in heaps(path, *args).values()}
    by_bytes, by_count = folded_rows(path, *args), folded_rows(path, *args, "--weight", "count")
    for name, rows in found.items():
        assert {s: b for s, (b, _) in rows.items()} == by_bytes[name]
        assert {s: n for s, (_, n) in rows.items()} == by_count[name]
    assert set(by_bytes) <= set(found)


def test_the_heap_lies_where_the_peak_is():
    path = ROOT / "examples/oom.pickle"
    (name, time, rows), = heaps(path).values()
    device, = peak(path)
    event = tables(path, "events")["events"][device["result"]["at_event"]]
    assert name == "device 0" and 0 <= time - event["time_us"] * 1000 < 1000000
    assert sum(b for b, _ in rows.values()) == device["result"]["total_bytes"]


def test_a_moment_that_no_device_has_is_said():
    assert "999999" in run("export", EXAMPLES[0], "--to", "perfetto", "--at", "999999", expect=2).err


def test_without_stacks_there_are_no_steps(tmp_path):
    events = [{"action": "alloc", "addr": 4096 * (i + 1), "size": 512, "stream": 0} for i in range(3)]
    (tmp_path / "x.json").write_text(json.dumps({"segments": [], "device_traces": [events]}))
    assert not spans(tmp_path / "x.json")


def test_annotations_are_slices():
    text = "\n".join(["alloc a 1KiB", "mark outer start", "mark inner start", "mark inner end", "mark cross start", "mark outer end",
                      "mark same start", "mark same start", "mark same end", "mark cross end", "mark same end", "mark lost start", ""])
    path = scripts.make(text)
    marks, open_, want = tables(path, "marks")["marks"], defaultdict(list), []
    for m in marks:
        if m["stage"] == "start":
            open_[m["name"]].append(m["time_us"] * 1000)
        else:
            want.append((m["name"], open_[m["name"]].pop(), m["time_us"] * 1000))
    assert slices(path) == sorted(want)


def test_more_overlapping_annotations_than_lanes():
    text = "alloc a 1KiB\nrepeat 20 {\nmark n$i start\n}\nrepeat 20 {\nmark n$i end\n}\n"
    path = scripts.make(text)
    assert len(slices(path)) == 16
    assert sum(message(p[11][0])[9] == [3] for p in packets(path) if p[11]) == 4


def test_trace_without_times(tmp_path):
    events = [{"action": "alloc", "addr": 4096 * (i + 1), "size": 512, "stream": 0} for i in range(3)]
    (tmp_path / "x.json").write_text(json.dumps({"segments": [], "device_traces": [events]}))
    times = sorted({p[8][0] for p in packets(tmp_path / "x.json") if p[11]})
    assert times == [0, 1, 1000, 2000]


# Cut files ------------------------------------------------------------------------------

CUT = "INCOMPLETE: cut at byte %d in the %s"


@pytest.fixture(params=["whole", "cut"])
def maybe_cut(request, tmp_path):
    """(a file, what is to be said of it; None: it is whole)"""
    path, data = tmp_path / "run.pickle", (ROOT / "examples" / "train.pickle").read_bytes()
    path.write_bytes(data if request.param == "whole" else data[:100000])
    return path, None if request.param == "whole" else CUT % (100000, "traces")


def test_formats_say_that_a_recording_is_cut(maybe_cut, tmp_path):
    path, cut = maybe_cut
    made = {to: export(path, to) for to in ("json", "speedscope", "pprof", "perfetto")}
    assert [to for to, r in made.items() if r.err] == []
    assert json.loads(made["json"].raw)["file"]["complete"] == (cut is None)
    names = [p["name"] for p in json.loads(made["speedscope"].raw)["profiles"]]
    assert names == ["device 0: %s alive" % what + (", " + cut if cut else "") for what in ("bytes", "allocations")]
    p = message(gzip.decompress(made["pprof"].raw))
    assert [p[6][i].decode() for i in p[13]][1:] == ([cut] if cut else [])
    if has_sqlite():
        assert database(path, tmp_path).execute("SELECT incomplete FROM about").fetchall() == [(cut,)]


def marked(path):
    """[(track's name, event's name, whether nothing is later)] of the instants that say so."""
    tracks, found = {}, []
    for p in packets(path):
        if p[60]:
            t = message(p[60][0])
            tracks[t[1][0]] = t[2][0].decode()
    events = [(p[8][0], message(p[11][0])) for p in packets(path) if p[11]]
    for time, e in events:
        if e[9] == [3] and e[23][0].startswith(b"INCOMPLETE"):
            found.append((tracks[e[11][0]], e[23][0].decode(), time == max(t for t, _ in events)))
    assert sum(name.startswith("INCOMPLETE") for name in tracks.values()) == len(found)
    return found


def test_a_trace_ends_with_the_cut(maybe_cut):
    path, cut = maybe_cut
    assert marked(path) == ([(cut, cut, True)] if cut else [])


def test_a_trace_without_devices_says_that_it_is_cut(tmp_path):
    path, text = tmp_path / "x.json", b'{"external_annotations": [{"name": "a", "stage": "START", "device": 0, "time_us": 5}], "segments": ['
    path.write_bytes(text)
    cut = CUT % (len(text), "final state")
    assert marked(path) == [(cut, cut, True)]


@pytest.mark.parametrize("to", ["csv", "folded"])
def test_what_has_no_place_for_a_cut_is_followed_by_a_line(to, maybe_cut, tmp_path):
    path, cut = maybe_cut
    line = lambda name: "vramscope: warning: %s: %s; %s has no place to say so\n" % (name, cut, to) if cut else ""
    piped = export(path, to)
    assert piped.err == line(path) and "INCOMPLETE" not in piped.out
    assert export("-", to, stdin=path.read_bytes()).err == line("standard input")
    assert export(path, to, "-o", tmp_path / "out").err == line(path)
    assert (tmp_path / "out").read_bytes() == piped.raw


# The command ----------------------------------------------------------------------------

@pytest.mark.parametrize("args,why", [
    (["--to", "xml"], "csv"),
    ([], "--to FORMAT"),
    (["--to", "csv", "-t", "nothing"], "nothing"),
    (["--to", "csv", "-t", "events", "-t", "blocks"], "one table"),
    (["--to", "csv", "-t", "all"], "one table"),
    (["--to", "pprof", "-t", "events"], "takes no tables"),
    (["--to", "csv", "--at", "peak"], "not show a single moment"),
    (["--to", "folded", "--at", "oom:9"], "oom"),
    (["--to", "pprof", "--inverse"], "only folded"),
    (["--to", "csv", "--device", "7"], "device 7"),
    (["--to", "csv", "--entry", "2"], "entry 2"),
])
def test_words_that_make_no_sense(args, why):
    r = run("export", EXAMPLES[0], *args, expect=2)
    assert why in r.err and not r.out


def test_one_file_only(tmp_path):
    for files in ([], [EXAMPLES[0], EXAMPLES[1]]):
        assert "one FILE" in run("export", "--to", "csv", *files, expect=2).err
    copy = tmp_path / "x.pickle"
    copy.write_bytes(EXAMPLES[0].read_bytes())
    assert "would replace" in run("export", "--to", "csv", copy, "-o", copy, expect=2).err
    assert copy.read_bytes() == EXAMPLES[0].read_bytes()
    run("export", "--to", "csv", tmp_path / "missing.pickle", expect=3)


def test_same_bytes_every_time(source):
    for to in ("csv", "json", "folded", "speedscope", "pprof", "perfetto"):
        assert export(source, to).raw == export(source, to, env=environment(LC_ALL="C")).raw


def test_real_recordings(real):
    for name, (path, recording) in real.items():
        if name.endswith(".html"):
            continue
        rows = {d["device"]: d["result"] for d in peak(path)}
        total = sum(r["bytes"] for d in rows.values() if d for r in d["rows"])
        assert sum(int(x.rsplit(" ", 1)[1]) for x in export(path, "folded").out.splitlines()) == total, name
        assert sum(v[1] for _, v, _ in profile(export(path, "pprof").raw)[1]) == total, name
        made = tables(path, "devices", "curves")
        for device in run("report", "--json", path, expect=0).json()["devices"]:
            for curve in ("requested", "reserved", "active"):
                values = [r[curve + "_bytes"] for r in made["curves"] if r["device"] == device["device"]]
                if device[curve]["exact"]:
                    assert max(values) == device[curve]["peak_bytes"], (name, curve)


def test_pages_have_entries(shared):
    pages = sorted((shared / "data" / "snapshots").glob("*.html"))
    for page in pages:
        made = [export(page, "csv", "--entry", i).raw for i in (1,)]
        assert made[0].count(b"\r\n") > 1
