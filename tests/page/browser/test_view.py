"""The page of `vramscope view`: its columns hold what the other answers say."""
import itertools
import json
import re

import pytest
from recordings import random_recording, scripts, writers
from models import model, page, reader

from conftest import ROOT, run, some

BUDGET = 150 * 1024  # bytes of program, style and all else that does not follow from the recording
EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))


def view(path):
    return page.Page(run("view", path, "-o", "-", expect=0).raw.decode())


def check(path):
    read, report = view(path), run("report", "--json", path, expect=0).json()
    check_capacity(read, path)
    for file, told in zip(read.head["files"], [report]):
        assert [d["device"] for d in file["devices"]] == [d["device"] for d in told["devices"]]
        for device, answer in zip(file["devices"], told["devices"]):
            check_device(read, device, answer)


def check_capacity(read, path):
    """The least that the card has is what was on it when a request failed."""
    told = {d["device"]: d["capacity_bytes"] for d in read.head["files"][0]["devices"] if d["kind"] == "cuda"}
    if not any(read.table(d, "oom") for d in read.head["files"][0]["devices"]):
        assert set(told.values()) <= {None}
        return
    for device in model.devices(reader.load(path.read_bytes())[0]):
        reserved = device.curves["reserved"].values
        seen = [reserved[i] + e["device_free"] for i, e in enumerate(device.events)
                if e["action"] == "oom" and "device_free" in e]
        assert told[device.number] == max(seen, default=None)


def check_device(read, device, answer):
    alloc = read.table(device, "alloc")
    alloc.setdefault("born", [])
    assert alloc["born"] == sorted(alloc["born"])
    ranges = read.table(device, "range")
    for state in device["check"]:
        rows = page.live_at(alloc, state["state"]) if alloc["born"] else []
        assert len(rows) == state["live"]
        if not device["clipped"]:
            assert sum(alloc["bytes"][row] for row in rows) + page.adjust_at(read, device, state["state"]) == state["requested_bytes"]
        if ranges:
            mapped = page.live_at(ranges, state["state"])
            if answer["trust"]["grade"] == "A" and state["reserved_bytes"] is not None:
                assert sum(ranges["bytes"][row] for row in mapped) == state["reserved_bytes"]
    cover = read.table(device, "cover")
    if answer["requested"]["peak_bytes"] >= 0:
        assert max(cover["requested"]) == max(answer["requested"]["peak_bytes"], 0)
    strings = read.strings(device)
    stack = read.table(device, "stack")
    assert all(0 <= caller < row for row, caller in enumerate(stack["caller"]) if row > 0)
    assert max(stack["culprit"], default=0) < len(strings)


@pytest.mark.parametrize("path", EXAMPLES[::some(2, 1)], ids=lambda p: p.name)
def test_columns_add_up_to_the_report(path):
    check(path)


def test_columns_of_real_files_add_up(shared):
    for path in sorted((shared / "data/snapshots").iterdir()):
        if path.suffix in (".pickle", ".pkl"):
            check(path)


@pytest.mark.parametrize("seed", range(some(5, 30)))
def test_random_recordings_add_up(tmp_path, seed):
    path = tmp_path / "random.pickle"
    path.write_bytes(writers.pickled(random_recording.make(seed), 4))
    check(path)


def test_an_address_that_is_given_twice_adds_up(tmp_path):
    """The older allocation ends in the trace, and in no curve: what the rows lack changes there."""
    def event(action, address, size, time):
        return {"action": action, "addr": address, "size": size, "stream": 0, "frames": [], "time_us": time}
    events = [event("alloc", 0x1000000, 1 << 20, 1), event("alloc", 0x2000000, 2 << 20, 2), event("alloc", 0x1000000, 3 << 20, 3),
              event("free_requested", 0x1000000, 3 << 20, 4), event("free_completed", 0x1000000, 3 << 20, 5)]
    path = tmp_path / "twice.pickle"
    path.write_bytes(writers.pickled({"segments": [], "device_traces": [events]}, 4))
    read = view(path)
    [device] = read.head["files"][0]["devices"]
    assert read.table(device, "adjust")["state"] == [3]
    check(path)


def test_same_bytes_each_time(tmp_path):
    one, two = (run("view", "--threads", n, EXAMPLES[0], "-o", "-", expect=0).raw for n in (1, 2))
    assert one == two


def test_text_of_the_file_ends_no_element(tmp_path):
    """What a file says is text: nothing of it closes an element of the page."""
    name = "</script><img src=x onerror=alert(1)>&amp;\u2028"
    recording = random_recording.make(3)
    text = writers.pickled(recording, 4)
    path = tmp_path / (name.replace("/", "_") + ".pickle")
    path.write_bytes(text)
    written = run("view", path, "-o", "-", expect=0).raw.decode()
    assert "<img" not in written
    assert len(re.findall("<script", written)) == written.count("</script>")


def test_weight_of_program_and_style():
    """All but what follows from the recording; the names of rules and the like are data."""
    written = run("view", EXAMPLES[0], "-o", "-", expect=0).raw.decode()
    own = re.sub(r'(<main id="report"[^>]*>|<script[^>]* id="(?:head|cover|b\d+)">).*?(</main>|</script>)',
                 r"\1\2", written, flags=re.S)
    assert 50_000 < len(own.encode()) <= BUDGET


def check_window(whole, before, read, after):
    """A page of some events has each allocation that lives in them, whole, and no other; the whole cover, and
    the times of its events.  Other tables are those of the whole page."""
    first, last = (after["window"][k] for k in ("first", "last")) if after["window"] else (0, after["states"] - 1)
    alloc = whole.table(before, "alloc")
    rows = [i for i, (born, until) in enumerate(zip(alloc["born"], alloc["until"]))
            if born <= last and (until == 0 or born + until > first)]
    for name, table in after["tables"].items():
        columns, all_of = read.table(after, name), whole.table(before, name)
        if name == "alloc":
            all_of = {k: [v[i] for i in rows] for k, v in all_of.items()}
            assert not after["window"] or after["window"]["of_allocations"] == len(alloc["born"])
        if name == "time":
            times, all_times = (list(itertools.accumulate(t["dt"])) for t in (columns, all_of))
            assert times[max(first - 1, 0):last] == all_times[max(first - 1, 0):last]
            seen = read.table(after, "cover")["state"]
            assert all(times[p - 1] == all_times[p - 1] for p in seen if p > 0)
        else:
            assert {k: list(v) for k, v in all_of.items() if k in columns and v} == {k: list(v) for k, v in columns.items()}
    told = {c["state"]: c for c in before["check"]}
    assert all(told.get(c["state"], c) == c for c in after["check"])
    assert all(first <= c["state"] <= last for c in after["check"])
    held = read.table(after, "alloc")
    for c in after["check"]:
        live = page.live_at(held, c["state"]) if held else []
        assert len(live) == c["live"]
        assert sum(held["bytes"][i] for i in live) + page.adjust_at(read, after, c["state"]) == c["requested_bytes"]
    return first, last


def least_size(*paths):
    """Of the smallest page, as who asks for less is told."""
    told = run("view", *paths, "--max-size", 1, "-o", "-", expect=2)
    assert not told.raw
    return int(re.search(r"no page of these events is smaller than [\d.]+ [KM]iB; say --max-size (\d+), or more\n$", told.err)[1])


def test_a_size_that_no_page_has_is_refused(tmp_path):
    least = least_size(EXAMPLES[0])
    page = tmp_path / "small.html"
    page.write_text("of last time")
    told = run("view", EXAMPLES[0], "--max-size", least - 1, "-o", page, expect=2).err
    assert "%s: no page of these events" % EXAMPLES[0] in told
    assert page.read_text() == "of last time" and list(tmp_path.iterdir()) == [page]
    run("view", EXAMPLES[0], "--max-size", least, "-o", page, expect=0)
    assert page.stat().st_size == least


@pytest.mark.long
def test_a_page_may_be_kept_small(tmp_path):
    """What it goes without stands in no block any more; all else decodes, and has the same numbers."""
    path = EXAMPLES[0]
    whole, spans, least = view(path), [], None
    [before] = whole.head["files"][0]["devices"]
    peak = run("report", "--json", path, expect=0).json()["devices"][0]["requested"]["peak_event"] + 1
    size = len(run("view", path, "-o", "-", expect=0).raw)
    smallest = least_size(path)
    for most in (size, size - 1, size - 1500, size - 3000, size - 8000, smallest):
        done = run("view", path, "--max-size", most, "-o", "-", expect=0)
        read = page.Page(done.raw.decode())
        [after] = read.head["files"][0]["devices"]
        assert len(done.raw) <= most
        assert (read.head["left_out"] == []) == (most == size) == (done.err == "")
        for left in read.head["left_out"]:
            assert left in done.err
        first, last = check_window(whole, before, read, after)
        assert first <= peak <= last
        spans.append(last - first + 1)
        assert after["window"] is None or "events %d to %d of %d, around" % (first - 1, last - 1, after["states"] - 1) in done.err
        assert {"born", "until", "bytes", "cat", "stack"} <= set(after["tables"]["alloc"]["columns"])
        assert least is None or len(after["tables"]["alloc"]["columns"]) <= least
        least = len(after["tables"]["alloc"]["columns"])
        if 64 < spans[-1] < after["states"]:
            assert read.head["left_out"] == ["stacks of frees", "category rules"]
            assert len(done.raw) > most - 4000 and len(after["check"]) > 1
    assert spans == sorted(spans, reverse=True) and len(set(spans)) >= 4 and spans[-1] == 64
    assert "lane" not in after["tables"]["alloc"]["columns"] and after["time"] is None
    assert len(done.raw) == smallest
    two = run("view", EXAMPLES[0], EXAMPLES[1], "--max-size", least_size(EXAMPLES[0], EXAMPLES[1]), "-o", "-", expect=0)
    assert two.raw and "live in at most 64 events of each device, around the peak, " in two.err
    assert "--max-size works only with a page" in run("view", "--svg", "--max-size", 1, EXAMPLES[0], expect=2).err


@pytest.mark.parametrize("given, wanted", [
    (("--from", 100, "--to", 900), (101, 901)), (("--from", "start", "--to", 0), (0, 1)), (("--to", "start"), (0, 0)),
    (("--from", "end"), (-1, -1)), (("--to", "peak"), (0, "peak")), ((), (0, -1))])
def test_a_page_of_some_events(given, wanted):
    path = EXAMPLES[0]
    whole = view(path)
    done = run("view", path, *given, "-o", "-", expect=0)
    read = page.Page(done.raw.decode())
    [before], [after] = (p.head["files"][0]["devices"] for p in (whole, read))
    peak = run("report", "--json", path, expect=0).json()["devices"][0]["requested"]["peak_event"] + 1
    wanted = tuple(peak if w == "peak" else after["states"] - 1 if w == -1 else w for w in wanted)
    assert check_window(whole, before, read, after) == wanted
    assert (after["window"] is None) == (given == ()) and done.err == ""


def test_times_of_some_events_of_a_long_recording(tmp_path):
    """More hours lie between two states that are told of than one step holds."""
    actions = ("alloc", "free_requested", "free_completed")
    events = [{"action": actions[i % 3], "addr": 0x1000000, "size": 512, "stream": 0, "frames": [],
               "time_us": 1 + 1_500_000_000 * i} for i in range(9000)]
    path = tmp_path / "long.pickle"
    path.write_bytes(writers.pickled({"segments": [], "device_traces": [events]}, 4))
    whole = view(path)
    read = page.Page(run("view", path, "--from", 3000, "--to", 3500, "-o", "-", expect=0).raw.decode())
    [before], [after] = (p.head["files"][0]["devices"] for p in (whole, read))
    assert check_window(whole, before, read, after) == (3001, 3501)


def test_events_of_a_page_that_make_no_sense():
    backwards = "--from", 9, "--to", 8, EXAMPLES[0], "-o", "-"
    refused = run("view", *backwards, expect=2).err
    assert "behind the last" in refused and run("view", "--png", *backwards, expect=2).err == refused
    assert "nonsense" in run("view", "--from", "nonsense", EXAMPLES[0], "-o", "-", expect=2).err


def test_of_several_files_a_complaint_says_which(tmp_path):
    one = tmp_path / "one.json"
    event = {"action": "alloc", "addr": 512, "size": 512, "stream": 0, "frames": []}
    one.write_text(json.dumps({"segments": [], "device_traces": [[event]]}), encoding="utf-8")
    wrong = run("view", "--from", 1, EXAMPLES[0], one, "-o", "-", expect=2)
    assert "one.json: device 0 has events 0 to 0, not 1" in wrong.err and EXAMPLES[0].name not in wrong.err


def test_pictures_of_other_kinds_are_refused(tmp_path):
    for name in ("x.jpg", "x.PDF", "x.svgz"):
        wrong = run("view", EXAMPLES[0], "-o", tmp_path / name, expect=2)
        assert ".svg or .png" in wrong.err and not (tmp_path / name).exists()


def test_the_device_that_failed_is_named(tmp_path):
    oom = {"action": "oom", "size": 512, "stream": 0, "device_free": 0, "frames": []}
    alloc = {"action": "alloc", "addr": 512, "size": 512, "stream": 0, "frames": []}
    two = tmp_path / "two.json"
    two.write_text(json.dumps({"segments": [], "device_traces": [[alloc], [alloc, oom]]}), encoding="utf-8")
    wrong = run("view", "--from", "oom", two, "-o", "-", expect=2)
    assert "device 0 has no out-of-memory event, device 1 has one" in wrong.err


@pytest.mark.parametrize("seed", range(some(2, 12)))
def test_some_events_of_random_recordings(tmp_path, seed):
    """Also of memory that no event explains, and of several devices."""
    path = tmp_path / "random.pickle"
    recording = random_recording.make(seed, steps=120, layout="new", gap=False, missing=False)
    path.write_bytes(writers.pickled(recording, 4))
    whole = view(path)
    states = min(d["states"] for d in whole.head["files"][0]["devices"])
    read = page.Page(run("view", path, "--from", states // 3, "--to", states // 2, "-o", "-", expect=0).raw.decode())
    for before, after in zip(whole.head["files"][0]["devices"], read.head["files"][0]["devices"]):
        if not before["clipped"] and whole.table(before, "alloc"):
            assert check_window(whole, before, read, after) == (states // 3 + 1, states // 2 + 1)


def test_what_lies_beside_the_recordings_is_no_failure(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "notes.json").write_text('{"lr": 1}')
    run("view", folder, "-o", tmp_path / "none.html", expect=3)
    (folder / "run.pickle").write_bytes(EXAMPLES[0].read_bytes())
    r = run("view", folder, "-o", tmp_path / "run.html", expect=0)
    assert "notes.json" in r.err and (tmp_path / "run.html").stat().st_size > 100_000


@pytest.mark.parametrize("words", [["report"], ["peak", "--json"], ["view"], ["view", "--serve"],
                                   ["export", "--to", "csv"], ["diff", EXAMPLES[0]]])
def test_a_page_of_its_own_is_named_as_such(words, tmp_path):
    """It has columns, not the recording; who opens it by mistake is told what to open."""
    made = tmp_path / "run.html"
    run("view", EXAMPLES[0], "-o", made, expect=0)
    done = run(*words, made, cwd=tmp_path)
    assert done.code != 0
    assert "a page that vramscope wrote" in done.err and "name the recording that it was made from" in done.err


def test_a_cut_page_of_its_own_is_named_as_such(tmp_path):
    made = tmp_path / "run.html"
    run("view", EXAMPLES[0], "-o", made, expect=0)
    made.write_bytes(made.read_bytes()[:4000])
    assert "a page that vramscope wrote" in run("report", made, expect=3).err


def test_a_failure_whose_free_memory_is_unknown_is_not_one_of_zero():
    """2^53 - 1 is the number of what was not recorded."""
    event = lambda **more: {"action": "oom", "size": 4096, "stream": 0, "frames": [], **more}  # noqa: E731
    text = json.dumps({"segments": [], "device_traces": [[event(device_free=1000), event()]]}).encode()
    read = page.Page(run("view", "-", "-o", "-", stdin=text, expect=0).raw.decode())
    table = read.table(read.head["files"][0]["devices"][0], "oom")
    assert list(table["free"]) == [1000, 2 ** 53 - 1] and list(table["bytes"]) == [4096, 4096]


def without(rows, *keys):
    return [{k: v for k, v in row.items() if k not in keys} for row in rows]


def human(count):
    return next("%.2f %s" % (count / unit, name) for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")) if count >= unit)


@pytest.mark.parametrize("made", ["fragmentation_oom", "oom", "two_failures", "two_devices"])
def test_the_head_says_why_a_request_failed(made, tmp_path):
    """As `vramscope oom` and `vramscope fragments --at oom` do."""
    path = ROOT / "examples" / (made + ".pickle")
    if made == "two_failures":
        path = tmp_path / "two.json"
        path.write_text(json.dumps({"segments": [], "device_traces": [[
            {"action": "oom", "size": 4096 << n, "device_free": 1000, "stream": 0, "time_us": n * 10**9,
             "frames": [{"filename": "/home/user/run.py", "line": n, "name": "f"}]} for n in range(1, 4)]]}))
    elif not path.exists():
        path = scripts.make(made)
    heads = page.Page(run("view", path, "-o", "-", expect=0).raw.decode()).head["files"][0]["devices"]
    answers = run("oom", "--json", path).json()["devices"]  # exit 1 where no request failed
    assert any(d["oom"] for d in heads) == (made != "two_devices")
    for head, answer in zip(heads, answers):
        oom, told = head["oom"], answer["result"]
        if told is None or told["event"] is None:
            assert oom is None
            continue
        facts = list(told)[:list(told).index("also_true") + 1]
        assert {k: oom[k] for k in facts} == {k: told[k] for k in facts}
        holds = [{"site": row["site"]["culprit"], "bytes": row["bytes"], "count": row["count"]} for row in told["must_go"]]
        must = oom["must_go"] or {"sites": [], "count": 0}
        assert must["sites"] == holds[:3] and must["count"] == len(holds) and (oom["must_go"] is None) == (holds == [])
        assert not holds or human(must["need_bytes"]) in run("oom", path, expect=0).out
        assert oom["earlier"] == without(told["earlier"], "request_bytes", "retries")
        words = " ".join(run("oom", "--device", str(head["device"]), path, expect=0).out.split())
        assert oom["text"] in words and "sure " + oom["sure"] in words
        lost = run("fragments", "--json", "--at", "oom", "--device", str(head["device"]), path,
                   expect=0).json()["devices"][0]["result"]
        for part in ("groups", "private_pools"):
            assert oom[part] == ([] if lost is None else lost[part])


def test_the_default_name_is_that_of_the_file(tmp_path):
    r = run("view", EXAMPLES[0], cwd=tmp_path, expect=0)
    made = tmp_path / (EXAMPLES[0].stem + ".html")
    assert made.read_bytes().startswith(b"<!doctype html>") and made.name in r.out


def test_a_file_from_elsewhere_is_replaced_only_by_name(tmp_path):
    for options, ending in ([], ".html"), (["--svg"], ".svg"), (["--png"], ".png"):
        made = tmp_path / (EXAMPLES[0].stem + ending)
        made.write_text("notes of a week")
        done = run("view", *options, EXAMPLES[0], cwd=tmp_path, expect=2)
        assert "vramscope did not write it" in done.err and "-o " + made.name in done.err
        assert made.read_text() == "notes of a week"
        run("view", *options, EXAMPLES[0], "-o", made, expect=0)
        run("view", *options, EXAMPLES[0], cwd=tmp_path, expect=0)
        made.write_bytes(b"")
        run("view", *options, EXAMPLES[0], cwd=tmp_path, expect=2)


def test_the_name_that_was_written_is_harmless(tmp_path):
    source = tmp_path / "a\x1b[31m\u202eb.pickle"
    source.write_bytes(EXAMPLES[0].read_bytes())
    for options in [], ["--svg"]:
        done = run("view", *options, source, cwd=tmp_path, expect=0)
        assert done.out.startswith("a\\x1b[31m\\u{202e}b.")


def test_pools_of_segments_are_those_of_the_end():
    """What an event obtained lies in the pool that the segment has at the end, where no event names one."""
    made = view(scripts.make("""stack any model.py:1 f
alloc a 32MiB any
alloc b 64MiB any pool 7
alloc c 16MiB any
free c any
empty_cache any
"""))
    device = made.head["files"][0]["devices"][0]
    ranges = made.table(device, "range")
    pools = {size >> 20: device["pools"][pool] for size, pool in zip(ranges["bytes"], ranges["pool"])}
    assert pools[32] == "(0, 0)" and pools[64] == "(7, 0)"


def test_a_recording_is_not_replaced(tmp_path):
    """Of a page that PyTorch exported the default name is the file itself; a page of last time may go."""
    read = EXAMPLES[0].read_bytes()
    source = tmp_path / "a.html"
    source.write_bytes(read)
    (tmp_path / "b.svg").symlink_to(source)
    (tmp_path / "b.html").symlink_to(source)
    for arguments in (["a.html"], ["."], ["-o", "a.html", "."], ["--svg", "a.html", "-o", "b.svg"],
                      ["a.html", "-o", "b.html"]):
        r = run("view", *arguments, cwd=tmp_path, expect=2)
        assert "would replace the recording it reads" in r.err and "-o" in r.err
        assert source.read_bytes() == read and {p.name for p in tmp_path.iterdir()} == {"a.html", "b.html", "b.svg"}
    source.rename(tmp_path / "a.pickle")
    for _ in range(2):
        run("view", ".", cwd=tmp_path, expect=0)
        run("view", ".", "-o", "all.html", cwd=tmp_path, expect=0)


def test_annotations_nest():
    """Each from its first event to the last before its end; those within another are deeper."""
    script = """stack any model.py:1 f
mark outer start
alloc a 2MiB any
mark inner start
alloc b 3MiB any
mark inner end
alloc c 4MiB any
mark outer end
mark nothing start
mark nothing end
alloc d 5MiB any
mark open start
alloc e 6MiB any
"""
    made = view(scripts.make(script))
    device = made.head["files"][0]["devices"][0]
    marks, strings = made.table(device, "mark"), made.strings(device)
    born = dict(zip(made.table(device, "alloc")["bytes"], made.table(device, "alloc")["born"]))
    found = [(strings[name], depth, [n for n in range(2, 7) if first <= born[n << 20] <= last])
             for kind, first, last, depth, name in zip(*(marks[c] for c in ("kind", "first", "last", "depth", "name")))
             if kind == 2]
    assert found == [("outer", 0, [2, 3, 4]), ("inner", 1, [3]), ("open", 0, [6])]


def test_what_an_alloc_names_is_there():
    script = """stack any ::at::_ops::addmm::call(\u2026) < block.py:3 forward < model.py:1 forward < run.py:2 main
alloc a 2MiB any compile 0/1
alloc b 3MiB any metadata mine
alloc c 4MiB any
"""
    made = view(scripts.make(script))
    device = made.head["files"][0]["devices"][0]
    alloc, stack, strings = made.table(device, "alloc"), made.table(device, "stack"), made.strings(device)
    assert [strings[n] for n in alloc["ctx"]] == ["0/1", "mine", ""]
    of = alloc["stack"][0]
    assert strings[stack["op"][of]] == "addmm" and strings[stack["module"][of]] == "model.py:1 > block.py:3"
