"""What lies at the edges of a plot of `vramscope view`: the handle of the memory axis, the way to the cursor, the
ends of a selection; what the overview says of its axis; how much room the address map has."""
import json

import pytest

from browser import ALT
from pages import EXAMPLES, plain, size

VIEW = "#view > :not([hidden])"
HANDLE = VIEW + " .reach div"
ZOOMED = "#v=1&x=e600-2400&at=2000"
# Of the canvas over the picture: opaque pixels of a part, [left, top, width, height].
OVER = """((box) => { const one = document.querySelectorAll('#view > :not([hidden]) .plot canvas')[1];
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const { data } = copy.getImageData(...box);
  let n = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i]) n++;
  return n; })(%s)"""


def axis(page):
    """What the axis reaches, from the link; None: it fits."""
    low, high = page.state().get("y", "0-").split("-")
    return (int(low), int(high)) if high else None


def opened(pages, fragment=ZOOMED, name="oom.pickle"):
    page = pages(EXAMPLES / name, fragment=fragment)
    page.settled()
    return page


def test_the_handle_zooms_and_moves_the_memory_axis(pages):
    page = opened(pages, "#v=1")
    assert axis(page) is None
    left, top, width, height = page.box(HANDLE)
    x = left + width / 2
    page.drag((x, top + 2), (x, top + 2 + height / 2))
    page.settled()
    low, high = axis(page)
    peak = size(page.text("#status-text").split(" \u00b7 ")[2].removesuffix(" requested"))
    assert low == 0 and 0.4 * peak < high < 0.6 * peak
    _, top, _, height = page.box(HANDLE)
    page.drag((x, top + height / 2), (x, top + height / 2 - 40))
    page.settled()
    moved = axis(page)
    assert moved[0] > low and abs((moved[1] - moved[0]) - (high - low)) < 1 << 20, "moved, and as wide as before"
    page.press("u")
    page.settled()
    assert axis(page) == (low, high), "a drag is undone by one key"
    _, top, _, height = page.box(HANDLE)
    page.click(x, top + height / 2, times=2)
    page.settled()
    assert axis(page) is None, "a double-click fits it"


def test_keys_zoom_and_move_the_memory_axis(pages):
    page = opened(pages, "#v=1")
    page.press("ArrowUp", ALT)
    page.settled()
    low, high = axis(page)
    assert low > 0
    page.ask("document.querySelector('#view > :not([hidden]) .reach').focus()")
    page.press("ArrowUp")
    page.settled()
    above = axis(page)
    assert above[0] > low and above[1] > high
    said = page.ask("document.activeElement.getAttribute('aria-valuetext')").split(" to ")
    assert [abs(size(a) - b) < 1 << 24 for a, b in zip(said, above)] == [True, True]
    page.press("ArrowDown", ALT)
    page.settled()
    wide = axis(page)
    assert wide[1] - wide[0] > above[1] - above[0]


@pytest.mark.parametrize("fragment, word, right", [
    ("#v=1&x=e600-1400&at=13", "\u25c2 cursor: event 12", False),
    ("#v=1&x=e600-1400&at=2000", "cursor: event 1999 \u25b8", True)])
def test_an_arrow_tells_of_a_cursor_out_of_sight(pages, fragment, word, right):
    page = opened(pages, fragment)
    away = VIEW + " .away"
    assert plain(page.text(away)) == word
    left, _, width, _ = page.box(VIEW + " .plot")
    assert (page.box(away)[0] > left + width / 2) == right
    page.press_on(away)
    page.wait("document.querySelector(%s).hidden" % json.dumps(away))
    first, last = page.state()["x"][1:].split("-")
    assert float(first) <= int(page.state()["at"]) < float(last)


def test_the_arrow_leads_to_the_cursor_in_time_as_well(pages):
    page = opened(pages, "#v=1&x=e600-1400&at=2000")
    page.press("x")
    page.wait("location.hash.includes('x=t')")
    page.settled()
    before = page.state()["x"]
    page.press_on(VIEW + " .away")
    page.wait("!location.hash.includes(%s)" % json.dumps("x=" + before))
    page.settled()
    assert page.state()["x"].startswith("t") and page.ask("document.querySelector(%s).hidden" % json.dumps(VIEW + " .away"))


def test_no_arrow_where_the_cursor_is_in_sight(pages):
    page = opened(pages)
    assert page.ask("document.querySelector(%s).hidden" % json.dumps(VIEW + " .away"))


def test_a_selection_leaves_the_colours_alone(pages):
    # A little of the picture right of the middle of the selection: neither its ends nor words.
    seen = []
    for more in ("", "&range=1000-2000"):
        page = opened(pages, "#v=1&x=e600-2400&at=700" + more)
        left, top, width, height = map(int, page.picture_box())
        part = [left + width * 60 // 100, top + height // 2, 40, height // 4]
        outside = [left + width * 90 // 100, top + height // 2, 40, height // 4]
        seen.append([page.ask(OVER % one) for one in (part, outside)])
    (plainly, beyond), (selected, paled) = seen
    assert selected == plainly and paled > beyond


def test_the_overview_says_that_it_stays_in_events(pages):
    page = opened(pages)
    label = "document.querySelector('#overview canvas').ariaLabel"
    assert page.ask(label) == "Memory over the whole recording"
    page.press("x")
    page.wait(label + " === 'Memory over the whole recording, in events'")


def test_the_map_has_room_for_the_picture_and_six_segments(pages):
    page = opened(pages, "#v=1&view=map", "fragmentation.pickle")
    whole = page.box("#view")[3]
    assert page.box(VIEW + " .plot")[3] >= whole / 2
    rows = page.ask("""(() => { const box = document.querySelector('#view > :not([hidden]) .third .rows');
      const foot = box.querySelector('tfoot td').getBoundingClientRect().top;
      return [...box.querySelectorAll('tbody tr')].filter((row) => row.getBoundingClientRect().bottom <= foot + 1)
        .length; })()""")
    assert rows >= 6


# Where each text beside the axis of the open plot begins, in pixels of the page.
LEFT = """
  self.lefts = [];
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (...given) {
    const [text, x, , most = Infinity] = given;
    if (this.canvas.closest?.('.plot') && this.textAlign === 'right' && /B$/.test(text)) {
      self.lefts.push([text, x - Math.min(most, this.measureText(text).width)]);
    }
    fillText.apply(this, given);
  };
"""


@pytest.mark.parametrize("fragment, label", (("view=map", "1000 MiB"), ("y=1428160512-1428225000", "+8 KiB"),
                                             ("y=1428160512-1429225000", "+128 KiB"),
                                             ("y=24051816858-24588687770", "22.75 GiB")))
def test_labels_of_the_memory_axis_are_whole(pages, fragment, label):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&" + fragment,
                 before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=LEFT))
    page.settled()
    lefts = page.ask("self.lefts")
    assert label in [text for text, _ in lefts]
    assert min(left for _, left in lefts) >= 0, [one for one in lefts if one[1] < 0]


def test_the_memory_axis_zooms_out_to_four_times_what_there_is(pages):
    page = opened(pages, fragment="")
    for _ in range(30):
        page.wheel(*page.plot(0.5, 0.5), along=400, modifiers=ALT)
    page.wait("(dispatchEvent(new Event('pagehide')), location.hash.includes('y=0-101183389696'))")
