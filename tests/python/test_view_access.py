"""The page of `vramscope view` for everybody: axe-core, narrow windows, zoom, paper, system colours, fingers."""
import json
from importlib import util
from pathlib import Path

import pytest

import recordings
from pages import EXAMPLES, browser, pages  # noqa: F401

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
VIEWS = ("stack", "groups", "map", "state", "flame", "leaks", "diff")


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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_violation_in_any_view(pages, axe, view, theme):
    page = pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=%s&theme=%s" % (view, theme))
    page.settled()
    assert violations(page, axe) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("what", ["keys", "table", "export", "pinned", "report", "checks"])
def test_no_violation_in_what_opens(pages, axe, what, theme):
    path = recordings.make("late_streams") if what == "checks" else EXAMPLES / "oom.pickle"
    more = "&sel=a40&q=cat:activation&range=9-2000" if what == "pinned" else ""
    page = pages(path, fragment="#v=1&theme=%s%s" % (theme, more))
    page.settled()
    shown = {"keys": ("?", "document.getElementById('help').open"),
             "table": ("W", "document.getElementById('who').classList.contains('wide')"),
             "export": ("e", "document.getElementById('export').open"),
             "pinned": (None, "document.getElementById('details').classList.contains('pinned')"
                              " && !document.getElementById('range').hidden"),
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
