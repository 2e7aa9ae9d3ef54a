"""Several answers, one truth: leaks, report, check, steps, advise, categories and the page of one recording agree.

Compared on the bundled recordings and those of scripts, on real ones where they are at hand, and on the labelled ones
where they were made.
"""
import json
import re

import pytest

from models import page
from recordings import scripts
from conftest import ROOT, entries, run

LABELLED = ROOT / "build" / "labelled"


def ask(verb, path, *options):
    """One answer a device, by number; of a page with several entries those of the first."""
    done = run(verb, "--json", *options, path)
    return entries(done.json())[0], done


def devices(verb, path, *options):
    entry, _ = ask(verb, path, *options)
    return {d["device"]: d["result"] for d in entry["devices"]}


def growing(result):
    """What leaks reports: class, line, bytes a step, in every so many steps."""
    sites = result["sites"] if result else []
    return [(s["class"], s["site"]["culprit"], s["slope_bytes"], s["every_steps"], s["generations"], s["kind"])
            for s in sites if s["class"] in ("leak", "suspect")]


def found(report, device):
    """The same, as the report finds it."""
    return [(f["id"], *(f["evidence"][x] for x in ("culprit", "slope_bytes", "every_steps", "generations", "kind")))
            for f in report["findings"] if f["device"] == device and f["id"] in ("leak", "suspect")]


def check_growth(path, leaks, report):
    limits = devices("check", path, "--max-growth-per-step", "0")
    for device, result in leaks.items():
        told = growing(result)
        assert found(report, device) == told, (path, device)
        limit, = limits[device]["limits"]
        if result is None or result["slope_total_bytes"] is None:
            assert limit["result"] == "inconclusive" and not told
            continue
        assert limit["value_bytes"] == result["slope_total_bytes"] == sum(slope for _, _, slope, *_ in told)
        assert limit["result"] in (("fail", "inconclusive") if told else ("pass",))
        assert [s["site"]["culprit"] for s in limit["evidence"]["sites"]] == [culprit for _, culprit, *_ in told][:3]


def check_text(path, leaks):
    lines = run("leaks", path, expect=0).out.splitlines()
    judged = [r for r in leaks.values() if r and r["slope_total_bytes"] is not None]
    first = [re.split(r"\s+", line)[0] for line in lines if re.match(r"(leak|suspect|small) ", line) and "  " in line[:9]]
    told = [[site[0] for site in growing(r)][:5] for r in judged]
    small = [min(5, sum(s["class"] == "too_small" for s in r["sites"])) for r in judged]
    # Rows of the table have the class too; they stand behind the verdict of their device.
    assert sum(line.startswith(("leak     none", "leak     not known")) for line in lines) == sum(not t for t in told)
    assert first.count("small") == sum(small)
    assert not [line for line in lines if line.startswith("stable ") and "iB" in line]
    text = " ".join(lines)
    assert ("a step in all" in text or "a pass in all" in text) == any(told)


def check_advice(path, leaks, report):
    for device, result in devices("advise", path).items():
        if result is None:
            continue
        advice = [(a["id"], a["saving_bytes"], a["text"]) for a in result["advice"]]
        ids = {a[0] for a in advice}
        assert [(f["id"], f["saving_bytes"], f["text"]) for f in report["findings"]
                if f["device"] == device and f["id"] in ids] == advice, (path, device)
        leak = any(site[0] == "leak" for site in growing(leaks.get(device)))
        assert leak or not ids & {"kept-each-step", "graph-kept"}, (path, device)


def check_categories(path, report):
    told = devices("categories", path)
    for device in report["devices"]:
        rows = told.get(device["device"])
        if rows is None or not device["made_of"]:
            continue
        assert {r["category"]: r["bytes"] for r in device["made_of"]} == {
            r["category"]: r["bytes"] for r in rows["by_category"]}, path


def check_steps(path, leaks):
    """But for loops inside steps: those name stacks, which have a number in each answer."""
    for device, result in devices("steps", path).items():
        if result and leaks.get(device):
            one, other = ({k: v for k, v in r["steps"].items() if k != "inner_loops"} for r in (result, leaks[device]))
            assert one == other, (path, device)


def check_page(path, report):
    read = page.Page(run("view", path, "-o", "-", expect=0).raw.decode())
    told = read.head["files"][0]["report"]
    assert told["findings"] == json.loads(json.dumps(report["findings"])), path
    assert [d["made_of"] for d in told["devices"]] == [d["made_of"] for d in report["devices"]], path


def check(path, opened=True):
    leaks = devices("leaks", path)
    report, _ = ask("report", path)
    check_growth(path, leaks, report)
    check_text(path, leaks)
    check_advice(path, leaks, report)
    check_categories(path, report)
    check_steps(path, leaks)
    if opened:
        check_page(path, report)
    return {site[0] for result in leaks.values() for site in growing(result)}


@pytest.mark.parametrize("name", ("fragmentation", "leak", "oom", "train"))
def test_of_bundled_recordings(name):
    check(ROOT / "examples" / (name + ".pickle"))


@pytest.mark.parametrize("name", scripts.NAMES)
def test_of_scripts(name):
    check(scripts.make(name))


def test_of_each_kind_of_growth():
    path = scripts.make("growth")
    leaks, = devices("leaks", path).values()
    have = {s["site"]["culprit"].split(" ")[0]: (s["class"], s["every_steps"]) for s in leaks["sites"]}
    assert have["run.py:25"] == ("leak", 1) and have["run.py:26"] == ("leak", 2)
    assert have["run.py:22"] == ("too_small", 1) and have["run.py:27"] == ("replaced", None)
    assert leaks["slope_total_bytes"] == 32 << 20


def test_of_real_recordings(shared):
    seen = [check(path) for path in sorted((shared / "data" / "snapshots").iterdir())]
    assert len(seen) >= 30 and not set().union(*seen)


@pytest.mark.long
def test_of_labelled_recordings():
    paths = sorted(LABELLED.glob("*.pickle"))
    if not paths:
        pytest.skip("build/labelled has no recordings: they need PyTorch")
    assert {"leak", "suspect"} <= set().union(*(check(path, opened=False) for path in paths))
