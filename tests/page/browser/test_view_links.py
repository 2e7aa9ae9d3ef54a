"""Links of the page of `vramscope view`: they restore what was seen, Back undoes, and what they cannot say falls back."""
import time
from urllib.parse import quote

import pytest

from conftest import some
from recordings import scripts
from pages import EXAMPLES

DEFAULT = {"v": "1", "file": "0", "dev": "0", "view": "stack", "y": "0-", "by": "line"}


def until(page, key, value, seconds=10):
    end = time.monotonic() + seconds
    while (got := page.state().get(key)) != value:
        assert time.monotonic() < end, (key, value, got)
        time.sleep(0.05)


@pytest.mark.parametrize("keys, clicks", [
    ("mW...m", 1),
    *some([], [("2gw", 1), ("3", 1), ("wwd", 1), ("]}f", 1), ("xw", 0), ("4.", 0), ("Kt", 1), ("5", 0)])])
def test_a_copied_link_shows_the_same_picture(pages, keys, clicks):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    for _ in range(clicks):
        page.click(*page.plot(0.4, 0.3))
        page.settled()
    for key in keys:
        page.press(key)
        page.settled()
    page.ask("navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0")
    page.press("C")
    page.wait("self.copied")
    page.press("Escape" if "W" in keys else "Shift")
    seen, text = page.settled(), page.text("#status-text").split("   |")[0]
    link = page.ask("self.copied")
    again = pages(EXAMPLES / "oom.pickle", fragment="#" + link.split("#")[1])
    assert again.settled() == seen
    assert again.text("#status-text").split("   |")[0] == text
    assert again.state() == page.state()


def test_back_undoes_and_forward_does_again(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    first = page.state()
    page.press("2")
    until(page, "view", "groups")
    time.sleep(0.4)
    page.press("/")
    page.type("cat:activation")
    page.press("Enter")
    until(page, "q", "cat%3Aactivation")
    time.sleep(0.4)
    page.ask("document.activeElement.blur()")
    page.press("}")
    page.wait("!document.getElementById('range').hidden")
    last = page.state()
    for key, seen in (("range", "document.getElementById('range').hidden"),
                      ("q", "document.getElementById('query').value === ''"),
                      ("view", "document.querySelector('[role=tab][aria-selected=true] kbd').textContent === '1'")):
        page.ask("history.back()")
        page.wait(seen)
        until(page, key, first.get(key))
    assert page.state() == first
    for key in ("view", "q", "range"):
        page.ask("history.forward()")
        until(page, key, last[key])
    assert page.state() == last


@pytest.mark.long
def test_back_returns_to_another_device(pages):
    page = pages(scripts.make("late_streams"))
    page.settled()
    page.press("w")
    page.press("2")
    until(page, "view", "groups")
    before = page.state()
    time.sleep(0.4)
    page.press_on("#devices button:nth-of-type(2)")
    until(page, "dev", "1")
    page.settled()
    time.sleep(0.4)
    page.ask("history.back()")
    until(page, "dev", "0")
    until(page, "x", before["x"])
    assert page.state() == before


@pytest.mark.long
def test_undo_returns_to_another_device(pages):
    page = pages(scripts.make("late_streams"))
    page.settled()
    page.press("w")
    page.settled()
    before = page.state()
    page.press_on("#devices button:nth-of-type(2)")
    until(page, "dev", "1")
    page.settled()
    page.press("u")
    until(page, "dev", "0")
    until(page, "x", before["x"])
    assert page.state() == before
    page.press("U")
    until(page, "dev", "1")


WRONG = [
    ("file", "7"), ("dev", "9"), ("file", "-1"), ("view", "all"), ("view", "<img src=x onerror=alert(1)>"),
    ("x", "e9-3"), ("x", "t0-1e99"), ("x", "e0-99999999999999999999"), ("y", "9-2"), ("at", "NaN"),
    ("at", "99999999999999999"), ("by", "weather"), ("by", "__proto__"), ("sel", "a999999"), ("sel", "z1"),
    ("range", "5-2"), ("without", "[]"), ("without", '["site"]'), ("without", '["age","x"]'), ("without", "{"), ("marks", "1,2,3"), ("cap", "-4"), ("theme", "pink"), ("patterns", "yes"),
]


def check(page, key, value):
    page.settled()
    page.sound()
    state = page.state()
    assert state["q"] == "cat%3Aparameter" and "unknown" not in state, (key, value)
    for name, usual in DEFAULT.items():
        assert state[name] == usual, (key, value, name)
    assert state["x"] == "e0-3678" and state["at"] == "3143", (key, value)
    note = page.text("#status-note")
    assert key in note or "no " in note, (key, value, note)


def wrong_link(key, value):
    return "#v=1&q=cat%%3Aparameter&%s=%s&unknown=1" % (key, quote(value))


@pytest.mark.parametrize("key, value", WRONG[:5:2], ids=["%s=%s" % pair for pair in WRONG[:5:2]])
def test_a_wrong_value_falls_back_alone_with_a_note(pages, key, value):
    """The rest of the link holds: here the filter."""
    check(pages(EXAMPLES / "leak.pickle", fragment=wrong_link(key, value)), key, value)


@pytest.mark.long
def test_wrong_values_in_an_open_page(pages):
    page = pages(EXAMPLES / "leak.pickle")
    for key, value in WRONG[::some(2, 1)]:
        page.ask("location.hash = '#v=1&q=cat:gradient&at=7&x=e5-90'; 0")
        page.wait("document.getElementById('query').value === 'cat:gradient'")
        page.ask("location.hash = %r; 0" % wrong_link(key, value))
        page.wait("document.getElementById('query').value === 'cat:parameter'")
        check(page, key, value)


def test_a_time_that_was_not_recorded_falls_back(pages):
    path = scripts.make("state_only")
    page = pages(path, fragment="#v=1&x=t0-5000&view=leaks&by=site&sel=a3")
    page.wait("document.querySelector('[role=tab][aria-selected=true]').textContent.includes('State')")
    page.sound()


@pytest.mark.long
def test_keys_that_change_the_view_fast_are_not_refused(pages):
    """A browser refuses more than some hundred changes of the address in a few seconds, and says so aloud."""
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    for _ in range(130):
        page.press("ArrowLeft")
        page.press("d")
    page.settled()
    assert page.complaints() == []


def test_no_note_stays_for_a_good_link(pages):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=leaks&by=site&at=700&q=size%3E%3D1MiB&range=5-900")
    page.wait("document.querySelector('[role=tab][aria-selected=true]').textContent.includes('Leaks')")
    assert page.text("#status-note") == ""


def chosen(page, name):
    """The file with that name, from the list of files."""
    page.ask("(() => { const list = document.getElementById('file'); list.value = [...list.options].find((one) =>"
             " one.textContent.startsWith('%s')).value; list.dispatchEvent(new Event('change')); })()" % name)


@pytest.mark.parametrize("fragment", ["", *some(["#v=1&dev=7"], ["#v=1&view=flame", "#v=1&q=foo", "#theme=dark", "#v=1&dev=7"])])
def test_a_link_without_a_device_opens_that_which_failed(pages, shared, fragment):
    page = pages(shared / "data" / "snapshots" / "three_gpu_expandable_oom.pickle", fragment=fragment)
    until(page, "dev", "1")
    page.wait("!document.getElementById('why').hidden")


def test_a_file_that_is_chosen_opens_as_a_page_of_its_own(pages, shared):
    """At the device that failed, under its name, with the view that nobody chose chosen anew."""
    folder = shared / "data" / "snapshots"
    page = pages(EXAMPLES / "leak.pickle", folder / "no_frames_no_trace.pickle",
                 folder / "three_gpu_expandable_oom.pickle", fragment="#v=1&theme=dark")
    until(page, "view", "all")
    assert (page.state()["file"], page.state()["dev"]) == ("2", "1") and page.ask("document.title") == "3 files - vramscope"
    for name, view in (("leak", "stack"), ("no_frames", "state"), ("leak", "stack"), ("three", "stack")):
        chosen(page, name)
        until(page, "view", view)
        page.wait("document.title.startsWith('%s')" % name)
    until(page, "dev", "1")
    page.press("5")
    until(page, "view", "flame")
    for name, view in (("no_frames", "state"), ("leak", "flame")):
        chosen(page, name)
        page.wait("document.title.startsWith('%s')" % name)
        until(page, "view", view)
    page.sound()


def test_what_a_link_shows_beyond_the_end_is_left_out_and_said(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&x=e3100-99999999")
    page.says("#status-note", "of what the link shows a part is not here")
    until(page, "x", "e3100-3162")
    assert "are not here" in pages(EXAMPLES / "oom.pickle", fragment="#v=1&x=e8000-9000").text("#status-note")


def test_back_goes_to_what_was_before_an_undo(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    seen = [page.state().get("without")]
    for _ in range(2):
        time.sleep(0.4)
        page.press("Delete")
        page.wait("document.querySelectorAll('#who [data-peel][aria-pressed=true]').length === %d" % len(seen))
        seen.append(page.state()["without"])
    time.sleep(0.4)
    page.press("u")
    until(page, "without", seen[1])
    page.ask("history.back()")
    until(page, "without", seen[2])


def test_an_address_never_mixes_two_files(pages):
    """Whatever is written while another file is being opened."""
    page = pages(EXAMPLES / "leak.pickle", EXAMPLES / "oom.pickle", fragment="#v=1&file=0&x=e100-200&at=150&view=groups")
    page.settled()
    page.ask("history.pushState = (state, title, hash) => { (self.pushed ??= []).push(hash); }; 0")
    time.sleep(0.4)
    chosen(page, "oom")
    page.wait("self.pushed?.length")
    assert page.ask("self.pushed") == ["#v=1&file=1&dev=0"]
    until(page, "x", "e0-3162")


def test_what_is_taken_out_by_key_waits_for_the_file(pages):
    page = pages(EXAMPLES / "leak.pickle", EXAMPLES / "oom.pickle", fragment="#v=1&file=0")
    page.settled()
    chosen(page, "oom")
    page.press("Delete")
    until(page, "without", quote('["line","model.py:22 forward"]', safe=","))
    page.sound()


def test_a_note_ends_with_what_is_done_next(pages):
    page = pages(EXAMPLES / "leak.pickle")
    page.settled()
    for key in ("o", " "):
        page.press(key)
        page.says("#status-note", "no allocation failed in this recording")
        page.press("Shift")
        assert page.text("#status-note") != ""
        page.press("g")
        page.wait("!document.getElementById('status-note').textContent.includes('no allocation')", seconds=3)
