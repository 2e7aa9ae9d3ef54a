"""The room of the panel of a selected range."""
import pytest

from pages import EXAMPLES

SEEN = """(() => { const box = document.querySelector(%r + ' .rows:not(.allocations)');
  const { top, bottom, left, right } = box.getBoundingClientRect();
  const foot = box.querySelector('tfoot').getBoundingClientRect().top;
  return { wide: box.scrollWidth - box.clientWidth,
    rows: [...box.querySelectorAll('tr[data-row]')].filter((row) => { const b = row.getBoundingClientRect();
      return b.top >= top + 20 && b.bottom <= Math.min(foot + 1, innerHeight); }).length,
    heads: [...box.querySelectorAll('th[scope=col]')].filter((one) => one.getClientRects().length)
      .map((one) => one.textContent.replace(/ [\\u25be\\u25b4]$/, '')) }; })()"""


@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (2000, 900)])
def test_the_table_of_a_range_fits(pages, size):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&view=stack&range=329-2466", size=size)
    page.wait("document.querySelector('#range tbody tr[data-row]') !== null")
    page.ask("document.getElementById('range').scrollIntoView()")
    page.settled()
    seen = page.ask(SEEN % "#range")
    assert seen["wide"] <= 0 and seen["rows"] >= 4, seen
    assert seen["heads"][:2] == ["by line", "change"]
    page.ask("document.getElementById('who').scrollIntoView()")
    assert page.ask(SEEN % "#who")["rows"] >= 3
    page.press("Escape")
    page.wait("document.getElementById('range').hidden && !document.getElementById('card').hidden")
    assert page.box("#card")[3] > 40
    page.sound()
