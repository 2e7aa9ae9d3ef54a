"""The figures of profiler traces: equal to the model's, whatever the form and the order, and sound by themselves."""
import gzip
import json
import random

import pytest
from models import trace_figures
from recordings import traces, writers

from conftest import answers, run, some

SEEDS = range(some(3, 80))
FORMS_BYTES = some(100_000, 1 << 30)  # unpacked; larger real traces are read in their own form alone


def figures(folder, files):
    """name -> figures of files (name -> bytes) that the program read in one go."""
    for name, data in files.items():
        (folder / name).write_bytes(data)
    names = list(files)
    found = {}
    for i in range(0, len(names), 200):
        found |= answers(run("trace", "--json", *names[i:i + 200], cwd=folder, expect=0))
    return {name: found[name][0]["figures"] for name in names}


def differences(have, want):
    return {k: (have.get(k), want.get(k)) for k in have.keys() | want.keys() if have.get(k) != want.get(k)}


def forms(top, seed):
    """One trace in every form it may come in; order of keys and packing mean nothing."""
    plain = traces.as_json(top)
    turned = traces.as_json(traces.turned(top))
    return {"json": plain, "gz": writers.gzipped(plain), "gz3": writers.gzipped(plain, 3), "zst": writers.zstd(plain),
            "turned": turned, "turned.gz": writers.gzipped(turned), "bom": b"\xef\xbb\xbf" + plain}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(period, seed, shuffled or not) -> (what the program says, what the model says)."""
    data = {}
    for period in traces.PERIODS:
        for seed in SEEDS:
            top = traces.make(seed, period)
            data["%s %d" % (period, seed)] = traces.as_json(top)
            data["%s %d shuffled" % (period, seed)] = traces.as_json(traces.shuffled(top, random.Random(seed)))
    have = figures(tmp_path_factory.mktemp("random"), data)
    return {name: (have[name], trace_figures.figures(data[name])) for name in data}


def test_random_traces_as_in_the_model(made):
    wrong = {name: differences(*both) for name, both in made.items() if both[0] != both[1]}
    assert not wrong, dict(list(wrong.items())[:3])


def test_random_traces_have_what_is_to_be_tested(made):
    """Of every rung, class of gap and most reasons there is something, or the equality above says little."""
    seen = set()
    for have, _ in made.values():
        seen |= have["link"]["rungs"].keys() | have["kinds"].keys()
        for device in have["devices"]:
            seen |= device["gap_classes"].keys() | {"blame " + b for b in device["host_late_blame_ns"]}
        seen |= {k for k in ("partial_overlaps", "merged_duplicates", "steps", "framework_ranges", "memcpy", "memory")
                 if have[k]}
        seen |= {k for k in ("before_window", "id_and_nesting_differ") if have["link"][k]}
    wanted = set("external_id launch_nesting flow none host_late launch_latency no_launch queued queued_under_10us "
                 "partial_overlaps merged_duplicates steps framework_ranges memcpy memory before_window "
                 "id_and_nesting_differ annotation driver kernel memset op other overhead python runtime span "
                 "sync".split())
    wanted |= {"blame " + b for b in ("none", "op", "python", "runtime", "sync")}
    assert wanted <= seen, wanted - seen


def test_figures_are_sound(made):
    """Sums that have to agree in any trace."""
    for name, (f, _) in made.items():
        link = f["link"]
        assert sum(link["rungs"].values()) == link["device_events"], name
        assert 0 <= link["attributed_ns"] <= link["device_ns"] == f["self_device_ns"], name
        assert sum(f["kinds"].values()) == f["ph"].get("X", 0) and sum(f["ph"].values()) == f["events"], name
        assert sum(f["ts_form"].values()) == f["events"], name
        assert sum(row[4] for row in f["steps"]) <= link["device_ns"] or overlapping(f["steps"]), name
        for d in f["devices"]:
            parts = d["computation_ns"] + d["exposed_communication_ns"] + d["exposed_memcpy_ns"]
            assert parts == d["busy_ns"] <= min(d["span_ns"], d["sum_ns"]), name
            assert d["busy_ns"] + d["idle_ns"] == d["span_ns"] <= f["span_ns"], name
            classes = d["gap_classes"]
            assert sum(ns for _, ns in classes.values()) <= d["idle_ns"], name
            assert sum(d["gap_histogram"]) == d["gaps"], name
            assert sum(d["host_late_blame_ns"].values()) == classes.get("host_late", [0, 0])[1], name
        for m in f["memory"]:
            assert m["peak"] >= max(m["base"], m["final"]), name
            assert m["chain_breaks"] or m["base"] + m["alloc_bytes"] - m["free_bytes"] == m["final"], name


def overlapping(steps):
    """Work that two steps hold counts in both."""
    return any(a[1] + a[2] > b[1] for a, b in zip(steps, steps[1:]))


def test_forms_of_a_trace(tmp_path):
    for period in some(["2021", "2025", "ascend"], list(traces.PERIODS)):
        found = figures(tmp_path, forms(traces.make(1, period), 1))
        for name, have in found.items():
            assert not differences(have, found["json"]), (period, name)


def test_order_means_nothing_where_ids_stand_once(tmp_path):
    """Only of ids that stand twice, and of names given twice, the first or the last counts."""
    data, tops = {}, {}
    for period in traces.PERIODS:
        maker = traces.Maker(99, period)
        maker.twice = False
        tops[period] = maker.top()
        data[period] = traces.as_json(tops[period])
        for turn in range(some(1, 10)):
            data["%s %d" % (period, turn)] = traces.as_json(traces.shuffled(tops[period], random.Random(turn)))
    for name, have in (found := figures(tmp_path, data)).items():
        assert not differences(have, found[name.split()[0]]), name


# Real traces ----------------------------------------------------------------------------

@pytest.fixture(scope="module")
def expected(shared):
    path = shared / "spec" / "expected-traces.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    of_the_file = ("bytes", "json_bytes", "sha256_16")
    return {row.pop("file"): {k: v for k, v in row.items() if k not in of_the_file} for row in rows}


def real(shared, name):
    data = (shared / "data" / "traces" / name).read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def test_real_traces(shared, expected):
    folder = shared / "data" / "traces"
    found = answers(run("trace", "--json", *expected, cwd=folder, expect=0))
    for name, want in expected.items():
        assert not differences(found[name][0]["figures"], want), name


def test_real_traces_in_the_model(shared, expected):
    for name, want in expected.items():
        data = real(shared, name)
        if len(data) < some(100_000, 5_000_000):
            assert not differences(trace_figures.figures(data), want), name


def test_forms_and_orders_of_real_traces(shared, expected, tmp_path):
    data = {}
    for name in expected:
        plain = real(shared, name)
        if len(plain) > FORMS_BYTES:
            continue
        top = traces.loaded(plain)
        data |= {name + " " + form: made for form, made in forms(top, 1).items()}
        for turn in range(some(1, 3)):
            data["%s shuffled %d" % (name, turn)] = traces.as_json(traces.shuffled(top, random.Random(turn)))
    for name, have in figures(tmp_path, data).items():
        assert not differences(have, expected[name.split()[0]]), name
