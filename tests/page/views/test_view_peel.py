"""Peel on the page of `vramscope view`: groups are taken out of the picture, and the peak of what is left is that of `replay --drop`."""
import json
import shlex
import shutil
import subprocess
import time
from urllib.parse import quote, unquote

import pytest

from conftest import ROOT, run, some
from pages import EXAMPLES, plain, size
from recordings import scripts, writers
from recordings.tiny import BASE, MIB, block, event, segment, top
from test_view_export import saved

LINES = 10
LARGEST, SECOND = "model.py:22 forward", "model.py:23 forward"
SITES = "#v=1&by=line"
GROUPS = SITES + "&view=groups"
ROWS = """[...document.querySelectorAll('#who tbody tr[data-row]')].map((row) => ({ out: row.classList.contains('out'),
  name: (row.cells[0].querySelector('button') ?? row.cells[0]).textContent, bytes: row.cells[1].textContent, button: row.querySelector('[data-peel]')?.textContent,
  pressed: row.querySelector('[data-peel]')?.getAttribute('aria-pressed') }))"""
# Pixels of the open picture that have the colour of a group's swatch in Who.
PIXELS = """(() => {
  const row = [...document.querySelectorAll('#who tr[data-row]')].find((one) => one.textContent.includes(%s));
  const pixels = (canvas) => { const g = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
    g.drawImage(canvas, 0, 0); return new Uint32Array(g.getImageData(0, 0, canvas.width, canvas.height).data.buffer); };
  const swatch = row.querySelector('canvas'), colour = pixels(swatch)[swatch.width >> 1];
  return pixels(document.querySelector('#view > :not([hidden]) .plot canvas')).filter((one) => one === colour).length;
})()"""


def rows(page):
    return {row["name"]: row for row in page.ask(ROWS)}


def pixels(page, name):
    return page.ask(PIXELS % json.dumps(name))


def take(page, name):
    """A click on the button of a row."""
    page.ask("[...document.querySelectorAll('#who tr[data-row]')].find((row) => row.textContent.includes(%s))"
             ".querySelector('[data-peel]').click()" % json.dumps(name))


def out(page, *names, seconds=10):
    """Until just these rows are taken out, in the table and in the picture."""
    end = time.monotonic() + seconds
    while (got := sorted(name for name, row in rows(page).items() if row["out"])) != sorted(names):
        assert time.monotonic() < end, (names, got)
        time.sleep(0.03)
    if names:
        page.says(".peel", names[0])
    else:
        page.wait("document.querySelector('.peel:not([hidden])') === null")
    return page.settled()


def label(page):
    return plain(page.ask("document.querySelector('#view > :not([hidden]) .plot').getAttribute('aria-label')"))


def without(page):
    told = page.state().get("without")
    return json.loads(unquote(told)) if told else None


def opened(pages, fragment=SITES, path=EXAMPLES / "oom.pickle", *options):
    page = pages(path, *options, fragment=fragment)
    page.settled()
    page.wait("document.querySelector('#who [data-peel]') !== null")
    return page


def test_the_picture_falls_and_comes_back(pages):
    page = opened(pages, GROUPS)
    before = page.settled()
    whole, other = pixels(page, LARGEST), pixels(page, SECOND)
    assert whole > 1000 and other > 1000 and "peak 22.20 GiB" in label(page)
    take(page, LARGEST)
    peeled = out(page, LARGEST)
    # What is left is stacked to the height of the plot.
    assert peeled != before and pixels(page, LARGEST) == 0 and pixels(page, SECOND) > 1.5 * other
    assert "without model.py:22 forward" in label(page) and "peak 11.20 GiB" in label(page)
    page.says("#status-text", "10.20 GiB requested without model.py:22 forward")
    page.press("u")
    assert out(page) == before and pixels(page, LARGEST) == whole
    assert "peak 22.20 GiB" in label(page) and "without" not in label(page)
    page.sound()


def test_the_row_stays_with_its_bytes_and_the_rest_adds_up(pages):
    page = opened(pages)
    before = rows(page)
    take(page, LARGEST)
    out(page, LARGEST)
    after = rows(page)
    assert list(after)[:6] == list(before)[:6] and after[LARGEST]["bytes"] == before[LARGEST]["bytes"]
    assert (after[LARGEST]["button"], after[LARGEST]["pressed"]) == ("+", "true")
    assert (after[SECOND]["button"], after[SECOND]["pressed"]) == ("\u2212", "false")
    total = page.ask("document.querySelector('#who tfoot td').textContent")
    assert size(total) == size("10.20 GiB")
    struck = page.ask("getComputedStyle(document.querySelector('#who tr.out td.number')).textDecorationLine")
    assert struck == "line-through"


def test_what_the_peak_would_be_is_said_and_can_be_asked_of_the_program(pages):
    page = opened(pages)
    take(page, LARGEST)
    out(page, LARGEST)
    told = "Without model.py:22 forward the peak would be 11.20 GiB at event 3154 (11.00 GiB less)"
    page.says(".peel", told)
    page.says("#live", told)
    command = shlex.split(page.text(".peel code"))
    assert command[:3] == ["vramscope", "replay", "oom.pickle"]
    answer = run(*command[1:], "--json", cwd=EXAMPLES, expect=0).json()["devices"][0]["result"]["what_if"]
    row, = (one for one in answer if one["question"] != "same")
    assert row["peak_requested_event"] == 3154 and "%.2f" % (row["peak_requested_bytes"] / 2**30) == "11.20"
    page.ask("navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0")
    page.ask("[...document.querySelectorAll('.peel button')].find((b) => b.textContent === 'copy command').click()")
    page.wait("self.copied")
    assert page.ask("self.copied") == page.text(".peel code")


def test_whether_the_failed_request_would_fit_is_told_with_reserve(pages):
    page = opened(pages)
    take(page, LARGEST)
    out(page, LARGEST)
    page.says(".peel", "The request that failed would not be made: its line is taken out.")
    page.press("u")
    out(page)
    take(page, "train.py:18")
    out(page, "train.py:18 train_step")
    # As a replay has it, which serves the request.
    page.says(".peel", "the peak would be 23.57 GiB at event 3160, with the 2.00 GiB that failed there (642.07 MiB less)")
    page.says(".peel", "The 2.00 GiB that failed would make 23.57 GiB then, still")
    page.says(".peel", "more than the 23.56 GiB that the failure shows")
    take(page, SECOND)
    out(page, "train.py:18 train_step", SECOND)
    page.says(".peel", "within the 23.56 GiB that the failure shows: it may fit, but for rounding and fragmentation")


def test_several_are_taken_out_and_put_back(pages):
    page = opened(pages)
    whole = page.settled()
    for name, taken in ((LARGEST, [LARGEST]), (SECOND, [LARGEST, SECOND])):
        take(page, name)
        last = out(page, *taken)
    assert without(page) == ["line", LARGEST, SECOND] and "without 2 lines" in label(page)
    page.ask("[...document.querySelectorAll('.peel button')].find((b) => b.textContent === 'undo').click()")
    out(page, LARGEST)
    page.press("u")
    assert out(page, LARGEST, SECOND) == last
    page.ask("[...document.querySelectorAll('.peel button')].find((b) => b.textContent === 'put all back').click()")
    assert out(page) == whole and without(page) is None


def test_another_grouping_keeps_what_is_taken_out(pages):
    page = opened(pages)
    take(page, LARGEST)
    out(page, LARGEST)
    page.ask("location.hash += '&by=category'; 0")
    page.says("#who caption", "by category, without model.py:22 forward")
    page.settled()
    assert without(page) == ["line", LARGEST] and not any(row["out"] for row in rows(page).values())
    assert size(page.ask("document.querySelector('#who tfoot td').textContent")) == size("10.20 GiB")
    take(page, "activation")
    out(page, "activation")
    assert without(page) == ["category", "activation"]
    page.says(".peel", "Without activation (by category) the peak would be")
    assert page.ask("document.querySelector('.peel code') === null"), "no line is named"


def test_a_link_has_what_is_taken_out(pages):
    page = opened(pages)
    take(page, LARGEST)
    seen = out(page, LARGEST)
    state, link = page.state(), page.ask("location.hash")
    page.ask("history.back()")
    out(page)
    page.ask("history.forward()")
    assert out(page, LARGEST) == seen and page.state() == state
    again = opened(pages, link)
    assert out(again, LARGEST) == seen and again.state() == state


def test_a_page_of_some_events_speaks_of_them(pages):
    page = opened(pages, SITES, EXAMPLES / "train.pickle", "--from", "1000", "--to", "2000")
    page.press("Delete")
    out(page, LARGEST)
    page.says(".peel", "the peak of the events here would be 7.75 GiB at event 1435")
    assert page.ask("document.querySelector('.peel code') === null"), "replay knows no part"
    page.sound()


def test_names_that_a_recording_lacks_are_left_out_with_a_note(pages):
    names = ["line", "<b>nowhere</b>", LARGEST]
    page = opened(pages, SITES + "&without=" + quote(json.dumps(names)))
    page.says("#status-note", "no <b>nowhere</b> here to take out")
    out(page, LARGEST)
    assert without(page) == ["line", LARGEST]
    page = opened(pages, SITES + "&without=" + quote(json.dumps(["pool", "x", "__proto__"])))
    page.says("#status-note", "no x, __proto__ here to take out")
    out(page)
    assert without(page) is None
    page.sound()


def test_by_keys_alone(pages):
    page = opened(pages)
    page.press("Delete")
    out(page, LARGEST)
    page.press("Delete")
    out(page, LARGEST, SECOND)
    page.press("u")
    page.press("u")
    out(page)
    page.ask("document.querySelector('#who .rows').focus()")
    for _ in range(30):
        page.press("Tab")
        if page.ask("document.activeElement.getAttribute('aria-label')") == "take out " + SECOND:
            break
    page.press("Enter")
    out(page, SECOND)
    assert page.ask("document.activeElement.getAttribute('aria-label')") == "put back " + SECOND, "the focus stays"
    page.press("Delete")
    out(page)
    assert page.ask("document.activeElement.getAttribute('aria-label')") == "take out " + SECOND


def test_saved_pictures_say_what_they_lack(pages):
    page = opened(pages, GROUPS)
    take(page, LARGEST)
    out(page, LARGEST)
    text = svg_text(page)
    assert "<title>vramscope: groups of oom.pickle, without model.py:22 forward</title>" in text
    assert "without model.py:22 forward</text>" in text
    page.press("Escape")
    page.press("3")
    page.settled()
    assert "without" not in svg_text(page), "the map has all addresses"


def svg_text(page):
    return saved(page, "Picture of the view", "SVG")[1]


def test_what_no_allocation_explains_stays(pages, tmp_path):
    """The final state has more in use than the trace explains: that is of no group."""
    used = segment([block(BASE, 4 * MIB), block(BASE + 4 * MIB, 16 * MIB, state="inactive")])
    path = tmp_path / "unexplained.pickle"
    path.write_bytes(writers.pickled(top([used], [event("alloc", BASE, 2 * MIB, 10)]), 4))
    page = opened(pages, "#v=1&by=size&at=1", path)
    size_class, = (name for name, row in rows(page).items() if row.get("button"))
    assert "button" not in rows(page)["unattributed"]
    take(page, size_class)
    out(page, size_class)
    page.says(".peel", "the peak would be 2.00 MiB at start (2.00 MiB less)")
    page.press("Delete")
    page.says("#status-note", "nothing here can be taken out")


# The peaks of the program ------------------------------------------------------------------

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")


def peels_of(path, folder, most):
    """What the page makes of each device without its largest lines."""
    page = folder / "page.html"
    run("view", path, "-o", page, expect=0)
    done = subprocess.run(["node", ROOT / "tests/page/core/pages/page_peels.mjs", page, str(most)], stdout=subprocess.PIPE,
                          check=True, timeout=300)
    return json.loads(done.stdout)


def peak_of(peel, served):
    """Bytes and event of the page's peak; a replay ends at the first request that failed and now is served, which it counts."""
    if served is None:
        return peel["bytes"], peel["state"] - 1
    last, = (one for one in peel["failed"] if one["state"] - 1 == served)
    held = last["held"] + last["bytes"]
    if last["peak"]["bytes"] >= held:
        return last["peak"]["bytes"], last["peak"]["state"] - 1
    return held, served


def check_peaks(path, folder, most=LINES):
    """How many peaks were compared; replay may refuse a recording, with a reason."""
    compared = 0
    for device in peels_of(path, folder, most):
        for peel in device["peels"]:
            names = peel["without"]["names"]
            drops = [word for name in names for word in ("--drop", name)]
            assert peel["dropped"], (path, names)
            got = run("replay", path, *drops, "--anyway", "--json", "--device", str(device["device"]),
                      expect=0).json()["devices"][0]
            if not got["result"] or not got["result"]["what_if"]:
                assert got["reasons"], path
                break
            row, = (one for one in got["result"]["what_if"] if one["question"] != "same")
            bytes_, event = peak_of(peel, row["served_oom_event"])
            # A replay begins with no less than nothing: of a file that contradicts itself it leaves that out.
            bytes_ -= min(0, peel["unattributed"])
            assert (bytes_, event) == (row["peak_requested_bytes"], row["peak_requested_event"]), (path, names)
            compared += 1
    return compared


@needs_node
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.pickle")), ids=lambda p: p.stem)
def test_peaks_are_those_of_replay_in_the_examples(path, tmp_path):
    assert check_peaks(path, tmp_path) == LINES + 1


@needs_node
def test_peaks_are_those_of_replay_in_real_recordings(shared, tmp_path):
    most = some(2, LINES)
    compared = {path.name: check_peaks(path, tmp_path, most) for path in sorted((shared / "data/snapshots").iterdir())}
    assert sum(compared.values()) > 20 * most, compared


def test_a_search_counts_what_is_left(pages):
    """In the box as in the list of matches; visits go to what is left."""
    page = opened(pages, SITES + "&q=model.py")
    page.says("#found", "of all that is alive")
    whole = plain(page.text("#found"))
    assert "left" not in whole
    take(page, LARGEST)
    out(page, LARGEST)
    page.says("#found", "of what is left")
    told = plain(page.text("#found"))
    assert "of all that is left)" in told
    assert int(told.split(" ")[0]) < int(whole.split(" ")[0])
    link = "#v=1&" + "&".join("%s=%s" % pair for pair in page.state().items() if pair[0] != "v")
    page.press("u")
    page.says("#found", whole)
    # The same by a search that leaves them out by itself.
    terms = json.dumps('model.py -line="%s"' % LARGEST)
    page.ask("(() => { const q = document.getElementById('query'); q.value = %s; q.form.requestSubmit(); })()" % terms)
    page.says("#found", told.replace(" of what is left", "").split(" (")[0])
    page.sound()
    again = pages(EXAMPLES / "oom.pickle", fragment=link)
    again.says("#found", told)
    again.press_on("#found button")
    again.says("#who", told.split(" ")[0] + " allocations that match model.py, without")
    again.sound()


def test_nothing_of_what_is_left_matches(pages):
    page = opened(pages, SITES + "&q=" + quote('line="%s"' % LARGEST))
    page.says("#found", "of all that is alive")
    take(page, LARGEST)
    out(page, LARGEST)
    page.says("#found", "0 allocations of what is left, 0 B ever, 0 B at the cursor (0.0 % of all that is left)")


def test_a_link_tells_what_a_click_tells_and_a_capacity_is_heard_of(pages):
    page = opened(pages)
    take(page, "train.py:18")
    out(page, "train.py:18 train_step")
    page.says(".peel", "more than the 23.56 GiB that the failure shows")
    told = plain(page.text(".peel"))
    link = "#v=1&" + "&".join("%s=%s" % pair for pair in page.state().items() if pair[0] != "v")
    again = pages(EXAMPLES / "oom.pickle", fragment=link)
    again.settled()
    again.says(".peel", told)
    again.ask("(() => { const box = document.querySelector('.tools input'); box.value = '80GiB';"
              " box.dispatchEvent(new Event('change')); })()")
    again.says(".peel", "within a capacity 80.00 GiB")
    again.sound()


def test_a_recording_that_contradicts_itself_has_no_command(pages, shared):
    """`replay` would refuse it."""
    path = shared / "data/snapshots/attention_inductor_mini.pickle"
    page = opened(pages, SITES, path)
    page.press_on("#who [data-peel]")
    page.wait("document.querySelector('.peel:not([hidden])') !== null")
    page.says(".peel", "less than nothing is left: the file contradicts itself")
    assert page.ask("document.querySelector('.peel code')") is None
    page.sound()


def test_views_of_all_say_that_nothing_is_taken_out_of_them(pages):
    page = opened(pages)
    take(page, LARGEST)
    out(page, LARGEST)
    for key, says in (("3", True), ("4", True), ("6", True), ("7", True), ("8", False), ("1", False)):
        page.press(key)
        page.wait("document.querySelector('#tabs [aria-selected=true]').textContent.startsWith('%s')" % key)
        page.wait("document.getElementById('status-remark').textContent.includes('with what is taken out') === %s"
                  % str(says).lower())
    page.press("8")
    page.says("#view", "The steps are shown without model.py:22 forward.")
    rows = page.ask("[...document.querySelectorAll('#view > :not([hidden]) tbody tr[data-row]')].map((row) => row.cells[1].textContent)")
    assert plain(rows[-1]) == "11.20 GiB"  # the peak that is said of all that is left
    page.sound()


def test_a_peak_that_is_reached_twice_is_so_without_a_row(pages):
    path = scripts.make("include torch.stacks\nstack one @malloc < a.py:1 f < a.py:9 main\nstack two @malloc < b.py:2 g < a.py:8 main\n"
                        "alloc k 2MiB two\nalloc a 8MiB one\nalloc b 4MiB two\nfree b two\nalloc c 4MiB two\nfree a one\n")
    page = pages(path)
    page.says("#status-text", "peak, 2 times")
    take(page, "a.py:1 f")
    out(page, "a.py:1 f")
    page.says("#status-text", "peak, 2 times")
