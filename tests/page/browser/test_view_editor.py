"""Frames of the page of `vramscope view` that open in an editor: a fixed list of schemes, paths as data."""
from conftest import run

from recordings import scripts
from pages import EXAMPLES

SCRIPT = """
stack one /job/src/NAME.py:7 main < SCHEME//x.py:3 run < run.py:9 main
alloc a 4MiB one
"""
NAMES = {"NAME": "a b\"&#?%", "SCHEME": "javascript:alert(1)"}
LINKS = "[...document.querySelectorAll('#details a')].map((a) => a.getAttribute('href'))"


def pinned(pages, *arguments):
    page = pages(*arguments, fragment="#v=1&sel=a0")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    return page


def test_no_frame_is_a_link_unless_asked_for(pages):
    assert pinned(pages, scripts.renamed(SCRIPT, NAMES)).ask(LINKS) == []


def test_frames_are_links_to_the_editor(pages):
    path = scripts.renamed(SCRIPT, NAMES)
    page = pinned(pages, path, "--editor", "vscode")
    assert page.ask(LINKS) == ["vscode://file/job/src/a%20b%22%26%23%3F%25.py:7"]
    page = pinned(pages, path, "--editor", "idea", "--editor-path", "/job=/home/me")
    assert page.ask(LINKS) == ["idea://open?file=/home/me/src/a%20b%22%26%23%3F%25.py&line=7"]
    page = pinned(pages, path, "--editor", "zed", "--editor-path", "javascript:=/x?")
    assert page.ask(LINKS) == ["zed://file/job/src/a%20b%22%26%23%3F%25.py:7", "zed://file/x%3Falert(1)//x.py:3"]


def test_the_dialog_turns_them_on_and_off(pages):
    page = pinned(pages, scripts.renamed(SCRIPT, NAMES))
    page.press("?")
    page.wait("document.getElementById('help').open")
    choose = ("(() => { const s = document.querySelector('#help select'); s.value = '%s';"
              " s.dispatchEvent(new Event('change')); })()")
    page.ask(choose % "cursor")
    page.wait(LINKS + ".length === 1")
    assert page.ask(LINKS)[0].startswith("cursor://file/job/src/")
    assert page.ask("[...document.querySelectorAll('#help select option')].map((o) => o.value)") == [
        "", "vscode", "vscode-insiders", "cursor", "zed", "idea", "pycharm"]
    page.ask(choose % "")
    page.wait(LINKS + ".length === 0")


def test_other_editors_are_refused():
    for words in (["--editor", "javascript"], ["--editor", "http"], ["--editor-path", "/a"]):
        assert run("view", EXAMPLES / "oom.pickle", *words, "-o", "-").code == 2
