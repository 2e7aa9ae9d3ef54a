"""The steps of the page of `vramscope view`: figures as of `vramscope steps`, curves that lie over one another."""
import json
import shutil
import subprocess
import time

import pytest

from conftest import ROOT, run, some
from pages import EXAMPLES, plain, size, written
from recordings import scripts

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")
NAMES_OF_STEPS = ("<img src=x onerror=alert(1)>", "a\u202eyp.live", "\u2066left\u2069\u0000\u0007", "long" * 262144)
NAMES = ("oom", "train", "leak", "fragmentation")


def of_page(page):
    """What the page's own core answers, by device."""
    done = subprocess.run(["node", ROOT / "tests/page/core/pages/page_steps.mjs", page], stdout=subprocess.PIPE, check=True,
                          timeout=300)
    return {one["device"]: one for one in json.loads(done.stdout)}


def of_program(path):
    """What `vramscope steps` answers, by device; what has no trace has none."""
    return {one["device"]: one["result"] for one in run("steps", path, "--json", expect=0).json()["devices"]
            if one["result"]}


def phase_peaks(phases, step):
    """The highest peak of each phase in a step and where it is, the phases in the order of their beginning."""
    found = {}
    for row in phases:
        if row["step"] == step and row["peak_bytes"] > found.get(row["phase"], (-1,))[0]:
            found[row["phase"]] = row["peak_bytes"], row["peak_event"] + 1
    return found


def compare(path):
    """Checks all steps of a recording; how many there are."""
    told, shown, count = of_program(path), of_page(written(path)), 0
    for device, result in told.items():
        boundaries = result["steps"]["boundaries"]
        for mode in ("events", "time"):
            got = shown[device][mode]
            assert got["left"] == 0
            complete = [step for step in got["steps"] if step["complete"]]
            names = ("event", "end_event", "live_bytes", "peak_bytes", "peak_event")
            assert [(s["first"] - 1, s["last"] - 1, s["start"], s["peak"], s["peakState"] - 1) for s in complete] == [
                tuple(b[name] for name in names) for b in boundaries]
            for step, after in zip(complete, boundaries[1:]):
                assert step["last"] != after["event"] or step["end"] == after["live_bytes"]
            for number, step in enumerate(complete, 1):
                phases = {p["name"]: (p["peak"], p["at"]) for p in step["phases"]}
                assert phases == phase_peaks(result["phases"], number)
            for step in got["steps"]:
                # The column that holds it has the peak, and the first what was there before.
                assert max(step["curve"]) == max(step["peak"], step["start"])
                assert step["events"] == step["last"] - step["first"] + 1
                assert step["growth"] == step["end"] - step["start"]
        count += len(boundaries)
    return count


@needs_node
@pytest.mark.parametrize("name", NAMES)
def test_figures_are_those_of_steps(name):
    assert compare(EXAMPLES / (name + ".pickle")) >= 2


@needs_node
def test_figures_of_real_files_are_those_of_steps(shared):
    found = {}
    for path in sorted((shared / "data/snapshots").iterdir()):
        if run("steps", path).code == 0:
            found[path.name] = compare(path)
    assert sum(found.values()) > 60, found


# The view --------------------------------------------------------------------------------

STEPS = """
include torch.stacks
stack main run.py:40 main < run.py:44 <module>
stack init @malloc < model.py:9 __init__ < run.py:12 build < @main
stack forward @malloc < ::at::_ops::addmm::call(…) < model.py:18 forward < @call < run.py:21 train < @main
stack free_step @release < run.py:27 train < @main
alloc weight 200MiB init
repeat %d {
  mark OUTER start
  mark ProfilerStep#$i start
  alloc h $i%%7*1MiB+48MiB forward
  if $i == 3 {
    alloc extra 90MiB forward
  }
  alloc grad 30MiB linear_backward
  free h free_saved
  free grad free_step
  if $i == 3 {
    free extra free_step
  }
  mark ProfilerStep#$i end
  mark OUTER end
  time +5000
}
"""
COPY = """
  const [canvas, over] = document.querySelectorAll('.plot.steps canvas');
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  copy.drawImage(over, 0, 0);
"""
# How many pixels of the curves' canvas have a colour of the stylesheet.
DRAWN = "(() => {" + COPY + """
  const hex = getComputedStyle(document.documentElement).getPropertyValue('--%s').trim();
  const rgb = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const { data } = copy.getImageData(66, 14, canvas.width - 80, canvas.height - 38);
  let n = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (rgb.every((v, k) => Math.abs(v - data[i + k]) <= 2)) n++;
  }
  return n;
})()"""
# How many curves cross each column of the canvas, above the axis: separate runs of what is no ground and no grid.
CURVES = "(() => {" + COPY + """
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim().toLowerCase();
  const skip = ['ground', 'line'].map(of);
  const c = 66 + Math.floor((canvas.width - 80) * %s);
  const { data } = copy.getImageData(c, 12, 1, canvas.height - 38);
  let runs = 0;
  for (let y = 0, inside = false; y < canvas.height - 38; y++) {
    const [r, g, b, a] = data.subarray(y * 4, y * 4 + 4);
    const hex = '#' + [r, g, b].map((v) => v.toString(16).padStart(2, '0')).join('');
    const ink = a > 60 && !skip.includes(hex);
    if (ink && !inside) runs++;
    inside = ink;
  }
  return runs;
})()"""
ROWS = ("[...document.querySelectorAll('#view > :not([hidden]) tbody tr[data-row]')].map((row) =>"
        " [...row.cells].map((cell) => cell.textContent.replaceAll('\\u202f', '').trim()))")
TITLE = "document.querySelector('#view > :not([hidden]) [data-step=\"%d\"]').title"
CURRENT = "document.querySelector('#view > :not([hidden]) tr[aria-selected=true] [data-step]')?.textContent"
FOCUS = "document.querySelector('.plot.steps').focus()"


def made(steps, name=None):
    """A recording of so many steps, the fourth of which stands out; `name`: of an annotation around each."""
    script = STEPS % steps
    if name:
        return scripts.renamed(script, {"OUTER": name})
    return scripts.make("".join(line for line in script.splitlines(True) if "OUTER" not in line))


def opened(pages, path, more="", **options):
    page = pages(path, fragment="#v=1&view=steps" + more, **options)
    page.wait("document.querySelectorAll('#view > :not([hidden]) tbody tr[data-row]').length > 0")
    page.settled()
    return page


def test_curves_lie_over_one_another_above_their_figures(pages):
    page = opened(pages, EXAMPLES / "leak.pickle")
    assert page.ask(CURVES % 0.55) == 5, "one curve for each step"
    rows = page.ask(ROWS)
    steps = of_program(EXAMPLES / "leak.pickle")[0]["steps"]["boundaries"]
    assert [row[0] for row in rows] == ["step %d" % n for n in range(1, 6)]
    assert all("peak at event %d, " % b["peak_event"] in plain(page.ask(TITLE % i)) for i, b in enumerate(steps))
    assert [abs(size(row[1]) - b["peak_bytes"]) < 1 << 23 for row, b in zip(rows, steps)] == [True] * 5
    assert rows[1][2] == rows[1][3] == "+250.00 MiB" and rows[0][3] == "-"
    assert "backward 2.52 GiB" in rows[1][4]
    assert plain(page.ask(TITLE % 1)).startswith("ProfilerStep#1, peak at event 1003, 717 events, 12.466 ms, from 1.03 GiB to 1.28 GiB")
    assert page.ask(DRAWN % "problem") == page.ask(DRAWN % "match") == 0, "nothing stands out, so nothing says so"
    assert "stands out" not in page.text("#view > :not([hidden])")


def test_the_outlier_and_what_failed_have_their_colours(pages):
    page = opened(pages, made(9))
    assert page.ask(DRAWN % "match") > 100 and page.ask(DRAWN % "problem") == 0
    page.says("#view > :not([hidden]) .bar", "One step stands out: step 4, ProfilerStep#3 reaches 371.00 MiB, "
              "91.50 MiB above the median")
    assert [row[0] for row in page.ask(ROWS) if "stands out" in row[0]] == ["step 4 stands out"]
    page = opened(pages, EXAMPLES / "oom.pickle")
    assert page.ask(DRAWN % "problem") > 100
    assert page.ask("(() => { const box = document.querySelector('#view > :not([hidden]) .rows');"
                    " return box.scrollWidth - box.clientWidth; })()") <= 0, "the table fits"
    assert [row[0] for row in page.ask(ROWS)][2] == "step 3 \u25bc incomplete, stands out"
    assert page.ask(ROWS)[2][2:4] == ["-", "-"], "what did not end has no growth to its end"
    assert page.ask("[...document.querySelectorAll('#view > :not([hidden]) th')].slice(2, 4).every((one) => one.title)")


def point(page, step, across):
    """A point on the curve of a step, from 0."""
    left, top, width, height = page.box(".plot.steps")
    n = page.ask("Math.round(%f)" % (left + 66 + (width - 80) * across))
    for y in range(int(top) + 12, int(top + height) - 24, 3):
        page.mouse("mouseMoved", n, y)
        if page.ask("new Promise((done) => requestAnimationFrame(() => done(%s)))" % CURRENT) == "step %d" % (step + 1):
            return n, y
    pytest.fail("no curve of step %d" % step)


def test_two_clicks_on_curves_show_what_changed(pages):
    page = opened(pages, EXAMPLES / "leak.pickle")
    four = point(page, 3, 0.5)
    page.says("#status-text", "step 4, ProfilerStep#3: peak 3.01 GiB at event 2429")
    page.click(*four)
    page.wait("location.hash.includes('marks=2430')")
    page.says("#view > :not([hidden]) .bar", "A is step 4")
    assert page.state()["view"] == "steps" and page.state()["at"] == "2430"
    page.click(*point(page, 1, 0.5))
    page.wait("location.hash.includes('view=diff')")
    # The earlier one is A, whichever was clicked first.
    assert page.state()["marks"] == "1004,2430" and page.state()["range"] == "1004-2430"
    page.says("#view > :not([hidden]) .note", "event 1003 2.52 GiB \u2192 event 2429 3.01 GiB: +500.00 MiB")
    page.press("8")
    page.wait("[...document.querySelectorAll('#view > :not([hidden]) [data-tag]')].map((one) => one.textContent).join('')"
              " === 'A B '")
    page.press("u")
    page.press("u")
    page.wait("location.hash.includes('marks=2430') && !location.hash.includes('range')")
    page.click(*four)
    page.wait("!location.hash.includes('marks=')")


def test_rows_mark_and_zoom(pages):
    page = opened(pages, EXAMPLES / "train.pickle")
    buttons = "#view > :not([hidden]) tbody tr:nth-child(%d) %s"
    page.press_on(buttons % (3, "[data-step]"))
    page.says(buttons % (3, "[data-tag]"), "A")
    assert page.ask("document.activeElement.dataset.step") == "2", "the focus stays in the row"
    page.press_on(buttons % (1, "td.number"))
    page.wait("location.hash.includes('view=diff')")
    assert page.state()["marks"] == "328,2465"
    page.says("#status-note", "A is step 1, ProfilerStep#0, the earlier; B is step 3, ProfilerStep#2")
    page.press("8")
    page.says(buttons % (3, "[data-tag]"), "B")
    page.press_on(buttons % (2, "td:last-child button"))
    page.wait("location.hash.includes('view=stack')")
    assert page.state()["x"] == "e1187-2218" and page.state()["at"] == "1436"
    page.press("8")
    page.press("M")
    page.wait("!location.hash.includes('marks=')")
    page.press_on(buttons % (1, "td.number"), times=2)
    page.wait("location.hash.includes('view=stack')")
    assert page.state()["x"] == "e55-1187" and "marks" not in page.state()


def test_a_double_click_on_a_curve_zooms_the_stack(pages):
    page = opened(pages, EXAMPLES / "leak.pickle")
    page.click(*point(page, 2, 0.5), times=2)
    page.wait("location.hash.includes('view=stack')")
    assert page.state()["x"] == "e1545-2258" and "marks" not in page.state()


def test_all_by_keys_and_said_aloud(pages):
    page = opened(pages, EXAMPLES / "leak.pickle", "&at=1")
    page.ask(FOCUS)
    page.press("ArrowRight")
    page.wait("document.getElementById('live').textContent.startsWith('step 1, ProfilerStep#0: peak 1.71')")
    page.press("ArrowRight")
    page.wait("document.getElementById('live').textContent.startsWith('step 2,')")
    assert page.ask(CURRENT) == "step 2"
    assert page.state()["at"] == "1", "walking moves no cursor"
    page.press("Enter")
    page.wait("location.hash.includes('marks=1004')")
    page.press("End")
    page.press("Enter")
    page.wait("location.hash.includes('view=diff')")
    assert page.state()["marks"] == "1004,3143"
    page.wait("!document.getElementById('status-text').textContent.includes('ProfilerStep')")
    page.press("8")
    page.ask(FOCUS)
    page.press("Home")
    page.press("f")
    page.wait("location.hash.includes('view=stack')")
    assert page.state()["x"] == "e41-828"


def test_time_instead_of_events(pages):
    page = opened(pages, EXAMPLES / "train.pickle")
    one = page.settled()
    page.press("x")
    page.wait("location.hash.includes('x=t')")
    page.wait("document.querySelector('.plot.steps').getAttribute('aria-label').includes('3 steps')")
    end = time.monotonic() + 20
    while page.settled() == one:
        assert time.monotonic() < end, "the curves are those of events"
    assert page.ask(CURVES % 0.3) >= 2


def test_fewer_than_two_steps(pages):
    page = pages(made(1), fragment="#v=1&view=steps")
    page.says("#view > :not([hidden])", "Fewer than two steps were found, so none can be laid over another.")
    page.says("#view > :not([hidden])", "torch.profiler.record_function")


def test_narrow_window(pages):
    page = opened(pages, EXAMPLES / "leak.pickle", size=(390, 844))
    assert page.ask(CURVES % 0.8) == 5
    left, _, width, height = page.box(".plot.steps")
    assert left >= 0 and left + width <= 390 and height >= 100
    assert page.ask("document.documentElement.scrollWidth") == 390
    page.ask("document.querySelector('.plot.steps').scrollIntoView()")
    page.ask(FOCUS)
    page.press("Home")
    page.press("Enter")
    page.press("ArrowRight")
    page.press("Enter")
    page.wait("location.hash.includes('view=diff')")


@pytest.mark.parametrize("name", NAMES_OF_STEPS[::some(2, 1)], ids=lambda name: ascii(name[:9]))
def test_names_of_steps_are_text(pages, name):
    page = opened(pages, made(4, name))
    page.ask("self.alerted = 0; self.alert = () => { self.alerted++; }; 0")
    page.ask(FOCUS)
    page.press("Home")
    page.wait("document.getElementById('live').textContent.includes('step 1')")
    page.press("Enter")
    page.says("#view > :not([hidden]) .bar", "A is step 1")
    called = page.ask(TITLE % 0).rsplit(", ", 4)[0]
    assert called and len(called) <= 40 and not set(called) & set("\u202e\u2066\0\u200b")
    assert page.ask("self.alerted") == 0
    assert page.ask("document.querySelectorAll('#view img, #view svg, #view script').length") == 0
    assert page.ask("document.documentElement.scrollWidth") == 1280


def test_many_steps(pages):
    page = opened(pages, made(500))
    page.says("#view > :not([hidden]) .bar", "One step stands out: step 4,")
    name = page.ask("document.querySelector('.plot.steps').getAttribute('aria-label')")
    assert name.startswith("Requested bytes of 500 steps")
    page.ask(FOCUS)
    page.press("End")
    page.wait("document.getElementById('live').textContent.startsWith('step 500,')")
    page.ask("(() => { const box = document.querySelector('#view > :not([hidden]) .rows');"
             " box.scrollTop = box.scrollHeight; })()")
    page.wait(CURRENT + " === 'step 500'")


def test_a_page_of_some_events_says_which_steps_it_lacks(pages):
    page = pages(EXAMPLES / "leak.pickle", "--from", "800", "--to", "2300", fragment="#v=1&view=steps")
    page.says("#view > :not([hidden]) .bar", "3 more steps are not among the events that this page holds.")
    page.settled()
    assert [row[0] for row in page.ask(ROWS)] == ["step 2", "step 3"]


# What is written on the plot, and how faint the bands below it are.
WRITTEN = """
  self.texts = []; self.faint = [];
  const { fillText, fillRect } = CanvasRenderingContext2D.prototype;
  const isThere = (g) => g.canvas.parentNode?.className.startsWith('plot');
  CanvasRenderingContext2D.prototype.fillText = function (...given) {
    if (isThere(this)) self.texts.push(given[0]);
    fillText.apply(this, given);
  };
  CanvasRenderingContext2D.prototype.fillRect = function (...given) {
    if (isThere(this) && given[3] === 13) self.faint.push([given[1], this.globalAlpha]);
    fillRect.apply(this, given);
  };
"""


@pytest.mark.parametrize("steps, named, faint", [(9, ["step 1", "step 9"], False), (60, ["10", "50"], False),
                                                 (500, ["100", "400"], True)])
def test_bands_below_the_plot_say_what_they_have_room_for(pages, steps, named, faint):
    page = pages(made(steps), before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=WRITTEN))
    page.settled()
    texts = page.ask("self.texts")
    assert set(named) <= set(texts)
    numbers = {int(text) for text in texts if text.isdigit()}
    assert all(n % (100 if faint else 10) == 0 for n in numbers)
    faints = page.ask("self.faint")
    of_steps = [alpha for y, alpha in faints if y == min(y for y, _ in faints)]
    assert len(of_steps) >= steps and (min(of_steps) < 1) == faint
