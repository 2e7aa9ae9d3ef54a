"""What the page shows while answers of its worker are late: what was asked, never a mixture of then and now."""
import time

import pytest

from pages import EXAMPLES, plain

TRAIN, OOM = EXAMPLES / "train.pickle", EXAMPLES / "oom.pickle"
# Answers to the operations that `late` names come so many ms later.
LATE = """self.late = {};
if (self.Worker) Object.defineProperty(Worker.prototype, 'onmessage', { set(hear) {
  this.addEventListener('message', (event) => {
    const ms = self.late[event.data.op] ?? 0;
    if (ms) setTimeout(() => hear(event), ms);
    else hear(event);
  });
} });"""
PARTS = "#who", "#film", "#details", "#status-text"
CAPTION = "document.querySelector('#who caption').textContent"


@pytest.fixture
def slow(pages):
    """Opens recordings in a page whose answers can be made late."""
    def open_one(*arguments, fragment="#v=1&by=line"):
        page = pages(*arguments, fragment=fragment,
                     before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=LATE))
        page.settled()
        return page
    return open_one


def late(page, **ms):
    page.ask("Object.assign(self.late, { %s }); 0" % ", ".join("%s: %d" % pair for pair in ms.items()))


def caption(page):
    return plain(page.ask(CAPTION))


def seen(page, selector):
    return plain(page.ask("document.querySelector('%s').innerText" % selector))


def names(page):
    return page.ask("[...document.querySelectorAll('#who tr[data-row] button')].map((one) => one.textContent)")


def test_rows_keep_the_words_they_were_asked_with(slow):
    page = slow(OOM)
    rows = names(page)
    late(page, live=700)
    page.ask("location.hash = '#v=1&by=category'; 0")
    page.press("W", modifiers=8)
    page.wait("document.querySelector('#who select').value === 'category' && document.getElementById('who').classList.contains('wide')")
    assert caption(page).endswith("by line") and names(page) == rows
    page.wait(CAPTION + ".endsWith('by category')")
    assert names(page) != rows
    page.sound()


def test_what_is_taken_out_is_said_of_bytes_that_are_without_it(slow):
    page = slow(OOM)
    whole = plain(page.text("#status-text"))
    late(page, live=700)
    page.press_on("#who [data-peel]")
    page.wait("location.hash.includes('without') || document.querySelector('.peel:not([hidden])') !== null")
    said = set()
    end = time.monotonic() + 10
    while "without" not in (text := plain(page.text("#status-text"))):
        assert time.monotonic() < end
        said.add(text.split("   |   ")[0])
        time.sleep(0.02)
    assert said <= {whole.split("   |   ")[0]}
    assert text.split(" requested")[0] != whole.split(" requested")[0]
    page.sound()


@pytest.mark.parametrize("op", ["live", "cover", "moments", "raster", "peel", "row", "find"])
def test_another_file_is_not_told_the_answers_of_the_first(slow, op):
    """Those that come when it is open."""
    page = slow(OOM, TRAIN, fragment="#v=1&view=stack&by=line&file=1")
    wanted = [seen(page, one) for one in PARTS]
    shown = page.settled()
    page.ask("location.hash = '#v=1&view=stack&by=line&file=0'; 0")
    page.wait("document.querySelector('#film li') !== null")
    page.settled()
    late(page, **{op: 400})
    page.press_on("#who [data-peel]")
    page.press("ArrowLeft")
    time.sleep(0.1)
    page.ask("location.hash = '#v=1&view=stack&by=line&file=1'; 0")
    time.sleep(1.2)
    late(page, **{op: 0})
    assert page.settled() == shown
    for selector, text in zip(PARTS, wanted):
        assert seen(page, selector) == text, selector
    page.sound()


def test_the_strip_is_there_again_after_another_file(slow):
    page = slow(OOM, TRAIN, fragment="#v=1&view=stack&by=line")
    page.wait("document.querySelectorAll('#film li').length === 20")
    strip = seen(page, "#film")
    page.ask("location.hash = '#v=1&view=stack&by=line&file=1'; 0")
    page.wait("document.getElementById('film').hidden")
    page.settled()
    page.ask("location.hash = '#v=1&view=stack&by=line&file=0'; 0")
    page.wait("document.querySelectorAll('#film li').length === 20")
    assert seen(page, "#film") == strip
    page.sound()


def test_back_at_once_to_a_file_without_some_rows(slow):
    """Before anything of the other came: its curve and its peak are there."""
    link = "#v=1&view=stack&by=line&without=%5B%22line%22%2C%22model.py%3A22%20forward%22%5D"
    page = slow(OOM, TRAIN, fragment=link)
    page.says(".peel", "the peak would be 11.20 GiB")
    shown = page.settled()
    late(page, cover=300)
    page.ask("location.hash = '%s&file=1'; 0" % link)
    time.sleep(0.05)
    page.ask("location.hash = '%s&file=0'; 0" % link)
    time.sleep(0.8)
    late(page, cover=0)
    page.says(".peel", "the peak would be 11.20 GiB")
    page.wait("document.querySelector('#view .plot').getAttribute('aria-label').includes('peak 11.20')")
    assert page.settled() == shown
    page.sound()


def test_pointing_is_answered_after_back_to_what_is_taken_out(slow):
    page = slow(OOM)
    page.press_on("#who [data-peel]")
    page.wait("document.querySelector('.peel:not([hidden])') !== null")
    page.settled()
    page.ask("location.hash = location.hash.replace(/&at=[0-9]+/, '') + '&at=1000'; 0")
    page.says("#who caption", "event 999")
    page.ask("history.back(); 0")
    page.says("#who caption", "event 3160")
    page.settled()
    page.mouse("mouseMoved", *page.plot(0.7, 0.1))
    page.wait("!document.getElementById('readout').hidden")
    page.sound()


def test_a_search_is_told_of_the_file_that_is_open(slow):
    """Its answer of the file that was open for a moment comes to nothing."""
    link = "#v=1&view=stack&by=line&q=forward"
    page = slow(OOM, TRAIN, fragment=link)
    page.says("#found", "allocations")
    found = seen(page, "#found")
    late(page, find=300, cover=100)
    for file in (1, 0, 1, 0):
        page.ask("location.hash = '%s&file=%d'; 0" % (link, file))
        time.sleep(0.05)
    time.sleep(0.9)
    late(page, find=0, cover=0)
    page.settled()
    assert seen(page, "#found") == found
    page.press_on("#found [aria-pressed]")
    page.wait("document.querySelector('#found [aria-pressed]').getAttribute('aria-pressed') === 'true'")
    assert page.state()["only"] == "1"
    page.sound()
