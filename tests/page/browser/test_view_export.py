"""What the page of `vramscope view` gives away: pictures, rows, stacks, links."""
import base64
import csv
import io
import json
import re
import struct
import xml.etree.ElementTree as tree

import pytest

from recordings import scripts
from conftest import run, some
from pages import EXAMPLES, size

SVG = "{http://www.w3.org/2000/svg}"
# Keeps what the page saves: [name, text or data address].
CATCH = """(() => { self.saved = []; const blobs = new Map();
  const make = URL.createObjectURL; URL.createObjectURL = (blob) => { const url = make.call(URL, blob);
    blobs.set(url, blob); return url; };
  HTMLAnchorElement.prototype.click = function () { const blob = blobs.get(this.href); const name = this.download;
    const reader = new FileReader(); reader.onload = () => self.saved.push([name, reader.result]);
    if (name.endsWith('.png')) reader.readAsDataURL(blob); else reader.readAsText(blob); };
})()"""


def saved(page, heading, label):
    """The name and the contents of what a button under a heading of the dialog saves."""
    page.ask(CATCH)
    if not page.ask("document.getElementById('export').open"):
        page.press("e")
        page.wait("document.getElementById('export').open")
    page.ask("(() => { const heads = [...document.querySelectorAll('#export h2')];"
             " const at = heads.find((h) => h.textContent.startsWith(%s));"
             " [...at.nextElementSibling.querySelectorAll('button')].find((b) => b.textContent === %s).click(); })()"
             % (json.dumps(heading), json.dumps(label)))
    page.wait("self.saved.length === 1")
    return page.ask("self.saved[0]")


def shown(pages, path, view, more=""):
    page = pages(path, fragment="#v=1&view=" + view + more)
    page.settled()
    return page


@pytest.mark.parametrize("view", ["map", *some([], ["groups", "flame", "stack", "state", "diff", "steps"])])
def test_png_once_and_twice_as_large(pages, view):
    page = shown(pages, EXAMPLES / "fragmentation.pickle", view)
    sizes = []
    for label in ("PNG", "PNG, 2 \u00d7"):
        name, data = saved(page, "Picture of the view", label)
        assert name == "fragmentation-%s.png" % view and data.startswith("data:image/png;base64,")
        raw = base64.b64decode(data.split(",")[1])
        assert raw[:8] == b"\x89PNG\r\n\x1a\n"
        sizes.append(struct.unpack(">II", raw[16:24]))
    assert sizes[1] == tuple(2 * n for n in sizes[0]) and sizes[0][0] > 300


def svg_of(page, heading="Picture of the view"):
    name, text = saved(page, heading, "SVG")
    assert name.endswith(".svg")
    root = tree.fromstring(text)
    assert root.tag == SVG + "svg" and root.find(SVG + "title").text.startswith("vramscope: ")
    for node in root.iter():
        assert node.tag != SVG + "script" and not any(key.startswith("on") for key in node.attrib)
        link = node.get("href", "")
        assert link == "" or link.startswith("data:image/png;base64,")
    assert len(text) < 2_000_000
    return root


@pytest.mark.parametrize("view", ["groups", "diff", *some([], ["flame", "state", "lines"])])
def test_svg_of_these_is_vector(pages, view):
    page = shown(pages, EXAMPLES / "fragmentation.pickle", "stack" if view == "lines" else view,
                 "&at=4000" if view == "diff" else "")
    root = svg_of(page, "Lines of the overview" if view == "lines" else "Picture of the view")
    assert root.find(".//" + SVG + "image") is None
    texts = [node.text for node in root.iter(SVG + "text")]
    assert len(texts) >= 3 and all(texts)
    drawn = list(root.iter(SVG + "path")) + list(root.iter(SVG + "rect"))
    assert len(drawn) > 5
    assert len({node.get("fill") for node in drawn}) > 2


def test_svg_of_steps_has_all_curves(pages):
    page = shown(pages, EXAMPLES / "fragmentation.pickle", "steps", "&theme=light")
    root = svg_of(page)
    assert root.find(".//" + SVG + "image") is None
    thick = [node.get("stroke") for node in root.iter(SVG + "path") if node.get("stroke-width") == "2.5"]
    faint = [node for node in root.iter(SVG + "path") if node.get("stroke-opacity") == "0.55"]
    problem = page.ask("getComputedStyle(document.documentElement).getPropertyValue('--problem').trim()")
    assert thick == [problem] and len(faint) == 12
    assert "step 12 16.19 GiB" in [node.text for node in root.iter(SVG + "text")]


@pytest.mark.parametrize("view", some(["map"], ["stack", "map"]))
def test_svg_of_these_has_pixels_inside_vector_axes(pages, view):
    root = svg_of(shown(pages, EXAMPLES / "fragmentation.pickle", view))
    assert len(list(root.iter(SVG + "image"))) == 1
    assert any(node.text == "events" for node in root.iter(SVG + "text"))
    assert len(list(root.iter(SVG + "path"))) > 10


def test_a_picture_of_a_difference_says_of_what(pages):
    texts = [node.text for node in svg_of(shown(pages, EXAMPLES / "oom.pickle", "diff")).iter(SVG + "text")]
    assert "A: oom.pickle cuda:0 at the start of step 3, event 2\u202f913" in texts
    assert "B: oom.pickle cuda:0 at the peak, event 3\u202f159" in texts
    at = texts.index("line")
    assert texts[at:at + 4] == ["line", "A", "B", "change"] and texts[at + 4].startswith("model.py:22 forward")


@pytest.mark.long
def test_svg_of_groups_is_the_picture(pages):
    """Drawn by the browser, the areas have the colours of the pixels they stand for (lines of a pattern fall elsewhere)."""
    page = shown(pages, EXAMPLES / "train.pickle", "groups")
    name, text = saved(page, "Picture of the view", "SVG")
    top = float(re.search(r'transform="translate\(0 ([\d.]+)\)"', text).group(1))  # where it lies in its frame
    page.press("Escape")
    same = page.ask("""new Promise((done) => { const image = new Image(); image.onload = () => {
      const canvas = document.querySelector('#view > :not([hidden]) .plot > canvas');
      const { width, height } = canvas;
      const read = (source) => { const g = new OffscreenCanvas(width, height).getContext('2d',
        { willReadFrequently: true }); g.drawImage(source, 0, source === image ? -%g : 0);
        return g.getImageData(80, 60, width - 120, height - 160).data; };
      const a = read(canvas); const b = read(image); let near = 0; let seen = 0;
      for (let i = 0; i < a.length; i += 4) { if (!a[i + 3]) continue; seen++;
        if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) < 40) near++; }
      done([near, seen]); };
      image.src = URL.createObjectURL(new Blob([%s], { type: 'image/svg+xml' })); })""" % (top, json.dumps(text)))
    assert same[1] > 10000 and same[0] > 0.9 * same[1], same


def test_rows_as_csv_and_json_are_the_table(pages):
    page = shown(pages, EXAMPLES / "leak.pickle", "stack")
    name, text = saved(page, "Rows: requested", "CSV")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert name == "leak-who.csv" and rows[0]["name"] == "train.py:45 main"
    assert list(rows[0]) == ["name", "bytes", "share", "count", "largest_bytes", "since", "category"]
    assert rows[0]["category"] == "unknown" and "activation" in [row["category"] for row in rows]
    assert all(row["bytes"].isdigit() for row in rows)
    peak = run("report", "--json", EXAMPLES / "leak.pickle", expect=0).json()["devices"][0]["requested"]
    assert sum(int(row["bytes"]) for row in rows) == peak["peak_bytes"]
    told = run("peak", "--json", EXAMPLES / "leak.pickle", expect=0).json()["devices"][0]["result"]
    assert [[row[key] for key in ("name", "bytes", "since")] for row in rows] == [
        [row["name"], str(row["bytes"]), str(row["oldest_event"])] for row in told["rows"]]
    name, text = saved(page, "Rows: requested", "JSON")
    again = json.loads(text)
    assert name == "leak-who.json" and [row["name"] for row in again] == [row["name"] for row in rows]
    assert [row["bytes"] for row in again] == [int(row["bytes"]) for row in rows]
    page.press("Escape")
    page.press("W")
    page.press_on("#who thead th:nth-of-type(4) button")  # by count
    name, text = saved(page, "Rows: requested", "CSV")
    counts = [int(row["count"]) for row in csv.DictReader(io.StringIO(text))]
    assert counts == sorted(counts, reverse=True)


def test_rows_of_steps_are_those_of_steps(pages):
    page = shown(pages, EXAMPLES / "leak.pickle", "steps")
    name, text = saved(page, "Rows: Steps", "CSV")
    steps = run("steps", "--json", EXAMPLES / "leak.pickle", expect=0).json()["devices"][0]["result"]["steps"]
    got = [(row["name"], int(row["peak_bytes"]), int(row["peak_event"]), int(row["start_bytes"]))
           for row in csv.DictReader(io.StringIO(text))]
    assert name == "leak-steps.csv" and got == [("step %d" % n, b["peak_bytes"], b["peak_event"], b["live_bytes"])
                                               for n, b in enumerate(steps["boundaries"], 1)]


@pytest.mark.long
def test_cells_that_look_like_formulas_are_text(pages):
    script = "".join("stack s%d %s < run.py:9 main\nalloc a%d %dMiB s%d\n" % (i, frame, i, 4 + i, i)
                     for i, frame in enumerate(["=cmd.py:1 f", "+sum.py:2 f", "-x.py:3 f"]))
    page = shown(pages, scripts.make(script), "stack", "&by=line")
    page.says("#who caption", "by line")
    _, text = saved(page, "Rows: requested", "CSV")
    names = [row["name"] for row in csv.DictReader(io.StringIO(text))]
    assert sorted(n[:2] for n in names if n.startswith("'")) == ["'+", "'-", "'="], names
    _, text = saved(page, "Rows: requested", "JSON")
    assert sorted(row["name"][0] for row in json.loads(text))[:3] == ["+", "-", "="]


def test_a_stack_is_copied_as_python_prints_it(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&sel=a40")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.ask("navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0")
    page.press_on("#details .buttons button")
    page.wait("self.copied")
    lines = page.ask("self.copied").rstrip("\n").split("\n")
    assert all(line.startswith('  File "') and '", line ' in line and ", in " in line for line in lines)
    page.says("#status-note", "stack copied")


@pytest.mark.long
def test_where_the_clipboard_refuses_a_field_stands_in(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&sel=a40")
    page.wait("document.getElementById('details').classList.contains('pinned')")
    page.ask("navigator.clipboard.writeText = () => Promise.reject(new Error('no')); self.copied = null;"
             " document.execCommand = (what) => { self.copied = [what, document.activeElement.value]; return true; }; 0")
    page.press("c")
    page.wait("self.copied !== null")
    what, text = page.ask("self.copied")
    assert what == "copy" and text.startswith('  File "')
    page.says("#status-note", "stack copied")
    assert page.ask("document.querySelectorAll('textarea').length") == 0
    page.ask("document.execCommand = () => false; 0")
    page.press("C")
    page.says("#status-note", "the browser refused to copy")


def texts_of(root):
    return [node.text for node in root.iter(SVG + "text")]


def test_a_picture_has_a_title_what_it_is_of_and_a_legend(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&by=line")
    root = svg_of(page)
    texts = [text.replace("\u202f", " ") for text in texts_of(root)]
    headline = page.text("#card h2")
    assert " ".join(texts[:2]).startswith(headline), texts[:3]
    assert "oom.pickle" in texts and any("cuda:0" in text and "start to event 3 160" in text for text in texts)
    told = run("peak", "--json", EXAMPLES / "oom.pickle", expect=0).json()["devices"][0]["result"]["rows"]
    places = [texts.index(row["name"]) for row in told[:10]]
    assert places == sorted(places) and "%d more" % (len(told) - 10) in texts
    assert texts[places[0] + 1] == "12.00 GiB"
    page.press("Escape")
    page.press_on("#who thead button")  # by name
    names = page.ask("[...document.querySelectorAll('#who .rows:not(.allocations) .holder .plain')].map((n) => n.textContent)")
    texts = texts_of(svg_of(page))
    places = [texts.index(name) for name in names[:10]]
    assert names == sorted(names) and places == sorted(places)
    width, height = float(root.get("width")), float(root.get("height"))
    for node in root.findall(SVG + "text"):
        assert 0 <= float(node.get("x")) <= width and 0 < float(node.get("y")) < height, node.text


def test_a_picture_of_a_search_says_what_it_shows(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&q=" + "%3Cb%3E%26%22%20|%20model.py:22")
    texts = texts_of(svg_of(page))
    assert 'matches of <b>&" | model.py:22' in texts


def test_a_picture_of_matches_alone_has_their_groups(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&q=size%3E%3D1GiB&only=1&list=matches")
    page.wait("document.querySelectorAll('#who .allocations tbody tr[data-row]').length > 0")
    texts = texts_of(svg_of(page))
    page.press("Escape")
    _, text = saved(page, "Rows: ", "CSV")
    held = {}
    for row in csv.DictReader(io.StringIO(text)):
        if not row["freed"]:
            held[row["line"]] = held.get(row["line"], 0) + int(row["bytes"])
    after = texts[texts.index("matches of size>=1GiB") + 1:][:2 * len(held)]
    assert dict(zip(after[::2], map(size, after[1::2]))) == {line: pytest.approx(n, rel=1e-3) for line, n in held.items()}


def test_the_lines_have_a_frame_too(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack")
    texts = texts_of(svg_of(page, "Lines of the overview"))
    assert "oom.pickle" in texts and any(text.startswith("Overview") for text in texts)


def test_what_is_on_screen_is_shared_by_the_end_of_its_address(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "groups", "&at=700")
    page.ask("navigator.clipboard.writeText = (text) => { self.copied = text; return Promise.resolve(); }; 0")
    page.press_on("#show-share")
    page.wait("document.getElementById('dialog').open")
    assert "Send the file" in page.text("#dialog") and "append this" in page.text("#dialog")
    values = page.ask("[...document.querySelectorAll('#dialog input')].map((n) => n.value)")
    assert values[0].startswith("#v=1&") and "view=groups" in values[0] and "at=700" in values[0]
    assert values[1] == page.ask("location.href") and values[1].endswith(values[0])
    for n, value in enumerate(values):
        page.ask("self.copied = null; document.querySelectorAll('#dialog .share button')[%d].click()" % n)
        page.wait("self.copied !== null")
        assert page.ask("self.copied") == value
    page.press("Escape")
    page.ask("self.copied = null; 0")
    page.press("C")
    page.wait("self.copied !== null")
    assert page.ask("self.copied") == values[1]


def test_the_sum_follows_the_rows_on_paper(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack")
    page.send("Emulation.setEmulatedMedia", media="print")
    assert page.ask("getComputedStyle(document.querySelector('#who tfoot')).display") == "table-row-group"


def test_since_is_the_event_on_screen(pages):
    page = shown(pages, EXAMPLES / "oom.pickle", "stack", "&by=line")
    _, text = saved(page, "Rows: requested", "CSV")
    told = run("peak", "--json", EXAMPLES / "oom.pickle", expect=0).json()["devices"][0]["result"]["rows"]
    since = {row["name"]: int(row["since"]) for row in csv.DictReader(io.StringIO(text))}
    assert since == {row["name"]: row["oldest_event"] for row in told}
