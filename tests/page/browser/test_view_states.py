"""What the page says of recordings that are not the happy path: one sentence each, and the way out."""
import json
import re
import time

import pytest
from recordings import scripts, writers
from recordings.tiny import BASE, MIB, block, event, freed, half, segment, top

import browser as chromium
from conftest import ROOT, run, some
from pages import EXAMPLES
from pages import written as view_page

ONE_MOMENT = "Recording was not enabled; this is one moment, not a history."


def written(folder, recording):
    """A page of a recording: a path, or what the writers take."""
    path = recording
    if not hasattr(recording, "suffix"):
        path = folder / "small.pickle"
        path.write_bytes(writers.pickled(recording, 4))
    page = folder / "small.html"
    run("view", path, "-o", page, expect=0)
    return page


def opened(browser, page, fragment=""):
    shown = browser.open(page.as_uri() + fragment, 1280, 800)
    shown.wait(chromium.READY)
    return shown


def drawn_words(page):
    """What canvases say, once all is drawn again."""
    page.ask("""(() => { globalThis.words = []; const proto = CanvasRenderingContext2D.prototype, plain = proto.fillText;
        proto.fillText = function (text, ...rest) { words.push(text); return plain.call(this, text, ...rest); }; })()""")
    theme = page.ask("document.documentElement.dataset.theme")
    page.press("t")
    page.wait("document.documentElement.dataset.theme !== %r && words.length > 3" % theme)
    page.ask("new Promise((done) => setTimeout(done, 300))")
    return page.ask("words")


NO_WORKER = {
    "throws": "globalThis.Worker = function () { throw new Error('no workers here'); };",
    "ends": "globalThis.Worker = class { postMessage() { setTimeout(() => this.onerror?.({ message: 'ended' }), 1); }"
            " terminate() {} };",
}


def looks(page):
    """The pictures of some views, each with who holds the memory."""
    found = []
    for key in ("1", "2", "3", "5"):
        page.press(key)
        found.append((page.settled(), page.text("#who table")))
    page.press("/")
    page.type("fn:/^for.*d$/")
    page.press("Enter")
    page.wait("document.getElementById('found').textContent !== ''")
    return [*found, page.text("#found")]


@pytest.mark.parametrize("how", list(NO_WORKER)[:some(1, 2)])
def test_without_a_worker_the_page_is_the_same(pages, how):
    """The engine runs on the page then: the same pictures and figures."""
    path = ROOT / "examples" / "leak.pickle"
    told = looks(pages(path))
    none = pages(path, before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=NO_WORKER[how]))
    assert looks(none) == told
    none.sound()


def test_a_clock_that_waits_for_no_worker_sees_the_picture(browser):
    """As chromium --virtual-time-budget has it: its seconds pass while another thread works."""
    page = browser.open("about:blank")
    page.send("Emulation.setVirtualTimePolicy", policy="pause")
    page.send("Page.navigate", url=view_page(ROOT / "examples" / "leak.pickle").as_uri() + "#worker=0")
    page.send("Emulation.setVirtualTimePolicy", policy="pauseIfNetworkFetchesPending", budget=10000)
    end = time.monotonic() + 20
    while not any(event["method"] == "Emulation.virtualTimeBudgetExpired" for event in browser.events):
        assert time.monotonic() < end
        page.ask("0")
    assert page.ask("document.getElementById('status-text').textContent.includes('3.25 GiB requested')")
    assert page.complaints() == []
    page.close()


COUNT_STREAMS = """globalThis.streams = 0; const Plain = DecompressionStream;
    globalThis.DecompressionStream = class extends Plain { constructor(how) { super(how); streams++; } };"""


@pytest.mark.long
def test_without_a_worker_nothing_is_unpacked_twice(pages):
    """The program, then each column once: only a worker is not waited for."""
    page = pages(ROOT / "examples" / "leak.pickle", before=lambda page: page.send(
        "Page.addScriptToEvaluateOnNewDocument", source=NO_WORKER["throws"] + COUNT_STREAMS))
    page.settled()
    packed = page.ask("Object.values(JSON.parse(document.getElementById('head').textContent).files[0].devices[0].tables)"
                      ".flatMap(({ columns }) => Object.values(columns)).filter(({ block }) => block !== undefined).length")
    assert packed > 20 and page.ask("streams") == 1 + packed
    page.sound()


def test_of_several_failures_the_last_is_told_and_the_others_lead_to_it(browser, tmp_path):
    events = [event("alloc", BASE, 4 * MIB, 10), event("oom", 1000, 64 * MIB, 20), event("oom", 2000, 32 * MIB, 10**9)]
    page = opened(browser, written(tmp_path, top([], events)))
    page.press("o")
    page.wait("document.getElementById('oom').textContent.includes('Out of memory: event 1')")
    assert "64.00 MiB requested" in page.text("#oom") and page.ask("document.querySelector('#oom table') === null")
    page.ask("[...document.querySelectorAll('#oom button')].find((b) => b.textContent.startsWith('the last of 2')).click()")
    page.wait("document.getElementById('oom').textContent.includes('Out of memory: event 2')")
    assert "requested 32.00 MiB" in page.text("#oom") and "sure: " in page.text("#oom")
    page.press("p")
    page.wait("document.getElementById('why').hidden")
    finished(page)


SPY = """globalThis.said = []; const proto = CanvasRenderingContext2D.prototype, plain = proto.fillText;
    proto.fillText = function (text, ...rest) { said.push(text); return plain.call(this, text, ...rest); };"""


@pytest.mark.long
def test_no_axis_is_drawn_before_there_is_a_curve(pages):
    page = pages(ROOT / "examples" / "leak.pickle",
                 before=lambda page: page.send("Page.addScriptToEvaluateOnNewDocument", source=SPY))
    page.settled()
    assert "0 B" in page.ask("said") and "1 B" not in page.ask("said")
    assert "start" in page.ask("said")


@pytest.mark.long
def test_in_time_what_is_out_of_sight_is_marked_nowhere(pages):
    """Neither the cursor nor the life of what is pinned stands at an edge of the picture."""
    path = ROOT / "examples" / "leak.pickle"
    marks = ("(() => { const c = document.querySelector('#view > :not([hidden]) .plot > canvas + canvas');"
             " const g = new OffscreenCanvas(c.width, c.height).getContext('2d', { willReadFrequently: true });"
             " g.drawImage(c, 0, 0); const under = c.height - 24 - 30 + 2, line = (x, y, w, h) => {"
             " let n = 0; const d = g.getImageData(x, y, w, h).data; for (let i = 3; i < d.length; i += 4) n += d[i] > 0; return n; };"
             # A strong column of twenty pixels is the cursor: names, edges and dotted lines have none.
             " const middle = 28 + Math.round((under - 28) / 3), from = 60, wide = c.width - from;"
             " const part = g.getImageData(from, middle, wide, 20).data; let columns = 0;"
             " for (let x = 0; x < wide; x++) { let n = 0;"
             " for (let y = 0; y < 20; y++) n += part[4 * (y * wide + x) + 3] > 128; columns += n === 20; }"
             " return [line(66, under, c.width - 80, 1), columns]; })()")
    for span, shown in (("t0-2000", True), ("t20000-30000", False)):
        # Allocation 40 lives from 877 to 958 microseconds.
        page = pages(path, fragment="#v=1&at=56&sel=a40&x=" + span)
        page.wait("document.getElementById('details').classList.contains('pinned')")
        page.settled()
        bar, cursor = page.ask(marks)
        assert (bar > 10, cursor > 0) == (shown, shown), (span, bar, cursor)


def finished(page):
    assert page.ask("document.getElementById('alarm').hidden"), page.text("#alarm")
    assert page.complaints() == []
    page.close()


def tabs(page):
    """The views by title: why each is closed, or ''."""
    return dict(page.ask("[...document.querySelectorAll('#tabs button')].map((tab) =>"
                         " [tab.textContent.slice(1), tab.disabled ? tab.title : ''])"))


@pytest.mark.long
def test_segments_without_events_are_one_moment(browser, tmp_path):
    page = opened(browser, written(tmp_path, scripts.make("state_only")))
    page.wait("document.querySelector('#view').textContent.includes(%r)" % ONE_MOMENT)
    closed = tabs(page)
    assert closed["Stack"] == closed["Groups"] == closed["Address map"] == ONE_MOMENT
    assert closed["State"] == ""
    finished(page)


@pytest.mark.long
def test_of_many_segments_those_in_sight_are_drawn(browser, tmp_path):
    many = 10000
    page = opened(browser, written(tmp_path, top([half(BASE + i * 32 * MIB) for i in range(many)])))
    page.wait("document.querySelectorAll('.segments canvas').length > 5")
    assert page.ask("document.querySelectorAll('.segments canvas').length") < 100
    assert "10\u202f000 segments" in page.text("#view .bar")
    page.ask("(() => { const box = document.querySelector('.segments').parentNode; box.scrollTop = box.scrollHeight; })()")
    last = "at 0x%x," % (BASE + (many - 1) * 32 * MIB)
    page.wait("document.querySelector('.segments tr:last-child canvas')?.ariaLabel.includes(%r)" % last)
    assert page.ask("document.querySelectorAll('.segments canvas').length") < 100
    finished(page)


def test_nothing_at_all_leaves_the_report(browser, tmp_path):
    page = opened(browser, written(tmp_path, top([])))
    assert not page.ask("document.getElementById('report').hidden")
    assert "neither segments nor events" in page.text("#report") or "nothing" in page.text("#report").lower(), page.text("#report")
    assert page.ask("document.getElementById('overview').hidden && document.getElementById('work').hidden")
    finished(page)


@pytest.mark.long
def test_without_stacks_holders_are_told_by_size(browser, tmp_path):
    script = "no_stacks\nstack any model.py:1 f\nrepeat 6 as i {\n  alloc a$i 6MiB+$i*1MiB any\n}\nfree a2\n"
    page = opened(browser, written(tmp_path, scripts.make(script)))
    page.wait("document.querySelector('#who caption').textContent.includes('by size')")
    assert [value in page.ask("[...document.querySelectorAll('#who select option')].map((one) => one.value)")
            for value in ("size", "stream", "site")] == [True, True, False]
    page.close()
    page = opened(browser, written(tmp_path, scripts.make(script)), "#v=1&sel=a0")
    page.wait("document.getElementById('details').textContent.includes('no stacks recorded (stacks=')")
    assert tabs(page)["Flame"] == "No stacks were recorded."
    finished(page)


def test_without_times_the_axis_says_why(browser, tmp_path):
    recording = top([half()], [event("segment_alloc", BASE, 20 * MIB), event("alloc", BASE, 4 * MIB - 100)])
    page = opened(browser, written(tmp_path, recording))
    page.wait("[...document.querySelectorAll('#view option')].some((one) => one.value === 'time' && one.disabled)")
    assert page.ask("[...document.querySelectorAll('#view label')].some((one) => one.title === 'no times were recorded')")
    finished(page)


def cut(folder, parts):
    whole = scripts.make("leak").read_bytes()
    path = folder / "cut.pickle"
    path.write_bytes(whole[:len(whole) * parts // 10])
    return path


def test_a_cut_file_ends_where_it_is_cut(browser, tmp_path):
    path = cut(tmp_path, 7)
    page = opened(browser, written(tmp_path, path))
    page.wait("document.getElementById('status-text').textContent.includes('peak of the part read')")
    words = drawn_words(page)
    place = "{:,}".format(path.stat().st_size).replace(",", "\u202f")
    assert "file ends here, at byte " + place in words
    assert "cut off" in page.text("#trust")
    finished(page)


@pytest.mark.long
def test_a_cut_file_without_its_start_has_lower_bounds(browser, tmp_path):
    page = opened(browser, written(tmp_path, cut(tmp_path, 7)))
    page.wait("document.getElementById('status-text').textContent.includes('requested')")
    assert "\u2265 " in page.text("#status-text") and "\u2265 " in page.text("#devices")
    assert "start unknown" in drawn_words(page)
    finished(page)


@pytest.mark.long
def test_what_was_there_before_is_named(browser, tmp_path):
    script = "stack any model.py:1 f\nalloc old 64MiB any\nwindow late\nrepeat 9 as i {\n  alloc a$i 6MiB any\n}\n"
    page = opened(browser, written(tmp_path, scripts.make(script)))
    page.wait("document.getElementById('status-text').textContent.includes('requested')")
    assert "before recording" in drawn_words(page)
    assert "starts mid-run" in page.text("#trust")
    finished(page)


@pytest.mark.long
def test_what_no_allocation_explains_is_a_band(browser, tmp_path):
    """The final state has more in use than the trace explains."""
    used = segment([block(BASE, 4 * MIB), block(BASE + 4 * MIB, 16 * MIB, state="inactive")])
    page = opened(browser, written(tmp_path, top([used], [event("alloc", BASE, 2 * MIB, 10)])), "#v=1&view=stack")
    page.wait("document.getElementById('who').textContent.includes('unattributed')")
    assert page.ask("JSON.parse(document.getElementById('head').textContent).files[0].devices[0].adjust_bytes") == 2 * MIB
    assert "unattributed" in drawn_words(page)
    finished(page)


@pytest.mark.long
def test_a_curve_below_zero_says_so(browser, tmp_path):
    """What the trace allocates is not there at the end, and nothing frees it."""
    used = segment([block(BASE, 4 * MIB), block(BASE + 4 * MIB, 16 * MIB, state="inactive")])
    events = [event("alloc", BASE, 4 * MIB, 10), event("alloc", BASE + 4 * MIB, 8 * MIB, 11)]
    page = opened(browser, written(tmp_path, top([used], events)))
    page.wait("document.getElementById('who').textContent.includes('unattributed')")
    words = drawn_words(page)
    assert "axis goes below zero" in words
    finished(page)


@pytest.mark.long
def test_a_share_is_of_all_that_is_alive(browser, tmp_path):
    """Two allocations of 8 MiB and 1 KiB, of which the final state holds the second: the curve ends at 1 KiB."""
    used = segment([block(BASE, 1024), block(BASE + 4 * MIB, 16 * MIB, state="inactive")])
    events = [event("alloc", BASE, 1024, 10), event("alloc", BASE + 4 * MIB, 8 * MIB, 11)]
    page = opened(browser, written(tmp_path, top([used], events)))
    page.wait("document.querySelector('#who caption').textContent.includes('by size')")
    assert page.text("#who caption").endswith("requested at event 1, by size")
    assert page.ask("[...document.querySelectorAll('#who tr[data-row]')].map((tr) => [...tr.cells].slice(1, 3).map((td) => td.textContent))"
                    ) == [["8.00 MiB", "100.0 %"], ["1.00 KiB", "0.0 %"], ["-8.00 MiB", "-"]]
    page.press("/")
    page.type("size>1MiB")
    page.press("Enter")
    page.wait("document.getElementById('found').textContent !== ''")
    assert "8.00 MiB at the cursor (100.0 % of all that is alive)" in page.text("#found")
    finished(page)


@pytest.mark.long
def test_shares_of_a_double_free_are_the_same_everywhere(browser, tmp_path):
    """What is freed twice was there twice, and its rows are not the curve: finding and table take shares of the rows, as peak does."""
    used = segment([block(BASE, 4 * MIB), block(BASE + 4 * MIB, 16 * MIB, state="inactive")])
    events = [event("alloc", BASE, 4 * MIB, 11), event("alloc", BASE + 4 * MIB, 2 * MIB, 12), *freed(BASE, 4 * MIB, 13), *freed(BASE, 4 * MIB, 15)]
    path = tmp_path / "twice.pickle"
    path.write_bytes(writers.pickled(top([used], events), 4))
    told = run("peak", "--json", "--by", "category", path, expect=0).json()["devices"][0]["result"]
    assert told["adjust_bytes"] == -2 * MIB
    [old] = [f["text"] for f in run("report", "--json", path, expect=0).json()["findings"] if f["id"] == "older_than_recording"]
    page = opened(browser, written(tmp_path, path))
    page.wait("document.getElementById('who').textContent.includes('unattributed')")
    page.ask("document.querySelector('#card > .link').click()")
    assert "8.00 MiB of the peak (57.1 %)" in old and old in page.text("#verdicts")
    seen = {}
    for _ in range(16):
        seen[page.text("#who caption").rsplit("by ", 1)[-1]] = page.ask(
            "[...document.querySelectorAll('#who tr[data-row]')].map((tr) => [...tr.cells].slice(1, 3).map((td) => td.textContent))")
        page.press("g")
        page.ask("new Promise((done) => setTimeout(done, 300))")
    assert seen["age"][0] == ["8.00 MiB", "57.1 %"]
    assert seen["category"] == [["%d.00 MiB" % (row["bytes"] // MIB), "%.1f %%" % (100 * row["share_ratio"])] for row in told["rows"]
                                ] + [["-2.00 MiB", "-"]]
    finished(page)


@pytest.mark.long
def test_one_event_spans_the_plot(browser, tmp_path):
    recording = top([segment([block(BASE, 2 * MIB)])], [event("alloc", BASE, 2 * MIB, 10)])
    page = opened(browser, written(tmp_path, recording), "#v=1&view=stack")
    page.wait("document.getElementById('status-text').textContent.includes('requested')")
    assert "NaN" not in page.ask("document.body.innerText") and "Infinity" not in page.ask("document.body.innerText")
    assert not any("NaN" in word or "Infinity" in word for word in drawn_words(page))
    finished(page)


@pytest.mark.long
def test_of_one_event_all_is_told_of_the_end(browser, tmp_path):
    """Its free makes the start the peak; the report tells of what it left, and so does the page."""
    recording = top([segment([block(BASE, 2 * MIB)])], [event("free_completed", BASE + 4 * MIB, 4 * MIB, 10)])
    page = opened(browser, written(tmp_path, recording))
    page.wait("document.getElementById('status-text').textContent.includes('2.00 MiB requested')")
    assert page.text("#status-text").startswith("end ")
    assert "2.00 MiB at the end" in page.text("#devices")
    page.wait("document.getElementById('who').textContent.includes('requested at end')")
    report = run("report", "--json", tmp_path / "small.pickle", expect=0).json()["devices"][0]
    assert sum(row["bytes"] for row in report["made_of"]) == report["requested"]["end_bytes"] == 2 * MIB
    assert report["requested"]["peak_bytes"] == 6 * MIB
    finished(page)


@pytest.mark.long
def test_find_takes_a_site_as_tables_print_it(pages):
    page = pages(EXAMPLES / "oom.pickle")
    for typed, says in (("model.py:22", "43 allocations,"), ("site:model.py:22", "43 allocations,"),
                        ("frame:x", 'At character 1: "frame" is no word of the search; did you mean free:?'
                                    " In quotes it is looked for as text.")):
        page.ask("document.getElementById('query').value = ''")
        page.press("/")
        page.type(typed)
        page.press("Enter")
        page.says("#found", says)
        page.press("Escape")
        page.wait("document.getElementById('found').textContent === ''")
        page.press("Escape")
    assert "model.py:22" in page.ask("document.getElementById('query').placeholder")
    page.press("?")
    page.says("#help", "Words of find")
    page.sound()


@pytest.mark.long
def test_a_capacity_is_gib_or_told_to_be_no_size(pages):
    page = pages(EXAMPLES / "oom.pickle")
    box = "document.querySelector('#view input')"
    told = "document.getElementById(%s.getAttribute('aria-describedby')).textContent" % box

    def type_in(text):
        page.ask(box + ".select()")
        page.ask(box + ".value = ''")
        page.ask(box + ".focus()")
        page.type(text)
        page.press("Enter")

    type_in("24")
    page.says("#card", "free at the peak")
    assert page.state()["cap"] == str(24 << 30)
    type_in("5 apples")
    page.wait(told + ".startsWith('no size')")
    assert page.state()["cap"] == str(24 << 30)
    type_in("32GiB")
    page.wait(told + " === ''")
    assert page.state()["cap"] == str(32 << 30)
    page.sound()


@pytest.mark.long
def test_a_finding_of_the_peak_leads_there(pages):
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&at=100")
    page.ask("document.querySelector('#card > .link').click()")
    page.ask("[...document.querySelectorAll('.finding')].find((f) => f.textContent.includes('model.py:71')).click()")
    page.says("#found", "allocations,")
    page.wait("document.getElementById('status-text').textContent.endsWith('peak')")
    assert page.ask("document.getElementById('query').value") == 'line="model.py:71 forward"'
    page.sound()


@pytest.mark.long
def test_a_flame_graph_is_of_what_was_chosen_last(pages):
    """What a difference compares is known later than the moment that was chosen after it."""
    page = pages(EXAMPLES / "oom.pickle", fragment="#v=1&view=flame")
    page.wait("document.querySelector('.flame canvas')?.ariaLabel?.includes('100 %')")
    page.ask("(() => { const of = document.querySelector('#view > :not([hidden]) select'); for (const value of ['diff', 'peak'])"
             " { of.value = value; of.dispatchEvent(new Event('change')); } })()")
    page.ask("new Promise((done) => setTimeout(done, 600))")
    assert "100 %" in page.ask("document.querySelector('.flame canvas').ariaLabel")
    page.sound()


@pytest.mark.long
def test_a_picture_that_cannot_be_saved_says_so(pages):
    page = pages(EXAMPLES / "oom.pickle")
    page.settled()
    page.ask("URL.createObjectURL = () => { throw new Error('no room'); }; 0")
    page.press("e")
    page.wait("document.getElementById('export').open")
    page.ask("[...document.querySelectorAll('#export button')].find((b) => b.textContent === 'SVG').click()")
    page.says("#alarm", "no room")
    assert page.complaints() == []


ALARM_IS_SEEN = """(() => {
  const { x, y, width, height } = document.getElementById('alarm').getBoundingClientRect();
  return y >= 0 && document.elementFromPoint(x + width / 2, y + height / 2)?.id === 'alarm';
})()"""


def test_a_damaged_column_leaves_the_report(browser, tmp_path):
    page_file = written(tmp_path, ROOT / "examples/leak.pickle")
    text = page_file.read_text(encoding="utf-8")
    start = re.search(r'id="b1">', text).end()
    page_file.write_text(text[:start] + "AAAA" + text[start + 4:], encoding="utf-8")
    page = opened(browser, page_file)
    page.wait("!document.getElementById('alarm').hidden")
    assert re.search(r"column alloc\.\w+: damaged data; the file was altered", page.text("#alarm"))
    assert not page.ask("document.getElementById('report').hidden")
    assert "model.py" in page.text("#report")
    page.wait(ALARM_IS_SEEN)
    page.close()


@pytest.mark.long
def test_a_damaged_cover_is_told_and_the_picture_remains(browser, tmp_path):
    page_file = written(tmp_path, ROOT / "examples/leak.pickle")
    text = page_file.read_text(encoding="utf-8")
    page_file.write_text(text.replace('id="cover">', 'id="cover">*!'), encoding="utf-8")
    page = opened(browser, page_file)
    page.wait("document.getElementById('status-text').textContent.includes('requested')")
    assert page.text("#alarm") == "block 0: damaged data; the file was altered"
    assert not page.ask("document.getElementById('alarm').hidden") and page.complaints() == []
    page.close()


@pytest.mark.parametrize("begins, gone, says", [
    (r'id="head">', r".*?(?=</script>)", "head: damaged data; the file was altered"),
    (r'id="head">', r"(?<=.{90}).*?(?=</script>)", "head: damaged data; the file was altered"),
    (r'id="b1">', r".{4}", "block 1: damaged data; the file was altered"),
], ids=("no head", "half a head", "block"))
def test_an_altered_page_says_so(browser, tmp_path, begins, gone, says):
    page_file = written(tmp_path, ROOT / "examples/leak.pickle")
    text = page_file.read_text(encoding="utf-8")
    start = re.search(begins, text).end()
    cut = re.compile(gone, re.S).search(text, start)
    page_file.write_text(text[:cut.start()] + ("*!*!" if "id=\"head" not in begins else "") + text[cut.end():],
                         encoding="utf-8")
    page = browser.open(page_file.as_uri(), 1280, 800)
    page.wait("document.getElementById('alarm')?.hidden === false")
    assert page.text("#alarm") == says
    assert "model.py" in page.text("#report") and not page.ask("document.getElementById('report').hidden")
    page.wait(ALARM_IS_SEEN)  # above the report, and not beneath it
    page.ask("new Promise((done) => setTimeout(done, 200))")
    assert page.complaints() == [] and page.text("#alarm") == says
    page.close()


@pytest.mark.parametrize("altered", ("AAAA", "*!*!"), ids=("no stream", "no base64"))
def test_an_altered_program_leaves_the_report(browser, tmp_path, altered):
    page_file = written(tmp_path, ROOT / "examples/leak.pickle")
    text = page_file.read_text(encoding="utf-8")
    page_file.write_text(re.sub(r'(id="app">).{4}', lambda found: found[1] + altered, text), encoding="utf-8")
    page = browser.open(page_file.as_uri(), 1280, 800)
    page.wait("document.getElementById('unpacked') !== null")
    assert "the program of this page could not be unpacked" in page.text("#unpacked")
    assert "model.py" in page.text("#report") and page.complaints() == []
    page.close()


def test_without_javascript_the_report_remains(browser, tmp_path):
    page_file = written(tmp_path, ROOT / "examples/leak.pickle")
    assert '<main id="report"><pre>' in page_file.read_text(encoding="utf-8")
    page = browser.open("about:blank", 1280, 800)
    page.send("Emulation.setScriptExecutionDisabled", value=True)
    page.send("Page.navigate", url=page_file.as_uri())
    page.wait("document.readyState === 'complete' && document.getElementById('report') !== null")
    assert "model.py" in page.ask("document.body.innerText")
    assert page.ask("document.getElementById('page').hidden && !document.getElementById('report').hidden")
    assert page.complaints() == []
    page.close()


@pytest.mark.long
def test_addresses_above_what_a_page_counts_are_unknown(browser, tmp_path):
    """Not the largest number instead of them; and the page says so."""
    base = 1 << 60
    block = {"size": 2 << 20, "requested_size": 2 << 20, "address": base, "state": "active_allocated", "frames": []}
    segment = {"device": 0, "address": base, "total_size": 2 << 20, "allocated_size": 2 << 20, "active_size": 2 << 20,
               "stream": 0, "segment_type": "small", "segment_pool_id": (0, 0), "is_expandable": False, "blocks": [block]}
    events = [{"action": "segment_alloc", "addr": base, "size": 2 << 20, "stream": 0, "frames": [], "time_us": 1},
              {"action": "alloc", "addr": base, "size": 2 << 20, "stream": 0, "frames": [], "time_us": 2}]
    shown = opened(browser, written(tmp_path, {"segments": [segment], "device_traces": [events]}), "#v=1&sel=a0")
    shown.wait("document.querySelector('#card').textContent.includes('above 2^53')")
    shown.press("4")
    shown.wait("document.querySelector('#view [aria-label*=\"at unknown\"]') !== null")
    for place in ("#view", "#details"):
        assert "1fffffffffffff" not in shown.text(place)
    finished(shown)


@pytest.mark.long
def test_a_page_of_some_events_says_which(browser, tmp_path):
    """It opens with them, does not leave them, and the overview has the whole recording."""
    page = tmp_path / "some.html"
    run("view", ROOT / "examples/oom.pickle", "--from", 1000, "--to", 1999, "-o", page, expect=0)
    shown = opened(browser, page, "#v=1&at=3")
    shown.wait("document.querySelector('#card').textContent.includes('holds events')")
    assert "events 1\u202f000 to 1\u202f999 of 3\u202f161 only" in shown.text("#card")
    shown.wait("document.querySelector('#status-text').textContent.startsWith('event 1\u202f000 ')")
    shown.press("o")
    shown.wait("document.querySelector('#status-note').textContent.includes('holds event 1\u202f000 to event 1\u202f999')")
    shown.wait("document.querySelector('#status-text').textContent.startsWith('event 1\u202f999 ')")
    shown.press("p")
    shown.wait("document.querySelector('#status-text').textContent.includes('peak of the events here')")
    assert "hold" not in shown.text("#alarm")
    for key in "23456781":
        shown.press(key)
        shown.ask("new Promise((done) => setTimeout(done, 300))")
    shown.press("x")
    shown.ask("new Promise((done) => setTimeout(done, 300))")
    finished(shown)


def test_a_page_of_some_events_begins_at_its_peak_and_knows_no_end(browser, tmp_path):
    """Of a long recording the overview has a state in two, and few of those near its beginning."""
    recording, page = tmp_path / "long.json", tmp_path / "some.html"
    events = [{"action": "alloc", "addr": 512 * i + 512, "size": 512, "stream": 0, "frames": []} for i in range(9000)]
    recording.write_text(json.dumps({"segments": [], "device_traces": [events]}), encoding="utf-8")
    run("view", recording, "--from", 101, "--to", 200, "-o", page, expect=0)
    shown = opened(browser, page)
    shown.wait("document.querySelector('#status-text').textContent.includes('peak of the events here')")
    shown.press("6")
    shown.wait("document.querySelector('#view').textContent.includes('only some of the events')")
    assert "Born in a step" not in shown.ask("document.querySelector('#view').innerText")
    shown.ask("(() => { document.getElementById('query').value = 'size>1KiB';"
              " document.getElementById('find').requestSubmit(); })()")
    shown.wait("document.getElementById('found').textContent.includes('in the events held')")
    finished(shown)


@pytest.mark.long
def test_of_several_devices_the_one_that_failed_is_opened(browser, tmp_path):
    alloc = {"action": "alloc", "addr": 512, "size": 512, "stream": 0, "frames": []}
    oom = {"action": "oom", "size": 512, "stream": 0, "device_free": 0, "frames": []}
    recording, page = tmp_path / "two.json", tmp_path / "two.html"
    recording.write_text(json.dumps({"segments": [], "device_traces": [[alloc], [alloc, oom]]}), encoding="utf-8")
    run("view", recording, "-o", page, expect=0)
    shown = opened(browser, page)
    shown.wait("location.hash.includes('dev=1&')")
    finished(shown)
    shown = opened(browser, page, "#v=1&file=0&dev=0")
    shown.wait("location.hash.includes('dev=0&')")
    finished(shown)


@pytest.mark.long
def test_a_page_of_the_start_alone_says_so(browser, tmp_path):
    page = tmp_path / "start.html"
    run("view", ROOT / "examples/oom.pickle", "--to", "start", "-o", page, expect=0)
    shown = opened(browser, page, "#v=1")
    shown.wait("document.querySelector('#card').textContent.includes('holds the start alone, and none of')")
    shown.wait("document.querySelector('#status-text').textContent.startsWith('start')")
    for key in "23456781":
        shown.press(key)
        shown.ask("new Promise((done) => setTimeout(done, 300))")
    finished(shown)


@pytest.mark.long
def test_a_page_kept_small_says_what_it_goes_without(browser, tmp_path):
    """Every view opens or says why not; what is told of memory is that of the whole page."""
    page = tmp_path / "small.html"
    least = run("view", ROOT / "examples/oom.pickle", "--max-size", "1", "-o", page, expect=2).err.split("--max-size ")[1].split(",")[0]
    done = run("view", ROOT / "examples/oom.pickle", "--max-size", least, "-o", page, expect=0)
    assert "goes without stacks of frees" in done.err and "addresses" in done.err
    shown = opened(browser, page)
    shown.wait("document.querySelector('#card').textContent.includes('goes without')")
    trust = shown.text("#card")
    assert "times" in trust and "addresses" in trust
    closed = tabs(shown)
    assert "Address map" not in closed and "State" not in closed and closed["Flame"] == closed["Stack"] == ""
    for key in "12345678":
        shown.press(key)
        shown.ask("new Promise((done) => setTimeout(done, 400))")
    shown.press("1")
    shown.wait("document.querySelector('#who').textContent.includes('22.20')")
    shown.press("x")
    shown.ask("new Promise((done) => setTimeout(done, 300))")
    finished(shown)
