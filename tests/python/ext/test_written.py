"""Pages, pictures, exports and snapshots: their bytes are the command's, and a file appears when it is whole."""
import os
import resource
import subprocess
import sys
import threading
import warnings

import pytest
import vramscope
from conftest import PACKAGE, ROOT, run

OOM, TRAIN, LEAK = (ROOT / "examples" / ("%s.pickle" % name) for name in ("oom", "train", "leak"))
TEXTS = ("csv", "json", "folded", "speedscope", "perfetto")


@pytest.fixture
def recording():
    with vramscope.load(OOM) as made:
        yield made


def sqlite():
    try:
        vramscope.export_ready("sqlite")
    except vramscope.Error as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("options, keywords", (
    ((), {}),
    (("--from", "100", "--to", "end"), {"start": 100, "end": "end"}),
    (("--editor", "vscode", "--editor-path", "/a=/b"), {"editor": "vscode", "editor_path": "/a=/b"}),
    (("--device", "0", "--user-root", "/nowhere"), {"device": 0, "user_root": "/nowhere"}),
), ids=("plain", "narrowed", "editor", "device"))
def test_a_page_is_the_commands(recording, tmp_path, options, keywords):
    want = tmp_path / "want.html"
    run("view", OOM, "-o", want, *options, expect=0)
    assert recording.view(**keywords) == want.read_bytes()
    have = recording.view(tmp_path / "have.html", **keywords)
    assert have == str(tmp_path / "have.html") and (tmp_path / "have.html").read_bytes() == want.read_bytes()
    assert vramscope.is_own(have)


def test_a_page_of_several_is_the_commands(tmp_path):
    want = tmp_path / "want.html"
    run("view", TRAIN, OOM, "-o", want, expect=0)
    both = [vramscope.load(p) for p in (TRAIN, OOM)]
    assert vramscope.view(iter(both)) == want.read_bytes()
    assert vramscope.view(both[0]) == both[0].view()
    with pytest.raises(vramscope.Error, match="at least one"):
        vramscope.view([])
    with pytest.raises(TypeError):
        vramscope.view([1])
    both[1].close()
    with pytest.raises(ValueError, match="closed"):
        vramscope.view(both)


def test_what_a_page_goes_without_is_a_warning(recording):
    whole = len(recording.view())
    with pytest.warns(vramscope.VramscopeNote, match="events") as told:
        small = recording.view(most_bytes=whole - 1000)
    assert len(told) == 1 and told[0].filename == __file__
    assert len(small) < whole
    with pytest.raises(vramscope.Error) as raised:
        recording.view(most_bytes="1KiB")
    assert raised.value.status == "usage"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vramscope.VramscopeNote)
        assert recording.view(most_bytes=1024, may_be_larger=True)


def test_a_note_that_a_filter_raises_leaves_no_file(recording, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", vramscope.VramscopeNote)
        with pytest.raises(vramscope.VramscopeNote):
            recording.view(tmp_path / "page.html", most_bytes=len(recording.view()) - 1000)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending, options, keywords", (
    ("svg", (), {}),
    ("svg", ("--view", "stack", "--by", "site", "--dark"), {"view": "stack", "by": "site", "dark": True}),
    ("svg", ("--detail", "--capacity", "24GiB", "--at", "end"), {"detail": True, "capacity": "24GiB", "at": "end"}),
    ("png", ("--size", "400x300"), {"format": "png", "width": 400, "height": 300}),
    ("png", ("--from", "10", "--to", "500"), {"format": "png", "start": 10, "end": "500"}),
), ids=str)
def test_a_picture_is_the_commands(recording, tmp_path, ending, options, keywords):
    want = tmp_path / ("want." + ending)
    run("view", OOM, "-o", want, *options, expect=0)
    assert recording.picture(**keywords) == want.read_bytes()


@pytest.mark.parametrize("to", TEXTS + ("pprof",))
def test_an_export_is_the_commands(recording, to, tmp_path):
    want = tmp_path / "want"
    run("export", "--to", to, OOM, "-o", want, expect=0)
    assert recording.export(to) == want.read_bytes()
    assert recording.export(to, tmp_path / "have") == str(tmp_path / "have")
    assert (tmp_path / "have").read_bytes() == want.read_bytes()


def test_exports_have_options(recording):
    for keywords, options in (({"table": "events"}, ("-t", "events")), ({"table": ["blocks"]}, ("-t", "blocks"))):
        assert recording.export("csv", **keywords) == run("export", "--to", "csv", *options, OOM, expect=0).raw
    words = run("export", "--to", "folded", "--at", "oom", "--weight", "count", "--inverse", OOM, expect=0).raw
    assert recording.export("folded", at="oom", weight="count", inverse=True) == words
    for call in (lambda: recording.export("tar"), lambda: recording.export("csv", table="all"),
                 lambda: recording.export("sqlite"), lambda: recording.picture(format="jpeg"),
                 lambda: recording.export("folded", at="never"), lambda: vramscope.export_ready("tar")):
        with pytest.raises(vramscope.Error) as raised:
            call()
        assert raised.value.status == "usage", raised.value
    for call in (lambda: recording.export(), lambda: recording.export(1), lambda: recording.view(1, 2),
                 lambda: recording.export("csv", to="json"), lambda: vramscope.export_ready(1),
                 lambda: recording.view(1)):
        with pytest.raises(TypeError):
            call()


def test_a_database_is_a_file(recording, tmp_path):
    import sqlite3
    sqlite()
    path = tmp_path / "run.sqlite"
    for _ in range(2):  # the second replaces the first
        assert recording.export("sqlite", path) == str(path)
    assert sqlite3.connect(path).execute("select count(*) from events").fetchone() == (len(recording["events.size"]),)
    assert os.listdir(tmp_path) == ["run.sqlite"]


def test_a_cut_recording_says_so(tmp_path):
    cut = vramscope.load(TRAIN.read_bytes()[:100000])
    with pytest.warns(vramscope.VramscopeNote, match="cut"):
        cut.export("csv")


# Files.


def test_a_new_file_has_the_mode_of_the_programs_umask(recording, tmp_path):
    before = os.umask(0o027)
    try:
        recording.export("csv", tmp_path / "new")
        os.umask(0o077)
        recording.export("csv", tmp_path / "own")
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_replaced_keeps_its_mode_and_its_links(recording, tmp_path):
    old, link = tmp_path / "old", tmp_path / "link"
    old.write_text("before")
    old.chmod(0o604)
    link.symlink_to("old")
    assert recording.export("csv", link) == str(link)
    assert link.is_symlink() and old.stat().st_mode & 0o777 == 0o604
    assert old.read_bytes() == recording.export("csv")


def test_names_are_those_of_the_file_system(recording, tmp_path, monkeypatch):
    name = os.fsencode(tmp_path) + b"/page \xff"
    assert recording.export("csv", name) == os.fsdecode(name) and os.path.exists(name)
    monkeypatch.chdir(tmp_path)
    assert recording.export("csv", "here.csv") == "here.csv" and os.path.exists("here.csv")


def test_a_recording_is_not_replaced_by_what_is_made_of_it(tmp_path):
    path = tmp_path / "run.pickle"
    path.write_bytes(LEAK.read_bytes())
    os.link(path, tmp_path / "same")
    recording = vramscope.load(path)
    for call in (lambda: recording.view(path), lambda: recording.export("csv", tmp_path / "same"),
                 lambda: vramscope.view([vramscope.load(OOM), recording], path)):
        with pytest.raises(vramscope.Error, match="replace"):
            call()
    assert path.read_bytes() == LEAK.read_bytes() and sorted(os.listdir(tmp_path)) == ["run.pickle", "same"]


def test_what_is_no_file_is_written_to(recording):
    reader, writer = os.pipe()
    parts = []
    thread = threading.Thread(target=lambda: parts.extend(iter(lambda: os.read(reader, 1 << 16), b"")))
    thread.start()
    try:
        assert recording.export("csv", "/dev/fd/%d" % writer) == "/dev/fd/%d" % writer
    finally:
        os.close(writer)
        thread.join()
        os.close(reader)
    assert b"".join(parts) == recording.export("csv")


@pytest.mark.parametrize("name, why", (("no folder/page", "No such file"), ("", "No such file"), ("x" * 300, "too long"),
                                       (".", "directory")))
def test_a_file_that_cannot_be_written_is_an_error(recording, tmp_path, monkeypatch, name, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(vramscope.Error, match=why) as raised:
        recording.export("csv", name)
    assert (raised.value.status, raised.value.path) == ("io", name)
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_nothing_behind(recording, tmp_path):
    """In a process of its own, whose files may not grow."""
    code = """if True:
        import resource, signal, sys
        sys.path.insert(0, sys.argv[1])
        import vramscope
        recording = vramscope.load(sys.argv[2])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
        for write in (lambda p: recording.view(p), lambda p: recording.export("csv", p), lambda p: recording.picture(p)):
            try:
                write(sys.argv[3])
            except vramscope.Error as error:
                print(error.status, "too large" in str(error))
        """
    done = subprocess.run([sys.executable, "-c", code, PACKAGE, OOM, tmp_path / "page"], capture_output=True, text=True,
                          timeout=120)
    assert done.stdout == "io True\n" * 3, (done.stdout, done.stderr)
    assert os.listdir(tmp_path) == [] and resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 10000


# Of results.


def test_a_kept_run_is_a_snapshot(tmp_path):
    recording = vramscope.load(TRAIN)
    result = recording.replay(set=["roundup_power2_divisions:4"], keep_run=True)
    want = tmp_path / "want.pickle"
    run("replay", "--set", "roundup_power2_divisions:4", "--write", want, TRAIN, expect=0)
    assert result.snapshot() == want.read_bytes()
    assert result.snapshot(tmp_path / "have") == str(tmp_path / "have")
    assert (tmp_path / "have").read_bytes() == want.read_bytes()
    for other in (recording.replay(), recording.peak()):
        with pytest.raises(vramscope.Error):
            other.snapshot()


def test_an_index_links_to_the_pages_of_a_set(tmp_path):
    names = [str(TRAIN), str(OOM)]
    reports = [vramscope.load(n).report(part=True, curve=True, rank=i) for i, n in enumerate(names)]
    merged = vramscope.merge(reports + [vramscope.unread("rank2.pickle", "it is gone")])
    files = [(n, os.path.basename(n) + ".html") for n in names] + [("rank2.pickle", None, "it is gone")]
    page = vramscope.index(merged, None, files)
    assert page == vramscope.index(merged, None, files[::-1]), "the order is that of the paths"
    assert b'href="oom.pickle.html"' in page and b"it is gone" in page
    path = tmp_path / "index.html"
    assert vramscope.index(merged, path, files) == str(path) and path.read_bytes() == page and vramscope.is_own(path)
    for wrong in ([], [1], [("a", 1)], [(None,)], 3, [("a", "b", "c", "d")]):
        with pytest.raises((vramscope.Error, TypeError)):
            vramscope.index(merged, None, wrong)
    with pytest.raises(TypeError):
        vramscope.index({}, None, files)


def test_a_set_that_is_merged_again_names_the_missing_ranks(tmp_path):
    run_json = tmp_path / "run.json"
    run_json.write_text('{"schema": "vramscope.run/1", "job": "night", "world_size": 4, "missing_ranks": [0, 1, 3]}')

    def of(rank):
        return vramscope.load(TRAIN).report(part=True, curve=True, rank=rank)
    first = vramscope.merge([of(1), vramscope.report_run(run_json)])
    assert first["missing_ranks"] == [0, 3]
    again = vramscope.merge([first, of(0)])
    assert again["missing_ranks"] == [3] and "missing  no snapshot of rank 3 of 4\n" in again.text()
    assert "**MISSING** no snapshot of rank 3 of 4\n" in again.markdown()
    assert b"no snapshot of rank 3 of 4" in vramscope.index(again, None, [str(TRAIN)])
    other = tmp_path / "other.json"
    other.write_text('{"job": "day", "world_size": 4, "missing_ranks": []}')
    both = vramscope.merge([again, vramscope.report_run(other)])
    assert "missing_ranks" not in both and "missing  not known: these are files of several jobs, or of several starts of one\n" in both.text(width=200)
    for wrong, error in ((tmp_path / "none.json", vramscope.Error), (3, TypeError)):
        with pytest.raises(error):
            vramscope.report_run(wrong)


@pytest.mark.parametrize("kind", ("report", "check"))
def test_what_could_not_be_read_stands_among_the_rest(kind, tmp_path):
    missing, limits = tmp_path / "missing.pickle", {"max-peak": "80GiB"}
    with pytest.raises(vramscope.Error) as raised:
        vramscope.load(missing)
    part = (vramscope.load(OOM).check(limits) if kind == "check" else vramscope.load(OOM).report(part=True))
    # The command sorts its files by their paths; merge keeps the caller's order.
    parts = {str(missing): vramscope.unread(missing, raised.value, kind=kind), str(OOM): part}
    merged = vramscope.merge([parts[path] for path in sorted(parts)])
    options = ("--max-peak", "80GiB") if kind == "check" else ()
    assert merged.json() == run(kind, "--json", *options, OOM, missing, expect=3).out
    # The command's exit status tells of it; the verdict is of those that were read.
    assert merged.verdict is (True if kind == "check" else None)
    for call in (lambda: vramscope.unread("a", "b", kind="peak"), lambda: vramscope.merge([
            vramscope.unread("a", "b"), vramscope.unread("a", "b", kind="check")])):
        with pytest.raises(vramscope.Error):
            call()
