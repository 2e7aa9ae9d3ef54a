"""How the command line behaves around the answers: usage, output files, interruption, colour."""
import array
import fcntl
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import termios
import time

import pytest
from recordings import random_recording, tiny, writers

from conftest import HANGS, ROOT, SANITIZER, environment, program, run, some

pytestmark = pytest.mark.usefixtures("leaks_are_faults")

ESCAPE = re.compile(rb"\x1b")


@pytest.fixture
def recording(tmp_path):
    (tmp_path / "run.pickle").write_bytes(writers.pickled(tiny.plain(), 4))
    return tmp_path


# Usage ----------------------------------------------------------------------------------

@pytest.mark.parametrize("typed,near", (("repotr", "report"), ("raport", "report"), ("peek", "peak"), ("hlep", "help")))
def test_unknown_verb_names_the_nearest(recording, typed, near):
    r = run(typed, "run.pickle", cwd=recording, expect=2)
    assert typed in r.err and re.search(r"\b%s\b" % near, r.err) and not r.out


@pytest.mark.parametrize("verb,typed,near", (("report", "--jsno", "--json"), ("report", "--outptu", "--output"),
                                             ("peak", "--devise", "--device"), ("peak", "--bye", "--by"), ("peak", "--limt", "--limit")))
def test_unknown_option_names_the_nearest(recording, verb, typed, near):
    r = run(verb, typed, "run.pickle", cwd=recording, expect=2)
    assert typed in r.err and (near in r.err or near == "--output") and not r.out


def test_usage_errors(recording):
    for args in (["report"], ["peak"], ["report", "--json"], ["peak", "--at"], ["peak", "--by"], ["report", "-o"]):
        r = run(*args, cwd=recording, expect=2)
        assert r.err.strip() and not r.out, args


@pytest.mark.parametrize("by", ("colour", "", "siteX", "K1"))
def test_bad_grouping_lists_the_good_ones(recording, by):
    r = run("peak", "--by", by, "run.pickle", cwd=recording, expect=2)
    for name in ("site", "culprit", "owner", "file", "function", "size", "pool", "stream", "age"):
        assert name in r.err, (name, r.err)


@pytest.mark.parametrize("at", ("now", "", "-5", "5x", "oom:", "oom:x", "oom:0", "s", "1.2.3s", "-1s", "peak:1", "99999999999999999999999", "0x10"))
def test_bad_moment_lists_the_good_ones(recording, at):
    r = run("peak", "--at=" + at, "run.pickle", cwd=recording, expect=2)
    for name in ("start", "end", "peak", "oom"):
        assert name in r.err, (name, r.err)


@pytest.mark.parametrize("device", ("7", "-1", "x", ""))
def test_bad_device_lists_the_good_ones(recording, device):
    r = run("peak", "--device=" + device, "run.pickle", cwd=recording, expect=2)
    assert "0" in r.err, r.err


@pytest.mark.parametrize("key", ("K4", "K", "x", "-1"))
def test_bad_stack_key_lists_the_good_ones(recording, key):
    r = run("peak", "--by", "site", "--key=" + key, "run.pickle", cwd=recording, expect=2)
    assert "K0" in r.err and "K3" in r.err, r.err


@pytest.mark.parametrize("count", ("x", "-3", "1.5"))
def test_bad_row_count(recording, count):
    run("peak", "-n", count, "run.pickle", cwd=recording, expect=2)


@pytest.mark.parametrize("at", ("0", "2", "4", "start", "end", "peak", "0s", "12.5s", "0.000001s"))
def test_good_moments(recording, at):
    doc = run("peak", "--json", "--at", at, "run.pickle", cwd=recording, expect=0).json()
    event = {"start": -1, "end": 4, "peak": 2, "0s": 0, "12.5s": 4, "0.000001s": 1}.get(at)
    assert doc["devices"][0]["result"]["at_event"] == (int(at) if event is None else event)


def test_moment_that_is_not_there(recording):
    """No such event, no such failure: an answer that says so, not another moment's numbers."""
    for at in ("99", "oom", "oom:3"):
        r = run("peak", "--json", "--at", at, "run.pickle", cwd=recording)
        assert r.code in (1, 2, 3) or all(d["result"] is None for d in r.json()["devices"]), (at, r.out)
        assert r.code == 0 or r.err.strip()


@pytest.mark.parametrize("others", (["a.bad"], ["z.bad"], ["a.gone"], ["z.gone"], ["a.bad", "z.gone"]))
@pytest.mark.long
def test_what_cannot_be_read_outweighs_what_cannot_be_asked(recording, others):
    """Usage alone is 2; beside a file that is no recording, or is not there, the exit status is 3, in any order."""
    for name in ("a.bad", "z.bad"):
        (recording / name).write_bytes(b"\x80\x04R.")
    (recording / "again.pickle").write_bytes((recording / "run.pickle").read_bytes())
    missing = all(name.endswith(".gone") for name in others)
    # Limits are looked at before the content of a file, and after the file is opened.
    asked = [["peak", "--device", 7]] + ([["report", "--limit", "nesting=9999999"]] if missing else [])
    for args in asked:
        run(*args, "run.pickle", cwd=recording, expect=2)
        run(*args, "run.pickle", "again.pickle", cwd=recording, expect=2)
        for files in (["run.pickle", *others], [*others, "run.pickle"], ["run.pickle", *others, "again.pickle"]):
            for threads in (1, 2):
                r = run(*args, "--threads", threads, *files, cwd=recording, expect=3)
                assert not r.out and all(name + ": " in r.err for name in files), r.err


def test_an_impossible_limit_is_usage_whatever_a_file_holds(recording):
    (recording / "bad").write_bytes(b"\x80\x04R.")
    for files in (["bad"], ["run.pickle"], ["bad", "run.pickle"]):
        r = run("report", "--limit", "nesting=9999999", *files, cwd=recording, expect=2)
        assert r.err.count('the limit "nesting" cannot be above') == len(files) and not r.out


# Help -----------------------------------------------------------------------------------

def test_help_of_every_verb():
    for verb in ("report", "peak", "oom", "leaks", "fragments", "steps", "categories", "advise", "diff", "compare", "check", "replay", "export", "doctor", "help"):
        by_verb, by_option = run("help", verb, expect=0), run(verb, "--help", expect=0)
        assert by_verb.out == by_option.out and "vramscope " + verb in by_verb.out and not by_verb.err
    for args in ([], ["help"], ["--help"]):
        r = run(*args)
        assert r.code in (0, 2) and "report" in r.out + r.err
    assert re.search(r"\d+\.\d+\.\d+", run("--version", expect=0).out)
    run("help", "nonsense", expect=2)


def verbs():
    page = run(env={**environment(), "COLUMNS": "200"}, expect=0).out
    return re.findall(r"^  ([a-z]+) {2,}\S", page.split("usage:")[1], re.M)


def test_the_manual_page_lists_every_verb():
    listed = re.findall(r"^  ([a-z]+) +(.+)$", run("--help", env=environment(COLUMNS="200")).out.split("usage:")[1], re.M)
    page = " ".join((ROOT / "docs" / "man" / "vramscope.1.scd").read_text().split())
    assert len(listed) > 10
    assert [v for v, summary in listed if "*%s* %s; see *vramscope-%s*(1)." % (v, summary, v) not in page] == []


@pytest.mark.parametrize("width", some((40, 80), (40, 50, 60, 80, 200)))
@pytest.mark.long
def test_help_fits_the_terminal(width):
    assert len(verbs()) >= 14
    for page in ([], *([verb] for verb in verbs())):
        narrow = run("help", *page, env={**environment(), "COLUMNS": str(width)}, expect=0).out
        for line in narrow.split("\n"):
            assert len(line) <= width or " " not in line.strip(), (page, line)
        # What is typed stays whole: a shell goes on behind a line that is broken.
        wide = run("help", *page, env={**environment(), "COLUMNS": "1000"}, expect=0).out
        typed = [re.findall(r"^  (vramscope \S.*?)(?:  .*)?$", re.sub(r" \\\n +", " ", text.split("usage:")[0]), re.M)
                 for text in (wide, narrow)]
        assert typed[0] == typed[1] != [], page


# Words ----------------------------------------------------------------------------------

def test_one_is_not_several(recording):
    """What is counted has no s where there is one of it."""
    a, mib = tiny.BASE, tiny.MIB
    events = [tiny.event("alloc", a + i * mib, mib, 20 + i, frames=[{"name": "f%d" % i, "filename": "/home/u/train.py", "line": i + 1}]) for i in range(11)]
    (recording / "more.pickle").write_bytes(writers.pickled(tiny.top([], events), 4))
    (recording / "fewer.pickle").write_bytes(writers.pickled(tiny.top([], events[:10]), 4))
    for args in (["advise", "--waste", "run.pickle"], ["diff", "fewer.pickle", "more.pickle"], ["diff", "more.pickle", "fewer.pickle"],
                 ["report", "--markdown", "more.pickle"], ["peak", "-n", 10, "more.pickle"]):
        out = run(*args, cwd=recording, expect=0).out
        assert not re.findall(r"(?<![\w.,:/-])1 (?:more )?(?!(?:is|was|has|less|us)\b)[a-z]+s\b", out), (args, out)
        assert re.search(r"(?<![\w.,:/])1 [a-z]+\b", out), (args, out)


# Inputs ---------------------------------------------------------------------------------

def test_a_file_that_is_named_twice_is_read_once(recording):
    """By whatever way to its folder; a link is another name.  What compares takes a file with itself."""
    (recording / "ranks").mkdir()
    for name in ("rank0", "rank1"):
        (recording / "ranks" / (name + ".pickle")).write_bytes((recording / "run.pickle").read_bytes())
    (recording / "link.pickle").symlink_to("run.pickle")
    for verb in (["report"], ["report", "--json"], ["peak"], ["view", "-o", "-"]):
        once = run(*verb, "run.pickle", cwd=recording, expect=0)
        for again in ("run.pickle", "./run.pickle", recording / "run.pickle", "ranks/../run.pickle"):
            twice = run(*verb, "run.pickle", again, cwd=recording, expect=0)
            assert twice.raw == once.raw
            assert twice.err == "vramscope: run.pickle is named more than once, and read once\n"
    folder = run("report", "ranks", cwd=recording, expect=0)
    for more, said in ((["ranks/rank1.pickle"], "ranks/rank1.pickle is"), (["ranks/"], "ranks/rank0.pickle and 1 more are")):
        twice = run("report", "ranks", *more, cwd=recording, expect=0)
        assert twice.raw == folder.raw and twice.err.startswith("vramscope: %s named more than once" % said)
    assert run("report", "run.pickle", "link.pickle", cwd=recording, expect=0).out.count("link.pickle") == 1
    assert "is named" not in run("report", "run.pickle", "link.pickle", cwd=recording).err
    same = run("diff", "--json", "run.pickle", "run.pickle", cwd=recording, expect=0)
    assert not same.err and all(row["delta_bytes"] == 0 for device in same.json()["devices"] for row in device["result"]["rows"])
    run("report", "run.pickle", "gone.pickle", "./gone.pickle", cwd=recording, expect=3)


# Output ---------------------------------------------------------------------------------

def test_output_file(recording):
    for extra in ([], ["--json"]):
        shown = run("report", *extra, "run.pickle", cwd=recording, expect=0)
        r = run("report", *extra, "-o", "out.txt", "run.pickle", cwd=recording, expect=0)
        assert not r.out and (recording / "out.txt").read_bytes() == shown.raw
    assert run("report", "-o", "-", "run.pickle", cwd=recording, expect=0).raw == run("report", "run.pickle", cwd=recording).raw
    assert sorted(p.name for p in recording.iterdir()) == ["out.txt", "run.pickle"]


def test_failed_run_keeps_the_old_output(recording):
    """Nothing half-written: the file from before stays as it was."""
    (recording / "bad").write_bytes(b"\x80\x04R.")
    (recording / "out.txt").write_bytes(b"old")
    run("report", "-o", "out.txt", "bad", cwd=recording, expect=3)
    assert (recording / "out.txt").read_bytes() == b"old"
    run("report", "-o", "no/such/folder/out", "run.pickle", cwd=recording, expect=3)
    assert sorted(p.name for p in recording.iterdir()) == ["bad", "out.txt", "run.pickle"]


def small_files():
    """The disk is full after 100 bytes, seen from a process that may write no longer file."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))


@pytest.mark.parametrize("before", (None, b"old"))
def test_full_disk_leaves_nothing_behind(recording, before):
    if before:
        (recording / "out.json").write_bytes(before)
    r = run("report", "--json", "-o", "out.json", "run.pickle", cwd=recording, expect=3, preexec=small_files)
    assert "out.json" in r.err
    assert [p.name for p in recording.iterdir() if p.name != "run.pickle"] == (["out.json"] if before else [])
    assert before is None or (recording / "out.json").read_bytes() == before


def test_full_disk_of_a_real_file_system(recording):
    """A file system of one page; only root can make one."""
    disk = recording / "disk"
    disk.mkdir()
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        for k in range(3):
            (recording / ("big%d" % k)).write_bytes(writers.pickled(random_recording.make(5, layout="new", devices=3, steps=120), 4))
        big = ["big%d" % (k % 3) for k in range(12)]
        r = run("report", "--json", "-o", "disk/out.json", *big, cwd=recording, expect=3)
        assert "disk/out.json" in r.err and not list(disk.iterdir())
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_full_standard_output(recording):
    with open("/dev/full", "wb") as full:
        r = run("report", "--json", "run.pickle", cwd=recording, stdout=full, expect=3)
    assert r.err.startswith("vramscope: ")


def test_full_standard_output_of_texts_that_need_no_recording():
    """What does not fit into the buffer fails before it is flushed."""
    for args in (["categories", "--print-rules"], ["--help"], ["--version"], ["help", "view"]):
        with open("/dev/full", "wb") as full:
            r = run(*args, stdout=full, expect=3)
        assert r.err.startswith("vramscope: standard output: "), args


def test_rules_are_printed_to_standard_output_alone(tmp_path):
    r = run("categories", "--print-rules", "-o", "my.rules", cwd=tmp_path, expect=2)
    assert "--print-rules" in r.err and ">" in r.err and list(tmp_path.iterdir()) == []


def test_closed_pipe(recording):
    """A reader that has seen enough is no reason for noise."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as out:
        done = subprocess.run([program(), "report", "--json", *["run.pickle"] * 50], cwd=recording, stdout=out, stderr=subprocess.PIPE, timeout=30)
    assert not SANITIZER.search(done.stderr), done.stderr
    assert done.returncode in (0, 3, 141, -signal.SIGPIPE)


def wait_until_read(pipe):
    """Returns when the other side has taken all that was written."""
    until, left = time.monotonic() + HANGS, array.array("i", [1])
    while left[0]:
        assert time.monotonic() < until, "nobody reads the pipe"
        time.sleep(0.01)
        fcntl.ioctl(pipe.fileno(), termios.FIONREAD, left)


@pytest.mark.parametrize("how", ("file", "stdin"))
def test_interrupt(recording, how):
    """Ctrl-C while the input is still coming: 130, and no output file."""
    data = writers.pickled(tiny.plain(), 4)[:-30]
    os.mkfifo(recording / "pipe")
    name = "pipe" if how == "file" else "-"
    child = subprocess.Popen([program(), "report", "--json", "-o", "out.json", name], cwd=recording,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                             # Where the tests run in the background the signal is ignored, and that is inherited.
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    feed = open(recording / "pipe", "wb", buffering=0) if how == "file" else child.stdin
    feed.write(data)
    feed.flush()
    wait_until_read(feed)
    assert child.poll() is None, child.communicate()
    child.send_signal(signal.SIGINT)
    try:
        code = child.wait(timeout=HANGS)
    finally:
        child.kill()
    err = child.stderr.read()
    feed.close()
    assert not SANITIZER.search(err), err
    assert code == 130, (code, err)
    assert sorted(p.name for p in recording.iterdir()) == ["pipe", "run.pickle"]


# Of a crash; sanitizers leave these two alone.
CRASHES = [signal.SIGABRT, signal.SIGTRAP]


SIGNALS = [signal.SIGINT, signal.SIGTERM, CRASHES[0], signal.SIGHUP, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2,
           signal.SIGVTALRM, signal.SIGPROF, signal.SIGXCPU, signal.SIGIO, signal.SIGRTMIN, *CRASHES[1:]]


@pytest.mark.parametrize("number", SIGNALS[:some(4, None)])
def test_no_signal_leaves_a_half_written_file(tmp_path, number):
    """While the page is made: its file has begun under another name."""
    events = [{"action": action, "addr": 0x1000000 + i * 512, "size": 512, "stream": 0, "frames": [], "time_us": i}
              for i in range(40000) for action in ("alloc", "free_requested", "free_completed")]
    (tmp_path / "run.pickle").write_bytes(writers.pickled({"segments": [], "device_traces": [events]}, 4))

    def heed():
        signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    child = subprocess.Popen([program(), "view", "run.pickle", "-o", "out.html"], cwd=tmp_path, stderr=subprocess.PIPE,
                             env=environment(), preexec_fn=heed)
    until = time.monotonic() + HANGS
    while not list(tmp_path.glob(".vramscope-*")):
        assert child.poll() is None and time.monotonic() < until, child.stderr.read()
        time.sleep(0.001)
    child.send_signal(number)
    try:
        code = child.wait(timeout=HANGS)
    finally:
        child.kill()
    assert not SANITIZER.search(child.stderr.read())
    assert code == (-number if number in CRASHES else 128 + number)
    assert [p.name for p in tmp_path.iterdir()] == ["run.pickle"]


# Colour ---------------------------------------------------------------------------------

def in_terminal(args, cwd, **env):
    """What the program writes to a terminal."""
    try:
        parent, child = pty.openpty()
    except OSError as error:
        pytest.skip("no pseudo-terminal here: %s" % error)
    done = subprocess.Popen([program(), *args], cwd=cwd, stdin=child, stdout=child, stderr=child, env=environment(**env), close_fds=True)
    os.close(child)
    out, until = b"", time.monotonic() + HANGS
    while time.monotonic() < until:
        if select.select([parent], [], [], 0.2)[0]:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            out += piece
        elif done.poll() is not None:
            break
    os.close(parent)
    assert done.wait(timeout=10) == 0, out
    assert not SANITIZER.search(out), out
    return out


def test_piped_output_is_plain(recording):
    for args in (["report"], ["peak"], ["peak", "--by", "site"], ["help"], ["help", "peak"]):
        files = [] if args[0] == "help" else ["run.pickle"]
        r = run(*args, *files, cwd=recording, expect=0, env=environment(COLORTERM="truecolor"))
        assert not ESCAPE.search(r.raw) and not ESCAPE.search(r.err.encode())


def test_no_color_is_honoured(recording):
    for verb in ("report", "peak"):
        assert not re.search(rb"\x1b\[[0-9;]*m", in_terminal([verb, "run.pickle"], recording, NO_COLOR="1"))
        assert not ESCAPE.search(in_terminal([verb, "run.pickle"], recording, TERM="dumb"))


def test_terminal_shows_the_same_numbers(recording):
    shown = re.sub(rb"\x1b\[[0-9;]*[A-Za-z]", b"", in_terminal(["report", "run.pickle"], recording)).decode()
    assert "6.00 MiB" in shown and "6.00 MiB" in run("report", "run.pickle", cwd=recording, expect=0).out


def test_report_names_what_a_person_needs(recording):
    """The file, its trust, the peak, the line that made it."""
    out = run("report", "run.pickle", cwd=recording, expect=0).out
    assert "run.pickle" in out and "6.00 MiB" in out and "train.py:7" in out


def test_results_and_messages_stay_apart(recording):
    r = run("report", "run.pickle", cwd=recording, expect=0)
    assert r.out and not r.err
    r = run("report", "absent", cwd=recording, expect=3)
    assert not r.out.strip() and r.err.startswith("vramscope: absent: ")


# Doctor ---------------------------------------------------------------------------------

def checks(result):
    return {c["name"]: c for c in result.json()["checks"]}


def test_doctor_finds_all_that_reading_needs(recording):
    r = run("doctor", "--json", cwd=recording, expect=0)
    assert r.json()["can_read"] and not r.err
    for c in checks(r).values():
        assert c["ok"] or not c["needed"]
        assert c["ok"] == (c["cure"] is None), c


def test_doctor_sees_the_terminal(recording):
    shown = in_terminal(["doctor"], recording).decode()
    assert "on: the output is a terminal" in shown
    assert "off: NO_COLOR is set" in in_terminal(["doctor"], recording, NO_COLOR="1").decode()
    assert "off: TERM is dumb" in in_terminal(["doctor"], recording, TERM="dumb").decode()


def sqlite_row(**env):
    r = run("doctor", "--json", env=environment(**env), expect=0)
    row = checks(r)["sqlite"]
    line, = re.findall(r"^(ok|missing) +sqlite +(.*)$", run("doctor", env=environment(**env), expect=0).out, re.M)
    assert line == ("ok" if row["ok"] else "missing", "; ".join(["%(value)s: %(why)s" % row] + ([row["cure"]] if row["cure"] else [])))
    return row


def test_doctor_tells_whether_a_database_can_be_written(recording, tmp_path):
    done = run("export", "--to", "sqlite", "run.pickle", "-o", tmp_path / "x.db", cwd=recording)
    row = sqlite_row()
    assert not row["needed"] and row["ok"] == (done.code == 0)
    assert row["value"] == ("found" if row["ok"] else "none")


@pytest.mark.skipif(sys.platform != "linux", reason="the name of the library is that of Linux")
def test_doctor_names_what_a_database_lacks(tmp_path):
    if "without sqlite" in run("export", "--to", "sqlite").err:
        row = sqlite_row()
        assert "this build is without sqlite" in row["why"] and "build again" in row["cure"]
        return
    (tmp_path / "libsqlite3.so.0").write_bytes(b"none")
    row = sqlite_row(LD_LIBRARY_PATH=str(tmp_path))
    assert not row["ok"] and row["why"].startswith("export --to sqlite needs it: ") and "libsqlite3.so.0" in row["why"]
    assert "libsqlite3-0" in row["cure"]


@pytest.mark.parametrize("form,was,becomes,why", (
    ("json", b'"addr": 4096, "size": 1536', b'"addr": 4096, "size": 1537', "1537"),
    ("pickle", b"\x8c\x04size\x94M\0\x06", b"c\x04size\x94M\0\x06", "opcode GLOBAL"),
    ("html", b'"base64": "gASVXAAAAA', b'"base64": "gARjXAAAAA', "opcode GLOBAL"),
    ("gzip", b"\xaf\x10\x07\xe1c\0\0\0", b"\xaf\x10\x07\xe0c\0\0\0", "damaged gzip data"),
    ("zstd", b"6\xd1\xa5\\", b"7\xd1\xa5\\", "damaged zstd data")))
def test_doctor_names_the_form_that_is_not_read(tmp_path, monkeypatch, form, was, becomes, why):
    """A program whose sample is damaged stands for one whose reader is."""
    with open(program(), "rb") as f:
        code = f.read()
    assert code.count(was) == 1
    damaged = tmp_path / "vramscope"
    damaged.write_bytes(code.replace(was, becomes))
    damaged.chmod(0o755)
    monkeypatch.setenv("VRAMSCOPE", str(damaged))
    r = run("doctor", "--json", expect=1)
    found = checks(r)
    assert not r.json()["can_read"] and why in found[form]["why"], found[form]
    assert [n for n, c in found.items() if c["needed"] and not c["ok"]] == [form]
    text = run("doctor", expect=1).out
    assert re.search(r"^missing +%s .*build vramscope again" % form, text, re.M)


@pytest.mark.parametrize("value", ("99999999999999999999", "0", "many", "-1"))
def test_a_limit_that_is_no_number_is_said_to_be_none(value):
    err = run("peak", "--limit", "strings=" + value, ROOT / "examples" / "leak.pickle", expect=2).err
    assert 'takes a number or a size from 1 to 2^64 - 1, not "%s"' % value in err
    assert "needs a value" in run("peak", "--limit", "strings", ROOT / "examples" / "leak.pickle", expect=2).err
