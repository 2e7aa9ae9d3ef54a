"""Colours of the page of `vramscope view`: what a picture is painted in is what the lists beside it show, whatever the grouping."""
import json

import pytest

from pages import EXAMPLES

SWATCHES = """(where) => [...document.querySelectorAll(where)].filter((one) => one.getClientRects().length).map((one) => {
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  return [...copy.getImageData(7, 0, 1, 1).data].join();
})"""
# The colours of what is in use in the bars of State: the middle of each run of eight pixels or more of one colour.
BARS = """[...new Set([...document.querySelectorAll('canvas.segment')].flatMap((one) => {
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const row = copy.getImageData(0, one.height >> 1, one.width, 1).data, found = [];
  for (let x = 0, run = 0; x < one.width; x++) {
    const same = x > 0 && [0, 1, 2, 3].every((c) => row[x * 4 + c] === row[x * 4 - 4 + c]);
    run = same ? run + 1 : 1;
    if (run === 8) found.push([...row.slice(x * 4, x * 4 + 4)].join());
  }
  return found;
}))]"""
GROUND = """['--free', '--ground'].map((name) => {
  const g = new OffscreenCanvas(1, 1).getContext('2d');
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
  g.fillRect(0, 0, 1, 1);
  return [...g.getImageData(0, 0, 1, 1).data].join();
})"""


def swatches(page, where):
    return page.ask("(%s)(%s)" % (SWATCHES, json.dumps(where)))


@pytest.mark.parametrize("by", ["category", "line", "site", "phase", "size"])
@pytest.mark.parametrize("at", [400, 2000, 2464])
def test_state_has_the_colours_of_who_holds_the_memory(pages, by, at):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&by=%s&at=%d" % (by, at))
    page.press("4")
    page.says("#view", "segments")
    page.settled()
    held, bars = swatches(page, "#who td .swatch"), page.ask(BARS)
    assert held and len(bars) > 1
    assert set(bars) <= {*held, *page.ask(GROUND)}, (bars, held)


@pytest.mark.parametrize("by", ["category", "site", "age"])
def test_no_swatch_is_empty_at_any_cursor(pages, by):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&by=%s" % by)
    for at in (100, 1500, 2900):
        page.ask("location.hash = '#v=1&by=%s&at=%d'" % (by, at))
        page.says("#who", "requested at event %d," % (at - 1))
        page.settled()
        found = swatches(page, "#who td .swatch")
        assert found and all(colour.endswith(",255") for colour in found), (at, found)
        assert len(set(found)) >= min(4, len(found)), "they are told apart"


def test_flame_takes_no_colour_of_a_category(pages):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&by=category")
    page.settled()
    of_categories = set(swatches(page, "#who td .swatch"))
    page.press("5")
    page.says("#view", "live at the peak")
    page.settled()
    cells = page.ask("""(() => { const one = document.querySelector('#view > :not([hidden]) .flame canvas');
      const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(one, 0, 0);
      const data = new Uint32Array(copy.getImageData(0, 0, one.width, one.height).data.buffer), often = new Map();
      for (const pixel of data) often.set(pixel, (often.get(pixel) || 0) + 1);
      return [...often].filter(([, n]) => n > 200).map(([p]) => [p & 255, p >> 8 & 255, p >> 16 & 255, p >>> 24].join()); })()""")
    assert len(cells) > 2 and not of_categories & set(cells), cells


def test_what_leaks_is_shown_in_a_colour_of_its_own(pages):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&by=category")
    page.press("6")
    page.says("#view", "per step")
    page.press_on("#view > :not([hidden]) tr[data-row] td:last-child button")
    page.settled()
    assert page.state()["by"] == "line" and page.state()["q"].startswith("line")
    colours = page.ask("""(() => { const one = document.querySelector('#view > :not([hidden]) .plot canvas');
      const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(one, 0, 0);
      const data = copy.getImageData(0, 0, one.width, one.height).data;
      let coloured = 0;
      for (let i = 0; i < data.length; i += 4) coloured += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40;
      return coloured / (data.length / 4); })()""")
    assert colours > 0.05
