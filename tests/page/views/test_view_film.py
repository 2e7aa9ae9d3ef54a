"""The last moments before a request failed, on the page of `vramscope view`: what they say, and how they play."""
import csv
import io
import re

import pytest
from recordings import scripts, writers
from recordings.tiny import BASE, MIB, event, top

from conftest import run
from pages import EXAMPLES, plain

OOM = EXAMPLES / "oom.pickle"
FAILED = {"oom": (OOM, 3161), "fragmentation": (EXAMPLES / "fragmentation.pickle", 4101)}
GIVES, TAKES = ("alloc", "segment_alloc", "segment_map"), ("free_completed", "segment_free", "segment_unmap")
CELLS = ("[...document.querySelectorAll('#film .cells button')].map((b) => [...b.querySelectorAll('strong, small, .size ~ span')]"
         ".map((n) => n.textContent))")
NOW = "[...document.querySelectorAll('#film [aria-current]')].map((b) => Number(b.dataset.state))"
PLAYS = "document.querySelector('#film > div button:last-of-type').textContent === 'pause'"
IN_SIGHT = ("(() => { const [box, cell] = ['.cells', '%s'].map((s) => document.querySelector('#film ' + s).getBoundingClientRect());"
            " return cell.left >= box.left - 1 && cell.right <= box.right + 1; })()")
# Two requests that fail, the second with thirty events after the first.
TWICE = """capacity 1GiB
include torch.stacks
stack one @malloc < model.py:11 small < run.py:2 main
stack two @malloc < model.py:22 FUNC < run.py:3 main
alloc a 512MiB one
alloc b 900MiB two
repeat 15 {
  alloc t 4MiB one
  free t one
}
alloc c 2GiB two
alloc d 8MiB one
"""


def table(path, name):
    return list(csv.DictReader(io.StringIO(run("export", path, "--to", "csv", "-t", name, expect=0).out)))


def printed(count, sign=""):
    """Bytes as the page writes them."""
    unit = next(n for n in (30, 20, 10, 0) if count >= 1 << n or n == 0)
    name = {30: "GiB", 20: "MiB", 10: "KiB", 0: "B"}[unit]
    return sign + ("%.2f %s" % (count / 2**unit, name) if unit else "%d B" % count)


def moments(path, past, length=20):
    """What the command has of the events before state `past`: sizes, lines, categories, and each segment by a replay."""
    events, allocations = table(path, "events"), table(path, "allocations")
    segments, live, told = {}, {}, []
    for number, e in enumerate(events[:past]):
        one = allocations[int(e["allocation"])] if e["allocation"] else None
        at = int((one or e)["address"] or 0)
        if e["action"] in ("segment_alloc", "segment_free"):
            changed = at
            if e["action"] == "segment_alloc":
                segments[at] = int(e["bytes"])
            else:
                del segments[at]
        else:
            changed = next((s for s in segments if s <= at < s + segments[s]), None)
        if e["action"] == "alloc":
            live[at] = int(one["block_bytes"])
        elif e["action"] == "free_completed":
            del live[at]
        room = segments.get(changed, 0)
        used = sum(n for place, n in live.items() if changed is not None and changed <= place < changed + room)
        told.append(dict(e, state=number + 1, bytes=int(e["bytes"]), segment=changed, room=room, free=room - used,
                         line=one["culprit"] if one else e["culprit"] if e["action"] == "oom" else e["action"],
                         category=one["category"].replace("_", " ") if one else ""))
    return told[-length:]


def cell_of(e):
    """The texts of a cell of an event of `moments`."""
    kind, number = e["action"], str(e["state"] - 1)
    if kind == "oom":
        return [printed(e["bytes"]) + " refused", number, e["line"], "out of memory",
                printed(int(e["device_free_bytes"])) + " free", "on the card"]
    sign = "+" if kind in GIVES else "\u2212" if kind in TAKES else ""
    where = "seg " + hex(e["segment"]).rstrip("0") + "\u2026"
    return [printed(e["bytes"], sign), number, e["line"], e["category"],
            where + (" " + printed(e["room"]) if e["room"] else ""),
            "free requested" if kind == "free_requested" else
            printed(e["free"]) + " free after" if e["room"] else "returned"]


def cells(page, count=20):
    page.wait("document.querySelectorAll('#film .cells button').length === %d" % count)
    return [[plain(text) for text in cell] for cell in page.ask(CELLS)]


def now(page, state):
    page.wait("(%s).join() === '%d'" % (NOW, state))


@pytest.fixture
def film(pages):
    """A page at a state of oom.pickle, whose strip is filled."""
    def show(at, more=""):
        page = pages(OOM, fragment="#v=1&at=%d%s" % (at, more))
        cells(page)
        now(page, at)
        return page
    return show


@pytest.mark.parametrize("name", FAILED)
def test_cells_tell_what_the_command_has(pages, name):
    path, failed = FAILED[name]
    page = pages(path)
    wanted = moments(path, failed)
    assert cells(page) == [cell_of(e) for e in wanted]
    assert wanted[-1]["action"] == "oom" and any(e["action"] == "segment_alloc" for e in wanted)
    page.press("o")
    now(page, failed)
    assert page.ask(IN_SIGHT % "li:last-child button")
    assert page.ask("document.querySelector('#film li:last-child button').matches('.problem')")
    said = plain(page.ask("document.querySelector('#film li:nth-last-child(2) button').getAttribute('aria-label')"))
    e = wanted[-2]
    assert said.startswith("event %d, %s, %s, " % (e["state"] - 1, cell_of(e)[0], e["line"])) and hex(e["segment"]) in said
    left, top_, width, height = page.box("#film")
    # Under the picture, so that what stands beside it has all of the height.
    assert height <= 84 and left == 0 and width == page.box("#stage")[2]
    assert page.box("#work")[1] < top_ < page.box("#status")[1]


def test_the_page_opens_with_the_failure_in_sight_and_does_not_move(pages):
    spy = ("globalThis.tops = new Set(); new MutationObserver(() => { const f = document.getElementById('film');"
           " if (f && document.getElementById('status-text').textContent) tops.add(f.getBoundingClientRect().top); })"
           ".observe(document, { childList: true, subtree: true, attributes: true, characterData: true });")
    page = pages(OOM, before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=spy))
    cells(page)
    page.settled()
    now(page, 3161)
    assert page.ask(IN_SIGHT % "li:last-child button") and page.ask(IN_SIGHT % "[aria-current]")
    assert page.ask("[...tops]") == [page.box("#film")[1]]


def test_stepping_and_cells_move_the_cursor_and_all_that_follows(film):
    page = film(3160)
    page.press(",")
    now(page, 3159)
    page.says("#status-text", "event 3158 ")
    page.press_on("#film button[aria-label='one event back']")
    now(page, 3158)
    page.press_on("#film [data-state='3153']")
    now(page, 3153)
    page.says("#who caption", "event 3152")
    assert page.state()["at"] == "3153"
    page.press_on("#film button[aria-label='one event on']")
    now(page, 3154)
    page.press(".")
    now(page, 3155)
    page.press("u")  # a cell is a jump
    now(page, 3158)
    page.press_on("#film [data-state='3142']")
    now(page, 3142)
    page.wait(IN_SIGHT % "[aria-current]")
    page.press(",")  # out of the strip, which stays
    page.wait("(%s).length === 0" % NOW)
    assert len(cells(page)) == 20
    page.sound()


def test_pictures_while_it_plays_are_those_of_each_moment(film, pages):
    """Three moments of State: where it is stopped there stands what a link to there shows."""
    page, seen = film(3154, "&view=state"), []
    page.settled()
    seen.append((3154, page.settled()))
    page.press(" ")
    page.wait(PLAYS)
    now(page, 3157)
    page.press(" ")
    page.wait("!(%s)" % PLAYS)
    seen.append((page.ask(NOW)[0], page.settled()))
    page.press(" ")
    now(page, 3161)
    page.wait("!(%s)" % PLAYS)
    seen.append((3161, page.settled()))
    assert len({picture for _, picture in seen}) == 3
    for state, picture in seen:
        other = pages(OOM, fragment="#v=1&view=state&at=%d" % state)
        cells(other)
        assert other.settled() == picture, state


def test_it_plays_from_the_first_event_one_after_the_other_to_the_end(film):
    page = film(3161)
    page.ask("self.seen = []; self.times = []; new MutationObserver(() => { const n = document.querySelector('#film"
             " [aria-current]'); if (n && n.dataset.state !== self.seen.at(-1)) { self.seen.push(n.dataset.state);"
             " self.times.push(performance.now()); } }).observe(document.querySelector('#film'), { subtree: true,"
             " attributeFilter: ['aria-current'] }); 0")
    page.press_on("#film > div button:last-of-type")
    page.wait("self.seen.length > 1 && self.seen.at(-1) === '3161' && !(%s)" % PLAYS)
    assert page.ask("self.seen") == [str(n) for n in range(3142, 3162)]
    times = page.ask("self.times")
    assert times[-1] - times[0] >= 19 * 290, "an event has its time"
    page.press("u")
    now(page, 3161)


STOPS = {"Escape": lambda page: page.press("Escape"), "a key": lambda page: page.press("t"),
         "a click": lambda page: page.press_on("#status-text"), "Space": lambda page: page.press(" "),
         "pause": lambda page: page.press_on("#film > div button:last-of-type"),
         "a step": lambda page: page.press(",")}


@pytest.mark.parametrize("how", STOPS)
def test_it_stops(film, how):
    page = film(3143, "&sel=a40")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.press(" ")
    now(page, 3144)
    STOPS[how](page)
    page.wait("!(%s)" % PLAYS)
    stood = page.ask(NOW)
    page.ask("new Promise((done) => setTimeout(done, 700))")
    assert page.ask(NOW) == stood and stood[0] < 3150
    # Escape closes nothing else the first time.
    assert page.ask("document.getElementById('details').classList.contains('pinned')")


def test_by_keys_alone(film):
    """Every cell can be reached; Space and Enter mean on a button what they mean on any."""
    page = film(3160)
    page.ask("document.querySelector('#film [data-state=\"3159\"]').focus()")
    page.press("Tab", 8)
    assert page.ask("document.activeElement.dataset.state") == "3158"
    page.press("Enter")
    now(page, 3158)
    page.press("Tab")
    page.press(" ")
    now(page, 3159)
    assert not page.ask(PLAYS)
    page.ask("document.querySelector('#film > div button:last-of-type').focus()")
    page.press(" ")
    page.wait(PLAYS)
    page.press("Enter")
    page.wait("!(%s)" % PLAYS)
    page.ask("document.getElementById('show-help').focus()")
    page.press(" ")
    page.wait("document.getElementById('help').open")
    assert not page.ask(PLAYS)


def test_the_event_is_said(film):
    page = film(3157)
    page.press(".")
    gone, _, e, _ = moments(OOM, 3161, 4)
    page.says("#live", "event 3157, \u22121.00 GiB, segment_free, segment %s returned. event 3157 " % hex(gone["segment"]))
    page.press(".")
    page.press(".")
    page.says("#live", "event 3159, +2.00 GiB, model.py:22 forward, %s, segment %s of 2.00 GiB, 0 B free after"
              % (e["category"], hex(e["segment"])))


@pytest.mark.parametrize("motion, wanted", [("reduce", "instant"), ("no-preference", "smooth")])
def test_it_scrolls_smoothly_where_motion_is_wanted(pages, motion, wanted):
    media = lambda page: page.send("Emulation.setEmulatedMedia",  # noqa: E731
                                   features=[{"name": "prefers-reduced-motion", "value": motion}])
    page = pages(OOM, before=media)
    cells(page)
    page.settled()
    page.ask("self.how = []; const plain = Element.prototype.scrollBy; Element.prototype.scrollBy = function (how) {"
             " self.how.push(how.behavior); plain.call(this, how); }; 0")
    before = page.ask("document.querySelector('#film .cells').scrollLeft")
    page.press(" ")
    page.wait("self.how.length > 0")
    page.press("Escape")
    assert set(page.ask("self.how")) == {wanted}
    page.wait("document.querySelector('#film .cells').scrollLeft < %d" % before)


def test_state_marks_the_segment_and_names_lines(film):
    page = film(3155, "&view=state")
    page.settled()
    e = next(e for e in moments(OOM, 3161) if e["state"] == 3155)
    marked = ("[...document.querySelectorAll('.segments tr.changed')].map((r) =>"
              " [r.querySelector('canvas').getAttribute('aria-label'), ...[...r.cells].slice(1, 4).map((c) => c.textContent)])")
    assert [[plain(text) for text in row] for row in page.ask(marked)] == [[
        "%s at %s, %s in use, changed by this event" % (printed(e["room"]), hex(e["segment"]), printed(e["room"] - e["free"])),
        printed(e["room"]), printed(e["room"] - e["free"]), printed(e["free"])]]
    edge = ("(() => { const c = document.querySelector('.segments tr%s canvas'); const g = new OffscreenCanvas(c.width, c.height)"
            ".getContext('2d', { willReadFrequently: true }); g.drawImage(c, 0, 0);"
            " return [...g.getImageData(c.width >> 2, 0, 1, 1).data].join(); })()")
    assert page.ask(edge % ".changed") != page.ask(edge % ":not(.changed)")
    listed = [plain(text) for text in page.ask("[...document.querySelectorAll('ol.events li')].map((li) => li.textContent)")]
    for e in moments(OOM, 3161):
        if e["allocation"]:
            assert "event %d  %s %s  %s \u00b7 %s" % (e["state"] - 1, e["action"].replace("_", " "), printed(e["bytes"]),
                                                     e["line"], e["category"]) in listed
    assert any(text.endswith("oom 2.00 GiB  model.py:22 forward") for text in listed)


def test_a_segment_that_changed_far_down_is_brought_into_sight(pages):
    page = pages(OOM, size=(1280, 620), fragment="#v=1&view=state&at=3154")
    for _ in range(8):
        page.settled()
        page.wait("document.querySelector('.segments tr.changed') !== null")
        assert page.ask("(() => { const [box, row] = ['#view .scroll', '.segments tr.changed'].map((s) =>"
                        " document.querySelector(s).getBoundingClientRect()); return row.top >= box.top && row.bottom <= box.bottom; })()")
        at = int(page.state()["at"])
        page.press(",")
        page.wait("document.querySelector('#view strong').textContent.replace(/\\D/g, '') === '%d'" % (at - 2))


def test_the_panel_begins_with_the_line_that_asked_and_ends_with_the_last_events(film):
    page = film(3160)
    page.press("o")
    page.says("#oom p", "model.py:22 forward asked for 2.00 GiB")
    assert page.ask("document.querySelector('#oom p strong').textContent") == "model.py:22 forward"
    listed = [plain(text) for text in page.ask("[...document.querySelectorAll('#oom ol.events li')].map((li) => li.textContent)")]
    wanted = moments(OOM, 3161, 10)
    assert len(listed) == 10
    for text, e in zip(listed, wanted):
        assert text.startswith("event %d  %s %s" % (e["state"] - 1, e["action"].replace("_", " "), printed(e["bytes"])))
        assert not e["allocation"] or text.endswith("%s \u00b7 %s" % (e["line"], e["category"]))
    page.press_on("#oom ol.events li:first-child button")
    now(page, wanted[0]["state"])


def test_of_two_failures_the_one_next_to_the_cursor(pages):
    path = scripts.make(TWICE.replace("FUNC", "large"))
    first, last = (int(e["event"]) + 1 for e in table(path, "events") if e["action"] == "oom")
    assert last - first > 25
    page = pages(path)
    page.press("o")
    shown = "document.querySelector('#film li:last-child button')?.dataset.state"
    for state, wanted in ((first, first), (first - 1, first), (last, last), (last - 21, last), (first + 1, first),
                          (last + 1, last)):
        page.ask("location.hash = '#v=1&at=%d'; 0" % state)
        page.wait("%s === '%d'" % (shown, wanted))
        assert page.state()["at"] == str(state)
        assert [cell[0] for cell in page.ask(CELLS)][-1] == {first: "900.00 MiB refused", last: "2.00 GiB refused"}[wanted]
    # The first has fewer than twenty events before it.
    page.ask("location.hash = '#v=1&at=%d'; 0" % first)
    page.wait("%s === '%d'" % (shown, first))
    assert cells(page, first) == [cell_of(e) for e in moments(path, first)]
    page.says("#oom p", "model.py:22 large asked for 900.00 MiB")
    assert "900.00 MiB" in page.text("#oom ol.events li:last-child")
    page.sound()


@pytest.mark.parametrize("name", ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "a\u202eyp.live",
                                  "long" * 9999])
def test_hostile_names_are_text(pages, name):
    page = pages(scripts.renamed(TWICE, {"FUNC": name}))
    page.ask("self.alerted = 0; self.alert = () => { self.alerted++; }; 0")
    page.press("o")
    page.wait("document.querySelector('#film li:last-child [aria-current].problem') !== null")
    line = page.text("#film li:last-child .size ~ span")
    whole = "model.py:22 " + name.replace("\u202e", "\\u{202e}")
    assert line == whole or len(whole) > 80 == len(line) and line.startswith("model.py:22 long")
    page.says("#oom p", whole[:99] + " asked for" if len(whole) < 100 else "asked for")
    assert page.ask("document.querySelectorAll('img, svg').length + self.alerted") == 0
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    page.sound()


def test_a_failure_without_stacks_and_addresses(pages, tmp_path):
    path = tmp_path / "bare.pickle"
    path.write_bytes(writers.pickled(top([], [event("alloc", BASE, 4 * MIB, 10), event("oom", 1000, 64 * MIB, 20)]), 4))
    page = pages(path)
    page.press("o")
    assert cells(page, 2)[1][:3] == ["64.00 MiB refused", "1", "(no stack)"]
    assert cells(page, 2)[0][:3] == ["+4.00 MiB", "0", "(no stack)"]
    page.says("#oom p", "64.00 MiB was asked for; no stack was recorded")


def test_without_a_failure_there_is_no_strip_and_space_is_the_browsers(pages):
    page = pages(EXAMPLES / "leak.pickle")
    page.settled()
    assert page.ask("document.getElementById('film').hidden")
    page.ask("self.kept = null; addEventListener('keydown', (event) => { self.kept = event.defaultPrevented; }); 0")
    before = page.state()
    page.press(" ")
    page.wait("self.kept !== null")
    assert page.ask("self.kept") is False and page.state() == before


def test_views_of_many_and_a_phone(pages):
    page = pages(OOM, EXAMPLES / "leak.pickle")
    page.wait("document.getElementById('film').hidden")
    page.press("1")
    page.wait("!document.getElementById('film').hidden")
    cells(page)
    page.press("0")
    page.wait("document.getElementById('film').hidden")
    page.press("1")
    page.wait("!document.getElementById('film').hidden")
    # A box that was hidden has forgotten how far it was scrolled.
    assert page.ask(IN_SIGHT % "[aria-current]")
    page.send("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=False)
    page.settled()
    below = page.box("#film")[1]
    assert below >= page.box("#who")[1] + page.box("#who")[3] - 1
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    page.ask("document.querySelector('#film').scrollIntoView()")
    assert page.box("#film")[1] < 844


@pytest.mark.parametrize("name, shown", [("oom", True), ("fragmentation", False)])
def test_a_page_of_some_events_shows_a_failure_that_it_holds(pages, name, shown):
    """Kept as small as can be it has the events around the peak alone, and no addresses."""
    path, failed = FAILED[name]
    least = re.search(r"--max-size (\d+)", run("view", path, "--max-size", 1, "-o", "-", expect=2).err)[1]
    page = pages(path, "--max-size", least)
    page.wait("document.querySelector('#card').textContent.includes('addresses')")
    page.settled()
    assert page.ask("document.getElementById('film').hidden") is not shown
    if shown:
        *before, last = map(cell_of, moments(path, failed))
        assert cells(page) == [*([*cell[:4], "", cell[5] if cell[5] == "free requested" else ""] for cell in before), last]
    page.sound()
