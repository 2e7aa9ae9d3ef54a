"""What follows the pointer over the picture of `vramscope view`: who holds the memory, a readout, the outline of a band."""
import csv
import io
import json

import pytest

from conftest import run
from pages import EXAMPLES, plain

# Pixels of a colour of the stylesheet in what lies over the picture, and in how many columns.
OUTLINED = """((name) => {
  const over = document.querySelector('#view > :not([hidden]) .plot > canvas + canvas');
  const copy = new OffscreenCanvas(over.width, over.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(over, 0, 0);
  const g = new OffscreenCanvas(1, 1).getContext('2d');
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
  g.fillRect(0, 0, 1, 1);
  const want = [...g.getImageData(0, 0, 1, 1).data];
  const [left, top, width, height] = over.parentNode.dataset.box.split(' ').map(Math.round);
  const { data } = copy.getImageData(left + 1, top + 1, width - 2, height - 2);
  const columns = new Set();
  for (let i = 0; i < data.length; i += 4) {
    if ([0, 1, 2].every((c) => Math.abs(data[i + c] - want[c]) < 24) && data[i + 3] > 200) columns.add(i / 4 %% (width - 2));
  }
  return columns.size;
})('%s')"""


def caption(page):
    return plain(page.text("#who caption"))


def test_who_and_a_readout_follow_the_pointer_and_come_back(pages):
    page = pages(EXAMPLES / "train.pickle")
    page.settled()
    at_rest, held = caption(page), page.ask("document.querySelector('#who tfoot').textContent")
    page.mouse("mouseMoved", *page.plot(0.3, 0.02))
    page.wait("!document.getElementById('readout').hidden")
    page.wait("document.querySelector('#who tfoot').textContent !== %s" % json.dumps(held))
    assert caption(page) != at_rest and "requested at event" in caption(page)
    words = plain(page.text("#readout"))
    assert "iB" in words and "event" in words
    assert "at" in page.state() and "requested at event %d" % (int(page.state()["at"]) - 1) in at_rest, "the cursor stays"
    page.mouse("mouseMoved", 5, 5)
    page.wait("document.getElementById('readout').hidden")
    page.wait("document.querySelector('#who tfoot').textContent === %s" % json.dumps(held))
    assert caption(page) == at_rest
    page.sound()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_band_thinner_than_a_pixel_is_outlined_over_all_its_life(pages, theme):
    """The columns of its life have its outline, though it has no pixel of its own in most of them."""
    path = EXAMPLES / "train.pickle"
    told = csv.DictReader(io.StringIO(run("export", "--to", "csv", path, "-o", "-", expect=0).out))
    thin = next(int(row["allocation"]) for row in told if row["free_completed_event"] and int(row["bytes"]) < 1 << 20
                and int(row["free_completed_event"]) - int(row["alloc_event"]) > 700)
    page = pages(path, fragment="#v=1&theme=%s&sel=a%d" % (theme, thin))
    page.settled()
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.wait(OUTLINED % "--focus" + " > 100")
    page.press("Escape")
    page.wait(OUTLINED % "--focus" + " === 0")


def test_who_says_of_which_moment_it_is(pages):
    """Also after a drag, that of the point where it ends."""
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    moment = "#who .lists .last:not(button)"
    page.says(moment, "at event 3160")
    start, end = page.plot(0.3, 0.5), page.plot(0.6, 0.5)
    page.mouse("mouseMoved", *start)
    page.wait("!document.querySelector('%s').textContent.endsWith('160')" % moment)
    before = page.text(moment)
    page.drag(start, end)
    page.wait("location.hash.includes('range=')")
    page.wait("document.querySelector('%s').textContent !== %s" % (moment, json.dumps(before)))
    assert plain(page.text("#status-text")).startswith("event 3160")
    last = int(page.state()["range"].split("-")[1]) - 1
    page.wait("Math.abs(%d - Number(document.querySelector('%s').textContent.replace(/\\D/g, ''))) < 5" % (last, moment))
    page.mouse("mouseMoved", 5, 5)
    page.says(moment, "at event 3160")
    page.press("b")
    page.wait("document.querySelector('%s').hidden" % moment)
    page.sound()
