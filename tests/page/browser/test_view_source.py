"""The text of the user's lines, where `vramscope view --user-root` finds their files: in the page, and in what it shows."""
import json
import os
from itertools import accumulate

import pytest
from models import page
from recordings import scripts

from conftest import run
from pages import EXAMPLES, plain

MODEL = (EXAMPLES / "tinylm" / "model.py").read_text(encoding="utf-8").splitlines()
CODE = "[...document.querySelectorAll('%s code.source')].map((node) => node.textContent)"
HOSTILE = "x = '</script><img src=x onerror=alert(1)>' # a\u202eb \u2028 &amp;"


def read(*arguments):
    return page.Page(run("view", *arguments, "-o", "-", expect=0).raw.decode())


def texts(*arguments):
    """By line: its text in the page, what holds most at the peak first."""
    return {one["site"]: one["text"] for one in read(*arguments).head["source"]}


def row_of(path, site):
    """The first allocation of a line."""
    told = read(path)
    device = told.head["files"][0]["devices"][0]
    site = told.strings(device).index(site)
    sites = told.table(device, "stack")["culprit"]
    return next(row for row, stack in enumerate(told.table(device, "alloc")["stack"]) if sites[stack] == site)


def pinned(pages, site, path, *arguments):
    opened = pages(path, *arguments, fragment="#v=1&by=line&sel=a%d" % row_of(path, site))
    opened.wait("document.getElementById('details').classList.contains('pinned')")
    return opened


def test_a_line_stands_with_its_text_from_the_file(pages):
    opened = pinned(pages, "model.py:22 forward", EXAMPLES / "oom.pickle", "--user-root", EXAMPLES / "tinylm")
    want = MODEL[21].strip()
    assert "softmax" in want
    assert opened.ask(CODE % "#details") == [want]
    # Below the line, above all else there is to say.
    assert opened.ask("[...document.querySelector('#details').children].slice(0, 3).map((n) => n.textContent)") == [
        "model.py:22 forward", want, "module model.py:71 > model.py:49 > model.py:22"]
    assert want in opened.ask("document.querySelector('#card .line').title")
    opened.says("#who caption", "by line")
    assert want in opened.ask("[...document.querySelectorAll('#who td.name button')].map((b) => b.title)")[0]
    opened.mouse("mouseMoved", *opened.plot(0.98, 0.5))
    opened.wait("document.querySelector('#readout code.source') !== null")
    assert opened.ask(CODE % "#readout")[0] in [line.strip() for line in MODEL]
    opened.sound()


def test_without_the_file_there_is_no_text(pages):
    opened = pinned(pages, "model.py:22 forward", EXAMPLES / "oom.pickle")
    assert opened.text("#details .identity") == "model.py:22 forward"
    assert opened.ask("document.querySelectorAll('code.source').length") == 0
    assert opened.ask("document.querySelector('#card .line').title") == "show what this line allocated"


def test_only_the_option_lets_files_be_read(tmp_path):
    """The page of a folder without the files is the page without the option, byte by byte."""
    path = EXAMPLES / "oom.pickle"
    assert texts(path) == {}
    assert run("view", path, "-o", "-").raw == run("view", path, "--user-root", tmp_path / "gone", "-o", "-").raw
    assert texts(path, "--user-root", EXAMPLES / "tinylm")["model.py:22 forward"] == MODEL[21].strip()


@pytest.mark.parametrize("folder, said", (
    ("src", "the page has no text of lines, as none was found: /home/user/tinylm/model.py, for one, does not lie in it,"
            " and no folder of that path is called src"),
    ("bare/tinylm", "the page has no text of lines, as none was found: line 22 of /home/user/tinylm/model.py, for one, is"
                    " not in bare/tinylm/model.py"),
    ("gone", "no such folder on this machine: frames under it are your own code, and the page has no text of their lines"),
))
def test_where_no_line_is_found_it_is_said_where_one_was_looked_for(tmp_path, monkeypatch, folder, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "tinylm").symlink_to(EXAMPLES / "tinylm")
    (tmp_path / "bare" / "tinylm").mkdir(parents=True)
    done = run("view", EXAMPLES / "oom.pickle", "--user-root", folder, "-o", "x.html", expect=0)
    assert done.err == "vramscope: warning: --user-root %s: %s\n" % (folder, said)
    assert run("view", EXAMPLES / "oom.pickle", "--user-root", "src/tinylm", "-o", "x.html", expect=0).err == ""
    # A picture has no lines.
    assert run("view", EXAMPLES / "oom.pickle", "--user-root", folder, "-o", "x.svg", expect=0).err == ""


def test_a_recording_without_lines_of_its_own_says_so(tmp_path):
    done = run("view", scripts.make("\nalloc a 4MiB\n"), "--user-root", tmp_path, "-o", tmp_path / "x.html", expect=0)
    assert "the recording names no line of your own code" in done.err


@pytest.fixture
def evil(tmp_path):
    """A folder with a file whose every line has the text, and a recording of one of the lines."""
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "evil.py").write_text("\n" * 6 + "    " + HOSTILE + "\r\n", encoding="utf-8")
    return scripts.make("\nstack one /run/job/evil.py:7 main < /run/job/run.py:9 main\nalloc a 4MiB one\n")


def test_text_of_a_file_is_no_markup(pages, evil, tmp_path):
    assert texts(evil, "--user-root", tmp_path / "job") == {"evil.py:7 main": HOSTILE}
    opened = pages(evil, "--user-root", tmp_path / "job", fragment="#v=1&sel=a0")
    opened.wait("document.querySelector('#details code.source') !== null")
    assert opened.ask(CODE % "#details") == [HOSTILE.replace("\u202e", "\\u{202e}").replace("\u2028", "\\u{2028}")]
    assert opened.ask("document.querySelectorAll('img').length") == 0
    opened.sound()


def test_no_link_leads_out_of_the_folder(evil, tmp_path):
    inside = tmp_path / "job" / "evil.py"
    os.replace(inside, tmp_path / "evil.py")
    inside.symlink_to("../evil.py")
    assert texts(evil, "--user-root", tmp_path / "job") == {}
    assert texts(evil, "--user-root", tmp_path) == {}
    os.unlink(inside)
    os.mkfifo(inside)
    assert texts(evil, "--user-root", tmp_path / "job") == {}


def test_what_holds_most_has_its_text_and_no_more_than_64_kib(tmp_path):
    """Lines of 400 letters are cut; of those of the wide letters the last have no room."""
    lines, wide = 600, "\U0001f600" * 400
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "many.py").write_text("y" * 400 + "\n" + (wide + "\n") * lines, encoding="utf-8")
    script = "".join("stack s%d /run/job/many.py:%d main\nalloc a%d %dKiB s%d\n" % (i, i, i, 4 * i, i)
                     for i in range(1, lines))
    got = read(scripts.make("\n" + script), "--user-root", tmp_path / "job").head["source"]
    assert [one["line"] for one in got] == list(range(lines - 1, lines - 1 - len(got), -1))
    assert {one["text"] for one in got} == {"\U0001f600" * 200 + "\u2026"}
    # As they are written: in bytes, with their names and what stands between.
    taken = sum(len(json.dumps(one, ensure_ascii=False).encode()) + len("{  }, ") - len("{}") for one in got)
    assert 63 << 10 < taken <= 64 << 10
    one = scripts.make("\nstack s /run/job/many.py:1 main\nalloc a 4KiB s\n")
    assert texts(one, "--user-root", tmp_path / "job") == {"many.py:1 main": "y" * 200 + "\u2026"}


def test_two_files_of_one_name_have_no_text_for_one_line(pages, tmp_path):
    """Who reads `a.py:1 main` cannot know which of them it is."""
    for name, text in (("b", "one = 1\n\n"), ("c", "two = 2\n\n")):
        (tmp_path / "job" / name).mkdir(parents=True)
        (tmp_path / "job" / name / "a.py").write_text(text)
    path = scripts.make("\nstack one /job/b/a.py:1 main\nstack two /job/c/a.py:1 main\nalloc a 4MiB one\n"
                        "alloc b 4MiB two\n")
    assert sorted(one["text"] for one in read(path, "--user-root", tmp_path / "job").head["source"]) == [
        "one = 1", "two = 2"]
    opened = pinned(pages, "a.py:1 main", path, "--user-root", tmp_path / "job")
    assert plain(opened.text("#details .identity")) == "a.py:1 main"
    assert opened.ask("document.querySelectorAll('code.source').length") == 0


def test_details_draw_the_line_over_the_recording(pages):
    """What the line held at most, as the columns of the page add up to."""
    path = EXAMPLES / "oom.pickle"
    opened = pinned(pages, "model.py:22 forward", path)
    label = plain(opened.ask("document.querySelector('#details canvas.spark').getAttribute('aria-label')"))
    told = read(path)
    [device] = told.head["files"][0]["devices"]
    alloc, site = told.table(device, "alloc"), told.strings(device).index("model.py:22 forward")
    sites = told.table(device, "stack")["culprit"]
    rows = [row for row, stack in enumerate(alloc["stack"]) if sites[stack] == site]
    change = [0] * (device["states"] + 1)
    for row in rows:
        change[alloc["born"][row]] += alloc["bytes"][row]
        if alloc["until"][row]:
            change[alloc["born"][row] + alloc["until"][row]] -= alloc["bytes"][row]
    most = max(accumulate(change))
    assert label == "this site over the recording, at most %.2f GiB" % (most / (1 << 30))
    # Something is drawn, and not everywhere.
    drawn = opened.ask("(() => { const c = document.querySelector('#details canvas.spark'); const at ="
                       " c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((_, i) => i % 4 === 3);"
                       " return at.filter((a) => a).length / at.length; })()")
    assert 0.05 < drawn < 0.95
    # A page of some events knows too little for it.
    some = pages(path, "--from", "2000", "--to", "2100", fragment="#v=1&sel=a%d" % 5)
    some.wait("document.getElementById('details').classList.contains('pinned')")
    assert some.ask("document.querySelectorAll('#details canvas.spark').length") == 0
