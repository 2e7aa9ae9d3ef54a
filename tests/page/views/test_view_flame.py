"""Flame and Stack of the page of `vramscope view` speak of one another: a frame lights up what it holds, a click
searches it, an allocation marks its path."""
import json

from pages import EXAMPLES, plain

VIEW = "#view > :not([hidden])"
STRIP = VIEW + " .strip canvas"
CELLS = VIEW + " .flame canvas"
CRUMBS = VIEW + " [aria-label=\"Zoomed to\"]"
QUERY = "document.getElementById('query').value"
ROW = 20
# Pixels of a canvas near a colour.
NEAR = """((selector, colour) => { const one = document.querySelector(selector);
  const copy = new OffscreenCanvas(one.width, one.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(one, 0, 0);
  const { data } = copy.getImageData(0, 0, one.width, one.height);
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 70) n++;
  }
  return n; })(%s, getComputedStyle(document.documentElement).getPropertyValue('--%s').trim())"""


def near(page, selector, colour):
    return page.ask(NEAR % (json.dumps(selector), colour))


def opened(pages, more="", size=(1280, 800)):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&view=flame" + more, size=size)
    page.wait("document.querySelector('.flame canvas')?.ariaLabel?.includes('100 %')")
    page.settled()
    return page


def cell(page, depth, x=40):
    left, top, _, _ = page.box(CELLS)
    return left + x, top + depth * ROW + ROW / 2


def status(page):
    return plain(page.text("#status-text")).split("   |   ")[-1]


def test_pointing_at_a_frame_lights_up_what_it_holds(pages):
    page = opened(pages)
    assert page.box(VIEW + " .strip")[3] == 60
    plain_label = page.ask("document.querySelector(%s).ariaLabel" % json.dumps(STRIP))
    assert plain_label == "The stack of the whole recording" and near(page, STRIP, "match") == 0
    lit = []
    for depth in (1, 7):
        page.mouse("mouseMoved", *cell(page, depth))
        frame = status(page).split(":")
        page.wait("document.querySelector(%s).ariaLabel.includes('line:%s lies')"
                  % (json.dumps(STRIP), frame[1].split()[0]))
        page.settled()
        lit.append(near(page, STRIP, "match"))
    assert lit[0] > lit[1] > 0, "the caller holds more than what it calls"
    page.mouse("mouseMoved", 300, 5)
    page.wait("document.querySelector(%s).ariaLabel === %s" % (json.dumps(STRIP), json.dumps(plain_label)))
    page.settled()
    assert near(page, STRIP, "match") == 0
    assert page.ask(QUERY) == "", "nothing is searched in passing"


def test_a_click_zooms_and_is_the_search_of_the_stack(pages):
    page = opened(pages)
    page.mouse("mouseMoved", *cell(page, 7))
    said = status(page)
    weight = said.split(": ")[1].split(",")[0]
    page.click(*cell(page, 7))
    page.wait("%s === 'fn:forward file:model.py line:22'" % QUERY)
    page.wait("document.querySelectorAll(%s).length === 8" % json.dumps(CRUMBS + " button"))
    assert page.text(CRUMBS).endswith("model.py:49 forwardmodel.py:22 forward")
    page.says("#found", weight + " at the cursor")
    page.press("1")
    page.settled()
    assert page.state()["q"] and page.text(".matches").startswith("what the search found")
    page.press("5")
    page.settled()
    page.press_on(CRUMBS + " button")
    page.wait("document.querySelector(%s).hidden && %s === ''" % (json.dumps(CRUMBS), QUERY))


def test_a_double_click_goes_to_a_frame_and_back_to_its_caller(pages):
    page = opened(pages)
    crumbs = "document.querySelectorAll(%s).length" % json.dumps(CRUMBS + " button")
    page.click(*cell(page, 3), times=2)
    page.wait(crumbs + " === 4")
    page.settled()
    assert page.ask(crumbs) == 4, "the second click of the two went no deeper"
    page.click(*cell(page, 0), times=2)
    page.wait(crumbs + " === 3")


def test_a_search_marks_frames_and_says_its_share_once(pages):
    page = opened(pages)
    whole = plain(page.text(VIEW + " .note"))
    before = near(page, CELLS, "match")
    page.press("/")
    page.type("fn:forward")
    page.press("Enter")
    page.says(VIEW + " .note", "matched")
    page.settled()
    note = plain(page.text(VIEW + " .note"))
    assert note.startswith(whole + ", matched "), "the tree is still of all"
    # forward calls forward: its bytes are counted once.
    matched = note.split("matched ")[1].split(",")[0]
    page.says("#found", matched + " at the cursor")
    assert before == 0 and near(page, CELLS, "match") > 1000


def test_the_pinned_allocation_marks_its_path(pages):
    assert near(opened(pages), CELLS, "focus") == 0
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    page.click(*page.plot(0.995, 0.4))
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.press("5")
    page.wait("document.querySelector('.flame canvas')?.ariaLabel?.includes('100 %')")
    page.settled()
    assert near(page, CELLS, "focus") > 500


def test_the_band_at_the_keys_marks_its_path(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    page.press("ArrowUp")
    page.wait("!document.getElementById('readout').hidden")
    page.press("5")
    page.wait("document.querySelector('.flame canvas')?.ariaLabel?.includes('100 %')")
    page.settled()
    assert near(page, CELLS, "focus") > 500


def test_the_keys_walk_zoom_and_come_back(pages):
    page = opened(pages)
    page.ask("document.querySelector('#view > :not([hidden]) .flame').focus()")
    for _ in range(3):
        page.press("ArrowDown")
    page.wait("document.getElementById('live').textContent.includes('train.py:40 main')")
    spoken = plain(page.text("#live"))
    assert "GiB" in spoken and "train.py:40 main" in status(page), "said, and shown"
    at = page.state()["at"]
    page.press("ArrowRight")
    page.press("ArrowLeft")
    assert page.state()["at"] == at, "the arrows do not move the cursor"
    page.press("Enter")
    page.wait("document.querySelector(%s).textContent.includes('train.py:40 main')" % json.dumps(CRUMBS))
    assert page.ask(QUERY) == "fn:main file:train.py line:40"
    page.press("Backspace")
    page.wait("!document.querySelector(%s).textContent.includes('train.py:40')" % json.dumps(CRUMBS))
    page.press("Escape")
    page.wait("document.querySelector(%s).hidden" % json.dumps(CRUMBS))


def test_the_list_zooms_too(pages):
    page = opened(pages)
    page.press_on(VIEW + " .twin summary")
    page.ask("document.querySelector('#view > :not([hidden]) [role=treeitem]').focus()")
    page.press("ArrowRight")
    page.press("ArrowDown")
    page.press("Enter")
    page.wait("document.querySelector(%s).textContent.includes('train.py:50')" % json.dumps(CRUMBS))
    page.wait("document.activeElement.getAttribute('role') === 'treeitem'")
    page.press("Backspace")
    page.wait("document.querySelector(%s).hidden" % json.dumps(CRUMBS))


def test_a_zoom_ends_with_its_tree(pages):
    page = opened(pages)
    page.click(*cell(page, 3))
    page.wait("!document.querySelector(%s).hidden" % json.dumps(CRUMBS))
    page.press("[")
    page.wait("document.querySelector(%s).hidden" % json.dumps(CRUMBS))
