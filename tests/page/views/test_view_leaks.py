"""Leaks on the page of `vramscope view`: its list is that of `vramscope leaks`, row for row."""
import re

import pytest

from conftest import environment, run
from models import page as reader
from pages import EXAMPLES, plain
from recordings import scripts

BUNDLED = sorted(EXAMPLES.glob("*.pickle"))
CALM = ("stable", "replaced")
# Steps that keep a page each, fill a cache that stops growing, and one that is emptied now and then.
STEPS = 30
LONG = "\n".join([
    "capacity 80GiB", "include torch.stacks", "stack main run.py:40 main < run.py:44 <module>",
    "stack init @malloc < model.py:9 __init__ < @main", "stack kept @malloc < run.py:25 remember < @main",
    "stack full @malloc < run.py:26 fill < @main", "stack heap @malloc < run.py:27 gather < @main",
    "stack empty @release < run.py:28 flush < @main", "alloc weight 64MiB init", "repeat %d {" % STEPS,
    "  mark ProfilerStep#$i start", "  alloc kept$i 16MiB kept", "  if $i < 5 {", "    alloc full$i 8MiB full", "  }",
    "  alloc heap$i 8MiB heap", "  if $i%5 == 4 {",
    *("    free heap$($i-%d) empty" % k for k in range(5)), "  }", "  mark ProfilerStep#$i end", "}", ""])
# More lines than the page has rows.
LINES = 503
MANY = "\n".join([
    "capacity 80GiB", "include torch.stacks", "stack main run.py:40 main < run.py:44 <module>",
    *("stack s%d @malloc < model.py:%d line < @main" % (n, n + 1) for n in range(LINES)),
    *(line for step in range(3) for line in (
        "mark ProfilerStep#%d start" % step,
        *("alloc x%d %dKiB s%d" % (n, n + 1, n) for n in range(LINES) if step == 0),
        "alloc y%d 4MiB s0" % step, "free y%d free_saved" % step, "mark ProfilerStep#%d end" % step)), ""])

VIEW = "document.querySelector('#view > :not([hidden])')"
LISTED = """[...(%s).querySelectorAll('.rows')].filter((box) => box.getClientRects().length).map((box) => ({
  caption: box.querySelector('caption').textContent, heads: [...box.querySelectorAll('th[scope=col]')].map((n) => n.textContent),
  rows: [...box.querySelectorAll('tr[data-row]')].map((row) => [...row.cells].map((cell) => cell.textContent)) }))""" % VIEW


def told(*arguments):
    """What the head of a page says of leaks, device for device."""
    page = reader.Page(run("view", *arguments, "-o", "-", expect=0).raw.decode())
    return [device["leaks"] for device in page.head["files"][0]["devices"]]


def sites(path):
    """The same of the command: None, or all sites."""
    results = [device["result"] for device in run("leaks", path, "--json").json()["devices"]]
    return [result["sites"] if result and result["steps"]["count"] >= 2 else None for result in results]


def table(path):
    """Class, bytes, count and line of each row that the command prints, and its words below."""
    text = plain(run("leaks", path, "--rows", 1000, env=environment(COLUMNS="1000"), expect=0).out)
    if "\nclass " not in text:
        return [], text
    below = text.split("\nclass ", 1)[1].split("\n\n")[0].split("\n")[1:]
    cells = [re.split(r" {2,}", line) for line in below if re.search(r" {2,}", line) and line[0] != " "]
    return [(kind, size, count, line) for kind, _, size, count, _, _, line, *_ in cells], text


def check_head(path):
    """Rows of the head against the JSON of the command; how many there are."""
    shown = 0
    for has, all_of in zip(told(path), sites(path)):
        assert (has is None) == (not all_of), path
        if not has:
            continue
        growing = [row["line"] for row in has["rows"] if row["class"] == "grows"]
        expected = [s for s in all_of if s["class"] != "stable" or s["site"]["culprit"] in growing]
        for site, row in zip(expected, has["rows"], strict=True):
            assert row["class"] == site["class"] or (row["class"] == "grows" and site["class"] in CALM)
            assert (row["line"], row["bytes"], row["count"], row["category"]) == (
                site["site"]["culprit"], site["boundary_bytes"][-1], site["boundary_counts"][-1], site["category"])
            assert row["between"] == site["boundary_bytes"][-24:] and has["moments"] == len(site["boundary_bytes"])
            if row["class"] != "grows":
                assert row["slope_bytes"] == site["slope_bytes"] and row["every_steps"] == (site["every_steps"] or 1)
                assert row["kind"] == (None if site["kind"] == "unknown" else site["kind"])
        shown += len(has["rows"])
    return shown


def listed(page):
    """The tables in sight, the first that of the command."""
    page.wait("(%s).querySelector('tr[data-row]') !== null" % VIEW)
    page.settled()
    return page.ask(LISTED)


def check_page(pages, path):
    """Rows of the page against those that the command prints."""
    rows, text = table(path)
    page = pages(path, fragment="#v=1&view=leaks")
    page.says("#view", "leak")
    if not rows:
        page.says("#view", "Fewer than two steps" if "too few steps" in text or "needs" in text else "")
        return page
    shown = listed(page)[0]
    assert shown["caption"] == "What stays from step to step"
    assert [(plain(kind).split(" (")[0], plain(size), plain(count), line)
            for line, kind, _, size, count, *_ in shown["rows"]] == rows
    return page


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.stem)
def test_the_list_is_that_of_the_command(pages, path):
    assert check_head(path) > 0
    check_page(pages, path).sound()


def test_the_list_of_real_recordings(pages, real):
    """All of them by the head; those with rows in the browser too."""
    shown = [path for path, _ in real.values() if check_head(path) > 0]
    assert len(shown) > 5
    for path in shown:
        check_page(pages, path).sound()


def test_leaks_of_every_other_step_and_what_is_too_small(pages):
    path = scripts.make("growth")
    assert check_head(path) > 0
    page = check_page(pages, path)
    rates = {row[0]: plain(row[2]) for row in listed(page)[0]["rows"]}
    assert rates["run.py:26 validate"] == "+32.00 MiB in one of 2 steps" and rates["run.py:25 remember"] == "+16.00 MiB"
    page.sound()


def test_where_bars_are_not_all_there_are_it_is_said(pages):
    path = scripts.make(LONG)
    assert check_head(path) > 2
    page = check_page(pages, path)
    shown = listed(page)
    assert "between steps: the last 24 of %d" % (told(path)[0]["moments"]) in shown[0]["heads"]
    assert "alive at the end, by step: the last 24 of %d" % STEPS in shown[1]["heads"]
    classes = {row[0]: row[1].split(" (")[0] for row in shown[0]["rows"]}
    assert classes["run.py:26 fill"] == "plateau" and classes["run.py:25 remember"] == "leak"
    _, text = table(path)
    for words in page.ask("(%s).querySelector('.note').textContent" % VIEW).split(". "):
        assert plain(words) in text
    assert page.ask("(%s).querySelector('canvas.bars').width" % VIEW) == 24 * 7
    page.sound()


def test_few_steps_have_all_their_bars(pages):
    heads = listed(pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=leaks"))[0]["heads"]
    assert "between steps" in heads and "last" not in " ".join(heads)


def test_rows_that_the_page_does_not_have_are_counted(pages):
    path = scripts.make(MANY)
    has, = told(path)
    assert len(has["rows"]) == 64 and has["left_out"] == sum(
        site["class"] != "stable" for site in sites(path)[0]) - 64 > 0
    page = pages(path, fragment="#v=1&view=leaks")
    page.says("#view", "%d more rows: vramscope leaks FILE --rows %d" % (has["left_out"], 64 + has["left_out"]))


def test_no_leak_is_said_in_the_words_of_the_command(pages):
    page = pages(EXAMPLES / "train.pickle", fragment="#v=1&view=leaks")
    page.says("#view .bar", "leak none: in 3 steps no site leaves memory behind in each; model.py:71 forward carries")
    assert "as flame graph" not in page.text("#view .bar")


def test_a_page_of_some_events_has_the_list_of_all(pages):
    whole = listed(pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=leaks"))
    page = pages(EXAMPLES / "leak.pickle", "--from", 900, "--to", 1800, fragment="#v=1&view=leaks")
    part = listed(page)
    assert part == whole[:1] and len(whole) == 2
    page.says("#view", "The list is of all of the recording")
    page.sound()


def test_what_each_step_left_stays_beside_the_list(pages):
    left = listed(pages(EXAMPLES / "leak.pickle", fragment="#v=1&view=leaks"))[1]
    assert left["caption"] == "Born in a step and alive at the end"
    assert "train.py:45 main" not in [row[0] for row in left["rows"]] and len(left["rows"]) == 7
