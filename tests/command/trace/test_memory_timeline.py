"""Memory timelines: each figure of both forms equals a slow sum in Python, whatever the packing; and damage."""
import csv
import gzip
import io
import json
import random
import subprocess

import pytest
from conftest import run, validate
from models.timeline_sums import NAMES, of_events, of_states, states_as_rows

LEFT_OUT = "is left out beside other files"


def made(seed, instants=200):
    """Events as the framework writes them: sorted, versions in pairs; now and then one is freed that was never there."""
    r = random.Random(seed)
    events = [[-1, 1, r.randrange(1, 1 << 20), r.choice((0, 0, 1, 7))] for _ in range(r.randrange(4))]
    now, live = 1_795_920_879_412_220_446, []
    for _ in range(instants):
        now += r.choice((1, 17, 999, 1000, 123_456))
        for _ in range(r.choice((1, 1, 1, 3))):
            what = r.random()
            size, category = r.randrange(1, 1 << 40), r.randrange(8)
            if what < 0.5 or not live:
                events.append([now, 2, size, category])
                live.append((size, category))
            elif what < 0.65:
                at = r.randrange(len(live))
                events += [[now, 3, -live[at][0], live[at][1]], [now, 3, live[at][0], category]]
                live[at] = (live[at][0], category)
            elif what < 0.97:
                size, category = live.pop(r.randrange(len(live)))
                events.append([now, 4, -size, category])
            else:
                events.append([now, 4, -size, category])
    return events


def coalesced(events):
    """The other form of the same events, as the framework makes it."""
    times, sizes = [], []
    for ns, _, size, category in events:
        us = ns if ns < 0 else int(ns / 1000)
        if not times or us != times[-1]:
            times.append(us)
            sizes.append(list(sizes[-1]) if sizes else [0] * 9)
        sizes[-1][category + 1] += size
    first = min((t for t in times if t > 0), default=-1)
    return [[first if t < 0 else t for t in times], sizes]


def ask(path, *words):
    return run("trace", "--json", *words, path, expect=0).json()


@pytest.mark.parametrize("seed", range(12))
def test_figures_are_those_of_a_slow_sum(tmp_path, seed):
    events = made(seed)
    states = coalesced(events)
    raw, sums = tmp_path / "raw.json", tmp_path / "sums.json"
    raw.write_text(json.dumps(events))
    sums.write_text(json.dumps(states))
    for path, expected in ((raw, of_events(events)), (sums, of_states(*states))):
        doc = ask(path)
        validate(doc)
        assert {k: doc[k] for k in expected} == expected
        assert doc["file"]["complete"] and doc["file"]["damage"] == []


def test_one_that_goes_below_zero_is_among_them():
    assert any(c["below_zero"] for seed in range(12) for c in of_events(made(seed))["categories"])


@pytest.mark.parametrize("pack", ["gzip", "zstd", "mark"])
def test_packing_changes_nothing(tmp_path, pack):
    plain = json.dumps(made(3)).encode()
    (tmp_path / "plain").write_bytes(plain)
    if pack == "zstd":
        packed = subprocess.run(["zstd", "-q", "-c"], input=plain, capture_output=True, check=True).stdout
    else:
        packed = gzip.compress(plain) if pack == "gzip" else b"\xef\xbb\xbf \n" + plain
    (tmp_path / "packed").write_bytes(packed)
    ours, theirs = ask(tmp_path / "packed"), ask(tmp_path / "plain")
    del ours["file"], theirs["file"]
    assert ours == theirs


@pytest.mark.parametrize("seed", (1, 2))
def test_export_has_each_state(tmp_path, seed):
    events = made(seed)
    for name, data in (("raw.json", events), ("sums.json", coalesced(events))):
        (tmp_path / name).write_text(json.dumps(data))
        lines = list(csv.reader(io.StringIO(run("export", "--to", "csv", name, cwd=tmp_path, expect=0).out)))
        assert lines[0] == ["time_ns", "total_bytes"] + [n + "_bytes" for n in NAMES]
        rows = [[int(v) if v else None for v in line] for line in lines[1:]]
        assert rows == [[t, sum(sizes), *sizes] for t, sizes in states_as_rows(name, data)]


def test_csv_has_the_rows_of_json(tmp_path):
    (tmp_path / "raw.json").write_text(json.dumps(made(5)))
    doc = ask(tmp_path / "raw.json", "-n", "3")
    rows = list(csv.DictReader(io.StringIO(run("trace", "--csv", "-n", "3", tmp_path / "raw.json", expect=0).out)))
    assert [r["category"] for r in rows] == [c["category"] for c in doc["categories"]] and len(rows) == 3
    assert [int(r["end_bytes"]) for r in rows] == [c["end_bytes"] for c in doc["categories"]]


def test_a_cut_file_keeps_its_whole_rows(tmp_path):
    events = made(7)
    text = json.dumps(events)
    path = tmp_path / "cut.json"
    for end in (len(text) // 3, len(text) // 2, len(text) - 1):
        path.write_text(text[:end])
        whole = [e for i, e in enumerate(events) if len(json.dumps(events[:i + 1])) - 1 <= end]
        doc, expected = ask(path), of_events(whole)
        assert {k: doc[k] for k in expected} == expected
        assert not doc["file"]["complete"]
        assert doc["file"]["damage"] == [{"kind": "truncated", "count": 1, "first_offset": end}]
    packed = gzip.compress(text.encode())
    path.write_bytes(packed[:len(packed) // 2])
    doc = ask(path)
    assert not doc["file"]["complete"] and 0 < doc["file"]["events"] < len(events)


def test_times_are_read_in_decimals(tmp_path):
    """As text they have 19 digits, of which a double keeps 16."""
    path = tmp_path / "t.json"
    path.write_text("[[1795920879412220.446, 1795920879412220.4475, 18e14], [" + ", ".join(
        json.dumps([0, n] + [0] * 7) for n in (1, (1 << 63) - 1, -(1 << 63))) + "]]")
    doc = ask(path)
    assert doc["window"]["first_ns"] == 1795920879412220446 and doc["window"]["last_ns"] == 1800000000000000000
    assert doc["sum"]["peak_bytes"] == (1 << 63) - 1 and doc["sum"]["peak_ns"] == 1795920879412220448
    assert doc["sum"]["end_bytes"] == -(1 << 63)


def test_a_deep_one_ends(tmp_path):
    path = tmp_path / "t.json"
    path.write_text("[[5, 2, 1, 1], [6, 2, " + "[" * 50 + "]" * 50 + ", 1], [7, 2, 1, 1]]")
    doc = ask(path)
    assert doc["states"] == 2 and doc["file"]["damage"][0]["kind"] == "not_a_row"
    path.write_text("[[5, 2, 1, 1], " + "[" * 100_000)
    assert "nested deeper" in run("trace", path, expect=3).err


@pytest.mark.parametrize("verb", ["trace", "report"])
def test_beside_other_files_it_is_left_out(tmp_path, verb):
    (tmp_path / "t.json").write_text("[[5, 2, 1, 1]]")
    (tmp_path / "run.json").write_text('[{"name": "a", "ph": "X", "ts": 1, "dur": 3, "pid": 1, "tid": 1}]')
    found = run(verb, "--json", ".", cwd=tmp_path, expect=0)
    assert found.json()["schema"] == "vramscope.trace-set/1" and len(found.json()["files"]) == 1
    assert LEFT_OUT in found.err
    named = run(verb, "--json", "t.json", "run.json", cwd=tmp_path, expect=3)
    assert len(named.json()["files"]) == 1 and LEFT_OUT in named.err


@pytest.mark.parametrize("verb", ["trace", "report"])
def test_several_are_a_set(tmp_path, verb):
    (tmp_path / "a.json").write_text("[[5, 2, 1, 1]]")
    (tmp_path / "b.json").write_text("[[5, 2, 9, 1]]")
    doc = run(verb, "--json", ".", cwd=tmp_path, expect=0).json()
    validate(doc)
    assert doc["schema"] == "vramscope.trace-timeline-set/1"
    assert [f["sum"]["peak_bytes"] for f in doc["files"]] == [1, 9]


@pytest.mark.parametrize("words", [["--ops"], ["--kernels"], ["--gaps"], ["--steps"], ["--calls"], ["--findings"], ["--phases"],
                                   ["--launches"], ["--modules"], ["--tree"], ["--framework-exact"],
                                   ["--threshold", "copy_ratio=0.5"], ["--repair", "-o", "out.json"], ["--slice", "1", "-o", "out.json"]])
def test_options_that_mean_nothing_are_refused(tmp_path, words):
    (tmp_path / "t.json").write_text("[[5, 2, 1, 1]]")
    said = run("trace", *words, "t.json", cwd=tmp_path, expect=3)
    assert said.out == "" and "memory timeline" in said.err and " no " in said.err
    assert not (tmp_path / "out.json").exists()


def test_memory_is_what_it_has(tmp_path):
    (tmp_path / "t.json").write_text("[[5, 2, 1, 1]]")
    assert run("trace", "--memory", "t.json", cwd=tmp_path, expect=0).out == run("trace", "t.json", cwd=tmp_path, expect=0).out
