"""The first screen of `vramscope view`, without a click: what happened, which line, how many bytes, what to do, and a
picture that shows just that."""
import json
import re

import pytest

from recordings import scripts
from conftest import run
from pages import EXAMPLES, plain, size

NAMES = ["fragmentation", "leak", "oom", "train"]
# What of an element is in the window.
IN_SIGHT = """(() => { const b = document.querySelector(%s).getBoundingClientRect();
  return b.height > 0 && b.top >= 0 && b.left >= 0 && b.bottom <= innerHeight && b.right <= innerWidth; })()"""
# The colours of the open picture, and how many pixels each has.
COLOURS = """(() => {
  const one = document.querySelector('#view > :not([hidden]) .plot canvas');
  const box = one.parentNode.dataset.box.split(' ').map((v) => Math.round(v * devicePixelRatio));
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const data = new Uint32Array(copy.getImageData(...box).data.buffer);
  const found = new Map();
  for (const pixel of data) found.set(pixel, (found.get(pixel) || 0) + 1);
  return [...found].map(([p, n]) => [[p & 255, p >> 8 & 255, p >> 16 & 255, p >>> 24].join(), n]);
})()"""
# Those of three pixels or more on one another in one column: the bands that are high enough to have a colour.
COLUMN = """((at) => {
  const one = document.querySelector('#view > :not([hidden]) .plot canvas');
  const box = one.parentNode.dataset.box.split(' ').map((v) => Math.round(v * devicePixelRatio));
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const data = new Uint32Array(copy.getImageData(box[0] + Math.min(box[2] - 1, Math.floor(box[2] * at)), box[1], 1, box[3]).data.buffer);
  const found = new Set();
  for (let i = 2; i < data.length; i++) if (data[i] === data[i - 1] && data[i] === data[i - 2]) found.add(data[i]);
  return [...found].map((p) => [p & 255, p >> 8 & 255, p >> 16 & 255, p >>> 24].join());
})(%s)"""
SWATCHES = """[...document.querySelectorAll('#who td .swatch')].map((one) => {
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  return [...copy.getImageData(7, 7, 1, 1).data].join();
})"""
MATCH = """(() => { const g = new OffscreenCanvas(1, 1).getContext('2d');
  g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--match');
  g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data].join(); })()"""


def answer_of(path):
    """The first sentences of the report in the terminal, as one line."""
    lines = run("report", path, expect=0).out.split("\n\n")[1].split("\n")
    return lines[0], " ".join(line.strip() for line in lines[1:])


def rows(page):
    return [(plain(name), size(held)) for name, held in page.ask(
        "[...document.querySelectorAll('#who tr[data-row]')].filter((r) => r.getBoundingClientRect().bottom < innerHeight)"
        ".map((r) => [r.cells[0].querySelector('button').textContent, r.cells[1].textContent])")]


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_the_report_says(pages, name):
    path = EXAMPLES / (name + ".pickle")
    page = pages(path)
    page.settled()
    headline, detail = answer_of(path)
    assert plain(page.text("#card h2")) == headline
    assert plain(page.text("#card > p")) == detail
    assert page.ask(IN_SIGHT % '"#card h2"') and page.ask(IN_SIGHT % '"#card > p"')
    at = run("oom", "--json", path, expect=0).json()["devices"][0]["result"] if name in ("oom", "fragmentation") else None
    told = run("peak", "--json", "-n", 5, *(["--at", at["event"]] if at else []), path, expect=0).json()["devices"][0]
    seen = rows(page)
    assert len(seen) >= 5
    for line in told["result"]["rows"][:4]:
        assert any(who == line["name"] and abs(held - line["bytes"]) < 2**23 for who, held in seen), (line, seen)
    assert page.state().get("q", "") == ""


@pytest.mark.parametrize("name", NAMES)
def test_the_first_thing_to_do_is_that_of_the_report_and_leads_somewhere(pages, name):
    path = EXAMPLES / (name + ".pickle")
    told = re.search(r"What to do .*?\n +1  (.*?)\n +2  ", run("report", path, "--color=never", expect=0).out, re.S)[1]
    page = pages(path)
    page.settled()
    words = plain(page.text("#verdicts .do .what")).split()
    assert words == [word for word in told.split() if word in words][:len(words)], (words, told)
    page.press_on("#verdicts .do")
    page.wait("location.hash.includes('q=') || location.hash.includes('view=')")
    page.sound()


@pytest.mark.parametrize("width, height, least", [(1280, 800, 0.45), (1920, 1080, 0.45)])
@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_the_largest_thing(pages, name, width, height, least):
    page = pages(EXAMPLES / (name + ".pickle"), size=(width, height))
    page.settled()
    _, _, w, h = page.picture_box()
    assert w * h >= least * width * height, (w, h, w * h / width / height)
    assert page.ask("document.getElementById('overview').hidden")
    page.press("w")
    page.wait("!document.getElementById('overview').hidden")
    page.press("Home")
    page.wait("document.getElementById('overview').hidden")


def test_on_a_phone_the_picture_has_two_fifths_of_the_height(pages):
    page = pages(EXAMPLES / "oom.pickle", size=(390, 844))
    page.settled()
    _, _, _, h = page.picture_box()
    assert h >= 0.4 * 844
    top = page.box("#view > :not([hidden]) .plot")[1]
    assert page.box("#card")[1] + page.box("#card")[3] <= top + 40 and top + h < 844
    assert page.ask(IN_SIGHT % '"#card h2"')
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")


# Whether all of the text of each element is in the window, none of it cut by what it lies in.
WHOLE = """[...document.querySelectorAll(%s)].every((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const box = range.getBoundingClientRect();
  let [top, bottom] = [0, innerHeight];
  for (let around = one; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === 'visible') continue;
    const clip = around.getBoundingClientRect();
    [top, bottom] = [Math.max(top, clip.top), Math.min(bottom, clip.bottom)];
  }
  return box.height > 0 && box.top >= top - 1 && box.bottom <= bottom + 1;
})"""


@pytest.mark.parametrize("width, height, least", [(1280, 800, 5), (1366, 768, 5), (1280, 720, 5), (390, 844, 0)])
@pytest.mark.parametrize("name", NAMES)
def test_what_to_do_is_whole_and_the_explanation_gives_way(pages, name, width, height, least):
    page = pages(EXAMPLES / (name + ".pickle"), size=(width, height))
    page.settled()
    assert page.ask(WHOLE % '"#card h2, #verdicts .what, #verdicts .frees"')
    assert page.text("#card .line") in page.text("#card h2") or page.ask(WHOLE % '"#card .line"')
    whole = page.ask("document.querySelector('#who .rows').getBoundingClientRect().bottom - 30")
    seen = page.ask("[...document.querySelectorAll('#who tr[data-row]')].filter((r) => r.getBoundingClientRect().bottom < %f).length" % whole)
    assert seen >= least, seen


def test_the_rest_of_the_explanation_is_shown_at_a_click(pages):
    page = pages(EXAMPLES / "fragmentation.pickle", size=(1280, 800))
    page.settled()
    assert not page.ask(WHOLE % '"#card .detail"')
    link = "[...document.querySelectorAll('#card > .link')].find((b) => b.textContent === '%s')"
    page.ask((link % "whole text") + ".click()")
    assert page.ask(WHOLE % '"#card .detail"')
    page.ask((link % "shorter text") + ".click()")
    assert not page.ask(WHOLE % '"#card .detail"')
    page.ask("document.querySelector('#card > .link').click()")
    assert page.ask("document.querySelector('.detail').scrollHeight <= document.querySelector('.detail').clientHeight + 1")
    assert not page.ask("Boolean(%s)" % (link.replace("find((b) =>", "find((b) => !b.hidden &&") % "whole text"))
    page.sound()


@pytest.mark.parametrize("width, height, least", [(1280, 500, 230), (1280, 420, 150), (844, 390, 150), (720, 480, 150)])
def test_in_a_low_window_the_picture_is_no_higher_than_it(pages, width, height, least):
    page = pages(EXAMPLES / "fragmentation.pickle", size=(width, height))
    page.settled()
    _, top, _, high = page.picture_box()
    assert high >= least and page.box("#view > :not([hidden]) .plot")[1] + high < height
    assert page.ask(IN_SIGHT % '"#card h2"')
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")


# The pairs of parts that share some of the window.
COVERED = """(() => {
  const parts = [...document.querySelectorAll(
    '#top > :not(h1), #tabs button, .bar.tools > *, .plot, #film, #card, #why, #details, #who')]
    .filter((one) => one.checkVisibility() && !one.closest('[hidden]'));
  const boxes = parts.map((one) => one.getBoundingClientRect());
  return parts.flatMap((one, i) => parts.slice(i + 1).flatMap((other, k) => {
    const [a, b] = [boxes[i], boxes[i + 1 + k]];
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    return wide > 1 && high > 1 ? [`${one.id || one.className} and ${other.id || other.className}`] : [];
  }));
})()"""


@pytest.mark.parametrize("width, height", [
    (1600, 900), (1280, 800), (1280, 640), (1110, 700), (1000, 600), (900, 700), (720, 560), (1280, 500), (844, 390),
    (390, 844), (360, 640)])
@pytest.mark.parametrize("name", ["oom", "train"])
def test_no_part_covers_another(pages, name, width, height):
    page = pages(EXAMPLES / (name + ".pickle"), size=(width, height))
    page.settled()
    assert page.ask(COVERED) == []
    page.ask("document.querySelector('.plot').scrollIntoView({ block: 'center' })")
    page.click(*page.plot(0.55, 0.1))
    page.wait("!document.getElementById('details').hidden")
    assert page.ask(COVERED) == []


@pytest.mark.parametrize("by", ["category", "line", "age"])
@pytest.mark.parametrize("view", ["stack", "groups"])
@pytest.mark.parametrize("at", [60, 1500, 2464])
def test_every_colour_at_the_cursor_is_in_its_legend(pages, by, view, at):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&view=%s&by=%s&at=%d" % (view, by, at))
    page.settled()
    high = set(page.ask(COLUMN % ((at + 0.5) / 3241))) - {"0,0,0,0"}
    legend = set(page.ask(SWATCHES))
    assert high and high <= legend | set(page.ask("['--line', '--raised', '--ground'].map((name) => {"
                                                  " const g = new OffscreenCanvas(1, 1).getContext('2d');"
                                                  " g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);"
                                                  " g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data].join(); })")), \
        (high - legend, legend)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_a_search_finds_is_of_a_colour_of_its_own_and_the_rest_faded(pages, theme):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&by=category&theme=" + theme)
    page.settled()
    match = page.ask(MATCH)
    plain_colours = dict(page.ask(COLOURS))
    assert match not in plain_colours and page.ask("document.querySelector('.matches').hidden")
    swatches = set(page.ask(SWATCHES))
    page.press("/")
    page.type("train.py:45")
    page.press("Enter")
    page.says("#found", "allocations")
    page.settled()
    found = dict(page.ask(COLOURS))
    assert found.get(match, 0) > 0.05 * sum(found.values())
    assert not swatches & {colour for colour, n in found.items() if n > 200}, "the rest is faded"
    assert set(page.ask(SWATCHES)[:3]) <= set(found)
    assert not page.ask("document.querySelector('.matches').hidden")


def test_the_line_that_grows_is_the_hot_one(pages):
    """A staircase in a colour that no other line of the recording has."""
    page = pages(EXAMPLES / "leak.pickle")
    page.settled()
    hot = page.ask(SWATCHES)[0]
    red, green, blue, _ = map(int, hot.split(","))
    assert rows(page)[0][0] == "train.py:45 main" and red > 180 > 110 > green > blue
    assert dict(page.ask(COLOURS))[hot] > 0.1 * sum(n for c, n in page.ask(COLOURS) if c != "0,0,0,0")
    assert page.ask(SWATCHES).count(hot) == 1


def test_of_several_devices_the_one_with_the_highest_peak_opens(pages):
    script = ("device 0\nalloc a 1MiB\nfree a\nalloc b 1MiB\n"
              "device 1\nalloc c 8MiB\nfree c\nalloc d 4MiB\n")
    page = pages(scripts.make(script))
    page.wait("document.querySelector('#devices [aria-pressed=true]') !== null")
    assert page.text("#devices [aria-pressed=true]").startswith("cuda:1")


def test_many_files_open_on_all_of_them_the_failed_one_first(pages):
    page = pages(EXAMPLES / "leak.pickle", EXAMPLES / "train.pickle", EXAMPLES / "oom.pickle")
    page.wait("document.getElementById('file').value === 'all'")
    page.says("#view", "what happened")
    first = page.ask("[...document.querySelector('#view > :not([hidden]) tr[data-row]').cells].map((c) => c.textContent)")
    assert "oom.pickle" in first[1] and any("656.29 MiB more than the card had" in cell for cell in first)


def test_without_a_trace_the_moment_is_the_end_and_the_view_what_holds_it(pages):
    page = pages(scripts.make("state_only"))
    page.settled()
    page.says("#status-text", "end ")
    assert page.text("#tabs [aria-selected=true]").endswith(("Flame", "State"))
    page.says("#who caption", "requested at end")


def test_nothing_is_drawn_of_zero_bytes(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&by=category")
    page.settled()
    assert all(held > 0 for _, held in rows(page))
    assert json.dumps(page.ask("document.querySelector('.legend')")) == "null"


GREY = """(() => {
  const one = document.querySelector('#view > :not([hidden]) .plot[data-box] canvas');
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const ground = new Set(['--ground', '--raised', '--line', '--free'].map((name) => {
    const g = new OffscreenCanvas(1, 1).getContext('2d');
    g.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
    g.fillRect(0, 0, 1, 1);
    return new Uint32Array(g.getImageData(0, 0, 1, 1).data.buffer)[0];
  }));
  const data = new Uint32Array(copy.getImageData(...one.parentNode.dataset.box.split(' ').map(Math.round)).data.buffer);
  let grey = 0, all = 0;
  for (const p of data) {
    if (!(p >>> 24) || ground.has(p)) continue;
    const parts = [p & 255, p >> 8 & 255, p >> 16 & 255];
    all++;
    if (Math.max(...parts) - Math.min(...parts) < 20) grey++;
  }
  return grey / Math.max(1, all);
})()"""


def test_real_recordings_are_not_grey(pages, shared):
    """Of what is painted at most 15 % has no hue; and nothing is wrong with the page of any real file."""
    painted = 0
    for path in sorted((shared / "data" / "snapshots").iterdir()):
        page = pages(path)
        page.ready()
        page.sound()
        if page.ask("document.querySelector('#view > :not([hidden]) .plot[data-box]') !== null"):
            page.settled()
            assert page.ask(GREY) <= 0.15, path
            painted += 1
    assert painted > 20


def test_who_begins_with_the_grouping_of_the_report(pages, shared):
    """Where one line holds nearly all, with the lines of the code that it calls."""
    path = shared / "data/snapshots/rlhf_megatron_vllm_private_pools.pickle"
    page = pages(path)
    page.settled()
    page.says("#who caption", "by owner")
    first = page.ask("document.querySelector('#who tbody tr[data-row] button').textContent")
    assert first == "cache_engine.py:83 _allocate_kv_cache"
    assert "line called (owner)" in run("report", path, expect=0).out
    # A grouping that a person has chosen stays.
    page.ask("location.hash = '#v=1&by=category'; 0")
    page.says("#who caption", "by category")
    page.sound()


def test_the_line_that_asked_is_a_button_where_another_is_to_change(pages, shared):
    page = pages(shared / "data/snapshots/three_gpu_expandable_oom.pickle")
    page.settled()
    assert plain(page.text("#card > p")).startswith("models.py:181 update_nodes asked for 4.94 GiB")
    assert page.text("#card > p .line") == "models.py:181 update_nodes"
    page.press_on("#card > p .line")
    page.says("#found", "allocations")
    assert page.ask("document.getElementById('query').value") == 'line="models.py:181 update_nodes"'
    page.sound()
