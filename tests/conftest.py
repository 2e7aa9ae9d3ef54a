"""What the black-box tests share: running the program, and comparing its answers with the model.

VRAMSCOPE is the program's path; VRAMSCOPE_TEST_SHARED, where set, the folder with real
recordings.  Tests that need one of them say so when it is missing.
"""
import copy
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONG = "VRAMSCOPE_TEST_LONG" in os.environ
sys.path.insert(0, str(ROOT / "tests" / "page" / "browser"))

import browser as chromium  # noqa: E402
import schemas  # noqa: E402
from models import grouping, model, reader  # noqa: E402

# Tests of the Python package are a group of their own, in an interpreter that has the library of
# the sanitizers first: `tools/run-tests` names the folder of the package there.
PACKAGE = os.environ.get("VRAMSCOPE_PACKAGE")
collect_ignore = [] if PACKAGE else ["python", "gpu"]
if PACKAGE:
    sys.path[:0] = [PACKAGE, str(ROOT / "tests/python")]

SANITIZER = re.compile(rb"AddressSanitizer|runtime error|LeakSanitizer|UndefinedBehavior")
CURVES = ("requested", "allocated", "active", "reserved")


class Result:
    def __init__(self, code, out, err):
        self.code, self.raw, self.err = code, out, err.decode("utf-8", "replace")
        self.out = out.decode("utf-8", "replace")

    def json(self):
        doc = json.loads(self.raw)
        validate(doc)
        return doc


def program():
    path = os.environ.get("VRAMSCOPE")
    if not path:
        pytest.skip("VRAMSCOPE does not name a program")
    return os.path.abspath(path)


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR")}
    env.update(LC_ALL="C.UTF-8", TERM="xterm-256color")
    env.update(more)
    return env


def some(short, long):
    """`short` of what is invented or tried in `make test`, all of it in `make test-long`."""
    return long if LONG else short


# A hang, not slowness: a machine that does other things as well may be ten times slower.
HANGS = 300  # seconds


def run(*args, stdin=b"", cwd=None, timeout=HANGS, env=None, expect=None, stdout=subprocess.PIPE, preexec=None):
    """Runs the program; a sanitizer's report or a death by signal is a failure of any test."""
    done = subprocess.run([program(), *map(str, args)], input=stdin, stdout=stdout, stderr=subprocess.PIPE, cwd=cwd,
                          timeout=timeout, env=env or environment(), preexec_fn=preexec)
    assert not SANITIZER.search(done.stderr), done.stderr.decode("utf-8", "replace")[-6000:]
    assert done.returncode >= 0, "killed by signal %d: %s" % (-done.returncode, done.stderr[-2000:])
    if expect is not None:
        assert done.returncode == expect, (done.returncode, done.stderr.decode("utf-8", "replace")[-2000:])
    return Result(done.returncode, done.stdout or b"", done.stderr)


# Schemas --------------------------------------------------------------------------------

def validate(doc):
    schemas.validate(re.fullmatch(r"vramscope\.([a-z-]+)/1", doc["schema"]).group(1), doc)


# Answers --------------------------------------------------------------------------------

def entries(doc):
    """The answers of one document, whether it speaks of one file or of several."""
    return doc["files"] if doc["schema"].endswith("-set/1") else [doc]


def answers(result, check=True):
    """path -> answers (several for a page) of a run over many files; files that failed are left out."""
    doc = result.json() if check else json.loads(result.raw) if result.raw.strip() else {"schema": "-set/1", "files": []}
    found = {}
    for e in entries(doc):
        if "error" not in e:
            found.setdefault(e["file"]["path"], []).append(e)
    return found


def batch(verb, folder, names, *options, size=700, check=True):
    """Runs a verb over many files of a folder, some at a time: (answers by name, messages by name)."""
    found, errors = {}, {}
    names = list(names)
    for i in range(0, len(names), size):
        part = names[i:i + size]
        r = run(verb, "--json", *options, *part, cwd=folder, timeout=600)
        lines = error_lines(r.err)
        assert r.code == (3 if any(p in lines for p in part) else 0), (r.code, r.err[-3000:])
        if r.raw.strip():
            found.update(answers(r, check))
        errors.update(lines)
    return found, errors


def error_lines(text):
    """`vramscope: NAME: message` lines of stderr, by name."""
    found = {}
    for line in text.splitlines():
        m = re.match(r"vramscope: ([^:\n]+): (.*)", line)
        if m:
            found.setdefault(m.group(1), m.group(2))
    return found


def without_file(entry):
    """An answer without what depends on the form of its file, of unknown keys the first one is named, or on how many
    files were asked for: comparisons are the set's, and one file alone has a timeline."""
    kept = copy.deepcopy({k: v for k, v in entry.items() if k not in ("file", "schema", "tool", "ranks")})
    for device in kept["devices"]:
        device.pop("timeline", None)
        for item in device["trust"]["items"]:
            item["text"] = re.sub(r'(keys unknown to this program.* first ).*', r"\1", item["text"])
    return kept


def differences(want, have, path=""):
    """Where a nested answer departs from what is wanted; keys that are not wanted are ignored."""
    if isinstance(want, dict):
        return [d for k in want for d in differences(want[k], have.get(k, "absent"), path + "." + str(k))]
    return [] if want == have else ["%s: want %r, have %r" % (path, want, have)]


def replay_text(device):
    """What the trust list of a device says of its replay, or nothing."""
    return "".join(i["text"] for i in device["trust"]["items"] if i["id"] == "replay")


def is_reproduced(text):
    """Does the model reproduce every address, be it one?"""
    return "reproduces all" in text or "reproduces the only" in text


def without_replayed(figures, have):
    """(the model's figures but for the curves that a replay knows better, how those contradict the model)

    The model rounds requests: no block is smaller, and the end is the file's own."""
    found, text, kept = [], replay_text(have), dict(figures)
    for name in ("active", "allocated") if is_reproduced(text) else ():
        bound, curve = kept.pop(name), have[name]
        wrong = [k for k in ("start_bytes", "peak_bytes") if k in bound and curve[k] < bound[k]]
        wrong += [k for k in ("end_bytes",) if curve[k] != bound[k]]
        wrong += ["exact"] if curve["exact"] != ("are exact" in text) else []
        wrong += ["peak"] if not curve["peak_bytes"] >= max(curve["start_bytes"], curve["end_bytes"]) else []
        found += ["%s.%s, replayed: %s, rounded %s" % (name, k, curve, bound) for k in wrong]
    return kept, found


def figure_problems(entry, recording):
    """How a report departs from the model; empty when it does not."""
    found, wanted = [], model.devices(recording)
    by_number = {d["device"]: d for d in entry["devices"]}
    for d in wanted:
        have = by_number.pop(d.number, None)
        if have is None:
            found.append("device %d is missing" % d.number)
            continue
        figures, wrong = without_replayed(d.figures(), have)
        found += ["device %d%s" % (d.number, x) for x in differences(figures, have)]
        found += ["device %d.%s" % (d.number, x) for x in wrong]
        ids = {i["id"] for i in have["trust"]["items"]}
        wrong = (d.failed() ^ ids) - d.unsure()
        if wrong:
            found.append("device %d: trust items %s, wanted %s" % (d.number, sorted(ids), sorted(d.failed())))
        if have["trust"]["window"] not in d.window():
            found.append("device %d: window %s, wanted %s" % (d.number, have["trust"]["window"], d.window()))
        if have["trust"]["grade"] not in d.grade():
            found.append("device %d: grade %s, wanted %s" % (d.number, have["trust"]["grade"], d.grade()))
    found += ["device %d is too many" % n for n, d in by_number.items() if d["events"] or d["segments"]]
    if entry["file"]["complete"] != recording.complete:
        found.append("complete is %s" % entry["file"]["complete"])
    return found


def peak_problems(entry, recording, by, moment=None, key=1):
    """How a peak departs from the model; `moment` is an event, None the requested peak."""
    found, by_number = [], {d["device"]: d for d in entry["devices"]}
    for d in model.devices(recording):
        have = by_number.get(d.number)
        where = "device %d by %s: " % (d.number, by)
        if have is None:
            found.append(where + "missing")
            continue
        result = have["result"]
        if result is None:
            if have["status"] in ("ok", "partial"):
                found.append(where + "no result")
            continue
        found += [where + p for p in sum_problems(result, entry)]
        if result["by"] != by:
            found.append(where + "answers by %s" % result["by"])
        # A ring of one keeps its curve, but every analysis treats it as a recording without a trace.
        if "one_event" in d.failed() or not d.anchored:
            continue
        curve = d.curves["requested"]
        at = curve.first if moment is None else moment
        if result["at_event"] != at:
            found.append(where + "at event %d, wanted %d" % (result["at_event"], at))
        if result["total_bytes"] != curve.values[at + 1]:
            found.append(where + "total %d, wanted %d" % (result["total_bytes"], curve.values[at + 1]))
        live = grouping.live_at(d, at)
        if sum(r["count"] for r in result["rows"]) != len(live) and not result["other_bytes"]:
            found.append(where + "%d allocations, wanted %d" % (sum(r["count"] for r in result["rows"]), len(live)))
        right = grouping.partitions(d, live, by, at, key)
        rows = sorted(without_split(result["rows"]))
        if right and rows not in right:
            found.append(where + "rows %s, wanted %s" % (rows[-5:], right[0][-5:]))
    return found


def without_split(rows):
    """(bytes, count, largest, oldest) of each row; what categories tell apart of no stack is one row, as in the model."""
    of = lambda r: (r["bytes"], r["count"], r["largest_bytes"], r["oldest_event"])
    bare = [of(r) for r in rows if r["name"].startswith("(no stack)")]
    kept = [of(r) for r in rows if not r["name"].startswith("(no stack)")]
    if bare:
        size, count, largest, oldest = zip(*bare)
        kept.append((sum(size), sum(count), max(largest), min(oldest)))
    return kept


def sum_problems(result, entry):
    """The laws of any peak: sums, order, references."""
    found, rows = [], result["rows"]
    if sum(r["bytes"] for r in rows) + result["other_bytes"] + result["adjust_bytes"] != result["total_bytes"]:
        found.append("rows, other and adjust do not add up to the total")
    if [r["bytes"] for r in rows] != sorted((r["bytes"] for r in rows), reverse=True):
        found.append("rows are not sorted by bytes")
    live = sum(r["bytes"] for r in rows) + result["other_bytes"]
    for r in rows:
        if r["stack"] is not None and not 0 <= r["stack"] < len(entry["stacks"]):
            found.append("a row names stack %d of %d" % (r["stack"], len(entry["stacks"])))
        if live and r["share_ratio"] is not None and abs(r["share_ratio"] - r["bytes"] / live) > 0.006:
            found.append("share %s of a row with %d of %d" % (r["share_ratio"], r["bytes"], live))
        if not r["largest_bytes"] <= r["bytes"] <= r["largest_bytes"] * r["count"]:
            found.append("a row of %d bytes in %d, largest %d" % (r["bytes"], r["count"], r["largest_bytes"]))
    return found


# Fixtures -------------------------------------------------------------------------------

@pytest.fixture
def leaks_are_faults(monkeypatch):
    """Memory that a process has lost when it ends makes it fail, where it is built with AddressSanitizer."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=1")


@pytest.fixture(scope="session")
def shared():
    path = os.environ.get("VRAMSCOPE_TEST_SHARED")
    if not path:
        pytest.skip("VRAMSCOPE_TEST_SHARED is not set: no real recordings")
    return Path(path)


@pytest.fixture(scope="session")
def real(shared):
    """name -> (path, recording) of every real snapshot."""
    return {p.name: (p, reader.load(p.read_bytes())[0]) for p in sorted((shared / "data" / "snapshots").iterdir())}


@pytest.fixture(scope="session")
def bundled():
    """The project's own recordings."""
    found = sorted(p for p in (ROOT / "examples").rglob("*") if p.suffix in (".pickle", ".pkl"))
    if not found:
        pytest.skip("examples/ holds no recording")
    return {p.name: (p, reader.load(p.read_bytes())[0]) for p in found}


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """The one Chromium of all tests."""
    if chromium.program() is None:
        pytest.skip("no Chromium here: the page was not opened in a browser")
    made = chromium.Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture
def pages(browser):
    """Opens recordings; at the end each page must have asked for nothing and complained of nothing."""
    from pages import Opened, written

    made = []

    def show(*recording, fragment="", size=(1280, 800), before=None):
        page = Opened(browser, "about:blank", *size)
        made.append(page)
        if before:
            before(page)
        page.send("Page.navigate", url=written(*recording).as_uri() + fragment)
        return page.ready()

    yield show
    for page in made:
        complaints = page.complaints()
        page.close()
        assert complaints == []
