"""What people come to the page of `vramscope view` with: each answer within three interactions.

Once by mouse and once by keys alone.  An interaction is a click, a key, or a text typed with Enter;
Tab only travels, and is not counted.
"""
import pytest

from recordings import scripts
from conftest import run, some
from pages import EXAMPLES, plain, size

PINNED = "document.getElementById('details').classList.contains('pinned')"


class Visitor:
    """Somebody in front of a page, who counts what they do."""

    def __init__(self, page):
        self.page, self.done = page, 0

    def click(self, selector, **more):
        self.page.press_on(selector, **more)
        self.done += 1

    def click_at(self, point, **more):
        self.page.click(*point, **more)
        self.done += 1

    def key(self, *keys):
        for key in keys:
            self.page.press(key)
            self.done += 1

    def typed(self, text):
        self.page.type(text)
        self.page.press("Enter")
        self.done += 1

    def travel(self, expression, most=60):
        """Tab until the focus is there."""
        for _ in range(most):
            if self.page.ask("document.activeElement.matches(%r)" % expression):
                return
            self.page.press("Tab")
        pytest.fail("Tab does not reach " + expression)


@pytest.fixture(params=["keys", *some([], ["mouse"])])
def hand(request):
    return request.param


@pytest.fixture
def visit(pages):
    """Opens a recording; at the end no path may have taken more than three interactions."""
    made = []

    def show(path):
        page = pages(path)
        page.settled()
        made.append(Visitor(page))
        return made[-1]

    yield show
    for visitor in made:
        assert visitor.done <= 3
        visitor.page.sound()


def device(path, n=0):
    return run("report", "--json", path, expect=0).json()["devices"][n]


def total(page, selector):
    """Cells of the total row of a table, and the sum of one column of its rows."""
    foot = page.ask("[...document.querySelectorAll('%s tfoot tr > *')].map((n) => n.textContent)" % selector)
    return [plain(cell) for cell in foot]


def rows(page, selector):
    got = page.ask("[...document.querySelectorAll('%s tbody tr[data-row]')].map((row) => [...row.children]"
                   ".map((n) => n.textContent))" % selector)
    return [[plain(cell) for cell in row] for row in got]


def printed(count):
    """A number of bytes as `size` reads it back from the page."""
    unit = next(n for n in (30, 20, 10, 0) if count >= 1 << n or n == 0)
    return float("%.2f" % (count / 2**unit)) * 2**unit


def test_where_is_the_peak(visit, hand):
    who = visit(EXAMPLES / "leak.pickle")
    told = device(EXAMPLES / "leak.pickle")["requested"]
    status = plain(who.page.text("#status-text"))
    assert "event %d " % told["peak_event"] in status and "peak" in status
    assert "peak %.2f GiB" % (told["peak_bytes"] / 2**30) in who.page.ask(
        "document.querySelector('#view .plot > canvas').getAttribute('aria-label')")
    if hand == "keys":  # the second peak, and the first again
        who.key("p")
        who.page.wait("!location.hash.includes('at=%d&')" % (told["peak_event"] + 1))
        who.page.wait("!document.getElementById('status-text').textContent.split('|')[0].includes('peak')")


def test_who_holds_it(visit, hand):
    """By lines at once; `G` goes on to categories."""
    who = visit(EXAMPLES / "leak.pickle")
    who.page.says("#who caption", "by line")
    listed = rows(who.page, "#who")
    assert any(("train.py:45 main" if hand == "mouse" else "activation") in row[0] for row in listed)
    assert sum(int(row[3]) for row in listed) == int(total(who.page, "#who")[3])
    assert abs(sum(size(row[1]) for row in listed) - size(total(who.page, "#who")[1])) < len(listed) * 2**24
    assert total(who.page, "#who")[1] == "3.25 GiB"


def pin_a_band(who, hand):
    if hand == "mouse":
        who.click_at(who.page.plot(0.62, 0.2))
    else:
        who.key("ArrowUp")
        who.page.wait("!document.getElementById('readout').hidden")
        who.key("Enter")
    who.page.wait(PINNED)


def test_what_is_this_band(visit, hand):
    who = visit(EXAMPLES / "oom.pickle")
    pin_a_band(who, hand)
    details = plain(who.page.text("#details"))
    for word in ("requested", "block", "life", "time", "step", "category", "confidence", "phase", "stream", "pool",
                 "same site", "live,", "ever", "vramscope peak oom.pickle --at"):
        assert word in details, word
    who.page.says("#status-text", "event ")
    # The details are of the allocation that the link names: the same in the terminal's columns.
    number = int(who.page.state()["sel"][1:])
    born = int(who.page.ask("/event ([^ ]+) \u2013/.exec(document.querySelector('#details > div.muted')"
                            ".textContent)[1].replace(/\\D/g, '')"))
    assert number >= 0 and 0 <= born < device(EXAMPLES / "oom.pickle")["events"]


def test_which_line_of_my_code(visit, hand):
    who = visit(EXAMPLES / "oom.pickle")
    pin_a_band(who, hand)
    assert who.page.ask("/\\.py:\\d+  \\w+/.test(document.querySelector('#details .culprit').textContent)")
    assert float(who.page.ask("getComputedStyle(document.querySelector('#details .culprit')).fontWeight")) >= 700
    assert "library frame" in who.page.text("#details .stack")
    if hand == "mouse":
        who.click("#details .stack button")
    else:
        who.key("h")
    who.page.wait("!document.querySelector('#details .stack').textContent.includes('library frame')")


def test_what_changed_between_steps(visit, hand):
    path = EXAMPLES / "leak.pickle"
    who = visit(path)
    steps = run("steps", "--json", path, expect=0).json()["devices"][0]["result"]["steps"]["boundaries"]
    if hand == "mouse":
        first = [step["event"] + 1 for step in steps[1:3]]
        states = device(path)["events"] + 1
        for at, shift in zip(first, (0, 8)):
            _, _, _, height = who.page.picture_box()
            x, y = who.page.plot((at + 40) / states, 0)
            who.click_at((x, y + 19 + 19 + 6), modifiers=shift)
            who.page.wait("location.hash.includes('%s')" % ("range=" if shift else "at=%d" % at))
        assert who.page.state()["range"] == "%d-%d" % tuple(first)
    else:
        who.key("[", "[", "}")
    who.page.wait("!document.getElementById('range').hidden")
    who.page.wait("document.querySelector('#range tbody tr[data-row]') !== null")
    a, b = (int(n) for n in who.page.state()["range"].split("-"))
    assert a < b
    net = total(who.page, "#range")
    listed = rows(who.page, "#range")
    assert any(row[1].startswith("+") for row in listed) and any(".py:" in row[0] for row in listed)
    assert abs(size(net[3]) - size(net[2]) - size(net[1])) < 2**25
    delta = sum(size(row[1]) for row in listed)
    assert abs(delta - size(net[1])) < len(listed) * 2**17
    head = plain(who.page.text("#range h2"))
    assert "event %d" % (a - 1) in head and "event %d" % (b - 1) in head


def test_what_leaked(visit, hand):
    who = visit(EXAMPLES / "leak.pickle")
    if hand == "mouse":
        who.click("#card h2 button")
    else:
        who.key("6")
    who.page.wait("document.querySelector('#view > :not([hidden]) tbody tr[data-row]') !== null"
                  " && location.hash.includes('view=leaks')")
    assert "train.py:45 main" in who.page.text("#view") and "+250.00 MiB" in who.page.text("#view")
    if hand == "mouse":
        who.click("#view > :not([hidden]) td button:not([disabled])")
        who.page.wait("location.hash.includes('view=stack') && location.hash.includes('train.py')")
        who.page.wait("document.getElementById('found').textContent.includes('allocations')")


def test_why_out_of_memory(visit, hand):
    path = EXAMPLES / "oom.pickle"
    who = visit(path)
    if hand == "mouse":
        who.click("#card h2 button")
    else:
        who.key("o")
    who.page.wait("location.hash.includes('at=3161&')")
    who.page.says("#status-text", "event 3160")
    card = plain(who.page.text("#card"))
    assert "the program needs 656.29 MiB more than the card had for it" in card
    assert "model.py:22 forward asked for 2.00 GiB in the forward of step 3" in card
    assert "OOM" in who.page.text("#devices")
    told = run("oom", "--json", path, expect=0).json()["devices"][0]["result"]
    assert told["verdict"] == "live_exceeds_capacity"
    panel = plain(who.page.text("#oom"))
    assert "must go: 656.29 MiB; model.py:22 forward holds 12.00 GiB (6 allocations)" in panel
    assert who.page.ask("(() => { const [a, b] = ['#oom', '#oom .link'].map((s) => document.querySelector(s).getBoundingClientRect());"
                        " return b.bottom < a.bottom && b.bottom < innerHeight; })()"), "it is seen without scrolling"
    for part in ("Out of memory: event 3160", "The program holds too much: 22.20 GiB in use plus 2.00 GiB requested are "
                 "656.29 MiB more than the 23.56 GiB", "short by 656.29 MiB", "model.py:22 forward asked for 2.00 GiB", "sure: medium"):
        assert part in panel
    lost = run("fragments", "--json", "--at", "oom", path, expect=0).json()["devices"][0]["result"]["groups"]
    assert {(row[0], *map(size, row[1:])) for row in rows(who.page, "#oom")} == {
        ("default \xb7 stream %d \xb7 %s" % (g["stream"], g["class"]), *(printed(g[k + "_bytes"])
                                                                  for k in ("free", "stranded", "servable")))
        for g in lost}
    assert total(who.page, "#who")[1] == "22.20 GiB"
    if hand == "mouse":
        who.click("#oom h2 > button:last-of-type")
    else:
        who.key("3")
    who.page.wait("location.hash.includes('view=map') && location.hash.includes('at=3161&')")
    who.page.says("#view", "segments at the cursor")


def test_where_is_the_fragmentation(visit, hand):
    path = EXAMPLES / "fragmentation.pickle"
    who = visit(path)
    if hand == "mouse":
        who.click("#tabs button:nth-of-type(3)")
    else:
        who.key("3")
    who.page.says("#view > :not([hidden])", "segments at the cursor")
    listed = rows(who.page, "#view > :not([hidden])")
    sums = total(who.page, "#view > :not([hidden])")
    assert sums[0] == "reserved" and size(sums[5]) > 0
    assert [size(row[5]) for row in listed] == sorted((size(row[5]) for row in listed), reverse=True)
    assert 0 < sum(size(row[2]) for row in listed) < size(sums[2]) + 2**25  # those in sight
    note = plain(who.page.text("#view > :not([hidden]) .note"))
    assert "stranded " + sums[5] in note and "returnable " + sums[6] in note


CHOOSE = ("(() => { const s = [...document.querySelectorAll('#view > :not([hidden]) .bar select')].find((s) =>"
          " [...s.options].some((o) => o.value === %(value)r)); s.value = %(value)r; s.dispatchEvent(new Event('change')); })()")


def test_pins_and_one_segment_alone(pages):
    """The pins are those of `vramscope fragments`; one leads to its block, and that to its segment."""
    path = EXAMPLES / "fragmentation.pickle"
    pins = run("fragments", "--json", "--at", "oom", path, expect=0).json()["devices"][0]["result"]["pins"]
    page = pages(path)
    page.settled()
    page.press("o")
    page.press("3")
    page.says("#view > :not([hidden])", "segments at the cursor")
    page.ask(CHOOSE % {"value": "pins"})
    table = "#view > :not([hidden]) .pane:not([hidden], .third)"
    page.says(table + " caption", "in %d segments at the cursor" % len(pins))
    listed = rows(page, table)[:6]
    assert [(row[0], size(row[2]), size(row[3]), int(row[4]), row[5]) for row in listed] == [
        (p["site"]["culprit"], printed(p["stranded_bytes"]), printed(p["active_bytes"]), p["blocks"], hex(p["address"]))
        for p in pins[:6]]
    only = "#view > :not([hidden]) .bar > button"
    assert page.ask("document.querySelector(%r).disabled" % only)
    page.press_on(table + " tbody tr[data-row]:nth-of-type(1) button")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.says("#details", pins[0]["site"]["culprit"].split(" ")[0])
    before = page.settled()
    page.press_on(only)
    page.wait("document.querySelector(%r).getAttribute('aria-pressed') === 'true'" % only)
    assert page.settled() != before
    page.press_on(only)
    assert page.settled() == before
    page.sound()


def test_how_far_can_i_trust_this(visit, hand):
    path = scripts.make("late_streams")
    who = visit(path)
    line = who.page.text("#trust")
    items = device(path)["trust"]["items"]
    assert line.startswith("trust B \xb7 starts mid-run")
    assert items[0]["text"] in plain(who.page.ask("document.querySelector('#trust button').title"))
    if hand == "mouse":
        who.click("#trust button")
    else:
        who.travel("#trust button")
        who.key("Enter")
    who.page.wait("document.getElementById('dialog').open")
    listed = [plain(row) for row in who.page.ask("[...document.querySelectorAll('#dialog tbody tr')].map((r) =>"
                                                 " r.textContent)")]
    assert len(listed) == len(items)
    for row, item in zip(listed, items):
        assert row.startswith(item["id"]) and item["text"] in row


def test_will_it_fit_elsewhere(visit, hand):
    who = visit(EXAMPLES / "leak.pickle")
    if hand == "mouse":
        who.click("#view .bar input")
    else:
        who.key("r")
        who.travel("#view .bar input")
    who.typed("3GiB")
    who.page.wait("location.hash.includes('cap=3221225472')")
    who.page.says("#card", "capacity 3.00 GiB, 258.65 MiB too little at the peak")
    assert who.page.ask("document.querySelector('#view .bar input').value") == "3GiB"
