"""Lists of single allocations in the page of `vramscope view`: what they hold, where their rows lead, what they give away."""
import csv
import io
import json

import pytest

from conftest import run
from pages import EXAMPLES, plain, size
from test_view_export import saved

ROWS = "#who .allocations tbody tr[data-row]"
CAPTION = "#who .allocations caption"
COPY = "navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0"


def listed(pages, fragment, path=EXAMPLES / "oom.pickle"):
    page = pages(path, fragment="#v=1&" + fragment)
    page.settled()
    page.wait("document.querySelectorAll(%s).length > 0" % json.dumps(ROWS))
    return page


def cells(page, n):
    """The texts of the n-th column of the list, from one."""
    return [plain(text) for text in page.ask("[...document.querySelectorAll(%s)].map((row) => row.children[%d].textContent)"
                                             % (json.dumps(ROWS), n - 1))]


def rows_of(page, heading):
    name, text = saved(page, "Rows: " + heading, "CSV")
    page.press("Escape")
    page.wait("!document.getElementById('export').open")
    return name, list(csv.DictReader(io.StringIO(text)))


def held(event):
    return run("peak", "--at", event, "--json", EXAMPLES / "oom.pickle", expect=0).json()["devices"][0]["result"]


def test_the_largest_alive_are_those_of_peak(pages):
    page = listed(pages, "at=2001&list=alive")
    told = held(2000)
    name, rows = rows_of(page, "")
    assert name == "oom-allocations.csv" and len(rows) == sum(row["count"] for row in told["rows"])
    assert sum(int(row["bytes"]) for row in rows) == told["total_bytes"]
    assert size(page.text("#who .allocations tfoot td:nth-child(2)")) == pytest.approx(told["total_bytes"], rel=1e-3)
    for line in told["rows"]:
        mine = [row for row in rows if row["line"] == line["name"]]
        assert len(mine) == line["count"] and sum(int(row["bytes"]) for row in mine) == line["bytes"]
        assert max(int(row["bytes"]) for row in mine) == line["largest_bytes"]
        assert min(int(row["born"] or -1) for row in mine) == line["oldest_event"]
    amounts = [int(row["bytes"]) for row in rows]
    assert amounts == sorted(amounts, reverse=True)
    page.says(CAPTION, "%d allocations alive at event 2000" % len(rows))


def test_the_button_and_the_key_change_between_groups_and_allocations(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    seen = "[...document.querySelectorAll('#who .rows')].filter((n) => n.getClientRects().length).length"
    assert page.ask(seen) == 1 and page.text("#who thead") .startswith("held by")
    page.press_on("#who .lists button:nth-of-type(2)")
    page.wait("document.querySelectorAll(%s).length > 5" % json.dumps(ROWS))
    assert page.ask(seen) == 1 and page.ask("document.activeElement.textContent") == "allocations"
    assert page.state()["list"] == "alive"
    seen_cells = "[...document.querySelector(%s).children].filter((n) => n.getClientRects().length).length" % json.dumps(ROWS)
    assert page.ask(seen_cells) == 3
    pressed = page.ask("[...document.querySelectorAll('#who .lists [aria-pressed=true]')].map((n) => n.textContent)")
    assert pressed == ["allocations"]
    page.press("b")
    page.wait("!document.getElementById('who').classList.contains('listing')")
    assert "list" not in page.state() and page.ask(seen) == 1
    page.press("b")
    page.wait("document.getElementById('who').classList.contains('listing')")
    page.sound()


def test_a_search_leads_to_its_matches(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    page.press("/")
    page.type("size>=1GiB")
    page.press("Enter")
    page.says("#found", "show the ")
    page.press_on("#found button")
    page.wait("document.querySelectorAll(%s).length > 0" % json.dumps(ROWS))
    assert page.state()["list"] == "matches"
    _, rows = rows_of(page, "")
    told = plain(page.text("#found"))
    assert told.startswith("%d allocations, " % len(rows)) and "show the %d matches" % len(rows) in told
    assert size(told.split(", ")[1].split(" ever")[0]) == pytest.approx(sum(int(row["bytes"]) for row in rows), rel=1e-3)
    assert all(int(row["bytes"]) >= 1 << 30 for row in rows)
    page.says(CAPTION, "allocations that match size>=1GiB")
    page.press("/")
    page.press("Escape")
    page.wait("!document.getElementById('who').classList.contains('listing')")


def test_a_row_pins_its_allocation_and_goes_there(pages):
    page = listed(pages, "q=size>%3D1GiB&list=matches&at=3161")
    _, rows = rows_of(page, "")
    row, k = next((row, k) for k, row in enumerate(rows) if row["freed"])
    page.press_on("%s:nth-of-type(%d) button" % (ROWS, k + 1))
    page.wait("document.getElementById('details').classList.contains('pinned')")
    state = page.state()
    assert state["sel"] == "a" + row["id"] and int(state["at"]) == int(row["born"]) + 1
    page.says("#details", "event %s" % row["born"])
    page.wait("document.querySelector('#who .allocations [aria-selected]') !== null")


def test_columns_sort_all_rows_not_those_shown(pages):
    page = listed(pages, "list=alive&at=2001")
    page.press("W")
    before = cells(page, 1)
    page.press_on("#who .allocations thead th:nth-of-type(5) button")  # by birth
    page.wait("document.querySelector('#who .allocations thead th:nth-of-type(5)').hasAttribute('aria-sort')"
              " && document.querySelector(%s).children[4].textContent === 'event 1'" % json.dumps(ROWS))
    assert cells(page, 1) != before
    born = [int(text.removeprefix("event ")) for text in cells(page, 5)]
    assert born == sorted(born)
    page.press_on("#who .allocations thead th:nth-of-type(7) button")  # by life, longest first
    page.wait("document.querySelector('#who .allocations thead th:nth-of-type(7)').getAttribute('aria-sort') === 'descending'")
    _, rows = rows_of(page, "")
    known = [int(row["life"]) for row in rows if row["life"]]
    assert known == sorted(known, reverse=True) and all(
        int(row["life"]) == int(row["freed"]) - int(row["born"]) for row in rows if row["life"])


def test_rows_are_copied_as_cells(pages):
    page = listed(pages, "list=alive&at=2001")
    page.ask(COPY)
    page.press_on("#who .lists .last")
    page.wait("self.copied")
    head, *lines = [line.split("\t") for line in page.ask("self.copied").rstrip("\n").split("\n")]
    page.says("#status-note", "%d rows copied" % len(lines))
    _, rows = rows_of(page, "")
    assert head == list(rows[0]) and [dict(zip(head, line)) for line in lines] == rows


def test_the_peak_of_what_alone_is_drawn(pages):
    """The flag says the most that the matches were at once, summed from their list."""
    page = listed(pages, "q=cat:activation&only=1&list=matches", EXAMPLES / "train.pickle")
    _, rows = rows_of(page, "")
    changes = []
    for row in rows:
        changes.append((int(row["born"]), int(row["bytes"])))
        if row["freed"]:
            changes.append((int(row["freed"]), -int(row["bytes"])))
    most = now = 0
    for _, by in sorted(changes):
        now += by
        most = max(most, now)
    page.press("e")
    _, text = saved(page, "Picture of the view", "SVG")
    words = [part.split("<")[0] for part in text.split(">") if part.startswith("peak of the matches ")]
    assert words and size(words[0].removeprefix("peak of the matches ")) == pytest.approx(most, rel=1e-3)


def test_a_link_without_a_search_has_no_matches(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&list=matches")
    page.settled()
    assert not page.ask("document.getElementById('who').classList.contains('listing')")
    page.sound()


def test_a_search_that_cannot_be_read_is_said(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&list=matches&q=size>x")
    page.settled()
    page.says(CAPTION, "The search cannot be read: size: ")
