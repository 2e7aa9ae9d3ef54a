"""Several recordings in one page: what the core says of two devices, and of all."""
import itertools
from pathlib import Path

import pytest
from recordings import scripts
from models.page import Page, peak_rows

import browser as chromium
from conftest import ROOT, run, some
from test_view_browser import pressed

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))


def view(*paths):
    return Page(run("view", *paths, "-o", "-", expect=0).raw.decode())


def told_rows(a, b):
    """The rows of `vramscope diff`, as peak_rows has them."""
    doc = run("diff", "--json", "-n", "1000000", a, b, expect=0).json()
    rows = []
    for row in doc["devices"][0]["result"]["rows"]:
        score = row["score_ratio"]
        rows.append(("small" if row["name"] == "small" else row["stage"],
                     None if score is None else round(score * 1e6),
                     row["a_bytes"], row["b_bytes"], row["a_count"], row["b_count"]))
    return sorted(rows, key=str)


@pytest.mark.parametrize("a, b", list(itertools.permutations(EXAMPLES, 2))[::some(5, 1)], ids=lambda p: p.stem)
def test_pairs_are_those_of_diff(a, b):
    page = view(a, b)
    assert [(p["a"]["file"], p["b"]["file"]) for p in page.head["diff"]] == [(0, 1)]
    assert peak_rows(page, page.head["diff"][0]) == told_rows(a, b)


@pytest.mark.parametrize("a, b", (("lm_infer_medium_ctx1024.pickle", "lm_train_medium_ctx512.pickle"),
                                  ("lm_train_medium_ctx512.pickle", "lm_train_windows_python_frames.pickle"),
                                  ("no_frames_no_trace.pickle", "toy_mlp_short.pickle"),
                                  ("sd_img2img_state.pickle", "toy_mlp_short.pickle")))
def test_pairs_of_real_files_are_those_of_diff(shared, a, b):
    folder = shared / "data" / "snapshots"
    page = view(folder / a, folder / b)
    assert len(page.head["diff"]) == 1
    assert peak_rows(page, page.head["diff"][0]) == told_rows(folder / a, folder / b)


@pytest.mark.parametrize("paths, names", (
    (["a/x/run.pickle", "b/x/run.pickle", "a/x/c.pickle"], ["a/x/run.pickle", "b/x/run.pickle", "c.pickle"]),
    (["run.pickle", "old/run.pickle", "other.pickle"], ["run.pickle", "old/run.pickle", "other.pickle"]),
    (["old/run.pickle", "old-run.pickle", "un.pickle"], ["run.pickle", "old-run.pickle", "un.pickle"]),
    (["a/run.pickle", "a/run.pickle"], ["run.pickle"]),
    (["a/run.pickle"], ["run.pickle"]),
), ids=str)
def test_no_more_folders_are_told_than_tell_files_apart(tmp_path, monkeypatch, paths, names):
    monkeypatch.chdir(tmp_path)
    for path in map(Path, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / "examples" / "oom.pickle").read_bytes())
    for given in (paths, [str(tmp_path / path) for path in paths]):
        told = [file["report"]["file"]["path"] for file in view(*given).head["files"]]
        assert told == names or told == ["%s/run.pickle" % tmp_path.name, *names[1:]]


def test_ranks_are_those_of_their_folders(tmp_path):
    """Only what tells files apart is known of a path; where it names ranks, they are these."""
    for rank in (1, 0):
        (tmp_path / ("rank%d" % rank)).mkdir()
        (tmp_path / ("rank%d" % rank) / "run.pickle").write_bytes((ROOT / "examples" / "train.pickle").read_bytes())
    units = view(*sorted(tmp_path.glob("*/*.pickle"))).head["ranks"]["units"]
    assert [(unit["rank"], unit["rank_named"]) for unit in units] == [(0, True), (1, True)]


EMPTY = "empty: the program that wrote it died or could not write; record it again"


def unread_ranks(folder):
    """Two ranks, one that died, and a note beside them."""
    (folder / "ranks").mkdir()
    for rank in range(2):
        (folder / "ranks" / ("rank%d.pickle" % rank)).write_bytes((ROOT / "examples" / "train.pickle").read_bytes())
    (folder / "ranks" / "<b>rank2.pickle").touch()
    return folder / "ranks"


def test_files_that_cannot_be_read_stand_in_the_page_of_the_others(tmp_path):
    folder, page = unread_ranks(tmp_path), tmp_path / "x.html"
    (folder / "note.json").write_text("no recording")
    for given in ([folder], [folder, folder], sorted(folder.glob("*rank*"))):
        done = run("view", *given, "-o", page, expect=3)
        assert "<b>rank2.pickle: " + EMPTY in done.err
        text = page.read_text(encoding="utf-8")
        assert Page(text).head["unread"] == [{"file": "<b>rank2.pickle", "why": EMPTY}]
        assert len(Page(text).head["files"]) == 2
        assert "NOT READ &lt;b&gt;rank2.pickle: empty: the program" in text
        assert run("report", *given, expect=3).out.count("NOT READ") == 1
        page.unlink()
    garbage = tmp_path / "garbage.pickle"
    garbage.write_bytes(b"\x80\x04garbage")
    told = Page(run("view", folder / "rank0.pickle", garbage, "-o", "-", expect=3).raw.decode()).head
    assert [one["file"] for one in told["unread"]] == ["garbage.pickle"] and len(told["files"]) == 1
    run("view", garbage, folder / "<b>rank2.pickle", "-o", page, expect=3)
    assert not page.exists()
    assert "unread" not in view(folder / "rank0.pickle").head


# In a browser ----------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    run("view", *scripts.eight_ranks(folder), "-o", folder / "ranks.html", expect=0)
    return folder / "ranks.html"


@pytest.fixture(scope="module")
def devices(tmp_path_factory):
    page = tmp_path_factory.mktemp("devices") / "devices.html"
    run("view", scripts.make("sixty_four_devices"), "-o", page, expect=0)
    return page


def opened(browser, page, fragment=""):
    shown = browser.open(page.as_uri() + fragment, 1280, 800)
    shown.wait(chromium.READY)
    return shown


def finished(page):
    assert page.ask("document.getElementById('alarm').hidden"), page.text("#alarm")
    assert page.complaints() == []
    page.close()


VIEW = "[...document.querySelectorAll('#view > .pane')].find((one) => !one.hidden)"


def rows_of(page):
    """The rows of the open view's table, a list of texts each."""
    return page.ask("[...(%s).querySelectorAll('tr[data-row]')].map((tr) => [...tr.cells].map((td) =>"
                    " td.textContent))" % VIEW)


def click(page, selector, text=""):
    page.ask("[...document.querySelectorAll(%r)].find((one) => one.textContent.includes(%r)).click()" % (selector, text))


def test_all_names_who_stands_apart(browser, ranks):
    page = opened(browser, ranks, "#v=1&cap=%d" % (400 << 20))
    pressed(page, "0", "document.getElementById('file').value === 'all'")
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 8" % VIEW)
    rows = {row[1].split()[1]: row for row in rows_of(page)}
    assert [row[1] for row in rows_of(page)][0] == "rank 3 cuda:0"
    assert rows["3"][2] == "390.00 MiBstep 1 backward" and rows["3"][4] == "10.00 MiB"
    assert rows["3"][3].startswith("The peak is 390.00 MiB at event 5 (30 us). ")
    assert rows["3"][6] == "+112.00 MiB" and rows["3"][7].startswith("outlier, bounds the job: ")
    assert rows["3"][8] == "A" and rows["0"][6:8] == ["0 B", ""]
    assert rows["7"][8] == "C" and rows["7"][2].startswith("\u2265 ") and rows["7"][2].endswith("cut file")
    assert (rows["7"][4], rows["7"][6], rows["7"][7]) == ("-", "-", "not in the median")
    assert "name of the file" in page.ask("(%s).querySelector('td.name button').title" % VIEW)
    click(page, "#view th button", "unit")
    assert [row[1].split()[1] for row in rows_of(page)] == list("01234567")
    finished(page)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_failed_is_told_without_scrolling_sideways(browser, tmp_path, width):
    for rank, name in enumerate(("train", "oom", "leak")):
        (tmp_path / ("rank%d.pickle" % rank)).write_bytes((ROOT / "examples" / (name + ".pickle")).read_bytes())
    run("view", tmp_path, "-o", tmp_path / "ranks.html", expect=0)
    page = opened(browser, tmp_path / "ranks.html", "#v=1&view=all")
    page.send("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=False)
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 3" % VIEW)
    first = rows_of(page)[0]
    assert first[1] == "rank 1 cuda:0" and first[4] == "short by 656.29 MiB"
    assert "model.py:22 forward asked for 2.00 GiB" in first[3]
    box, heads, told = page.ask("""(() => { const box = document.querySelector('.units .rows');
      const { right } = box.getBoundingClientRect();
      return [[box.scrollWidth - box.clientWidth, right],
        [...box.querySelectorAll('thead th')].map((one) => one.getBoundingClientRect().right),
        [...box.querySelectorAll('.told .problem')].map((one) => one.getBoundingClientRect().right)]; })()""")
    assert told and max(told) <= box[1] and heads[3] <= box[1]
    assert width < 1280 or box[0] <= 0
    high = page.ask("[...document.querySelectorAll('.units tr[data-row]')].map((one) => one.offsetHeight)")
    assert max(high) - min(high) <= 2, "rows are as high as the table counts them"
    page.ask("(() => { const box = document.querySelector('#view .tools input, #view .pane:not([hidden]) .bar input');"
             " box.value = '80GiB'; box.dispatchEvent(new Event('change')); })()")
    page.wait("[...document.querySelectorAll('.units tr[data-row]')][0].cells[4].textContent.startsWith('55.80 GiB')")
    finished(page)


def test_files_of_one_name_are_told_apart(browser, tmp_path):
    paths = [tmp_path / folder / "run.pickle" for folder in ("old", "new")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes((ROOT / "examples" / "train.pickle").read_bytes())
    run("view", *paths, ROOT / "examples" / "leak.pickle", "-o", tmp_path / "page.html", expect=0)
    page = opened(browser, tmp_path / "page.html", "#v=1&view=diff")
    page.wait("document.querySelectorAll('#view > :not([hidden]) select').length > 2")
    names = ["old/run.pickle", "new/run.pickle", "leak.pickle"]
    options = "[...document.querySelector(%r).options].map((one) => one.textContent)"
    assert page.ask(options % "#file") == ["All 3 files", *names]
    assert page.ask(options % "#view > :not([hidden]) select") == [name + " cuda:0" for name in names]
    pressed(page, "0", "(%s).querySelectorAll('tr[data-row]').length === 3" % VIEW)
    assert sorted(row[1] for row in rows_of(page)) == sorted(name + " cuda:0" for name in names)
    finished(page)


def test_two_ticks_and_enter_are_a_diff(browser, ranks):
    page = opened(browser, ranks, "#v=1&view=all")
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 8" % VIEW)
    for rank in (3, 0):
        page.ask("[...document.querySelectorAll('#view input[type=checkbox]')].find((one) =>"
                 " one.getAttribute('aria-label').startsWith('rank %d ')).click()" % rank)
    page.ask("document.querySelector('#view input:checked').focus()")
    pressed(page, "Enter", "location.hash.includes('view=diff')")
    page.wait("(%s).textContent.includes('+112.00 MiB')" % VIEW)
    assert ["model.py:18 forward", "48.00 MiB", "160.00 MiB", "+112.00 MiB", "1 → 1", "grown"] in rows_of(page)
    assert page.ask("(%s).querySelector('tfoot').textContent" % VIEW).startswith("3 rows, sum")
    finished(page)


def test_what_ran_out_of_pieces_has_no_headroom(pages):
    """What another setting would leave is no room that it had; and files that are no ranks are not of one job."""
    page = pages(*(ROOT / "examples" / (name + ".pickle") for name in ("fragmentation", "leak", "oom", "train")))
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 4" % VIEW)
    rows = {row[1]: row for row in rows_of(page)}
    assert rows["fragmentation.pickle cuda:0"][4] == "ran out"
    assert rows["oom.pickle cuda:0"][4] == "short by 656.29 MiB"
    assert [row[7] for row in rows_of(page)] == ["highest peak", "", "", ""]
    assert "the largest peak is 1.65 \u00d7 the median" in page.text("#view caption")
    assert "outlier: " in page.ask("(%s).querySelector('th:nth-of-type(8)').title" % VIEW)


def test_a_flame_graph_of_the_difference(browser, tmp_path):
    """Its sides are those of the table, and so is its sum; the list says the same."""
    written = tmp_path / "two.html"
    run("view", ROOT / "examples" / "leak.pickle", ROOT / "examples" / "train.pickle", "-o", written, expect=0)
    page = opened(browser, written, "#v=1&file=0&view=diff")
    page.wait("(%s).querySelectorAll('tr[data-row]').length > 3" % VIEW)
    net = page.ask("(%s).querySelector('tfoot td:nth-of-type(3)').textContent" % VIEW)
    click(page, "#view > :not([hidden]) .bar button", "as flame graph")
    page.wait("location.hash.includes('view=flame') && (%s).querySelector('.note').textContent.includes(': ')" % VIEW)
    note = page.ask("(%s).querySelector('.note').textContent" % VIEW)
    assert note.endswith(": " + net) and net.startswith("+")
    assert note.startswith("event 3\u202f142 3.25 GiB \u2192 event 1\u202f435 10.75 GiB")
    assert page.ask("(%s).querySelector('.flame canvas').getAttribute('aria-label')" % VIEW) == "Flame graph, " + note
    page.ask("(%s).querySelector('summary').click()" % VIEW)
    page.ask("(%s).querySelector('[role=treeitem]').open(true)" % VIEW)
    listed = page.ask("[...(%s).querySelectorAll('[role=treeitem] > span')].map((n) => n.textContent)" % VIEW)
    assert listed[0] == net + "  all" and len(listed) > 1
    colour = page.ask("(() => { const c = (%s).querySelector('.flame canvas'); return [...c.getContext('2d').getImageData("
                      "c.width - 30, 3, 1, 1).data].slice(0, 3); })()" % VIEW)
    grew = page.ask("getComputedStyle(document.documentElement).getPropertyValue('--grew')")
    assert colour == [int(grew.strip()[i:i + 2], 16) for i in (1, 3, 5)]
    finished(page)


@pytest.mark.parametrize("name", some(["leak"], ["leak", "fragmentation"]))
def test_a_flame_graph_of_leaks(browser, tmp_path, name):
    """Its sum is that of the leak in the list of Leaks; the list beside it says the same."""
    written = tmp_path / "leaks.html"
    run("view", ROOT / "examples" / (name + ".pickle"), "-o", written, expect=0)
    page = opened(browser, written, "#v=1&view=leaks")
    page.wait("(%s).querySelector('tfoot td') !== null" % VIEW)
    total, = page.ask("[...(%s).querySelectorAll('tr[data-row]')].filter((row) => row.cells[1].textContent.startsWith('leak'))"
                      ".map((row) => row.cells[3].textContent)" % VIEW)
    click(page, "#view > :not([hidden]) .bar button", "as flame graph")
    page.wait("location.hash.includes('view=flame') && (%s).querySelector('.note').textContent === '%s = 100 %%'"
              % (VIEW, total))
    page.ask("(%s).querySelector('summary').click()" % VIEW)
    page.ask("(%s).querySelector('[role=treeitem]').open(true)" % VIEW)
    listed = page.ask("[...(%s).querySelectorAll('[role=treeitem] > span')].map((n) => n.textContent)" % VIEW)
    assert listed[0] == total + "  all" and len(listed) > 1
    finished(page)


@pytest.mark.long
def test_a_flame_graph_of_no_leak(browser, tmp_path):
    written = tmp_path / "train.html"
    run("view", ROOT / "examples" / "train.pickle", "-o", written, expect=0)
    page = opened(browser, written, "#v=1&view=leaks")
    page.wait("(%s).textContent.includes('none: in 3 steps no site leaves memory behind')" % VIEW)
    assert page.ask("(%s).querySelector('.bar button')" % VIEW) is None
    page.press("5")
    page.wait("location.hash.includes('view=flame') && (%s).querySelector('select') !== null" % VIEW)
    page.ask("(() => { const s = (%s).querySelector('select'); s.value = 'leaks';"
             " s.dispatchEvent(new Event('change')); })()" % VIEW)
    page.wait("(%s).querySelector('.note').textContent === 'none'" % VIEW)
    finished(page)


def called(rows):
    """How `vramscope diff` calls rows of its JSON: those of one line by owner and operator, then by where they differ."""
    def alike(row, *names):
        return [other for other in rows if all(other[n] == row[n] for n in names)]

    def one(row):
        name = row["name"]
        if len(alike(row, "name")) > 1 and row["owner"]:
            name = row["owner"]
        if len(alike(row, "name", "owner")) > 1 and row["operator"]:
            name += ": " + row["operator"]
        same = alike(row, "name", "owner", "operator")
        if len({other["called_from"] for other in same}) > 1 and row["called_from"]:
            return name + ", called from " + row["called_from"]
        if len({other["innermost"] for other in same}) > 1 and row["innermost"]:
            return name + ", at " + row["innermost"]
        return name
    return [one(row) for row in rows]


@pytest.mark.parametrize("a, b", (("oom", "train"), ("train", "oom"), ("leak", "train")))
def test_rows_are_called_as_diff_calls_them(browser, tmp_path, a, b):
    for rank, name in enumerate((a, b)):
        (tmp_path / ("rank%d.pickle" % rank)).write_bytes((ROOT / "examples" / (name + ".pickle")).read_bytes())
    files = sorted(tmp_path.iterdir())
    run("view", *files, "-o", tmp_path / "ranks.html", expect=0)
    page = opened(browser, tmp_path / "ranks.html", "#v=1&view=diff&sides=0.0-1.0")
    page.wait("(%s).textContent.includes('rows, sum')" % VIEW)
    page.send("Emulation.setDeviceMetricsOverride", width=1280, height=4000, deviceScaleFactor=1, mobile=False)
    rows = run("diff", "--json", "-n", "1000000", *files, expect=0).json()["devices"][0]["result"]["rows"]
    page.wait("(%s).querySelectorAll('tr[data-row]').length === %d" % (VIEW, len(rows)))
    names = called(rows)
    assert len(set(names)) > len({row["name"] for row in rows})
    got = [(row[0], row[4].replace("\u202f", "")) for row in rows_of(page)]
    assert sorted(got) == sorted((name, "%d \u2192 %d" % (row["a_count"], row["b_count"]))
                                 for name, row in zip(names, rows))
    finished(page)


@pytest.mark.long
def test_how_rows_were_matched_is_said(browser, ranks):
    page = opened(browser, ranks, "#v=1&view=diff&sides=0.0-2.0")
    page.wait("(%s).textContent.includes('rows, sum')" % VIEW)
    assert ["model.py:18 forward", "48.00 MiB", "48.00 MiB", "0 B", "1 → 1", "same (moved line)"] in rows_of(page)
    assert "matched by moved line (1)" in page.ask("(%s).querySelector('.bar').textContent" % VIEW)
    finished(page)
    page = opened(browser, ranks, "#v=1&view=diff&sides=1.0-2.0")
    page.wait("(%s).textContent.includes('rows, sum')" % VIEW)
    assert "Matched by name alone" in page.ask("(%s).textContent" % VIEW)
    finished(page)


def test_all_names_what_was_not_read(browser, tmp_path):
    run("view", unread_ranks(tmp_path), "-o", tmp_path / "x.html", expect=3)
    page = opened(browser, tmp_path / "x.html", "#v=1&view=all")
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 2" % VIEW)
    assert page.ask("[...document.querySelectorAll('#view div.problem')].map((one) => one.textContent)") == [
        "not read: <b>rank2.pickle: " + EMPTY]
    finished(page)


def test_a_row_opens_its_file_with_its_own_trust(browser, ranks):
    page = opened(browser, ranks, "#v=1&view=all")
    assert page.ask("document.getElementById('trust').hidden")
    page.wait("(%s).querySelectorAll('tr[data-row]').length === 8" % VIEW)
    click(page, "#view td button", "rank 7")
    page.wait("document.getElementById('file').value === '7' && location.hash.includes('view=stack')")
    page.wait("!document.getElementById('trust').hidden")
    assert "cut off" in page.text("#trust")
    page.wait("document.getElementById('status-text').textContent.includes('peak of the part read')")
    page.ask("history.back()")
    page.wait("document.getElementById('file').value === 'all' && document.getElementById('trust').hidden")
    finished(page)


@pytest.mark.long
def test_devices_stand_beneath_one_another_on_one_scale(browser, devices):
    page = opened(browser, devices)
    click(page, "#devices button", "all 64 devices")
    page.wait("document.querySelectorAll('.multiples canvas').length === 64")
    page.wait("(%s).textContent.includes('from 0 to 228.00 MiB')" % VIEW)
    heights = page.ask("""[...document.querySelectorAll('.multiples canvas')].map((canvas) => {
        const g = canvas.getContext('2d'), { data } = g.getImageData(0, 0, canvas.width, canvas.height);
        for (let y = 0; y < canvas.height; y++) for (let x = 0; x < canvas.width; x++)
          if (data[4 * (y * canvas.width + x) + 3] > 0) return canvas.height - y;
        return 0; })""")
    assert len(set(heights)) > 5 and heights[0] < heights[63] <= 56
    click(page, ".multiples button", "cuda:63")
    page.wait("location.hash.includes('dev=63') && document.getElementById('status-text').textContent.includes('206.00 MiB requested')")
    finished(page)


@pytest.mark.long
def test_links_name_file_and_device(browser, ranks, devices):
    page = opened(browser, ranks, "#v=1&file=3&dev=0")
    page.wait("document.getElementById('status-text').textContent.includes('390.00 MiB')")
    assert page.text("#devices").startswith("cuda:0 390.00 MiB")
    finished(page)
    page = opened(browser, devices, "#v=1&file=0&dev=9")
    page.wait("document.getElementById('status-text').textContent.includes('106.00 MiB requested')")
    finished(page)


@pytest.mark.long
def test_one_device_after_another(browser, devices):
    page = opened(browser, devices)
    for device, peak in ((5, 110), (17, 126), (40, 180), (63, 206), (0, 80)):
        page.ask("(() => { const list = document.querySelector('#devices select'); list.value = '%d';"
                 " list.dispatchEvent(new Event('change')); })()" % device)
        page.wait("location.hash.includes('dev=%d&')" % device)
        page.wait("document.getElementById('status-text').textContent.includes('%d.00 MiB requested')" % peak)
    finished(page)


def test_one_file_beside_another_that_was_not_read_says_so(browser, tmp_path):
    """On the first screen, since there is no view of all files."""
    (tmp_path / "empty.pickle").write_bytes(b"")
    page_path = tmp_path / "page.html"
    run("view", tmp_path / "empty.pickle", ROOT / "examples/oom.pickle", "-o", page_path, expect=3)
    page = browser.open(page_path.as_uri())
    page.wait("document.querySelector('#card .lacks')?.textContent.includes('Not read: empty.pickle: ')")
    assert page.complaints() == []
    page.close()
