"""Charts of compat.gpumemprof: what they show, that pages are whole in themselves, files of figures; row B58."""
import csv
import doctest
import json
import os
import re
import types
import xml.etree.ElementTree as ElementTree

import pytest
from gpumemprof_made import GIB, MIB, call, event, snapshot
from vramscope import _core, sim
from vramscope.compat.gpumemprof import GPUMemoryProfiler, MemoryVisualizer, figure, visualizer

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert(1)</script><img src=x onerror=y>"&\u202e\x1b[31m\ud800'


def calls():
    return [call("step", seconds=0.25, before=GIB, after=GIB + 100 * MIB, peak=2 * GIB, at=10.0),
            call("step", seconds=0.75, before=GIB, after=GIB + 300 * MIB, peak=3 * GIB, at=20.0),
            call("load", seconds=2.0, before=0, after=700 * MIB, peak=800 * MIB, at=0.0)]


def drawn(chart):
    root = ElementTree.fromstring(chart)
    assert root.tag == SVG + "svg"
    return root


def texts(root):
    return ["".join(t.itertext()) for t in root.iter(SVG + "text")]


def titles(root, tag):
    """What the pointer tells on elements of a kind, in their order."""
    return [found.find(SVG + "title").text for found in root.iter(SVG + tag) if found.find(SVG + "title") is not None]


def numbers(root, tag, name):
    return [float(found.get(name)) for found in root.iter(SVG + tag) if found.find(SVG + "title") is not None]


def check_whole(page):
    """No script, nothing that is loaded, no markup of a foreign text."""
    assert "<script" not in page and "<img" not in page and not re.search(r"(?:src|href)\s*=\s*[\"']|url\(|@import|\son\w+=\"", page)
    assert not re.search(r"https?:", page.replace('xmlns="http://www.w3.org/2000/svg"', ""))
    assert "default-src 'none'" in page and page.startswith("<!DOCTYPE html>")
    page.encode("utf-8")


def test_memory_over_time_B58():
    moments = [snapshot(40 * MIB, 60 * MIB, at=5.0)]
    moments[0].operation = "monitor 1"
    made = MemoryVisualizer().plot_memory_timeline(calls(), moments)
    root = drawn(made.svg())
    told = titles(root, "circle")
    assert len(told) == 14 and "monitor 1: 40.00 MiB, 5.00 s" in told and "monitor 1: 60.00 MiB, 5.00 s" in told
    # Points stand in the order of time, whatever the order of what was given.
    assert told[0].startswith("before_load: 0 B, 0 us") and told[6].startswith("after_step: 1.29 GiB, 21.00 s")
    x, y = numbers(root, "circle", "cx")[:7], numbers(root, "circle", "cy")[:7]
    assert x == sorted(x) and y[0] == max(y)
    assert (x[1] - x[0]) / (x[6] - x[0]) == pytest.approx(1 / 21, abs=1e-3)  # after the load, at 1 s of 21 s
    assert (y[0] - y[2]) / (y[0] - y[6]) == pytest.approx(40 / (1024 + 300), abs=2e-3)
    assert {"allocated", "reserved", "time (s)", "Memory over time"} <= set(texts(root))


def test_what_is_not_known_is_a_gap_B58():
    def path(allocated):
        moments = [snapshot(value, 0, at=float(at)) for at, value in enumerate(allocated)]
        root = drawn(MemoryVisualizer().plot_memory_timeline([], moments).svg())
        return [p.get("d") for p in root.iter(SVG + "path") if p.get("stroke") == "#1f6fb2" and p.get("stroke-width") == "2"][0]
    assert path([1, 2, 3, 4]).count("M") == 1 and path([1, 2, None, 4, 5]).count("M") == 2


def test_many_samples_are_thinned_and_keep_their_extremes_B58():
    moments = [snapshot(GIB if at == 54321 else (0 if at == 77777 else 100 * MIB), 0, at=at / 10) for at in range(100_000)]
    root = drawn(MemoryVisualizer().plot_memory_timeline([], moments).svg())
    line = [p.get("d") for p in root.iter(SVG + "path") if p.get("stroke") == "#1f6fb2" and p.get("stroke-width") == "2"][0]
    points = [tuple(map(float, pair.split())) for pair in re.split("[ML]", line)[1:]]
    heights = [y for _, y in points]
    assert len(points) < 4000 and min(heights) == pytest.approx(93.5) and max(heights) == pytest.approx(364) and len({y for y in heights}) == 3
    assert [x for x, _ in points] == sorted(x for x, _ in points)


@pytest.mark.parametrize("metric, title, told", [
    ("memory_allocated", "Mean memory allocated by function", ["load: 700.00 MiB", "step: 200.00 MiB"]),
    ("execution_time", "Mean execution time by function", ["load: 2.00 s", "step: 500.0 ms"]),
    ("peak_memory", "Peak memory by function", ["step: 3.00 GiB", "load: 800.00 MiB"]),
])
def test_functions_side_by_side_B58(metric, title, told):
    made = MemoryVisualizer().plot_function_comparison(calls(), metric)
    root = drawn(made.svg())
    assert made.title == title and titles(root, "rect") == told
    wide = numbers(root, "rect", "width")
    values = {"memory_allocated": (700, 200), "execution_time": (2, 0.5), "peak_memory": (3072, 800)}[metric]
    assert wide[1] / wide[0] == pytest.approx(values[1] / values[0], abs=1e-3)
    with pytest.raises(ValueError, match="nothing"):
        MemoryVisualizer().plot_function_comparison(calls(), "nothing")


def test_a_heatmap_B58():
    root = drawn(MemoryVisualizer().plot_memory_heatmap(calls()).svg())
    assert titles(root, "rect") == ["load: 2.00 s", "step: 500.0 ms", "load: 700.00 MiB", "step: 200.00 MiB", "load: 0 B", "step: 0 B",
                                    "load: 800.00 MiB", "step: 2.50 GiB"]
    fills = [r.get("fill") for r in root.iter(SVG + "rect") if r.find(SVG + "title") is not None]
    assert fills[0] == fills[2] == fills[7] == "#b32612" and fills[4] == fills[5] == "#fff5e4" and fills[1] not in (fills[0], fills[4])
    assert {"execution time", "memory allocated", "memory freed", "peak memory", "load", "step"} <= set(texts(root))


def test_a_dashboard_of_four_B58(tmp_path):
    made = MemoryVisualizer().create_dashboard(calls(), save_path=tmp_path / "all.html")
    time, bars, histogram, points = map(drawn, made.charts)
    assert (tmp_path / "all.html").read_text(encoding="utf-8") == made.html() and made.html().count("<svg ") == 4
    assert len(titles(time, "circle")) == 12 and titles(bars, "rect")[0] == "load: 700.00 MiB"
    assert [title.rpartition(": ")[2] for title in titles(histogram, "rect")] == ["2", "1"]
    assert titles(points, "circle") == ["step: 2.00 GiB, 250.0 ms", "step: 3.00 GiB, 750.0 ms", "load: 800.00 MiB, 2.00 s"]
    check_whole(made.html())
    empty = MemoryVisualizer().create_dashboard()
    assert [texts(drawn(chart))[-1] for chart in empty.charts] == ["no data"] * 4
    with pytest.raises(ValueError, match="several"):
        made.svg()


def ranks(shift):
    """Three ranks of one job whose clocks are shifted; the memory of rank 1 jumps first."""
    rows = []
    for rank in range(3):
        for step in range(10):
            jumped = step >= {0: 7, 1: 4, 2: 7}[rank]
            rows.append(event(rank * shift + step * 100_000_000, used=(10 if jumped else 4) * GIB, rank=rank, world=3, job="night"))
    return rows + [event(3, used=None, rank=0, world=3, job="night"), event(9, used=GIB, rank=2, world=3, job="other")]


def test_ranks_on_one_clock_B58():
    made = MemoryVisualizer().plot_cross_rank_timeline(ranks(3_600_000_000_000))
    root = drawn(made.svg())
    assert made.title == "Device memory of ranks (night)"
    assert {"rank 0", "rank 1", "rank 2", "onset", "rank 1: first cause (high)"} <= set(texts(root))
    told = titles(root, "circle")
    assert len(told) == 30 and told[10:15] == [f"rank 1: {size} GiB, {at}" for size, at in
                                               zip(("4.00", "4.00", "4.00", "4.00", "10.00"),
                                                   ("0 us", "100.0 ms", "200.0 ms", "300.0 ms", "400.0 ms"))]
    marked = [c for c in root.iter(SVG + "circle") if c.get("r") == "6"]
    places = [(c.get("cx"), c.get("cy")) for c in root.iter(SVG + "circle") if c.find(SVG + "title") is not None]
    assert len(marked) == 1 and (marked[0].get("cx"), marked[0].get("cy")) == places[14]


@pytest.mark.parametrize("name, args, match", [
    ("plot_memory_timeline", (), "No data"), ("plot_function_comparison", (), "No results"), ("plot_memory_heatmap", (), "No results"),
    ("plot_cross_rank_timeline", ([],), "No telemetry"), ("plot_cross_rank_timeline", ([event(1)],), "No timeline"),
    ("export_data", (), "No data"),
])
def test_nothing_to_show_B58(name, args, match):
    with pytest.raises(ValueError, match=match):
        getattr(MemoryVisualizer(), name)(*args)


def test_results_are_those_of_the_profiler_B58():
    with sim.Device("1GiB") as device:
        profiler = GPUMemoryProfiler()
        profiler.profile_function(device.alloc, 20 * MIB)
    made = MemoryVisualizer(profiler)
    assert titles(drawn(made.plot_function_comparison().svg()), "rect") == ["alloc: 20.00 MiB"]
    assert len(made.create_dashboard().charts) == 4 and made.plot_memory_heatmap().title and made.plot_memory_timeline().title
    with pytest.raises(ValueError):
        made.plot_memory_timeline([], [])  # none is none: the profiler's are not taken


def test_foreign_names_are_text_B58(tmp_path):
    rows = [call(HOSTILE, after=MIB), call("ok", after=2 * MIB)]
    moment = snapshot(MIB)
    moment.operation = HOSTILE
    made = MemoryVisualizer()
    pages = [made.create_dashboard(rows, [moment]), made.plot_memory_heatmap(rows), made.plot_memory_timeline(rows, [moment]),
             made.plot_cross_rank_timeline([event(at, used=at, rank=rank, world=2, job=HOSTILE) for at in range(3) for rank in (0, 1)])]
    for number, page in enumerate(pages):
        check_whole(page.html())
        for chart in page.charts:
            drawn(chart)
        page.save(tmp_path / f"{number}.html")
        assert (tmp_path / f"{number}.html").stat().st_mode & 0o777 == 0o600
    assert figure.Figure(HOSTILE, ["", ""]).html().count("<script") == 0


def test_long_names_are_cut_and_many_functions_counted_B58():
    rows = [call("n" * 300 + str(number), after=number) for number in range(500)]
    root = drawn(MemoryVisualizer().create_dashboard(rows).charts[1])
    assert texts(root)[-2:] == ["and 490 more", "mean of its calls"] and all(len(text) < 60 for text in texts(root))
    assert len(titles(root, "rect")) == 10 and len(titles(root, "rect")[0]) > 300
    whole = drawn(MemoryVisualizer().plot_function_comparison(rows).svg())
    assert len(titles(whole, "rect")) == 500 and float(whole.get("height")) > 500 * 20


def test_endings_B58(tmp_path):
    made = MemoryVisualizer().plot_function_comparison(calls(), save_path=str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == made.svg()
    assert made.save(tmp_path / "a.HTM").endswith("a.HTM") and (tmp_path / "a.HTM").read_text() == made.html()
    for name in ("a.png", "a"):
        with pytest.raises(ValueError, match=".html or .svg"):
            made.save(tmp_path / name)
    with pytest.raises(ValueError, match="several"):
        MemoryVisualizer().create_dashboard(calls(), save_path=tmp_path / "b.svg")
    assert sorted(os.listdir(tmp_path)) == ["a.HTM", "a.svg"]


def test_figures_as_csv_B58(tmp_path):
    made, base = MemoryVisualizer(), str(tmp_path / "run")
    rows = calls()
    rows[0].function_name = 'a "b", c'
    first = made.export_data(rows, [snapshot(5, 6, at=1.5)], save_path=base)
    assert re.fullmatch(r"run_results_\d{8}_\d{6}\.csv", os.path.basename(first)) and len(os.listdir(tmp_path)) == 2
    with open(first, newline="") as file:
        read = list(csv.DictReader(file))
    assert list(read[0]) == ["function_name", "execution_time", "memory_allocated", "memory_freed", "peak_memory", "memory_diff",
                             "tensors_created", "tensors_deleted"]
    assert (read[0]["function_name"], read[0]["peak_memory"], read[2]["memory_diff"]) == ('a "b", c', str(2 * GIB), str(700 * MIB))
    with open(first.replace("_results_", "_snapshots_"), newline="") as file:
        assert list(csv.reader(file)) == [["timestamp", "operation", "allocated_memory", "reserved_memory", "active_memory",
                                           "inactive_memory", "device_id"], ["1.5", "", "5", "6", "5", "0", "0"]]
    only = made.export_data([], [snapshot(5)], save_path=base)
    assert "_snapshots_" in only and os.path.exists(only)
    again = {made.export_data([], [snapshot(5)], save_path=base) for _ in range(3)}
    assert len(again) == 3 and all(map(os.path.exists, again))  # one second has room for several
    with pytest.raises(ValueError, match="excel"):
        made.export_data(rows, format="excel")


def test_figures_as_json_B58(tmp_path):
    path = MemoryVisualizer().export_data(calls(), [snapshot(5)], "json", str(tmp_path / "run"))
    with open(path, encoding="utf-8") as file:
        read = json.load(file)
    assert read["metadata"]["num_results"] == 3 and read["metadata"]["num_snapshots"] == 1 and read["metadata"]["export_time"] in path
    assert read["results"][1]["memory_allocated"] == 300 * MIB and read["snapshots"][0]["allocated_memory"] == 5


def test_shown_in_a_browser_or_told_where_it_is_B58(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    import tempfile
    monkeypatch.setattr(tempfile, "tempdir", None)
    import webbrowser
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or answer)
    opened, answer = [], True
    made = MemoryVisualizer()
    page = made.plot_function_comparison(calls())
    made.show(page)
    assert len(opened) == 1 and opened[0].startswith(f"file://{tmp_path}/vramscope-") and capsys.readouterr().out == ""
    with open(opened[0].removeprefix("file://"), encoding="utf-8") as file:
        assert file.read() == page.html()
    answer = False
    made.show(page)
    assert capsys.readouterr().out.strip() == opened[1].removeprefix("file://")


def test_shown_in_a_notebook_B58(monkeypatch):
    import sys
    shown = []
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: object()))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=shown.append))
    page = MemoryVisualizer().plot_function_comparison(calls())
    assert page.show() is None and shown == [page] and page._repr_html_() == page.svg()


@pytest.mark.parametrize("args, error", [
    ((9, "", ("", 0), ("", 0), (400, 0), [], [], []), _core.Error), ((0, "", ("", 0), ("", 0), (10, 0), [], [], []), _core.Error),
    ((0, "", ("", 0), ("", 0), (400, 0), [], [("a", 0, False, False, [1.0], [1.0, 2.0], None, None)], []), ValueError),
    ((0, "", ("", 0), ("", 0), (400, 0), [], [("a", 0, False, False, [1.0], [1.0], None, ["a", "b"])], []), ValueError),
    ((2, "", ("", 0), ("", 0), (400, 0), ["g"], [("a", 0, False, False, None, [1.0], [1], None)], []), _core.Error),
    ((2, "", ("", 0), ("", 0), (400, 0), ["g"], [("a", 0, False, False, None, [1.0], [-1], None)], []), OverflowError),
    ((0, "", ("", 0), ("", 0), (400, 0), [], [("a", 0, False, False, ["x"], [1.0], None, None)], []), TypeError),
    ((0, 7, ("", 0), ("", 0), (400, 0), [], [], []), TypeError), ((0, "", ("", 0), ("", 0), (400, 0), [], [3], []), (TypeError, SystemError)),
    ((0, "", ("", 0), ("", 0), (400, 0), [], (), []), SystemError), ((0, "", ("", 0), ("", 0), (400, 0), [7], [], []), TypeError),
])
def test_what_is_no_chart_is_refused_B58(args, error):
    with pytest.raises(error):
        _core._chart(*args)


@pytest.mark.parametrize("module", [figure, visualizer])
def test_examples_run_B58(module):
    done = doctest.testmod(module)
    assert done.attempted and not done.failed
