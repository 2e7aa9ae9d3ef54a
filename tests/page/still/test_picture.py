"""The pictures of `vramscope view`: what C draws is what the page draws, pixel by pixel."""
import bisect
import json
import math
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from models import page
from recordings import random_recording, scripts, writers
from png import Png

from conftest import ROOT, program, run, some

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
SIZES = ((97, 61), (320, 200), (601, 83))
BYS = ("category", "line", "owner", "module", "site", "file", "function", "phase", "pool", "stream", "size", "age", "name",
       "path")
SVG = "{http://www.w3.org/2000/svg}"

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="no node")


def page_of(path, folder):
    page = folder / "page.html"
    run("view", path, "-o", page, expect=0)
    return page


def of_page(page, views):
    done = subprocess.run(["node", ROOT / "tests/page/core/pages/page_views.mjs", page],
                          input=json.dumps(views).encode(), stdout=subprocess.PIPE, check=True, timeout=300)
    return done.stdout


def of_c(path, by, views, *moment):
    names = {"raster": "stack", "groups": "groups", "map": "map"}
    lines = ["%s %d %d %.17g %.17g %.17g %.17g\n" % (names[v["op"]], v["W"], v["H"], v["from"], v["to"],
                                                   v.get("y0") or 0, v.get("y1") or 0) for v in views]
    dump = Path(program()).parent.parent / "tests/page/picture_ids"
    done = subprocess.run([dump, path, by, *moment], input="".join(lines).encode(), stdout=subprocess.PIPE, check=True,
                          timeout=300)
    return done.stdout


def ranges(states):
    """All, the two halves, a part with a broken edge, one state."""
    third = states / 3
    return [(0, states), (0, max(1, states // 2)), (states // 2, states), (third, 2 * third + 0.5),
            (states - 1, states)]


def report_of(path):
    return run("report", "--json", path, expect=0).json()["devices"][0]


def views_of(path, by, sizes=SIZES):
    device = report_of(path)
    top = max(1, device["requested"]["peak_bytes"])
    views = []
    for width, height in sizes:
        for start, end in ranges(device["events"] + 1):
            span = {"by": by, "W": width, "H": height, "from": start, "to": end}
            views.append({"op": "groups", **span, "y0": 0, "y1": top})
            views.append({"op": "raster", **span, "y0": 0, "y1": top})
            views.append({"op": "raster", **span, "y0": top / 7, "y1": top / 3})
            views.append({"op": "map", **span})
    return views


def state_of(path, moment):
    """The state that the first device is in at a moment."""
    return run("peak", "--at", moment, "--json", path, expect=0).json()["devices"][0]["result"]["at_event"] + 1


def check_ids(path, by, folder, sizes=SIZES, moment="peak"):
    views = [{**view, "state": state_of(path, moment)} for view in views_of(path, by, sizes)]
    one, two = of_page(page_of(path, folder), views), of_c(path, by, views, moment)
    assert len(one) == len(two) > 0
    at = 0
    for view in views:
        pixels = view["W"] * view["H"]
        size = pixels * (4 + 1 + 8) if view["op"] == "map" else pixels * 4 + view["W"] * 8
        assert one[at:at + size] == two[at:at + size], view
        at += size
    assert at == len(one)


@needs_node
@pytest.mark.parametrize("path", EXAMPLES[::some(2, 1)], ids=lambda p: p.name)
def test_ids_equal_those_of_the_page(path, tmp_path):
    check_ids(path, "category", tmp_path)


@needs_node
@pytest.mark.parametrize("by", BYS[1::some(3, 1)])
def test_ids_equal_in_every_grouping(by, tmp_path):
    check_ids(ROOT / "examples/leak.pickle", by, tmp_path, SIZES[:1])


AGES = ["older than the recording", "0 events", "1 event", *("%d-%d events" % (1 << n, (2 << n) - 1) for n in range(1, 32)),
        "not yet"]


@needs_node
@pytest.mark.parametrize("moment", ["peak", *some(["1000"], ["start", "1000", "end"])])
def test_ages_are_counted_to_the_moment_of_the_legend(moment, tmp_path):
    path = ROOT / "examples/train.pickle"
    check_ids(path, "age", tmp_path, SIZES[:1], moment)
    same, other = compare_plot(path, tmp_path, "groups", "age", "light", "800x300", "--at", moment)
    assert other < 0.09 * same, (same, other)
    rows = run("peak", "--by", "age", "--at", moment, "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    # What comes later is of none of its rows; what is small at the peak is one.
    shown = {name for name, _ in areas(svg(path, "--by", "age", "--at", moment))}
    small = [name for name in shown if name.startswith("other (")]
    assert small or {row["name"] for row in rows} <= shown
    assert moment == "peak" or ("not yet" in shown) == (moment != "end")
    assert all(name in AGES for name in shown - set(small))


@needs_node
def test_ids_equal_where_segments_are_mapped_in_parts(tmp_path):
    check_ids(scripts.make("expandable"), "category", tmp_path, SIZES[:1])


# Blocks of 22 MiB for requests of 21, which keep the rest: too little to be split off.
SLACK = """capacity 8GiB
include torch.stacks
stack main run.py:40 main < run.py:44 <module>
stack some @malloc < model.py:9 forward < @main
stack drop @release < run.py:27 main < @main
repeat 3 {
  alloc x$i 21MiB some
}
free x1 drop
alloc small 300 some
free_requested x2 drop
alloc y 21MiB some
free_completed x2 drop
"""
MAP_SLACK = 6


@needs_node
def test_slack_is_where_the_page_has_it(tmp_path):
    path = scripts.make(SLACK)
    check_ids(path, "category", tmp_path, SIZES[1:2])
    view = {"op": "map", "by": "line", "W": 320, "H": 200, "from": 0, "to": report_of(path)["events"] + 1}
    places = of_c(path, "line", [view])[320 * 200 * 4:320 * 200 * 5]
    assert 320 < places.count(MAP_SLACK) < places.count(1) / 8


@needs_node
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_slack_is_pale_as_on_the_page(theme, tmp_path):
    """The pixels of a map are those of the page where slack is wide enough to be seen."""
    same, other = compare_plot(scripts.make(SLACK), tmp_path, "map", "line", theme, "800x300")
    assert other < 0.01 * same, (same, other)


def random_with_devices(seed, path):
    """One of a recording that has a device at all."""
    devices = []
    while not devices:
        path.write_bytes(writers.pickled(random_recording.make(seed), 4))
        devices = run("report", "--json", path, expect=0).json()["devices"]
        seed += 1000


@needs_node
@pytest.mark.parametrize("seed", range(some(2, 12)))
def test_ids_of_random_recordings_equal(seed, tmp_path):
    path = tmp_path / "random.pickle"
    random_with_devices(seed, path)
    check_ids(path, BYS[seed % len(BYS)], tmp_path, SIZES[:1])


# Painted --------------------------------------------------------------------------------


def picture(path, *options):
    return Png(run("view", "--png", path, *options, "-o", "-", expect=0).raw)


def compare_plot(path, folder, view, by, theme, size, *more):
    options = ["--view", view, "--by", by, "--size", size, *more] + (["--dark"] if theme == "dark" else [])
    made = picture(path, *options)
    plot = json.loads(made.texts["vramscope:plots"])[0]
    op = {"groups": "groups", "stack": "raster", "map": "map"}[view]
    state = state_of(path, more[1] if more else "peak")
    asked = {"op": op, "by": by, "state": state, "W": plot["w"], "H": plot["h"], "from": plot["from_state"],
             "to": plot["to_state"], "y0": plot["low_bytes"], "y1": plot["high_bytes"], "paint": theme}
    pixels = of_page(page_of(path, folder), [asked])
    ground = {"light": (255, 255, 255), "dark": (0x15, 0x18, 0x1d)}[theme]
    same = other = 0
    for y in range(plot["h"]):
        row = made.rows[plot["y"] + y][plot["x"]:plot["x"] + plot["w"]]
        for x, seen in enumerate(row):
            r, g, b, alpha = pixels[4 * (y * plot["w"] + x):4 * (y * plot["w"] + x) + 4]
            if seen == ((r, g, b) if alpha else ground):
                same += 1
            else:
                other += 1
    return same, other


@needs_node
@pytest.mark.parametrize("name,view,by,theme,size", [
    ("train", "groups", "category", "light", "1200x480"), ("train", "stack", "owner", "light", "1200x480"),
    ("train", "map", "line", "dark", "800x300"), ("leak", "groups", "line", "dark", "800x300"),
    *some([], [("train", "stack", "owner", "light", "2400x1200"), ("train", "groups", "line", "dark", "800x300"),
               ("train", "stack", "category", "dark", "1200x480"), ("train", "map", "category", "light", "1200x480"),
               ("oom", "stack", "line", "light", "1200x480"), ("leak", "map", "line", "light", "800x300"),
               ("oom", "groups", "site", "light", "800x300"),
               *(("train", "groups", by, "light", "800x300") for by in BYS[3:])])])
def test_pixels_are_those_of_the_page(name, view, by, theme, size, tmp_path):
    """All but the lines, grid and names that a picture has over it."""
    same, other = compare_plot(ROOT / ("examples/%s.pickle" % name), tmp_path, view, by, theme, size)
    assert other < 0.09 * same, (same, other)


def areas(data):
    """The title and the colour of each area of an SVG, from the bottom."""
    return [(e.find(SVG + "title").text, e.get("fill")) for e in ET.fromstring(data).iter(SVG + "path")
            if e.find(SVG + "title") is not None]


def swatch_of(data, name):
    """The colour before a name in the legend of an SVG; None: it has none there."""
    marks = list(ET.fromstring(data))
    place = [i for i, e in enumerate(marks) if e.text == name][-1]
    return marks[place - 1].get("fill") if marks[place - 1].tag == SVG + "rect" else None


@pytest.mark.parametrize("dark,grey,hot", [([], "#8f9194", "#d54507"), (["--dark"], "#848689", "#fd6a3a")])
def test_the_line_of_the_report_stands_out_and_the_rest_is_grey(dark, grey, hot):
    source = ROOT / "examples/oom.pickle"
    data = svg(source, "--by", "line", *dark)
    of = dict(areas(data))
    rest = [name for name in of if name.startswith("other (")]
    assert of["model.py:22 forward"] == hot == swatch_of(data, "model.py:22 forward")
    assert len(of) == 11 and len(rest) == 1 and of[rest[0]] == grey == swatch_of(data, rest[0])
    assert list(of.values()).count(hot) == list(of.values()).count(grey) == 1
    assert areas(data)[0][0] == rest[0], "what is small lies at the bottom"
    # In pixels each group of the rest has a colour of its own.
    pixels = svg(source, "--by", "line", "--detail", *dark)
    assert swatch_of(pixels, rest[0]) is None and swatch_of(pixels, "model.py:22 forward") == hot
    assert hot not in svg(source, "--by", "category", *dark).decode()


def test_where_nothing_is_wrong_no_line_stands_out():
    of = dict(areas(svg(ROOT / "examples/train.pickle", "--by", "line")))
    assert len(of) == 11 and not {"#d54507", "#fd6a3a"} & set(of.values())


def test_few_groups_have_all_their_own_colours():
    """Eleven or fewer have no rest."""
    of = areas(svg(ROOT / "examples/train.pickle", "--by", "phase"))
    assert 1 < len(of) <= 11 and len({colour for _, colour in of}) == len(of)


@needs_node
def test_more_groups_than_are_summed(tmp_path):
    """Of hundreds of sites no sums are kept, and the picture is the same."""
    def event(action, i, time):
        return {"action": action, "addr": i << 30, "size": (i % 37 + 1) << 20, "stream": 0, "time_us": time,
                "frames": [{"filename": "/home/me/train.py", "name": "f%d" % (i % 400), "line": i % 400}]}
    trace = [event("alloc", i, i) for i in range(1, 500)]
    trace += [event("free_completed", i, 500 + i) for i in range(1, 500)]
    path = tmp_path / "sites.pickle"
    path.write_bytes(writers.pickled({"segments": [], "device_traces": [trace]}, 4))
    same, other = compare_plot(path, tmp_path, "groups", "line", "light", "1000x400")
    assert other < 0.09 * same, (same, other)
    check_svg(svg(path, "--by", "line"))


# One site, whose stacks differ in their native frames, and beside it a node of another place.
SITE = """capacity 8GiB
include torch.stacks
stack plain @malloc < ::at::_ops::mm::call(…) < /venv/lib/python3.12/site-packages/torch/autograd/graph.py:9 _engine
stack node @malloc < ::torch::autograd::generated::AddBackward0::apply(…) < /venv/lib/python3.12/site-packages/torch/autograd/graph.py:9 _engine
stack other @malloc < ::torch::autograd::generated::MmBackward0::apply(…) < /venv/lib/python3.12/site-packages/torch/autograd/function.py:7 apply
stack drop @release < run.py:3 drop < run.py:44 <module>
alloc x 4MiB plain
alloc y 40MiB node
alloc z 12MiB other
free y drop
alloc w 2MiB node
"""


@pytest.mark.parametrize("moment", ["peak", "end", "start"])
def test_a_site_is_called_as_peak_calls_it(moment):
    """By its largest allocation at the moment of the legend, which the page takes too."""
    path = scripts.make(SITE)
    rows = run("peak", "--by", "site", "--at", moment, "--json", path, expect=0).json()["devices"][0]["result"]["rows"]
    shown = {name for name, _ in areas(svg(path, "--by", "site", "--at", moment))}
    assert {row["name"] for row in rows} <= shown and len(shown) == 2
    if moment != "start":
        assert {row["name"] for row in rows} == {"autograd:MmBackward0", "autograd:AddBackward0" if moment == "peak" else "native:mm"}


@needs_node
@pytest.mark.parametrize("moment", ["peak", "end"])
def test_a_site_has_the_colour_of_what_it_is_called_at_the_peak(moment, tmp_path):
    path = scripts.make(SITE)
    same, other = compare_plot(path, tmp_path, "groups", "site", "light", "800x300", "--at", moment)
    assert other < 0.09 * same, (same, other)


def test_a_function_called_as_a_size_is_no_memory_without_a_stack():
    """It lies where its bytes say, not at the bottom, and has a colour of its own."""
    path = scripts.make("\nstack one run.py:3 size:big\nstack two run.py:4 step\nalloc a 8MiB one\nalloc b 4MiB two\n"
                        "alloc c 1MiB\n")
    of = areas(svg(path, "--by", "function"))
    assert [name for name, _ in of] == ["(no stack)", "step", "size:big"]
    assert len({colour for _, colour in of}) == 3


def words_in(png):
    return png.texts["Title"] + " | " + png.texts["Description"]


def test_sizes_and_texts():
    made = picture(EXAMPLES[0])
    assert (made.width, made.height) == (1200, 480)
    made = picture(ROOT / "examples/oom.pickle", "--size", "2400x1200")
    assert (made.width, made.height) == (2400, 1200)
    assert "oom.pickle: bytes in use by category" in words_in(made)
    assert "ran out of memory" in words_in(made) and made.texts["Software"].startswith("vramscope ")


def test_same_bytes_for_any_number_of_threads():
    for form in ("--png", "--svg"):
        one, two = (run("view", form, "--threads", n, EXAMPLES[0], "-o", "-", expect=0).raw for n in (1, 4))
        assert one == two


def test_the_range_is_shown():
    made = picture(ROOT / "examples/train.pickle", "--from", "step:2", "--to", "step:2", "--at", "step:2")
    plot = json.loads(made.texts["vramscope:plots"])[0]
    steps = run("steps", "--json", ROOT / "examples/train.pickle", expect=0).json()
    step = steps["devices"][0]["step"] if "step" in steps["devices"][0] else None
    assert 0 < plot["from_state"] < plot["to_state"]
    assert "peak of the events shown" in words_in(made)
    assert step is None or plot["from_state"] == step[1]["first_event"] + 1


def test_a_cut_file_says_so(tmp_path):
    path = tmp_path / "cut.pickle"
    path.write_bytes((ROOT / "examples/train.pickle").read_bytes()[:120000])
    for form in ("--png", "--svg"):
        assert run("view", form, path, "-o", tmp_path / "x", expect=0).code == 0
    words = words_in(picture(path))
    assert "peak of the part read \u2265 " in words and "cut off" in words


# SVG --------------------------------------------------------------------------------------


def svg(path, *options):
    return run("view", "--svg", path, *options, "-o", "-", expect=0).raw


def check_svg(data):
    root = ET.fromstring(data)
    assert root.tag == SVG + "svg" and root.get("role") == "img"
    names = {element.get("id"): element for element in root.iter()}
    for name in root.get("aria-labelledby").split():
        assert names[name].text
    for element in root.iter():
        assert element.tag in {SVG + t for t in "svg title desc defs pattern path rect text image".split()}
        for key, value in element.attrib.items():
            assert not key.startswith("on") and "style" not in key
            assert "href" not in key or value.startswith("data:image/png;base64,")
            assert "url(" not in value or value in ("url(#free)", "url(#stripes)")
    return root


def heights(path):
    """Of a band: the length of its left edge where it is all of one height, else None; its columns."""
    numbers = re.findall(r"([MHVz])(-?[\d.]+)?(?: (-?[\d.]+))?", path)
    area, x, y = 0.0, 0.0, 0.0
    x0, y0, total = 0.0, 0.0, 0.0
    for letter, first, second in numbers:
        if letter == "M":
            x, y = float(first), float(second)
            x0, y0 = x, y
        elif letter == "H":
            area += (float(first) - x) * -y
            x = float(first)
        elif letter == "V":
            y = float(first)
        else:
            area += (x0 - x) * -y
            total, area = total + area, 0.0
    return total


@pytest.mark.parametrize("path", EXAMPLES[::some(2, 1)], ids=lambda p: p.name)
def test_svg_areas_add_up_to_the_curve(path):
    data = svg(path)
    assert len(data) < 200_000
    root = check_svg(data)
    bands = [e for e in root.iter(SVG + "path") if e.find(SVG + "title") is not None]
    assert len({e.find(SVG + "title").text for e in bands}) == len(bands) > 1
    lines = [e for e in root.iter(SVG + "path") if e.get("stroke-width") == "1.5" and e.get("stroke-dasharray") is None
             and e.get("fill") == "none"]
    assert len(lines) == 1
    bottom = max(float(y) for e in bands for y in re.findall(r"[MV](?:-?\d+ )?(-?[\d.]+)", e.get("d")))
    end = re.findall(r"H(\d+)$", lines[0].get("d"))[0]
    start = re.match(r"M(\d+) ", lines[0].get("d")).group(1)
    whole = heights(lines[0].get("d") + "V%gH%sz" % (bottom, start))
    assert end and abs(sum(heights(e.get("d")) for e in bands) - whole) < 0.002 * whole


@pytest.mark.parametrize("name, begins", [("x.svg", b"<svg"), ("x.PNG", b"\x89PNG"), ("x.html", b"<!"), ("x", b"<!")])
def test_the_name_of_the_file_says_what_it_is(tmp_path, name, begins):
    run("view", EXAMPLES[0], "-o", tmp_path / name, expect=0)
    assert (tmp_path / name).read_bytes().lstrip()[:len(begins)] == begins


@pytest.mark.parametrize("form, name, cure", [
    ("--svg", "x.png", "say --png"), ("--png", "x.svg", "say --svg"), ("--png", "x.html", "leave out the option"),
    ("--svg", "x.HTM", "leave out the option")])
def test_a_name_that_contradicts_the_option_is_refused(tmp_path, form, name, cure):
    done = run("view", form, EXAMPLES[0], "-o", tmp_path / name, expect=2)
    assert cure in done.err and list(tmp_path.iterdir()) == []
    assert "only with a page" in run("view", "--editor", "vscode", EXAMPLES[0], "-o", tmp_path / "x.svg", expect=2).err


def test_pools_have_the_names_that_peak_gives_them(tmp_path):
    """The default one, one of a graph, one that a user made; what no file names."""
    path = tmp_path / "pools.pickle"
    names = {(0, 0): "default", (1, 0): "graph 1", (0, 2): "pool 2"}
    segments = [{"device": 0, "address": 0x10000000 * (i + 1), "total_size": 2 << 20, "allocated_size": 2 << 20,
                 "active_size": 2 << 20, "stream": 0, "segment_type": "small", "segment_pool_id": pool, "is_expandable": False,
                 "blocks": [{"size": 2 << 20, "requested_size": 2 << 20, "address": 0x10000000 * (i + 1),
                             "state": "active_allocated", "frames": []}]} for i, pool in enumerate(names)]
    event = {"action": "alloc", "addr": 0x10000000, "size": 2 << 20, "stream": 0, "frames": [], "time_us": 1}
    path.write_bytes(writers.pickled({"segments": segments, "device_traces": [[event]]}, 4))
    told = run("peak", "--by", "pool", "--at", "end", "--json", path, expect=0).json()
    assert {row["name"] for row in told["devices"][0]["result"]["rows"]} == set(names.values())
    words = [e.text for e in check_svg(svg(path, "--by", "pool")).iter(SVG + "text")]
    assert set(names.values()) <= set(words) and not any("(0, 0)" in w for w in words if w)


def test_svg_detail_has_the_exact_stack():
    root = check_svg(svg(EXAMPLES[0], "--detail"))
    assert len(list(root.iter(SVG + "image"))) == 1


def hostile(folder):
    name = "</text><script>alert(1)</script>\u202e\"'&amp;\x01"
    recording = random_recording.make(3)
    path = folder / (name.replace("/", "_").replace("\x01", "") + ".pickle")
    path.write_bytes(writers.pickled(recording, 4))
    return path


def test_text_of_the_file_is_text(tmp_path):
    path = hostile(tmp_path)
    root = check_svg(svg(path, "--by", "site"))
    words = " ".join(e.text or "" for e in root.iter())
    assert "script" in words and "\u202e" not in words and "\\u{202e}" in words
    picture(path, "--by", "site")


@pytest.mark.parametrize("seed", range(some(2, 20)))
def test_random_recordings_become_pictures(seed, tmp_path):
    path = tmp_path / "random.pickle"
    path.write_bytes(writers.pickled(random_recording.make(seed), 4))
    for options in (["--by", BYS[seed % len(BYS)]], ["--view", "stack"], ["--view", "map", "--size", "640x400"]):
        done = run("view", "--png", path, *options, "-o", "-")
        assert done.code == 0 or "there is nothing to draw" in done.err
        if done.code == 0:
            Png(done.raw)
            check_svg(svg(path, *options))


def test_real_files_become_pictures(shared):
    for path in sorted((shared / "data/snapshots").iterdir())[::4]:
        if path.suffix in (".pickle", ".pkl"):
            made = picture(path, "--by", "owner")
            assert made.width == 1200
            assert len(svg(path)) < 400_000


# Words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("options,why", [
    (["--dark"], "--dark works only with a picture"),
    (["--png", "--svg"], "two pictures"),
    (["--png", "--detail"], "--detail works only with --svg"),
    (["--png", "--editor", "zed"], "--editor works only with a page"),
    (["--svg", "--editor-path", "/a=/b"], "--editor-path works only with a page"),
    (["--svg", "--detail", "--view", "map"], "detail works only with an SVG of groups"),
    (["--png", "--size", "12"], "--size is pixels"),
    (["--png", "--size", "10x10"], "320x160"),
    (["--png", "--size", "99999x400"], "16384"),
    (["--png", "--at", "noon"], "no moment"),
    (["--png", "--from", "100", "--to", "50"], "behind the last"),
    (["--png", "--from", "100", "--at", "50"], "not among"),
    (["--png", "--by", "colour"], "by"),
    (["--capacity", "80GiB"], "--capacity works only with a picture"),
    (["--svg", "--capacity", "much"], "--capacity"),
    (["--svg", "--view", "map", "--capacity", "80GiB"], "a map shows addresses"),
])
def test_what_makes_no_sense_is_a_usage_error(options, why, tmp_path):
    done = run("view", *options, EXAMPLES[0], cwd=tmp_path, expect=2)
    assert why in done.err
    assert list(tmp_path.iterdir()) == []


def test_several_files_are_a_page(tmp_path):
    done = run("view", "--png", EXAMPLES[0], EXAMPLES[1], cwd=tmp_path, expect=2)
    assert "one page of them" in done.err


def test_nothing_to_draw_is_an_error(tmp_path):
    path = tmp_path / "empty.pickle"
    path.write_bytes(writers.pickled({"segments": [], "device_traces": []}, 4))
    assert "nothing to draw" in run("view", "--png", path, "-o", tmp_path / "x.png", expect=3).err


def test_default_names(tmp_path):
    for form in ("png", "svg"):
        assert run("view", "--" + form, EXAMPLES[0], cwd=tmp_path, expect=0).out == EXAMPLES[0].stem + "." + form + "\n"
        assert (tmp_path / (EXAMPLES[0].stem + "." + form)).stat().st_size > 1000


@pytest.mark.parametrize("view", ["groups", "stack"])
def test_the_strip_below_is_what_was_allocated(view):
    """Temporaries that no drawn state holds are seen there; its columns are those of the plot."""
    source, muted, high = ROOT / "examples/leak.pickle", (0x57, 0x60, 0x6a), 24
    read = page.Page(run("view", source, "-o", "-", expect=0).raw.decode())
    rows = read.table(read.head["files"][0]["devices"][0], "alloc")
    made = picture(source, "--view", view, "--from", 100, "--to", 2999)
    plot = json.loads(made.texts["vramscope:plots"])[0]
    start, states, width = plot["from_state"], plot["to_state"] - plot["from_state"], plot["w"]
    churn = [0] * width
    edges = [math.floor(start + states * c / width) for c in range(width + 1)]
    for born, size in zip(rows["born"], rows["bytes"]):
        if max(1, edges[0]) <= born < edges[-1]:
            churn[bisect.bisect_right(edges, born) - 1] += size
    top = plot["y"] + plot["h"] + 3
    for x, value in enumerate(churn):
        bar = sum(made.rows[top + y][plot["x"] + x] == muted for y in range(high))
        assert bar == (max(1, math.floor(value * high / max(churn) + 0.5)) if value else 0), x
    assert sum(value > 0 for value in churn) > 100


def test_phases_have_a_row():
    texts = [e.text for e in ET.fromstring(svg(ROOT / "examples/train.pickle", "--from", "step:2", "--to", "step:2"))
             .iter(SVG + "text")]
    assert {"step 2", "forward", "backward", "optimizer", "churn"} <= set(texts)
    small = [e.text for e in ET.fromstring(svg(ROOT / "examples/train.pickle", "--size", "600x220")).iter(SVG + "text")]
    assert "step 2" in small and not {"backward", "churn"} & set(small)


@pytest.mark.parametrize("capacity,words", [
    (12 << 30, "capacity 12.00 GiB, 1.25 GiB free at the peak"),
    (10 << 30, "capacity 10.00 GiB, 766.86 MiB too little at the peak"),
    (2 ** 64 - 1, "free at the peak")])
def test_a_capacity_is_a_line(capacity, words):
    """Wherever it lies, the scale has room for it, and words say what the peak leaves."""
    source = ROOT / "examples/train.pickle"
    made = picture(source, "--capacity", capacity)
    assert words in made.texts["Description"]
    assert json.loads(made.texts["vramscope:plots"])[0]["high_bytes"] >= capacity
    assert words in " ".join(e.text or "" for e in ET.fromstring(svg(source, "--capacity", capacity)).iter(SVG + "text"))
    assert "capacity" not in picture(source).texts["Description"]
    assert "capacity ≥ 23.56 GiB, from the OOM" in picture(ROOT / "examples/oom.pickle").texts["Description"]


def test_many_devices_are_small_multiples(tmp_path):
    """64 devices, half of them without memory, on one scale."""
    event = {"action": "alloc", "addr": 0x1000000, "size": 1 << 20, "stream": 0, "frames": [], "time_us": 1}
    traces = [[dict(event, size=(d + 1) << 20)] if d % 2 == 0 else [] for d in range(64)]
    path = tmp_path / "many.pickle"
    path.write_bytes(writers.pickled({"segments": [], "device_traces": traces}, 4))
    made = picture(path)
    plots = json.loads(made.texts["vramscope:plots"])
    assert len(plots) == 32 and len({p["high_bytes"] for p in plots}) == 1
    assert all(p["y"] + p["h"] <= made.height and p["h"] > 10 for p in plots)
    done = run("view", "--png", "--size", "1200x480", path, "-o", tmp_path / "x.png", expect=2)
    assert "or one alone" in done.err
    assert len(json.loads(picture(path, "--device", 4).texts["vramscope:plots"])) == 1
    check_svg(svg(path))


def test_the_picture_of_the_readme_is_up_to_date():
    assert svg(ROOT / "examples/oom.pickle") == (ROOT / "docs/picture.svg").read_bytes()
