"""The keys of the page of `vramscope view`: each does what the table in `?` says, and focus is never caught."""
import json
import time

import pytest

from browser import SHIFT
from pages import EXAMPLES

PEAK = 3160          # the state of the peak of oom.pickle: after event 3159
STATE = "#v=1&x=e600-2400&at=2000"


def at(page):
    return int(page.state()["at"])


def span(page):
    first, last = page.state()["x"][1:].split("-")
    return float(first), float(last)


def pressed(page, key, expression, modifiers=0):
    """One key, and what it then shows."""
    page.press(key, modifiers)
    page.wait(expression, 5)


def changed(page, key, look, modifiers=0):
    """What `look` sees before a key, and after it is another."""
    before, end = look(page), time.monotonic() + 5
    page.press(key, modifiers)
    while (after := look(page)) == before:
        assert time.monotonic() < end, ("nothing happened by", key, before)
        time.sleep(0.03)
    return before, after


@pytest.fixture
def page(pages):
    shown = pages(EXAMPLES / "oom.pickle", fragment=STATE)
    shown.settled()
    return shown


def test_views(page):
    names = {"2": "groups", "3": "map", "4": "state", "5": "flame", "6": "leaks", "7": "diff", "8": "steps", "1": "stack"}
    for key, name in names.items():
        pressed(page, key, "location.hash.includes('view=%s&')" % name)
        page.wait("document.querySelector('[role=tab][aria-selected=true] kbd').textContent === '%s'" % key)


@pytest.mark.long
def test_cursor_by_column_and_by_event(page):
    before, after = changed(page, "ArrowRight", at)
    assert after > before, "one column of two states"
    _, far = changed(page, "ArrowRight", at, SHIFT)
    assert far - after > 8, "ten columns of two states"
    assert far - after > 2 * (after - before)
    assert changed(page, "ArrowLeft", at)[1] < far
    before, after = changed(page, ".", at)
    assert after == before + 1
    before, after = changed(page, ",", at)
    assert after == before - 1
    page.says("#status-text", "event %d " % (after - 1))


@pytest.mark.long
def test_pan_and_zoom(page):
    for key, sign in (("d", 1), ("a", -1), ("l", 1), ("j", -1)):
        (a, b), (c, d) = changed(page, key, span)
        assert abs((c - a) - sign * 0.1 * (b - a)) <= 1 and abs((d - c) - (b - a)) <= 1, key
    for key, factor in (("w", 1.5), ("s", 1 / 1.5), ("i", 1.5), ("k", 1 / 1.5), ("+", 1.5), ("-", 1 / 1.5)):
        (a, b), (c, d) = changed(page, key, span)
        assert abs((b - a) / (d - c) - factor) < 0.01, key
        where = (at(page) - a) / (b - a), (at(page) - c) / (d - c)
        assert abs(where[0] - where[1]) < 0.01, "the cursor keeps its place"
    changed(page, "Home", span)
    assert span(page)[0] == 0 and span(page)[1] > 3000


@pytest.mark.long
def test_peak_oom_steps(page):
    changed(page, "p", at)
    page.says("#status-text", "peak")
    assert at(page) == PEAK
    changed(page, "p", at)
    changed(page, "o", at)
    page.says("#card h2", "Ran out of memory")
    page.says("#status-text", "event 3160")
    before, after = changed(page, "[", at)
    assert after < before
    assert changed(page, "]", at)[1] > after
    changed(page, "{", lambda p: p.state().get("range"))
    page.wait("!document.getElementById('range').hidden")
    page.press("}")
    page.says("#status-note", "there are no more steps")


def test_step_keys_select_one_step_then_on_and_back(pages):
    ranges = lambda p: p.state().get("range")  # noqa: E731
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&at=55")
    page.settled()
    assert changed(page, "]", at) == (55, 1187)
    # From the beginning of a step that very step, then on by one; back is undone by no key but U.
    assert changed(page, "}", ranges)[1] == "1187-2217"
    assert changed(page, "}", ranges)[1] == "1187-3240"
    page.press("}")
    page.says("#status-note", "there are no more steps")
    assert changed(page, "{", ranges)[1] == "55-3240"
    changed(page, "Escape", ranges)
    assert changed(page, "{", ranges)[1] == "1187-2217"
    assert changed(page, "{", ranges)[1] == "55-2217"
    changed(page, "Escape", ranges)
    # Before the first step it is the first, from the middle of one all of it.
    changed(page, "[", at)
    for _ in range(3):
        page.press(",")
    page.wait("document.getElementById('status-text').textContent.startsWith('event 51 ')")
    assert changed(page, "}", ranges)[1] == "55-1186"
    changed(page, "Escape", ranges)
    for _ in range(4):
        page.press(".")
    page.wait("document.getElementById('status-text').textContent.startsWith('event 55 ')")
    assert changed(page, "}", ranges)[1] == "55-1186"
    changed(page, "f", span)
    assert span(page) == (55, 1187)


@pytest.mark.long
def test_marks_range_and_their_zoom(page):
    changed(page, "m", lambda p: p.state().get("marks"))
    assert page.state()["marks"] == "2000"
    changed(page, ".", at)
    changed(page, "m", lambda p: p.state().get("marks"))
    assert page.state()["marks"] == "2000,2001" and page.state()["range"] == "2000-2001"
    changed(page, "M", lambda p: p.state().get("marks"))
    assert "marks" not in page.state()
    changed(page, "}", lambda p: p.state().get("range"))
    changed(page, "f", span)
    a, b = page.state()["range"].split("-")
    assert span(page)[0] <= int(a) and span(page)[1] >= int(b)
    changed(page, "Escape", lambda p: p.state().get("range"))
    assert "range" not in page.state()


def test_bands_enter_stack_and_fold(page):
    read = "document.getElementById('readout').textContent"
    page.press("ArrowUp")
    page.wait("!document.getElementById('readout').hidden")
    first = page.ask(read)
    page.says("#live", "MiB, ")
    page.press("ArrowUp")
    page.wait("%s !== %s" % (read, json.dumps(first)))
    page.press("ArrowDown")
    page.wait("%s === %s" % (read, json.dumps(first)))
    pressed(page, "Enter", "document.getElementById('details').classList.contains('pinned')")
    pressed(page, "h", "!document.querySelector('#details .stack').textContent.includes('library frame')")
    pressed(page, "h", "document.querySelector('#details .stack').textContent.includes('library frame')")
    page.ask("navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0")
    pressed(page, "c", "(self.copied || '').startsWith('  File \"')")
    page.says("#status-note", "stack copied")
    pressed(page, "C", "(self.copied || '').startsWith('file:')")
    assert page.ask("self.copied === location.href")
    pressed(page, "Escape", "!document.getElementById('details').classList.contains('pinned')")


@pytest.mark.long
def test_grouping_axis_and_y(page):
    by = lambda p: p.state()["by"]  # noqa: E731
    before, after = changed(page, "g", by)
    assert changed(page, "G", by)[1] == before
    changed(page, "x", span)
    assert page.state()["x"].startswith("t") and page.ask("location.hash.includes('x=t')")
    changed(page, "x", span)
    assert page.state()["x"].startswith("e")
    page.wheel(*page.plot(0.5, 0.5), along=-300, modifiers=1)
    page.wait("!location.hash.includes('y=0-&')")
    pressed(page, "y", "location.hash.includes('y=0-&')")


@pytest.mark.long
def test_undo_and_redo(page):
    start = span(page)
    for key in ("w", "d", "w"):
        changed(page, key, span)
    end = span(page)
    changed(page, "u", span)
    changed(page, "Backspace", span)
    changed(page, "u", span)
    assert span(page) == start
    page.press("u")
    page.says("#status-note", "nothing to undo")
    for _ in range(3):
        changed(page, "U", span)
    assert span(page) == end


@pytest.mark.long
def test_find_and_visits(page):
    pressed(page, "/", "document.activeElement.id === 'query'")
    page.type("cat:parameter")
    pressed(page, "Enter", "document.getElementById('found').textContent.includes('allocations')")
    sel = lambda p: p.state().get("sel")  # noqa: E731
    _, one = changed(page, "Enter", sel)
    _, two = changed(page, "Enter", sel)
    assert int(one[1:]) < int(two[1:]), "Enter again goes on"
    assert changed(page, "Enter", sel, SHIFT)[1] == one
    assert page.ask("document.activeElement.id") == "query"
    page.ask("document.querySelector('#view .plot').focus()")
    page.press("N")
    _, first = changed(page, "n", sel)
    _, second = changed(page, "n", sel)
    assert int(first[1:]) < int(second[1:])
    assert changed(page, "N", sel)[1] == first
    page.says("#details", "parameter")
    page.press("/")
    pressed(page, "Escape", "document.getElementById('query').value === ''")
    assert "q" not in page.state() and page.ask("document.activeElement.id") == "query"
    pressed(page, "Escape", "document.activeElement.id !== 'query'")


@pytest.mark.long
def test_theme_patterns_table_export_help(page):
    theme = page.ask("document.documentElement.dataset.theme")
    pressed(page, "t", "document.documentElement.dataset.theme !== '%s'" % theme)
    changed(page, "K", lambda p: p.state().get("patterns"))
    pressed(page, "W", "document.getElementById('who').classList.contains('wide')")
    pressed(page, "Escape", "!document.getElementById('who').classList.contains('wide')")
    pressed(page, "e", "document.getElementById('export').open")
    pressed(page, "Escape", "!document.getElementById('export').open")
    pressed(page, "?", "document.getElementById('help').open")
    pressed(page, "Escape", "!document.getElementById('help').open")


def test_focus_moves_through_the_page(page):
    where = "['top', 'overview', 'view', 'card', 'details', 'who', 'film'].find((id) => document.getElementById(id)" \
            ".contains(document.activeElement))"
    page.press("Home")
    page.press("Escape")
    page.wait("document.getElementById('overview').hidden && document.getElementById('details').hidden")
    for before, order in ([], ["top", "view", "card", "who", "film"]), \
            (["w", "w"], ["top", "overview", "view", "details", "who", "film"]):
        page.ask("document.activeElement.blur(); 0")
        for key in before:
            page.press(key)
        if before:
            page.settled()
            page.press("ArrowUp")
            pressed(page, "Enter", "document.getElementById('details').classList.contains('pinned')")
        seen = []
        for key in ("r", "r", "F6", "F6", "r", "r", "r"):
            page.press(key)
            seen.append(page.ask(where))
        assert set(seen) == set(order), (order, seen)
        assert all(order[(order.index(a) + 1) % len(order)] == b for a, b in zip(seen, seen[1:])), seen


def test_keys_named_in_the_dialog_are_those_that_work(page):
    """What the dialog lists, pressed in the page, is an action; what it leaves out is none."""
    page.press("?")
    page.wait("document.getElementById('help').open")
    listed = page.ask("[...document.querySelectorAll('#help table:first-of-type tr')].flatMap((row) =>"
                      " [...row.querySelectorAll('kbd')].map((k) => k.textContent))")
    table = ("? / N Shift+N 1 2 3 4 5 6 7 8 G Shift+G \u2190 \u2192 , . Space A J D L W I + = S K - \u2191 \u2193 Alt+\u2191 Alt+\u2193 Enter Delete Y P"
             " O [ ] { } M Shift+M F Home U Backspace Shift+U X C Shift+C E Ctrl+P T Shift+K H Shift+W B Esc R F6").split()
    assert sorted(listed) == sorted(table)


@pytest.mark.long
def test_single_keys_can_be_switched_off(page):
    page.press("?")
    page.wait("document.getElementById('help').open")
    page.ask("[...document.querySelectorAll('#help label')].find((l) => l.textContent.includes('one letter'))"
             ".querySelector('input').click()")
    page.press("Escape")
    page.wait("!document.getElementById('help').open")
    before = page.state()
    for key in "pwgo2t?":
        page.press(key)
    time.sleep(0.3)
    assert page.state() == before and not page.ask("document.getElementById('help').open")
    changed(page, "ArrowRight", at)
    page.press_on("#show-help")
    page.wait("document.getElementById('help').open")
    assert not page.ask("[...document.querySelectorAll('#help label')].find((l) =>"
                        " l.textContent.includes('one letter')).querySelector('input').checked")


def test_keys_rest_in_fields_and_with_modifiers(page):
    before = page.state()
    page.ask("document.getElementById('query').focus()")
    for key in "pwg2":
        page.press(key)
    page.ask("document.activeElement.blur()")
    page.press("p", 2)
    time.sleep(0.2)
    assert page.state() == before and page.ask("document.getElementById('query').value") == "pwg2"


def test_tab_order_is_reading_order_and_nothing_catches_it(page):
    page.ask("document.activeElement.blur(); self.seen = []; 0")
    mark = ("(() => { const node = document.activeElement; if (node === document.body) return null;"
            " self.seen.push(node); const b = node.getBoundingClientRect(); const s = getComputedStyle(node);"
            " return [node.tagName + '#' + node.id + '.' + node.className + ' ' + node.textContent.slice(0, 20),"
            " b.top, b.left, s.outlineStyle, parseFloat(s.outlineWidth), b.width > 0 && b.height > 0]; })()")
    stops = []
    for _ in range(250):
        page.press("Tab")
        stop = page.ask(mark)
        if stop is None:
            break
        stops.append(stop)
    else:
        pytest.fail("the focus does not leave the page: " + str(stops[-5:]))
    assert len(stops) > 15
    # Reading order is the order of the document, which is the order on the screen from part to part.
    assert page.ask("self.seen.every((n, i) => !i || self.seen[i - 1].compareDocumentPosition(n) & 4)"), stops
    parts = page.ask("['top', 'stage', 'split-side', 'card', 'who'].map((id) =>"
                     " { const b = document.getElementById(id).getBoundingClientRect(); return [id, b.top, b.left]; })")
    top, stage, split, card, who = (part[1:] for part in parts)
    assert top[0] < stage[0] and stage[1] < split[1] < card[1] and card[0] < who[0], parts
    for name, _, _, style, width, seen in stops:
        assert seen and style == "solid" and width >= 2, name


@pytest.mark.long
def test_the_live_region_speaks_at_most_twice_a_second(page):
    page.ask("self.spoken = []; new MutationObserver(() => self.spoken.push([performance.now(),"
             " document.getElementById('live').textContent])).observe(document.getElementById('live'),"
             " { childList: true, characterData: true, subtree: true }); 0")
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        page.press("ArrowRight")
        time.sleep(0.02)
    page.wait("self.spoken.length > 0")
    time.sleep(1)
    spoken = page.ask("self.spoken")
    assert len(spoken) >= 2, "it speaks while the cursor moves"
    gaps = [b[0] - a[0] for a, b in zip(spoken, spoken[1:])]
    # What is observed late is followed too early by as much; it does not add up.
    assert sum(gaps) >= 490 * len(gaps) and min(gaps) >= 400, gaps
    assert spoken[-1][1] == page.text("#status-text").split("   |   ")[0]
    assert page.ask("document.getElementById('live').getAttribute('aria-live')") == "polite"
