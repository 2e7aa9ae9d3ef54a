"""The page of `vramscope view` in a real browser, from disk and without a network."""
import time

import pytest
from recordings import random_recording, scripts, writers

import browser as chromium
from conftest import ROOT, run, some

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))


def opened(browser, path, folder, size=(1280, 800)):
    page = folder / (path.stem + ".html")
    run("view", path, "-o", page, expect=0)
    shown = browser.open(page.as_uri(), *size)
    shown.wait(chromium.READY)
    assert shown.ask("vramscope.blocks.length + vramscope.worker.length") == 0, "what is read is held twice"
    return shown


def pressed(page, key, expression):
    """Presses a key until it shows: a page that is not in front does not hear it."""
    end = time.monotonic() + 20
    while not page.ask(expression):
        assert time.monotonic() < end, (key, expression)
        page.press(key)
        time.sleep(0.2)


def sound(page):
    assert page.ask("document.getElementById('alarm').hidden"), page.text("#alarm")
    assert page.complaints() == []


def told_peak(path):
    """The bytes of the first device's peak as people read them."""
    device = run("report", "--json", path, expect=0).json()["devices"][0]
    return device["requested"]["peak_bytes"], device["requested"]["peak_event"]


def human(count):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return "%.2f %s" % (count / unit, name)
    return "%d B" % count


@pytest.mark.parametrize("path", EXAMPLES[::some(3, 1)], ids=lambda p: p.name)
def test_the_page_opens_on_the_failure_else_on_the_peak(browser, tmp_path, path):
    page = opened(browser, path, tmp_path)
    count, event = told_peak(path)
    oom = run("oom", "--json", path, expect=0).json()["devices"][0]["result"] if "oom" in path.name or "frag" in path.name else None
    if oom:
        count, event = oom["live_bytes"], oom["event"]
    page.wait("document.getElementById('status-text').textContent.includes('requested')")
    status = page.text("#status-text").replace("\u202f", "")
    assert "event %d " % event in status and human(count) + " requested" in status
    assert human(count) in page.text("#who")
    sound(page)
    page.close()


def test_views_open_by_their_keys(browser, tmp_path):
    page = opened(browser, ROOT / "examples/fragmentation.pickle", tmp_path)
    for key in "23456781":
        pressed(page, key, "[...document.querySelectorAll('[role=tab]')].some((tab) => tab.getAttribute('aria-selected') === 'true'"
                  " && tab.textContent.trim().startsWith('%s'))" % key)
    pressed(page, "?", "document.getElementById('help').open")
    page.press("Escape")
    page.wait("!document.getElementById('help').open")
    sound(page)
    page.close()


def test_pools_are_named_as_elsewhere(browser, tmp_path):
    """The segments of the address map, in the words of peak; what graphs hold is not stranded."""
    path = scripts.make("""stack any model.py:1 f
alloc a 5MiB any
alloc b 6MiB any
alloc c 5MiB any pool 7
alloc d 6MiB any pool 7
""")
    page = opened(browser, path, tmp_path)
    pressed(page, "3", "location.hash.includes('view=map')")
    seen = "document.querySelector('#view > :not([hidden]) .rows')"
    page.wait("%s.querySelectorAll('tbody tr[data-row]').length === 2" % seen)
    rows = page.ask("[...%s.querySelectorAll('tbody tr[data-row]')].map((row) => [...row.cells].map((cell) =>"
                    " cell.textContent))" % seen)
    assert [row[1] for row in rows] == ["default \xb7 stream 0", "graph 7 \xb7 stream 0"]
    lost = run("fragments", "--at", "peak", "--json", path, expect=0).json()["devices"][0]["result"]["groups"]
    assert [row[5] for row in rows] == [human(sum(group["stranded_bytes"] for group in lost)), "0 B"]
    told = run("peak", "--by", "pool", "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    assert {row["name"] for row in told} == {"default", "graph 7"}
    sound(page)
    page.close()


@pytest.mark.long
def test_both_curves_of_a_difference_are_there(browser, tmp_path):
    """In a page of one device too, whose blocks are given back once they are decoded."""
    page = opened(browser, ROOT / "examples/oom.pickle", tmp_path)
    page.wait("document.querySelector('#who tr[data-row]') !== null")
    pressed(page, "7", "document.querySelectorAll('#view > :not([hidden]) .bar canvas').length === 2")
    inked = page.ask("[...document.querySelectorAll('#view > :not([hidden]) .bar canvas')].map((c) => new Set("
                     "c.getContext('2d').getImageData(0, c.height >> 1, c.width, 1).data).size)")
    assert min(inked) > 2
    sound(page)
    page.close()


def test_a_click_pins_an_allocation_with_its_stack(browser, tmp_path):
    """What is this band, and which line of my code: one click."""
    page = opened(browser, ROOT / "examples/oom.pickle", tmp_path)
    page.wait("document.querySelector('#view .plot canvas') !== null")
    box = page.ask("(() => { const b = document.querySelector('#view .plot canvas').getBoundingClientRect();"
                   " return [b.left + b.width * 0.62, b.top + b.height * 0.8]; })()")
    pinned = r"/\.py:\d+/.test(document.getElementById('details').textContent)"
    end = time.monotonic() + 20  # the picture comes a moment after the figures
    while not page.ask(pinned) and time.monotonic() < end:
        page.click(*box)
        time.sleep(0.5)
    assert page.ask(pinned)
    assert "step" in page.text("#details")
    sound(page)
    page.close()


def test_a_link_restores_the_state(browser, tmp_path):
    page = opened(browser, ROOT / "examples/leak.pickle", tmp_path)
    pressed(page, "6", "location.hash.includes('view=leaks')")
    link = page.ask("location.href")
    page.close()
    again = browser.open(link)
    again.wait(chromium.READY)
    again.wait("document.querySelector('[role=tab][aria-selected=true]').textContent.includes('Leaks')")
    assert "train.py:45" in again.text("#view")
    sound(again)
    again.close()


def test_hostile_text_is_shown_as_text(browser, tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)>\u202e.pickle"
    path.write_bytes(writers.pickled(random_recording.make(5), 4))
    page = opened(browser, path, tmp_path)
    assert page.ask("document.querySelectorAll('img').length") == 0
    assert "<img src=x" in page.text("#file")
    assert page.complaints() == []
    page.close()


@pytest.mark.long
def test_an_expression_that_never_ends_is_ended(browser, tmp_path):
    name = "a" * 60
    frames = '[{"name": "%s", "filename": "train.py", "line": 3}]' % name
    event = '{"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1, "frames": %s}'
    path = tmp_path / "names.json"
    path.write_text('{"segments": [], "device_traces": [[%s]]}' % (event % frames))
    page = opened(browser, path, tmp_path)
    found = "document.getElementById('found').textContent"
    for query, said in (("/(a+)+!/", "take out a repeat within a repeat"), ("/a{60}$/", "1 allocation,"), ("/^a{61}/", "0 allocations")):
        page.ask("document.getElementById('query').value = %r; document.getElementById('find').requestSubmit()" % query)
        page.wait("%s.includes('%s')" % (found, said))
    assert page.complaints() == []
    page.close()


@pytest.mark.parametrize("seed", range(0, 40, some(20, 5)))
def test_random_recordings_open(browser, tmp_path, seed):
    path = tmp_path / "random.pickle"
    path.write_bytes(writers.pickled(random_recording.make(seed), 4))
    page = opened(browser, path, tmp_path)
    assert page.complaints() == []
    page.close()


def test_every_real_file_opens(browser, tmp_path, shared):
    for path in sorted((shared / "data/snapshots").iterdir()):
        if path.suffix not in (".pickle", ".pkl"):
            continue
        page = opened(browser, path, tmp_path)
        assert page.complaints() == [], path.name
        count, _ = told_peak(path)
        if page.ask("document.getElementById('alarm').hidden") and count > 0:
            page.wait("document.getElementById('status-text').textContent !== ''")
        page.close()
