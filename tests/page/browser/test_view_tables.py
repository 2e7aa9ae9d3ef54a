"""Tables of the page of `vramscope view`: each can be scrolled to its last row, wherever it scrolls."""
import json
import time

import pytest
from recordings import scripts

from pages import plain, size

SITES = 60
SCRIPT = "\n".join([
    "capacity 80GiB", "include torch.stacks", "stack main run.py:40 main < run.py:44 <module>",
    "stack first @malloc < model.py:1 first < @main", "stack free_first @release < model.py:2 drop < @main",
    *("stack s%d @malloc < model.py:%d line < run.py:12 build < @main" % (n, n + 100) for n in range(SITES)),
    "alloc first 8GiB first", "mark ProfilerStep#0 start",
    *("alloc x%d %dMiB s%d" % (n, n + 2, n) for n in range(SITES)),
    "mark ProfilerStep#0 end", "mark ProfilerStep#1 start", "free first free_first", "alloc last 2MiB s0", "mark ProfilerStep#1 end", ""])

# Of each table in sight: its caption, its rows that are made, and whether the last lies in sight after scrolling.
TABLES = """(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = [];
  for (const box of document.querySelectorAll('.rows')) {
    if (!box.getClientRects().length || !box.querySelector('tr[data-row]')) continue;
    for (let turn = 0; turn < 3; turn++) {
      for (let node = box; node; node = node.parentElement) {
        if (['auto', 'scroll'].includes(getComputedStyle(node).overflowY)) node.scrollTop = node.scrollHeight;
      }
      await frame();
    }
    const row = [...box.querySelectorAll('tbody tr')].at(-1);
    const { top, bottom } = row.getBoundingClientRect();
    let [low, high] = [0, innerHeight];
    for (let node = box; node; node = node.parentElement) {
      if (getComputedStyle(node).overflowY === 'visible') continue;
      const clip = node.getBoundingClientRect();
      [low, high] = [Math.max(low, clip.top), Math.min(high, clip.bottom)];
    }
    found.push([box.querySelector('caption').textContent, row.matches('[data-row]'), bottom > low && top < high, row.cells[0].textContent]);
  }
  return found;
})()"""


@pytest.fixture
def many(pages):
    shown = pages(scripts.make(SCRIPT), fragment="#v=1&by=site&at=2&range=2-118")
    shown.ready()
    return shown


def last_rows(page, name, seconds=10):
    """What is at the end of each table, once one named so is there."""
    end = time.monotonic() + seconds
    while True:
        found = page.ask(TABLES)
        if any(name in caption for caption, *_ in found):
            return found
        assert time.monotonic() < end, (name, found)


@pytest.mark.parametrize("key, name", [("1", "What changed"), ("6", "Born in a step"), ("7", "What differs"), ("1", "requested at")])
def test_each_table_reaches_its_last_row(many, key, name):
    many.press(key)
    for caption, is_row, in_sight, text in last_rows(many, name):
        assert is_row and in_sight and text, (caption, text)


@pytest.mark.parametrize("size", [(1280, 800), (1000, 700), (900, 500), (390, 844)])
def test_state_reaches_its_last_segment(pages, size):
    page = pages(scripts.make(SCRIPT), fragment="#v=1&by=site&view=state&at=117", size=size)
    page.says("#view", "segments")
    page.settled()
    total = int(plain(page.text("#view > :not([hidden]) .bar")).split(" segments")[0].split("\u203a")[1])
    page.ask("""(async () => { for (let turn = 0; turn < 4; turn++) {
      for (let node = document.querySelector('.segments'); node; node = node.parentElement) node.scrollTop = node.scrollHeight;
      document.scrollingElement.scrollTop = document.querySelector('.segments').getBoundingClientRect().bottom + scrollY - innerHeight;
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    } })()""")
    shown = page.ask("""[...document.querySelectorAll('.segments tbody tr')].filter((row) => { const { top, bottom } = row.getBoundingClientRect();
      return bottom > 0 && top < innerHeight; }).map((row) => row.getAttribute('aria-hidden'))""")
    assert total > 30 and shown and None in shown and shown[-1] is None, (size, total, shown)


def rows_of(page, caption):
    return page.ask("[...document.querySelectorAll('.rows')].filter((box) => box.getClientRects().length && box.querySelector('caption')"
                    ".textContent.includes(%s)).map((box) => [...box.querySelectorAll('tr[data-row]')].map((row) => [...row.cells]"
                    ".map((cell) => cell.textContent)))[0]" % json.dumps(caption))


def test_what_changed_most_is_first(many):
    last_rows(many, "What changed")
    many.ask("document.querySelector('#range .rows').scrollTop = 0")
    many.says("#range", "first")
    changes = [plain(row[1]) for row in rows_of(many, "What changed")]
    assert changes[0].startswith("\u2212") and changes[1].startswith("+")
    amounts = [abs(size(change.lstrip("+"))) for change in changes]
    assert amounts == sorted(amounts, reverse=True)
