"""The page groups by the words of `vramscope peak --by`: equal names, bytes and counts, row for row."""
import itertools
import json
import re
import shutil
import subprocess

import pytest
from recordings import named, random_recording, scripts, writers

from conftest import ROOT, environment, run, some
from pages import plain

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
# All of them but `culprit`, which is `line`.
WORDS = ("line", "owner", "site", "file", "function", "module", "category", "size", "pool", "stream", "age", "name",
         "path")

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")


def answers_of(path, word, *options):
    return run("peak", "--by", word, "--json", *options, path, expect=0).json()["devices"]


def questions_of(path, *options):
    """What each word is asked at, and what the command says: (device, word, answer)."""
    asked = []
    for word in WORDS:
        for place, device in enumerate(answers_of(path, word, *options)):
            if device["result"] is not None:
                asked.append((place, word, device["result"]))
    return asked


def of_page(page, asked):
    questions = [{"dev": place, "by": word, "at": told["at_event"]} for place, word, told in asked]
    done = subprocess.run(["node", ROOT / "tests/page/core/pages/page_rows.mjs", page], input=json.dumps(questions).encode(),
                          stdout=subprocess.PIPE, check=True, timeout=300)
    return json.loads(done.stdout)


def found_bytes(word, rows, row):
    """What a click on a row is to find: all that is called so; several sites of one line have numbers."""
    if word == "site" and not row[0].startswith("size:"):
        return row[1]
    return sum(other[1] for other in rows if other[0] == row[0])


def check(path, folder, *options):
    """How many rows were compared."""
    page, rows = folder / "page.html", 0
    run("view", path, "-o", page, expect=0)
    asked = questions_of(path, *options)
    for (place, word, told), got in zip(asked, of_page(page, asked), strict=True):
        wanted = [[row["name"], row["bytes"], row["count"], row["largest_bytes"], row["oldest_event"]]
                  for row in told["rows"]]
        assert got["rows"] == wanted, (path.name, place, word)
        assert got["adjust"] == told["adjust_bytes"], (path.name, place, word)
        if word != "age":
            assert got["found"] == [found_bytes(word, wanted, row) for row in wanted[:12]], (path.name, place, word)
        rows += len(wanted)
    return rows


@needs_node
@pytest.mark.parametrize("moment", ["peak", "200", "end"])
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_words_of_examples_are_those_of_peak(path, moment, tmp_path):
    assert check(path, tmp_path, "--at", moment) > 0


@needs_node
def test_words_of_invented_recordings_are_those_of_peak(tmp_path):
    rows = 0
    for seed in range(some(12, 200)):
        path = tmp_path / ("%d.pickle" % seed)
        path.write_bytes(writers.pickled(random_recording.make(seed), 4))
        rows += check(path, tmp_path)
    assert rows > 100


@needs_node
def test_names_that_the_program_gave_are_those_of_peak(tmp_path):
    """Names with and without a module, in brackets, blank, and words that could be places of a list."""
    names = {20: {"name": "model.layers.0.weight"}, 22: {"name": "model.cache['a.b']"}, 24: {"name": "  "},
             26: {"name": "0"}, 28: {"name": "optimizer.exp_avg of model.layers.0.weight", "kind": "optimizer_state"},
             30: {"name": "model.layers.0.weight"}, 32: {"name": "(no name)"}}
    path = named.written(tmp_path, scripts.make(named.LAYERS), names)
    told = {word: {row["name"] for row in answers_of(path, word, "--at", "end")[0]["result"]["rows"]}
            for word in ("name", "path")}
    assert told["name"] > {"0", "model.cache['a.b']"} and told["path"] > {"model", "(no module)"}
    assert check(path, tmp_path, "--at", "end") > 0


@needs_node
def test_words_of_real_files_are_those_of_peak(shared, tmp_path):
    rows = {path.name: check(path, tmp_path) for path in sorted((shared / "data/snapshots").iterdir())}
    assert len(rows) > 30 and sum(rows.values()) > 4000, rows


# Ten megabytes that precede the recording, what names none, and four lines of two files and two streams.
SCRIPT = """stack one model.py:10 forward < run.py:2 main
stack two layers/block.py:31 forward < model.py:11 forward < run.py:2 main
alloc old 10MiB one
window late
alloc a 16MiB one
alloc b 4MiB two stream 7
alloc c 4MiB two pool 7
alloc d 24MiB one
"""


def chosen(page, word):
    """The rows of *Who* under a word, each with its name, bytes, share, count, largest and since."""
    page.ask("(() => { const s = document.querySelector('#who select'); s.value = '%s';"
             " s.dispatchEvent(new Event('change')); })()" % word)
    page.says("#who caption", "by " + word)
    rows = page.ask("[...document.querySelectorAll('#who tr[data-row]')].map((r) => [...r.cells].map((c) =>"
                    " (c.querySelector('button:not([data-peel])') ?? c).textContent))")
    return [[plain(text) for text in row] for row in rows]


def printed(path, word):
    """The names of the command's table, in its order."""
    made = run("peak", "--by", word, path, expect=0, env=dict(environment(), COLUMNS="200")).out
    heading, *lines = made[re.search(r"^ *bytes", made, re.M).start():].split("\n")
    at = heading.index(word)
    return [line[at:].split("  ")[0].strip() for line in itertools.takewhile(lambda line: " total" not in line, lines)
            if re.match(r" *[\d.]+ [KMG]?i?B", line)]


@pytest.fixture
def mixed(tmp_path):
    return scripts.make(SCRIPT)


def test_the_list_has_the_words_in_their_order(pages, mixed):
    """A recording offers what it can be split by: this one has no names."""
    page = pages(mixed)
    page.settled()
    options = page.ask("[...document.querySelectorAll('#who select option')].map((o) => [o.value, o.textContent])")
    assert [value for value, _ in options] == ["line", "category", "owner", "module", "site", "file", "function", "phase",
                                               "pool", "stream", "size", "age", "birth"]
    assert all(value == text for value, text in options[:-1])
    assert page.state()["by"] == "line" and page.text("#who caption").endswith("by line")


def test_who_calls_rows_as_peak_prints_them(pages, mixed):
    page = pages(mixed)
    page.settled()
    for word in WORDS[:-2]:
        assert [row[0] for row in chosen(page, word)] == printed(mixed, word), word
    page.sound()


def test_a_row_of_each_word_finds_what_it_holds(pages, mixed):
    """A click on the first row: the search has its bytes, and says so at the cursor."""
    page = pages(mixed)
    page.settled()
    for word in WORDS[:-2]:
        name, held, *_ = chosen(page, word)[0]
        if word == "age":  # ages are told to the cursor, which no search names
            continue
        page.press_on("#who tr[data-row] button")
        page.says("#found", held + " at the cursor")
        page.press("Escape")
    page.sound()


def test_an_old_link_by_culprit_is_by_line(pages, mixed):
    page = pages(mixed, fragment="#v=1&by=culprit")
    page.settled()
    assert page.state()["by"] == "line" and page.text("#status-note") == ""


def test_a_recording_with_names_is_told_by_name_and_by_path(pages, tmp_path):
    path = named.written(tmp_path, scripts.make(named.LAYERS), {20: {"name": "model.layers.0.weight"}})
    page = pages(path)
    page.settled()
    assert "model.layers.0.weight" in [row[0] for row in chosen(page, "name")]
    assert "model.layers.0" in [row[0] for row in chosen(page, "path")]


def test_without_stacks_memory_is_told_by_size(pages):
    page = pages(scripts.make("no_stacks\nalloc a 3MiB\nalloc b 5MiB\n"))
    page.settled()
    page.says("#who caption", "by size")
    assert [row[0] for row in chosen(page, "size")] == ["5.00 MiB (5242880)", "3.00 MiB (3145728)"]
