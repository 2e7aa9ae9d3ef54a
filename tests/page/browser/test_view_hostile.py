"""Strings that would be more than text, wherever a recording has strings: the page of `vramscope view` shows them."""
import shutil

import pytest

from conftest import some
from recordings import scripts

NAMES = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>",
         "a\u202eyp.live", "\u2066left\u2069\u0000\u0007\u0085", "&lt;b&gt; &amp;", "=HYPERLINK(\"http://example.org\")",
         "${alert(1)} {{7*7}} %s %n", "long" * 262144, "\u4e2d\u6587 \U0001f600 e\u0301"]
SCRIPT = """
stack init @malloc < model.py:3 build < run.py:12 main
stack one @malloc < FILE:7 FUNC < OUTER:3 CALLER < run.py:9 main
stack gone @release < FILE:8 FREES < run.py:10 main
include torch.stacks
alloc w 64MiB init
repeat 3 {
  mark ANNOTATION start
  alloc a$i 8MiB one metadata META category CATEGORY compile COMPILE
  alloc b 4MiB one
  free b gone
  mark ANNOTATION end
  user_defined EVENT
}
""".replace("include torch.stacks\n", "")
WORDS = ("FILE", "FUNC", "OUTER", "CALLER", "FREES", "ANNOTATION", "META", "CATEGORY", "COMPILE", "EVENT")


def hostile(name):
    script = "include torch.stacks\n" + SCRIPT.lstrip("\n")
    return scripts.renamed(script, {word: name for word in WORDS})


@pytest.mark.parametrize("name", NAMES[::some(4, 1)], ids=lambda name: ascii(name[:9]))
def test_names_are_text_in_every_view(pages, tmp_path, name):
    made = hostile(name)
    path = tmp_path / (name[:40].replace("/", "_").replace("\0", "") + ".pickle")
    shutil.copy(made, path)
    page = pages(path)
    page.settled()
    page.ask("self.alerted = 0; self.alert = () => { self.alerted++; }; 0")
    for _ in range(3):  # the temporary, the weights, the first that is named so
        page.press("ArrowUp")
    page.press("Enter")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.press("h")
    for key in "23456781":
        page.press(key)
        page.wait("document.querySelector('[role=tab][aria-selected=true] kbd').textContent === '%s'" % key)
    page.press("g")
    page.says("#who caption", "by category")
    page.press("e")
    page.wait("document.getElementById('export').open")
    page.press("Escape")
    page.sound()
    found = page.ask("[document.querySelectorAll('img, svg, iframe, object, embed').length, document.scripts.length,"
                     " self.alerted, document.body.innerHTML.length]")
    assert found[0] == 0 and found[2] == 0
    shown = page.text("#page")
    assert not any(c in shown for c in "\u202e\u2066\u2069\u0000\u0007\u0085")
    if name.startswith("a\u202e"):
        assert "a\\u{202e}yp.live" in shown
    elif len(name) < 100 and "\0" not in name:
        assert name in shown
    # Nothing runs out of the page: what is too long is cut or scrolls where it stands.
    assert page.ask("document.documentElement.scrollWidth <= innerWidth && document.body.scrollWidth <= innerWidth")


def test_the_line_of_the_answer_is_a_link_whatever_it_is_called(pages):
    """The report's sentence has the name escaped, as the page shows it."""
    made = scripts.renamed("\nstack one a.py:7 FUNC < run.py:9 main\nalloc a 8MiB one\nalloc b 1MiB one\n",
                           {"FUNC": "a\u202eyp\x1b.live"})
    page = pages(made)
    page.wait("document.querySelector('#card .line') !== null")
    assert page.text("#card .line") == "a.py:7 a\\u{202e}yp\\x1b.live"
    page.ask("document.querySelector('#card .line').click()")
    page.wait("document.getElementById('query').value.includes('a.py:7')")
    page.sound()


def test_the_check_for_requests_would_see_one(browser, pages):  # noqa: F811
    """A picture from elsewhere in the page is refused by its policy, and this suite hears of it."""
    page = pages(hostile("x"))
    page.ask("(() => { const i = document.createElement('img'); i.src = 'http://127.0.0.1:9/x.png';"
             " document.body.append(i); })()")
    page.wait("true")
    for _ in range(50):
        page.ask("new Promise((done) => setTimeout(done, 20))")
        if page.complaints():
            break
    assert page.complaints()
    browser.events = [e for e in browser.events if e.get("sessionId") != page.session]
    with pytest.raises(AssertionError):
        page.ask("document.body.innerHTML = '<b>x</b>'")
    browser.events = [e for e in browser.events if e.get("sessionId") != page.session]
