"""`vramscope view --serve`, asked through plain sockets: who may ask, what is answered, how it ends."""
import base64
import contextlib
import hashlib
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from recordings import random_recording, scripts, writers
from recordings.tiny import BASE, MIB, event, freed, half, top

from conftest import ROOT, SANITIZER, environment, program, run

EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
ADDRESS = re.compile(rb"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/\n")
STARTS = 120  # seconds


def has_server():
    return "without --serve" not in run("view", "--serve", "-", expect=2).err


@pytest.fixture(scope="module", autouse=True)
def built():
    if not has_server():
        pytest.skip("this build is without libmicrohttpd")


@pytest.mark.skipif(sys.platform != "linux", reason="the name of the library is that of Linux")
def test_without_the_library_all_else_works(tmp_path):
    """It is loaded by --serve alone, which says what to install before it reads anything."""
    (tmp_path / "libmicrohttpd.so.12").write_bytes(b"none")
    env = environment(LD_LIBRARY_PATH=str(tmp_path))
    done = run("view", "--serve", *EXAMPLES, env=env, expect=3)
    assert "--serve needs libmicrohttpd: " in done.err and "libmicrohttpd.so.12" in done.err
    assert "install it" in done.err and done.err.count("\n") == 1 and not done.out
    run("report", EXAMPLES[0], env=env, expect=0)


def heed_interrupts():
    """A job in the background of a shell ignores them, one of nohup SIGHUP, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Server:
    def __init__(self, *args, cwd=None):
        self.process = subprocess.Popen([program(), "view", "--serve", *map(str, args)], cwd=cwd, env=environment(),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        preexec_fn=heed_interrupts)
        assert select.select([self.process.stdout], [], [], STARTS)[0], "no address"
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1].decode()
        match = ADDRESS.fullmatch(line)
        assert match, line
        self.port, self.token = int(match[1]), match[2].decode()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, text):
        """All that is answered to these bytes, up to the end of the connection."""
        with self.connect() as s:
            s.sendall(text if isinstance(text, bytes) else text.encode())
            got = b""
            with contextlib.suppress(ConnectionResetError):
                while part := s.recv(1 << 16):
                    got += part
            return got

    def ask(self, path="", method="GET", host="127.0.0.1", whole=None, more=""):
        target = whole if whole is not None else "/%s/%s" % (self.token, path)
        head = "Host: %s\r\n" % host if host is not None else ""
        return Answer(self.raw("%s %s HTTP/1.1\r\n%sConnection: close\r\n%s\r\n" % (method, target, head, more)))

    def end(self, number=signal.SIGINT):
        """Its exit status, and what it said."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=STARTS)
        assert not SANITIZER.search(err), err.decode("utf-8", "replace")[-6000:]
        assert out == b""
        return self.process.returncode, err.decode("utf-8", "replace")


class Answer:
    def __init__(self, raw):
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0] else None
        self.headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(": ")
            assert name.lower() not in self.headers, line
            self.headers[name.lower()] = value


@contextlib.contextmanager
def serving(*args, status=130, **more):
    server = Server(*args, **more)
    try:
        yield server
        assert server.end()[0] == status
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def one():
    with serving(ROOT / "examples/oom.pickle") as server:
        yield server


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ranks with names that are markup, control characters and commands, and files that fail."""
    made = tmp_path_factory.mktemp("ranks")
    for i, name in enumerate(["<img src=x onerror=alert(1)>_rank0", "\"'&amp;_rank1", "a\u202eb\x1b[31m_rank2",
                              "%2e%2e_rank3", "x..._rank4"]):
        (made / (name + ".pickle")).write_bytes(writers.pickled(random_recording.make(3 + i), 4))
    (made / "bad_rank5.pickle").write_bytes(b"\x80\x04\x95<b>")
    (made / "other.json").write_text("{\"</script>\": 1}")
    return made


@pytest.fixture(scope="module")
def several(folder):
    with serving(folder) as server:
        yield server


def test_the_page_is_what_view_writes(one):
    answer = one.ask()
    assert answer.status == 200
    assert answer.body == run("view", ROOT / "examples/oom.pickle", "-o", "-", expect=0).raw
    assert int(answer.headers["content-length"]) == len(answer.body)


def test_the_page_has_the_editor_that_was_asked_for():
    words = (ROOT / "examples/oom.pickle", "--editor", "zed", "--editor-path", "/a=/b")
    with serving(*words) as server:
        assert server.ask().body == run("view", *words, "-o", "-", expect=0).raw


def test_every_address_has_a_token_of_its_own():
    tokens = set()
    for _ in range(3):
        with serving(ROOT / "examples/leak.pickle") as server:
            tokens.add(server.token)
    assert len(tokens) == 3


def wrong_paths(token):
    flipped = ("0" if token[0] != "0" else "1") + token[1:]
    last = token[:-1] + ("0" if token[-1] != "0" else "1")
    return ["/", "/index.html", "/favicon.ico", "/" + token[:31] + "/", "/" + token[:1], "/" + flipped + "/", "/" + last + "/",
            "/" + token.upper() + "x/", "//" + token + "/", "/x/../" + token + "/", "/" + token + "x", "/" + token + "0/",
            "/" + token + "/..", "/" + token + "/../" + token + "/", "/" + token + "//", "/" + token + "/%2e%2e/",
            "/" + token + "/1", "/" + token + "/0", "/" + token + "/-1", "/" + token + "/etc/passwd",
            "/" + "%%%02x" % ord(token[0]) + token[1:] + "/", "/" + token + "/%00", "/" + token + "%2f", "*",
            "http://127.0.0.1/" + token + "/"]


def test_without_the_token_nothing_is_there(one):
    for path in wrong_paths(one.token):
        answer = one.ask(whole=path)
        assert answer.status == 404, (path, answer.status)
        assert one.token.encode() not in answer.body
        assert "location" not in answer.headers


def test_the_token_without_its_slash_leads_on(one):
    answer = one.ask(whole="/" + one.token)
    assert answer.status == 301 and answer.headers["location"] == "/%s/" % one.token


def test_a_query_changes_nothing(one):
    assert one.ask("?x=%00&y").status == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:8000", "[::1]", "[::1]:65535", "127.0.0.1:1"])
def test_own_names_at_any_port(one, host):
    assert one.ask(method="HEAD", host=host).status == 200


@pytest.mark.parametrize("host", [None, "", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8000", "::1",
                                  "127.0.0.1:", "127.0.0.1:80:80", "127.0.0.1@evil.example", "127.0.0.2", "0.0.0.0",
                                  "[::1", "[::1]x", "127.0.0.1:123456", "localhost:8a", "127.1", "localhost, evil.example"])
def test_other_hosts_are_refused(one, host):
    answer = one.ask(host=host)
    assert answer.status == 403 and b"<html" not in answer.body
    assert one.ask(host=host, whole="/").status == 403


def test_two_hosts_are_none(one):
    assert one.ask(more="Host: evil.example\r\n").status in (400, 403)
    assert one.ask(host="evil.example", more="Host: localhost\r\n").status in (400, 403)


def test_an_old_client_names_its_host_too(one):
    path = "/%s/" % one.token
    assert Answer(one.raw("GET %s HTTP/1.0\r\n\r\n" % path)).status == 403
    assert Answer(one.raw("GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n" % path)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "BREW"])
def test_other_methods_are_refused(one, method):
    answer = one.ask(method=method)
    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"
    assert one.ask(method=method, whole="/").status == 404


def test_a_body_is_not_taken(one):
    assert one.ask(method="POST", more="Content-Length: 1000000\r\n").status == 405
    answer = Answer(one.raw("GET /%s/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc" % one.token))
    assert answer.status == 200


def check_headers(answer):
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_headers_of_every_answer(one, several):
    answers = [one.ask(), one.ask(whole="/"), one.ask(host="evil.example"), one.ask(method="POST"), one.ask(whole="/" + one.token),
               one.ask(more="Origin: https://evil.example\r\n"), several.ask(), several.ask("1"), several.ask(bad(several))]
    assert [a.status for a in answers] == [200, 404, 403, 405, 301, 200, 200, 200, 500]
    for answer in answers:
        check_headers(answer)
        assert "unsafe" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answers[8].headers["content-security-policy"]
    assert b"default-src 'none'; style-src 'sha256-" in answers[6].body
    assert answers[0].headers["content-type"] == "text/html; charset=utf-8"


def test_head_has_the_length_and_no_body(one, several):
    for server, path in (one, ""), (several, ""), (several, "1"), (several, bad(several)):
        get, head = server.ask(path), server.ask(path, method="HEAD")
        assert (head.status, head.body) == (get.status, b"")
        assert head.headers["content-length"] == get.headers["content-length"] == str(len(get.body))


def read_one(stream):
    """One answer of a connection that stays open."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = stream.read(1)
        assert byte, head
        head += byte
    return Answer(head + stream.read(int(re.search(rb"(?i)content-length: (\d+)", head)[1])))


def test_a_connection_is_used_again(one):
    request = ("GET /%s/ HTTP/1.1\r\nHost: localhost\r\n\r\nHEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n" % one.token).encode()
    with one.connect() as s, s.makefile("rb") as stream:
        for _ in range(3):
            s.sendall(request[:40])
            s.sendall(request[40:])
            assert read_one(stream).status == 200
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += stream.read(1)
            assert Answer(head).status == 404


def test_what_is_too_long_is_refused(one):
    assert Answer(one.raw("GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % ("a" * 100000))).status in (404, 413, 414, 431, None)
    assert one.ask(more="X: %s\r\n" % ("a" * 100000)).status in (413, 431, None)
    assert one.ask(more="".join("X%d: a\r\n" % i for i in range(5000))).status in (413, 431, None)
    for junk in (b"\0" * 1000, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00", b"GET / HTTP/9.9\r\n\r\n", b"\r\n" * 100 + b"x"):
        with one.connect() as s:
            s.sendall(junk)
    assert one.ask(method="HEAD").status == 200


def test_a_path_with_a_nul_is_refused(one):
    for target in ("/%s/\0" % one.token, "/%s/\0more" % one.token, "/%s\0" % one.token, "/\0", "/%s/\0?x=1" % one.token,
                   "/%s/?x=\0" % one.token):
        for method in ("GET", "HEAD"):
            answer = one.ask(method=method, whole=target)
            assert answer.status == 400 and one.token.encode() not in answer.body, target
    assert one.ask().status == 200


def test_who_asks_slowly_keeps_nobody_out(one):
    """As many connections as there may be, and many more, all in the middle of a request that never ends."""
    slow = []
    try:
        for _ in range(4):
            for _ in range(64):
                slow.append(one.connect())
                slow[-1].sendall(b"G")
            begin = time.monotonic()
            assert one.ask(method="HEAD").status == 200
            assert time.monotonic() - begin < 5  # not when their own time is over
    finally:
        for s in slow:
            s.close()


def test_clients_at_once(several, folder):
    """More than are made at a time; equal pages are shared."""
    pages = {path: several.ask(path).body for path in links(several)}
    got, threads = [], []

    def ask(path):
        got.append((path, several.ask(path).body))

    for path in list(pages) * 4:
        threads.append(threading.Thread(target=ask, args=(path,)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    assert len(got) == 4 * len(pages) and all(pages[path] == body for path, body in got)


def test_a_reader_that_goes_away_harms_nobody(one):
    for _ in range(5):
        with one.connect() as s:
            s.sendall(("GET /%s/ HTTP/1.1\r\nHost: localhost\r\n\r\n" % one.token).encode())
            s.recv(1)
    assert one.ask(method="HEAD").status == 200


def links(server):
    """Where the rows lead: pages, at a device of theirs."""
    found = re.findall(r'<a href="([^"]*)">', server.ask().body.decode())
    for link in found:
        assert re.fullmatch(r"[1-9]\d*(#v=1&amp;dev=[1-9]\d*)?", link)
    return [link.split("#")[0] for link in found]


def names(folder):
    return sorted((p.name for p in folder.iterdir()), key=os.fsencode)


def bad(server):
    """The number of the file that fails: files are numbered by their paths."""
    return str(names(server_folder(server)).index("bad_rank5.pickle") + 1)


def server_folder(server):
    return type(EXAMPLES[0])(server.process.args[-1])


def test_the_index_has_a_row_for_each_rank(several, folder):
    text = several.ask().body.decode()
    told = run("report", "--json", folder).json()
    units = told["ranks"]["units"]
    rows = re.findall(r"<tr><td[ >].*?</tr>", text, re.S)
    with_unit = [row for row in rows if "<svg" in row]
    assert len(with_unit) == len(units)
    assert set(links(several)) <= {str(i + 1) for i in range(len(names(folder)))}
    for path in links(several):
        page = several.ask(path)
        name = names(folder)[int(path) - 1]
        assert page.body == run("view", folder / name, "-o", "-", expect=0).raw
    for word in ("grade", "peak", "headroom", "OOM", "vs median"):
        assert ">%s</th>" % word in text


def human(count):
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            return "%.2f %s" % (count / unit, name)
    return "%d B" % count


def test_figures_of_the_index_are_those_of_the_report():
    paths = EXAMPLES
    with serving(*paths) as server:
        text = server.ask().body.decode()
    told = run("report", "--json", *paths, expect=0).json()
    rows = re.findall(r"<tr><td[ >].*?</tr>", text, re.S)
    assert [re.sub("<[^>]*>", "", row).find(u) >= 0 for row, u in zip(rows, [
        human(u["peak_bytes"]) for u in sorted(told["ranks"]["units"], key=lambda u: -u["peak_bytes"])])] == [True] * len(paths)
    peaks = sorted(u["peak_bytes"] for u in told["ranks"]["units"])
    median = (peaks[(len(peaks) - 1) // 2] + peaks[len(peaks) // 2]) // 2
    assert "+" + human(peaks[-1] - median) in rows[0] and "−" + human(median - peaks[0]) in rows[-1]
    assert "▼ 1" in rows[0] and "bounds the job" in rows[0]
    report = run("report", "--json", ROOT / "examples/oom.pickle", expect=0).json()
    assert "event %d" % report["devices"][0]["requested"]["peak_event"] in rows[0]


def test_a_link_says_its_file_and_device(tmp_path):
    """Those of ranks say their rank, beside which the file stands; each opens its device."""
    for name in ("one/run.pickle", "two/run.pickle"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / "examples/leak.pickle", tmp_path / name)
    devices = scripts.make("sixty_four_devices")
    with serving(tmp_path / "one", tmp_path / "two", devices) as server:
        text = server.ask().body.decode()
        said = dict(re.findall(r'<a href="([^"]*)">([^<]*)</a>', text))
        assert ">file</th>" not in text and len(said) == len(set(said.values())) == 66
    page = {name.rsplit("/", 1)[-1]: link for link, name in said.items()}["%s cuda:7" % devices.name]
    assert re.fullmatch(r"\d#v=1&amp;dev=7", page)
    assert sorted(name[-22:] for name in said.values() if "run" in name) == ["/one/run.pickle cuda:0", "/two/run.pickle cuda:0"]


def test_names_of_files_are_text(several):
    text = several.ask().body.decode()
    assert "<img" not in text and "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "\u202e" not in text and "\x1b" not in text
    assert "&quot;&#39;&amp;amp;_rank1" in text
    assert " style=" not in text and "javascript:" not in text
    assert text.count("<script") == 1 and text.endswith("</script>\n</body>\n</html>\n")


def test_a_bad_file_hides_no_good_one(several, folder):
    text = several.ask().body.decode()
    failed = text[text.index("Could not be read"):]
    assert "bad_rank5.pickle" in failed and "other.json" in failed and "&lt;/script&gt;" not in failed
    answer = several.ask(bad(several))
    assert answer.status == 500 and b"bad_rank5.pickle" in answer.body and b'<a href="./">all files</a>' in answer.body
    reason = run("view", folder / "bad_rank5.pickle", "-o", "-", expect=3).err.strip().split(": ", 2)[2]
    assert reason in answer.body.decode() and reason in failed


def test_the_hashes_of_style_and_script_are_their_own(several):
    text = several.ask().body.decode()
    for name in ("style", "script"):
        inside = re.search("<%s>(.*?)</%s>" % (name, name), text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert "%s-src 'sha256-%s'" % (name, digest) in text


def test_a_file_that_changes_or_goes_is_read_again(tmp_path):
    path = tmp_path / "run.pickle"
    shutil.copy(ROOT / "examples/leak.pickle", path)
    server = Server(path)
    first = server.ask().body
    shutil.copy(ROOT / "examples/oom.pickle", path)
    assert server.ask().body not in (first, b"")
    path.unlink()
    gone = server.ask()
    assert gone.status == 500 and b"No such file" in gone.body and b"<a" not in gone.body
    code, err = server.end()
    assert code == 130 and "No such file" in err


def test_the_index_names_ranks_without_a_file(tmp_path):
    """As run.json has them, in a folder that is all that is asked for."""
    shutil.copy(ROOT / "examples/leak.pickle", tmp_path / "rank1.10.end.pickle")
    (tmp_path / "run.json").write_text('{"schema": "vramscope.run/1", "job": "night", "world_size": 4, "missing_ranks": [0, 1, 3]}')
    with serving(tmp_path) as server:
        text = server.ask().body.decode()
    assert '<h2>Missing</h2>\n<p class="b">no snapshot of ranks 0, 3 of 4</p>' in text
    with serving(tmp_path / "rank1.10.end.pickle", ROOT / "examples/oom.pickle") as server:
        assert "<h2>Missing</h2>" not in server.ask().body.decode()
    (tmp_path / "run.json").write_text('{"schema": "vramscope.run/1", "world_size": 4')
    server = Server(tmp_path)
    text, (_, err) = server.ask().body.decode(), server.end()
    assert "<h2>Missing</h2>" not in text and err.count("run.json: the file ends too early; ranks without a snapshot") == 1


def test_a_page_of_several_recordings(tmp_path, folder):
    """A folder of one is an index too; one file is a page."""
    lone = tmp_path / "lone"
    lone.mkdir()
    shutil.copy(ROOT / "examples/train.pickle", lone)
    with serving(lone) as server:
        assert links(server) == ["1"] and server.ask("1").status == 200
        assert server.ask("2").status == server.ask("01").status == server.ask("1/").status == 404


def test_nothing_is_written(tmp_path):
    shutil.copy(ROOT / "examples/train.pickle", tmp_path)
    before = {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()}
    with serving("train.pickle", cwd=tmp_path) as server:
        assert server.ask().status == 200
    with serving(".", cwd=tmp_path) as server:
        assert server.ask().status == server.ask("1").status == 200
    assert {p.name: p.stat().st_mtime_ns for p in tmp_path.iterdir()} == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it(number):
    server = Server(ROOT / "examples/leak.pickle")
    with server.connect() as idle, server.connect() as asking:
        asking.sendall(b"GET /")
        assert server.ask(method="HEAD").status == 200
        assert server.end(number) == (128 + number, "")
        assert idle.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        server.connect()


def test_a_signal_ends_it_while_a_page_is_made(tmp_path):
    """A recording that takes a while: no page is waited for."""
    path = tmp_path / "large.pickle"
    events = [event("alloc", BASE + 4 * MIB + i * 512, 512, i) for i in range(20000)]
    events += [e for i in range(60000) for e in freed(BASE + 4 * MIB + i % 20000 * 512, 512, 20000 + 2 * i)
               + [event("alloc", BASE + 4 * MIB + i % 20000 * 512, 512, 20000 + 2 * i)]]
    path.write_bytes(writers.pickled(top([half()], events), 4))
    server = Server(path)
    with server.connect() as s:
        s.sendall(("GET /%s/ HTTP/1.1\r\nHost: localhost\r\n\r\n" % server.token).encode())
        time.sleep(0.05)
        begin = time.monotonic()
        assert server.end()[0] == 130
        assert time.monotonic() - begin < 10


def test_words_that_make_no_sense(tmp_path):
    example = ROOT / "examples/leak.pickle"
    assert "leave out -o" in run("view", "--serve", example, "-o", "x.html", cwd=tmp_path, expect=2).err
    assert "--serve" in run("view", "--port", "8000", example, cwd=tmp_path, expect=2).err
    assert "--png works only with a picture" in run("view", "--serve", "--png", example, expect=2).err
    assert "--by works only with a picture" in run("view", "--serve", "--by", "site", example, expect=2).err
    assert "--dark works only with a picture" in run("view", "--serve", "--dark", example, cwd=tmp_path, expect=2).err
    assert "65535" in run("view", "--serve", "--port", "65536", example, expect=2).err
    assert "standard input" in run("view", "--serve", "-", expect=2).err
    os.mkfifo(tmp_path / "pipe")
    assert "only once" in run("view", "--serve", tmp_path / "pipe", expect=2).err
    assert list(tmp_path.iterdir()) == [tmp_path / "pipe"]


def test_what_cannot_be_read_is_not_served(tmp_path):
    assert run("view", "--serve", tmp_path / "none.pickle", expect=3).out == ""
    (tmp_path / "bad.pickle").write_bytes(b"nothing")
    assert run("view", "--serve", tmp_path / "bad.pickle", expect=3).out == ""
    assert "nothing to serve" in run("view", "--serve", tmp_path, expect=3).err
    (tmp_path / "empty").mkdir()
    assert "no recording" in run("view", "--serve", tmp_path / "empty", expect=3).err


def test_a_port_that_is_taken(one):
    r = run("view", "--serve", "--port", str(one.port), ROOT / "examples/leak.pickle", expect=3)
    assert "another program has it" in r.err and r.out == ""


def test_the_port_that_is_asked_for():
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    for _ in range(2):  # a server that has ended does not keep it
        with serving("--port", port, ROOT / "examples/leak.pickle") as server:
            assert server.port == port and server.ask().status == 200


def test_only_this_machine_is_served(one):
    with pytest.raises(OSError):
        socket.create_connection(("::1", one.port), timeout=5).close()
    with open("/proc/net/tcp") as table:
        listening = [line.split()[1] for line in table if line.split()[3] == "0A"]
    assert "0100007F:%04X" % one.port in listening and "00000000:%04X" % one.port not in listening


def test_an_address_that_nobody_sees_is_an_error():
    example = str(ROOT / "examples/leak.pickle")
    closed = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", program(), "view", "--serve", example],
                            stderr=subprocess.PIPE, env=environment(), timeout=STARTS)
    assert closed.returncode == 3 and b"standard output is closed" in closed.stderr
    full = subprocess.run([program(), "view", "--serve", example], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE,
                          env=environment(), timeout=STARTS)
    assert full.returncode == 3 and b"No space left" in full.stderr


def sound(page, address):
    """No error, no refusal by a policy, and nothing asked for but pages of this server."""
    assert [c for c in page.complaints() if not c.startswith("request of " + address)] == []


@pytest.mark.long
def test_the_index_is_sorted_by_any_column(browser, tmp_path):
    """Numbers by size, text as people count, what is not known last; each heading is a button."""
    for rank, path in zip((2, 10, 1), EXAMPLES):
        shutil.copy(path, tmp_path / ("run_rank%d.pickle" % rank))
    (tmp_path / "empty_rank7.json").write_text('{"segments": [], "device_traces": [[]]}')
    columns = ("unit", "file", "grade", "peak", "at", "OOM", "headroom", "in use, one scale", "vs median", "note")
    with serving(tmp_path) as server:
        address = "http://127.0.0.1:%d/%s/" % (server.port, server.token)
        page = browser.open(address)
        page.wait("document.querySelectorAll('thead button').length === 9")

        def column(name):
            return page.ask("[...document.querySelectorAll('tbody tr')].map((row) => row.cells[%d]?.textContent ?? '')"
                            % columns.index(name))

        def sorted_by(name):
            page.ask("[...document.querySelectorAll('thead button')].find((b) => b.textContent === %r).click()" % name)
            return page.ask("[...document.querySelectorAll('[aria-sort]')].map((n) => [n.textContent, n.ariaSort])")

        first = column("unit")
        assert page.ask("document.querySelector('[aria-sort]').textContent") == "peak" and first[-1] == "empty_rank7.json no device"
        peaks = column("peak")
        assert sorted_by("peak") == [["peak", "ascending"]]
        assert column("peak") == peaks[-2::-1] + peaks[-1:], "a file without a device has none"
        assert sorted_by("unit") == [["unit", "ascending"]]
        assert column("unit") == ["empty_rank7.json no device", "rank 1 cuda:0", "rank 2 cuda:0", "rank 10 cuda:0"]
        assert sorted_by("unit") == [["unit", "descending"]]
        assert column("unit")[0] == "rank 10 cuda:0"
        assert sorted_by("headroom") == [["headroom", "descending"]]
        known = [cell for cell in column("headroom") if cell.startswith("\u2265")]
        assert column("headroom")[:len(known)] == known and 0 < len(known) < 4
        assert sorted_by("vs median") == [["vs median", "descending"]]
        signs = [cell[0] for cell in column("vs median")[:3]]
        assert signs == sorted(signs, key="+0\u2212".index)
        sound(page, address)
        page.close()


def test_the_page_opens_in_a_browser(browser, one, several):
    shown = "document.getElementById('status-text')?.textContent.includes('requested')"
    address = "http://127.0.0.1:%d/%s/" % (one.port, one.token)
    page = browser.open(address)
    page.wait(shown)
    assert page.ask("document.querySelector('#top a')") is None
    assert "22.20 GiB" in page.text("#who") and page.ask("document.getElementById('alarm').hidden")
    sound(page, address)
    page.close()
    address = "http://localhost:%d/%s/" % (several.port, several.token)
    index = browser.open(address)
    index.wait("document.querySelectorAll('tbody tr').length > 3")
    assert index.ask("getComputedStyle(document.querySelector('table')).borderCollapse") == "collapse"
    assert index.ask("document.querySelectorAll('img').length") == 0
    index.ask("document.querySelector('tbody a').click()")
    index.wait(shown)
    sound(index, address)
    index.ask("[...document.querySelectorAll('#top a')].find((a) => a.textContent === 'all files').click()")
    index.wait("document.querySelectorAll('tbody tr').length > 3 && location.pathname.endsWith('/%s/')" % several.token)
    index.close()
