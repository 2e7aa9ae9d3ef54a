"""The flame graph that `vramscope export --to html` writes of a trace: opened offline, zoomed, searched, linked to."""
import base64
import hashlib
import json
import re
import subprocess
from importlib import util
from itertools import combinations
from pathlib import Path

import pytest
import test_view_static as static

from conftest import ROOT, run, some
from pages import Opened, plain

BUNDLED = ROOT / "examples/traces/training.pt.trace.json.gz"
READY = ("document.readyState === 'complete' && location.protocol === 'file:' &&"
         " (document.getElementById('figures').textContent !== '' || !document.getElementById('alarm').hidden)")
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"'><svg onload=alert(1)>",
           "a\u202eyp.live", "&lt;b&gt; &amp;", "${alert(1)} %s", "long" * 65536, "\u4e2d\u6587 \U0001f600"]
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def span(name, ts, dur, tid=1, cat="cpu_op", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}


# Host time of 1,000 us: conv 600 (in it Conv2d 300), linear 300, the rest of the step 100.
KNOWN = [
    span("step.py(7): step", 0, 1000, cat="python_function"),
    span("conv", 0, 600), span("Conv2d", 100, 300),
    span("linear", 600, 300),
    span("cudaLaunchKernel", 610, 10, cat="cuda_runtime", correlation=3),
    {**span("gemm", 700, 50, tid=7, cat="kernel", correlation=3), "pid": 0},
    {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 650,
     "args": {"Device Type": 1, "Device Id": 0, "Bytes": 4096, "Addr": 64}},
]


class Flame(Opened):
    def ready(self):
        self.wait(READY)
        return self

    def figures(self):
        return plain(self.text("#name")), plain(self.text("#figures"))

    def at(self, row, across):
        """The point of a row of the picture, from the first one on, at a share of its width."""
        left, top, width, height = self.box("#canvas")
        flame = self.ask("document.getElementById('shape').value") == "flame"
        return left + width * across, (top + height - 20 * row - 10) if flame else top + 20 * row + 10

    def over(self, row, across):
        self.mouse("mouseMoved", *self.at(row, across))
        return self.figures()

    def choose(self, control, value):
        self.ask("(() => { const s = document.getElementById('%s'); s.value = '%s';"
                 " s.dispatchEvent(new Event('change')); })()" % (control, value))
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def look_for(self, text):
        self.ask("document.getElementById('query').focus(), document.getElementById('query').select()")
        self.type(text)
        return plain(self.text("#found"))

    def fragment(self):
        return self.ask("location.hash")

    def crumbs(self):
        return self.ask("[...document.querySelectorAll('#crumbs > span')].map((s) => s.textContent)")

    def colour(self, row, across):
        """Of the pixel at the left, upper part of a cell."""
        return self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
                        " const from = document.getElementById('canvas');"
                        " const copy = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });"
                        " copy.drawImage(from, %f * from.width + 1, %d * 20 + 2, 1, 1, 0, 0, 1, 1);"
                        " done([...copy.getImageData(0, 0, 1, 1).data]); })))" % (across, row))


@pytest.fixture
def flames(browser, tmp_path):
    """Opens the page of events, or of a file; at the end it must have asked for nothing and complained of nothing."""
    made = []

    def show(trace, *options, fragment="", size=(1280, 800), dark=False):
        path = trace
        if isinstance(trace, list):
            path = tmp_path / "known.json"
            path.write_text(json.dumps({"traceEvents": trace}), encoding="utf-8")
        page_path = tmp_path / ("page%d.html" % len(made))
        run("export", path, "--to", "html", *options, "-o", page_path, expect=0)
        page = Flame(browser, "about:blank", *size)
        made.append(page)
        page.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme",
                                                           "value": "dark" if dark else "light"}])
        page.send("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
        page.send("Page.navigate", url=page_path.as_uri() + fragment)
        return page.ready()

    yield show
    for page in made:
        complaints = page.complaints()
        page.close()
        assert complaints == []


# What is seen ---------------------------------------------------------------------------

def test_a_frame_under_the_pointer(flames):
    page = flames(KNOWN)
    assert page.over(0, 0.5) == ("thread 1", "total 1.00 ms (100.0 %), self 0 ns (0.0 %)")
    assert page.over(1, 0.5) == ("step.py(7): step", "total 1.00 ms (100.0 %), self 100.0 µs (10.0 %), 1 call")
    assert page.over(2, 0.3) == ("conv", "total 600.0 µs (60.0 %), self 300.0 µs (30.0 %), 1 call")
    assert page.over(3, 0.1) == ("Conv2d", "total 300.0 µs (30.0 %), self 300.0 µs (30.0 %), 1 call")
    assert page.over(2, 0.95)[0] == "thread 1", "no frame is there"
    page.choose("shape", "flame")
    assert page.over(2, 0.3)[0] == "conv"
    assert page.fragment() == "#v=1&shape=flame"


def test_weights_of_the_trace(flames):
    page = flames(KNOWN, "--weight", "device")
    assert page.ask("[...document.getElementById('weight').options].map((o) => o.value)") == \
        ["host", "device", "bytes", "calls"]
    assert page.figures()[1] == "total 50.0 µs (100.0 %), self 0 ns (0.0 %)"
    page.choose("weight", "bytes")
    assert page.over(2, 0.5) == ("linear", "total 4.00 KiB (100.0 %), self 4.00 KiB (100.0 %), 1 call")
    page.choose("weight", "calls")
    assert page.over(1, 0.5)[1] == "total 6 calls (100.0 %), self 1 call (16.7 %)"
    only = flames([span("a", 0, 9)])
    assert only.ask("[...document.getElementById('weight').options].map((o) => o.value)") == ["host", "calls"]


def test_the_innermost_frame_first(flames):
    page = flames(KNOWN, "--inverse")
    assert page.figures() == ("all", "total 1.00 ms (100.0 %), 5 calls")
    rows = {page.over(1, across)[0] for across in (0.1, 0.4, 0.75, 0.95)}
    assert rows == {"conv", "Conv2d", "linear", "step.py(7): step"}
    page.choose("first", "outermost")
    assert page.over(0, 0.5)[0] == "thread 1"
    assert page.fragment() == "#v=1&first=outermost"


def test_zoom_by_mouse(flames):
    page = flames(KNOWN)
    page.click(*page.at(2, 0.3))
    page.wait("document.querySelectorAll('#crumbs > span').length === 3")
    assert page.crumbs() == ["thread 1", "step.py(7): step", "conv"]
    assert page.over(0, 0.99)[0] == "conv" and page.over(1, 0.25)[0] == "Conv2d"
    page.click(*page.at(0, 0.5))
    page.wait("document.querySelectorAll('#crumbs > span').length === 2")
    page.press_on("#crumbs button")
    page.wait("document.getElementById('crumbs').hidden")
    page.ask("history.back()")
    page.wait("document.querySelectorAll('#crumbs > span').length === 2")


def test_a_click_before_the_next_frame_does_not_zoom(flames):
    """The picture that it meant is of another tree by then."""
    page = flames(KNOWN)
    x, y = page.at(2, 0.3)
    page.ask("(() => { const s = document.getElementById('weight'), box = document.getElementById('box');"
             " s.value = 'calls'; s.dispatchEvent(new Event('change'));"
             " for (const type of ['pointermove', 'click'])"
             "  box.dispatchEvent(new MouseEvent(type, { clientX: %f, clientY: %f, bubbles: true }));"
             " for (const key of ['ArrowDown', 'Enter'])"
             "  box.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })); })()" % (x, y))
    page.wait("document.getElementById('name').textContent === 'linear'") # what lies under the pointer now
    assert page.figures()[1].startswith("total 3 calls")
    assert page.fragment() == "#v=1&weight=calls" and page.ask("document.getElementById('crumbs').hidden")


def test_zoom_by_keyboard(flames):
    page = flames(KNOWN)
    for _ in range(8):
        if page.ask("document.activeElement.id") == "box":
            break
        page.press("Tab")
    assert page.ask("document.activeElement.id") == "box"
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.press(key)
    page.wait("document.getElementById('live').textContent.startsWith('linear: total')")
    page.press("Enter")
    page.wait("!document.getElementById('crumbs').hidden")
    assert page.crumbs()[-1] == "linear"
    page.press("Backspace")
    page.wait("document.querySelectorAll('#crumbs > span').length === 2")
    page.press("Escape")
    page.wait("document.getElementById('crumbs').hidden")
    assert page.fragment() == ""


def test_the_share_that_a_search_finds(flames):
    page = flames(KNOWN)
    before = page.colour(2, 0.62)
    assert page.look_for("CONV") == "2 frames match: 60.0 % of 1.00 ms is in them and what they called"
    page.wait("location.hash === '#v=1&q=CONV'")
    assert page.colour(2, 0.62) != before, "linear steps back"
    assert page.look_for("Conv2d").startswith("1 frame matches: 30.0 %")
    assert page.look_for("nowhere") == "no frame matches"
    assert page.look_for("step.py").startswith("1 frame matches: 100.0 %")
    page.press("Escape")
    assert page.text("#found") == "" and page.ask("document.getElementById('query').value") == ""
    assert page.colour(2, 0.62) == before


def test_a_link_leads_to_the_same_place(flames):
    page = flames(KNOWN)
    page.choose("weight", "calls")
    page.click(*page.at(1, 0.5))
    page.wait("!document.getElementById('crumbs').hidden")
    page.look_for("lin</b>&=")
    page.wait("location.hash.includes('q=')")
    fragment, figures = page.fragment(), page.figures()
    other = flames(KNOWN, fragment=fragment)
    assert other.figures() == figures and other.fragment() == fragment
    assert other.ask("document.getElementById('query').value") == "lin</b>&="
    assert other.crumbs() == page.crumbs()
    for nonsense in ("#v=1&weight=__proto__&at=9999999999&shape=x&q=%", "#at=4.4&first=innermost"):
        assert flames(KNOWN, fragment=nonsense).figures()[1].startswith("total")


def test_heaviest_frames_are_a_table(flames):
    page = flames(KNOWN)
    rows = "[...document.querySelectorAll('tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    have = [[plain(cell) for cell in row] for row in page.ask(rows)]
    assert sorted(have)[0] == ["Conv2d", "300.0 µs", "30.0 %", "300.0 µs", "30.0 %", "1"]
    assert {row[0] for row in have} == {"Conv2d", "conv", "linear", "step.py(7): step", "cudaLaunchKernel"}
    page.press_on("th:nth-child(4) button")
    assert page.ask("document.querySelector('[aria-sort]').textContent") == "total"
    assert page.ask(rows)[0][0] == "step.py(7): step"
    page.press_on("tbody tr:nth-child(2) button")
    assert page.ask("document.getElementById('query').value") == "conv"


# Strangers and accidents ----------------------------------------------------------------

def test_names_of_a_stranger_are_text(flames):
    events = [span(name, i * 10, 9) for i, name in enumerate(HOSTILE)]
    page = flames([span("all", 0, 1000, cat="python_function"), *events], fragment="#v=1&q=alert")
    page.ask("self.alerted = 0; self.alert = () => { self.alerted++; }; 0")
    for name in HOSTILE[:4]:
        page.look_for(name)
        assert page.text("#found").startswith("1 frame matches")
    page.look_for("")
    for i in range(len(HOSTILE)):
        page.over(2, 0.001 + 0.009 * i)
    shown = page.text("main")
    assert page.ask("[document.querySelectorAll('img, svg, iframe, object, embed').length, self.alerted]") == [0, 0]
    assert "\u202e" not in shown and "a\\u{202e}yp.live" in shown
    for name in HOSTILE[:3] + HOSTILE[4:6] + HOSTILE[7:]:
        assert name in shown
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")


def test_a_cut_trace_says_so(flames, tmp_path):
    path = tmp_path / "cut.json"
    path.write_text(json.dumps({"traceEvents": KNOWN})[:-80])
    page = flames(path)
    assert page.text("#cut").startswith("INCOMPLETE: the file ends too early, at byte ")
    assert flames(KNOWN).ask("document.getElementById('cut').hidden")


def test_a_trace_without_calls_says_so(flames):
    page = flames([span("only a range", 0, 9, cat="user_annotation")])
    assert page.text("#alarm") == "No call of this trace has any time, bytes or calls."


def test_an_altered_page_says_so(flames, browser, tmp_path):
    flames(KNOWN)
    whole = (tmp_path / "page0.html").read_text(encoding="utf-8")
    broken = re.sub(r'(id="tree">.{40})', r"\1AAAA", whole)
    (tmp_path / "altered.html").write_text(broken, encoding="utf-8")
    page = Flame(browser, (tmp_path / "altered.html").as_uri(), 800, 600).ready()
    assert page.text("#alarm").startswith("No picture: the tree could not be unpacked")
    page.close()


def test_a_deep_tree_opens(flames):
    depth = some(3000, 30_000)
    events = [span("f%d" % (i % 3), i, 2 * depth - 2 * i, cat="python_function") for i in range(depth)]
    page = flames(events)
    page.ask("document.getElementById('box').scrollTop = 1e9")
    page.wait("document.getElementById('box').scrollTop > %d" % (20 * depth // 2))
    page.choose("first", "innermost")
    page.wait("document.getElementById('name').textContent === 'all'")
    page.choose("first", "outermost")
    page.ask("document.getElementById('box').focus()")
    for _ in range(25):
        page.press("ArrowDown")
    page.press("Enter")
    page.wait("!document.getElementById('crumbs').hidden")
    assert "\u2026 14 frames" in page.crumbs() and len(page.crumbs()) == 12


# For everybody ---------------------------------------------------------------------------

@pytest.fixture(scope="module")
def axe():
    found = util.find_spec("axe_core_python")
    if found is None:
        pytest.skip("axe-core-python is not installed: accessibility was not checked by axe-core")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("dark", [False, True])
def test_no_violation(flames, axe, dark):
    page = flames(BUNDLED, fragment="#v=1&q=aten&at=3", dark=dark)
    assert not page.ask("document.getElementById('crumbs').hidden")
    page.ask(axe + "; 0")
    assert page.ask("axe.run(document, { runOnly: { type: 'tag', values: %s }, resultTypes: ['violations'] })"
                    ".then((r) => r.violations.flatMap((v) => v.nodes.map((n) => [v.id, n.html.slice(0, 200)])))"
                    % json.dumps(LEVELS)) == []


@pytest.mark.parametrize("width", [320, 2000])
def test_any_width(flames, width):
    page = flames(BUNDLED, size=(width, 700))
    assert page.ask("document.documentElement.scrollWidth <= innerWidth")
    left, _, wide, _ = page.box("#canvas")
    assert left >= 0 and width - 60 < wide <= width
    for control in ("#weight", "#first", "#shape", "#query", "#figures"):
        left, top, wide, high = page.box(control)
        assert left >= 0 and left + wide <= width and top + high <= 700, control


# Bytes ----------------------------------------------------------------------------------

def test_the_policy_names_the_hashes_of_what_runs(tmp_path):
    text = run("export", BUNDLED, "--to", "html", expect=0).raw.decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    digest = lambda body: "'sha256-%s'" % base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()  # noqa: E731
    program, = re.findall(r"<script>(.*?)</script>", text, re.S)
    style, = re.findall(r"<style>(.*?)</style>", text, re.S)
    assert directives == {
        "default-src": "'none'", "script-src": digest(program), "style-src": digest(style), "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    assert not re.search(r"https?://|\bsrc=", re.sub(r'id="tree">[^<]*', "", text))
    own = len(re.sub(r'id="tree">[^<]*', "", text))
    assert own < 60 * 1024, own


@pytest.mark.parametrize("dark", [False, True])
def test_fills_stand_out_from_the_ground_and_from_each_other(dark):
    text = (static.VIEWER / "flame/style.css").read_text(encoding="utf-8")
    values = [dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]+)", part)) for part in re.findall(r":root \{(.*?)\}", text, re.S)][dark]
    fills = [values[name] for name in ("python", "op", "call", "kernel", "copy", "other")]
    assert min(static.contrast(fill, values["ground"]) for fill in fills) >= 3
    for vision in static.VISION:
        assert min(static.distance(static.seen(a, vision), static.seen(b, vision)) for a, b in combinations(fills, 2)) >= 12
    for name in ("text", "muted", "problem", "focus"):
        assert static.contrast(values[name], values["ground"]) >= 4.5, name
    assert static.contrast(values["muted"], values["free"]) >= 4.5


def test_the_program_is_what_the_modules_say(tmp_path):
    """The page of the build has the program that tools/bundle makes now, in one of its forms."""
    text = run("export", BUNDLED, "--to", "html", expect=0).raw.decode()
    esbuild = ROOT / "build/minifier/node_modules/.bin/esbuild"
    forms = [[], ["--source"], *([["--minify", esbuild]] if esbuild.exists() else [])]
    made = [subprocess.run([ROOT / "tools/bundle", *form, ROOT / "viewer/flame"], capture_output=True, check=True).stdout
            for form in forms]
    ends = []
    for source in made:
        numbers = re.search(rb"flame_end\[\] = \{(.*?)\}", source, re.S)[1]
        ends.append(bytes(int(n) % 256 for n in numbers.replace(b"\n", b"").split(b",") if n.strip()).rstrip(b"\0").decode())
    assert any(text.endswith(end) for end in ends)
