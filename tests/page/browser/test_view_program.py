"""The page's program as it was written, without comments, and minified: all of them do the same."""
import shutil
import subprocess
import time

import pytest

import programs
from conftest import ROOT, some
from pages import EXAMPLES, Opened, plain, written

OOM = EXAMPLES / "oom.pickle"
# What is read of the page besides its picture.
TEXTS = ["#status-text", "#tabs", "#view > :not([hidden])", "#verdicts", "#details", "#who", "#oom"]


@pytest.fixture
def opened(browser, tmp_path):
    """Opens the recording with a form of the program; nothing is complained of."""
    made = []

    def open_one(form):
        path = tmp_path / (form + ".html")
        path.write_text(programs.with_program(written(OOM).read_text(encoding="utf-8"), form), encoding="utf-8")
        made.append(Opened(browser, path.as_uri(), 1280, 800))
        return made[-1].ready()

    yield open_one
    for page in made:
        complaints = page.complaints()
        page.close()
        assert complaints == []


def look(page):
    return [page.settled()] + [plain(page.text(selector)) for selector in TEXTS]


def at_rest(page, wanted):
    """A look at the page when it stands still, or as it is wanted to be."""
    end, last = time.monotonic() + 20, []
    while (got := look(page)) != wanted:
        last = [one for one in last if one == got] + [got]
        if time.monotonic() > end or (wanted is None and len(last) == 4):
            break
        time.sleep(0.1)
    return got


def seen(page, wanted=()):
    """What each view shows, by its key; then of an allocation that is pinned, and of a search."""
    found = []
    rest = lambda: found.append(at_rest(page, wanted[len(found)] if wanted else None))  # noqa: E731
    for key, shows in ("1", "canvas"), ("2", "canvas"), ("3", "tbody tr"), ("4", ".events li"), \
            ("5", "canvas[aria-label]"), ("6", "summary:not(:empty)"), ("7", "tbody tr"):
        page.press(key)
        page.wait("document.querySelector('#tabs [aria-selected=true]').textContent.startsWith('%s')" % key)
        page.wait("document.querySelector('#view > :not([hidden]) %s') !== null" % shows)
        # Patterns and back: the bars of State are drawn again in the width that is left beside them.
        page.press("K")
        page.press("K")
        rest()
    page.press("1")
    page.click(*page.plot(0.97, 0.4))
    page.wait("document.getElementById('details').className === 'pinned'")
    rest()
    page.press("/")
    page.type("site:model.py size>1MiB")
    page.press("Enter")
    page.says("#found", "allocations")
    rest()
    page.press("Escape")
    page.press("?")
    found.append(page.text("#help"))
    page.sound()
    return found


@pytest.mark.long
def test_every_form_of_the_program_shows_the_same(opened):
    wanted = seen(opened("source"))
    for form in some(["minified"], ["bare", "minified"]):
        assert seen(opened(form), wanted) == wanted, form


@pytest.mark.parametrize("form", programs.FORMS)
def test_every_form_runs_in_a_worker_and_is_strict(opened, form):
    page = opened(form)
    assert "worker" in [t["type"] for t in page.browser.send("Target.getTargets")["targetInfos"]]
    program = programs.bundler().texts_of(ROOT / "viewer", form == "source",
                                          programs.esbuild() if form == "minified" else None)["program"]
    assert program.startswith("'use strict';\n")


@pytest.mark.parametrize("form", programs.FORMS)
def test_the_script_of_a_worker_has_nothing_of_the_page(form):
    """Both are one text, of which a worker is given what stands before the mark, as the loader looks for it."""
    bundle = programs.bundler()
    texts = bundle.texts_of(ROOT / "viewer", form == "source", programs.esbuild() if form == "minified" else None)
    worker, mark, page = texts["program"].partition(bundle.MARK.strip())
    assert mark in texts["loader"] and "onmessage" in worker
    assert len(worker) < 0.4 * len(texts["program"])
    for word in ("getElementById", "createElement", "getContext", "addEventListener"):
        assert word not in worker and word in page, word


@pytest.mark.parametrize("folder", ["viewer", "viewer/index"])
def test_minified_text_is_shorter_and_the_same_each_time(folder, tmp_path):
    """Wherever the tree lies; and nothing of esbuild's own is in it."""
    bundle, esbuild = programs.bundler(), programs.esbuild()
    shutil.copytree(ROOT / "viewer", tmp_path / "elsewhere/viewer")
    texts = bundle.texts_of(ROOT / folder, False, esbuild)
    assert bundle.texts_of(tmp_path / "elsewhere" / folder, False, esbuild) == texts
    bare = bundle.texts_of(ROOT / folder, False, None)
    assert all(len(texts[name]) < len(bare[name]) for name in bare)
    for helper in ("defineProperty", "__", "tslib", "esbuild", str(ROOT)):
        assert helper not in "".join(texts.values())


def test_what_esbuild_says_stops_the_build(tmp_path):
    shutil.copytree(ROOT / "viewer/index", tmp_path / "index")
    (tmp_path / "index/style.css").write_text("p {\n  color: red;\n\n}}\n")
    done = subprocess.run([ROOT / "tools/bundle", "--minify", programs.esbuild(), tmp_path / "index"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and not done.stdout and "bundle: " in done.stderr and "style.css" in done.stderr
