"""The page of `vramscope view` for everybody: axe-core, narrow windows, zoom, paper, system colours, fingers."""
import json
from importlib import util
from pathlib import Path

import pytest

from conftest import some
from recordings import scripts
from pages import EXAMPLES

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
THEMES = ["light", "dark"]
VIEWS = ("stack", "groups", "map", "state", "flame", "leaks", "diff", "steps")


@pytest.fixture(scope="module")
def axe():
    found = util.find_spec("axe_core_python")
    if found is None:
        pytest.skip("axe-core-python is not installed: accessibility was not checked by axe-core")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def violations(page, axe):
    """What axe-core finds: [rule, element] each; the protocol puts it where the policy lets no script in."""
    page.ask(axe + "; 0")
    got = page.ask("axe.run(document, { runOnly: { type: 'tag', values: %s }, resultTypes: ['violations'] })"
                   ".then((r) => r.violations.flatMap((v) => v.nodes.map((n) => [v.id, n.html.slice(0, 200),"
                   " n.failureSummary.slice(0, 300)])))" % json.dumps(LEVELS))
    return got


@pytest.mark.parametrize("theme", some(["light"], THEMES))
def test_no_violation_in_any_view(pages, axe, theme):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&theme=%s" % theme)
    for key, view in enumerate(VIEWS, 1):
        page.press(str(key))
        page.settled()
        assert page.state().get("view", VIEWS[0]) == view
        assert violations(page, axe) == [], view


@pytest.mark.parametrize("theme", some(["dark"], THEMES))
@pytest.mark.parametrize("what", ["pinned", "peeled", "report", "failure", *some([], ["keys", "table", "export", "checks"])])
def test_no_violation_in_what_opens(pages, axe, what, theme):
    path = scripts.make("late_streams") if what == "checks" else EXAMPLES / "oom.pickle"
    more = {"pinned": "&sel=a40&q=cat:activation&range=9-2000", "peeled": "&by=category&without=%5B%22category%22,%22activation%22%5D"}.get(what, "")
    page = pages(path, fragment="#v=1&theme=%s%s" % (theme, more))
    page.settled()
    shown = {"keys": ("?", "document.getElementById('help').open"),
             "table": ("W", "document.getElementById('who').classList.contains('wide')"),
             "export": ("e", "document.getElementById('export').open"),
             "pinned": (None, "document.getElementById('details').classList.contains('pinned')"
                              " && !document.getElementById('range').hidden"),
             "peeled": (None, "document.querySelector('.peel:not([hidden])') !== null && document.querySelector('#who tr.out') !== null"),
             "failure": ("o", "document.querySelector('#film .problem[aria-current]') !== null"),
             "report": (None, "!document.getElementById('report').hidden"),
             "checks": (None, "document.getElementById('dialog').open")}[what]
    if shown[0]:
        page.press(shown[0])
    elif what == "report":
        page.press_on("#show-report")
    elif what == "checks":
        page.press_on("#trust button")
    page.wait(shown[1])
    assert violations(page, axe) == []


CLIPPED = """(() => {
  const out = []; const seen = (n) => n.getClientRects().length && getComputedStyle(n).visibility !== 'hidden';
  for (const node of document.querySelectorAll('button, select, input, [role=separator], a[href]')) {
    if (!seen(node)) continue;
    const b = node.getBoundingClientRect();
    let scrolls = false;
    for (let p = node.parentElement; p; p = p.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(p).overflowX + getComputedStyle(p).overflowY)) scrolls = true;
    }
    if (!scrolls && (b.left < -0.5 || b.right > innerWidth + 0.5)) out.push(['beyond the window', node.outerHTML.slice(0, 99)]);
    const inline = node.closest('td, caption, .finding, h2, p, ol.stack, #trust, #verdicts, #card, summary, details');
    if (node.matches('[role=separator]') || inline) continue;
    if (b.width < 24 || b.height < 24) {
      const label = node.closest('label'); const l = label && label.getBoundingClientRect();
      if (!l || l.width < 24 || l.height < 24) out.push([b.width, b.height, node.outerHTML.slice(0, 99)]);
    }
  }
  return out;
})()"""


@pytest.mark.parametrize("size", [(320, 200), *some([], [(360, 740), (700, 700), (1280, 300)])])
def test_nothing_is_clipped_in_small_windows(pages, size):
    """320 by 200 is a window of 1280 by 800 at 400 %."""
    page = pages(EXAMPLES / "oom.pickle", size=size, fragment="#v=1&sel=a40")
    page.settled()
    assert page.ask("document.documentElement.scrollWidth <= innerWidth"), "it scrolls in two ways"
    for view in VIEWS:
        page.ask("location.hash = '#v=1&sel=a40&view=%s'; 0" % view)
        page.wait("document.getElementById('tab-list').value === '%s'" % view)
        assert page.ask(CLIPPED) == [], view
        left, _, width, height = page.box("#view > :not([hidden])")
        assert left >= 0 and left + width <= size[0] and height >= 100, view
    if size[0] < 700:
        assert page.ask("getComputedStyle(document.getElementById('tabs')).display") == "none"
        assert page.box("#tab-list")[3] >= 24


@pytest.mark.long
def test_what_is_far_down_can_be_reached(pages):
    """At 400 % all of the page is on the way of the scroll bar or of a panel's own."""
    page = pages(EXAMPLES / "oom.pickle", size=(320, 200), fragment="#v=1&sel=a40&x=e100-2000")
    page.settled()
    for selector in ("#overview", "#view", "#details .identity", "#who table", "#status-text"):
        page.ask("document.querySelector('%s').scrollIntoView({ block: 'center' })" % selector)
        _, top, _, height = page.box(selector)
        assert top < 200 and top + height > 0, selector


def emulated(name, value):
    return lambda page: page.send("Emulation.setEmulatedMedia", features=[{"name": name, "value": value}])


@pytest.mark.long
def test_system_colours_are_used(pages, axe):
    page = pages(EXAMPLES / "leak.pickle", before=emulated("forced-colors", "active"))
    page.settled()
    assert page.ask("matchMedia('(forced-colors: active)').matches")
    # Patterns tell the groups apart where colours may not.
    marks = page.ask("(() => { const copy = new OffscreenCanvas(14, 14).getContext('2d', { willReadFrequently: true });"
                     " copy.drawImage(document.querySelectorAll('#who td canvas')[0], 0, 0); return new Set("
                     "new Uint32Array(copy.getImageData(1, 1, 12, 12).data.buffer)).size; })()")
    assert marks == 2
    border = page.ask("[getComputedStyle(document.querySelector('#top button')).borderTopStyle,"
                      " getComputedStyle(document.querySelector('[role=tab][aria-selected=true]')).outlineStyle]")
    assert border == ["solid", "solid"]
    assert violations(page, axe) == []


@pytest.mark.long
def test_nothing_moves_where_motion_is_not_wanted(pages):
    page = pages(EXAMPLES / "leak.pickle", before=emulated("prefers-reduced-motion", "reduce"))
    page.settled()
    moving = page.ask("[...document.querySelectorAll('*')].filter((n) => { const s = getComputedStyle(n); return"
                      " parseFloat(s.transitionDuration) > 0 || parseFloat(s.animationDuration) > 0; }).length")
    assert moving == 0
    page.press("w")
    page.settled()


@pytest.mark.long
def test_paper_has_light_ground_and_no_controls(pages):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&theme=dark&sel=a40&by=site")
    page.settled()
    page.send("Emulation.setEmulatedMedia", media="print")
    page.ask("dispatchEvent(new Event('beforeprint')); 0")
    page.settled()
    hidden = page.ask("['#tabs', '#tab-list', '#find', '.splitter', '.bar', '#show-help', '#show-export', '.buttons']"
                      ".filter((s) => [...document.querySelectorAll(s)].some((n) => n.getClientRects().length))")
    assert hidden == []
    shown = page.ask("['#top h1', '#card', '#view canvas', '#who table', '#print-link']"
                     ".filter((s) => ![...document.querySelectorAll(s)].some((n) => n.getClientRects().length))")
    assert shown == []
    assert "by=site" in page.text("#print-link")
    cut = page.ask("['#card', '#who .rows'].filter((s) => { const n = document.querySelector(s);"
                   " return n.scrollWidth > n.clientWidth + 1 || n.scrollHeight > n.clientHeight + 1; })")
    assert cut == []
    assert page.ask("document.documentElement.dataset.theme") == "light"
    assert page.ask("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    ink = page.ask("getComputedStyle(document.querySelector('#status-text')).color")
    assert ink == "rgb(27, 31, 36)"
    page.send("Emulation.setEmulatedMedia", media="")
    page.ask("dispatchEvent(new Event('afterprint')); 0")
    page.wait("document.documentElement.dataset.theme === 'dark'")


@pytest.mark.long
def test_a_picture_is_printed_at_twice_the_pixels(pages):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&by=site")
    first = page.settled()
    size = ("(() => { const c = document.querySelector('#view .plot > canvas'), made = images[images.length - 1];"
            " return [made.width / (c.parentNode.clientWidth - 80), c.width / c.parentNode.clientWidth]; })()")
    # Pictures as they are made, and as they stand when the page would be printed.
    page.ask("""(() => { globalThis.images = []; const proto = CanvasRenderingContext2D.prototype, plain = proto.putImageData;
        proto.putImageData = function (image, ...rest) { if (image.width > 100) images.push(image);
          return plain.call(this, image, ...rest); };
        // On paper, where canvases are drawings, it would clear the canvas beneath as well.
        const clear = proto.clearRect; globalThis.cleared = 0;
        proto.clearRect = function (...box) { cleared += document.documentElement.dataset.printing === '';
          clear.apply(this, box); };
        globalThis.print = () => { dispatchEvent(new Event('beforeprint')); globalThis.printed = %s;
          dispatchEvent(new Event('afterprint')); }; })()""" % size)
    page.press("p", modifiers=2)  # Ctrl
    page.wait("globalThis.printed !== undefined")
    assert [round(n, 1) for n in page.ask("printed")] == [2, 2] and page.ask("cleared") == 0
    page.wait("images[images.length - 1].width < 1200")
    assert page.settled() == first
    assert [round(n, 1) for n in page.ask(size)] == [1, 1]
    page.press("e")
    page.ask("printed = null")
    page.ask("[...document.querySelectorAll('#export button')].find((b) => b.textContent === 'print').click()")
    page.wait("printed !== null && !document.getElementById('export').open")


@pytest.fixture
def finger(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&x=e600-2400&at=2000",
                 before=lambda p: p.send("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2))
    page.settled()
    return page


def span(page):
    return [float(n) for n in page.state()["x"][1:].split("-")]


def test_one_finger_pans(finger):
    a, b = finger.plot(0.5, 0.5), finger.plot(0.7, 0.5)
    finger.touch("Start", a)
    finger.touch("Move", ((a[0] + b[0]) / 2, a[1]))
    finger.touch("Move", b)
    finger.touch("End")
    finger.settled()
    first, last = span(finger)
    assert abs(first - 240) < 12 and abs(last - first - 1800) <= 1
    assert "range" not in finger.state() and "sel" not in finger.state()


def test_two_fingers_zoom(finger):
    points = [finger.plot(x, 0.5) for x in (0.45, 0.55, 0.35, 0.65)]
    finger.touch("Start", points[0])
    finger.touch("Start", points[0], points[1])
    finger.touch("Move", points[2], points[3])
    finger.touch("End")
    finger.settled()
    first, last = span(finger)
    assert abs((last - first) - 600) < 20 and abs((first + last) / 2 - 1500) < 12
    assert "sel" not in finger.state()


@pytest.mark.long
def test_a_tap_pins(finger):
    at = finger.plot(0.6, 0.2)
    finger.touch("Start", at)
    finger.touch("End")
    finger.wait("document.getElementById('details').classList.contains('pinned')")


@pytest.mark.long
def test_a_long_press_selects(finger):
    finger.touch("Start", finger.plot(0.4, 0.5))
    finger.ask("new Promise((done) => setTimeout(done, 700))")
    finger.touch("Move", finger.plot(0.5, 0.5))
    finger.touch("Move", finger.plot(0.6, 0.5))
    finger.touch("End")
    finger.wait("!document.getElementById('range').hidden")
    a, b = (int(n) for n in finger.state()["range"].split("-"))
    assert abs(a - 1320) < 12 and abs(b - 1680) < 12 and span(finger) == [600, 2400]
