"""Bytes from a stranger can do nothing but be shown: refusals with their place, limits, bombs."""
import os
import re
import struct
import threading

import pytest
from models import reader
from recordings import tiny, writers

from conftest import answers, error_lines, figure_problems, run, some

pytestmark = pytest.mark.usefixtures("leaks_are_faults")

WHOLE = writers.pickled(tiny.plain(), 4)
MIB = 1 << 20


def put(folder, name, data):
    (folder / name).write_bytes(data)
    return name


def refused(folder, cases):
    """Runs `report` over all cases at once: every one is refused, in one clean line with an offset."""
    for name, data in cases.items():
        put(folder, name, data)
    r = run("report", "--json", *cases, cwd=folder, expect=3)
    lines = error_lines(r.err)
    assert set(cases) <= set(lines), (set(cases) - set(lines), r.err[-2000:])
    for name in cases:
        assert len(lines[name].encode()) <= 240, lines[name]
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", lines[name]), repr(lines[name])
    return lines


def offset(line):
    m = re.match(r"byte (\d+): ", line)
    assert m, line
    return int(m.group(1))


# Opcodes --------------------------------------------------------------------------------

FORBIDDEN = {"GLOBAL": b"cos\nsystem\n", "STACK_GLOBAL": b"\x93", "REDUCE": b"R", "BUILD": b"b", "INST": b"ios\nsystem\n",
             "OBJ": b"o", "NEWOBJ": b"\x81", "NEWOBJ_EX": b"\x92", "EXT1": b"\x82\x01", "EXT2": b"\x83\x01\x00",
             "EXT4": b"\x84\x01\x00\x00\x00", "PERSID": b"Pid\n", "BINPERSID": b"Q", "NEXT_BUFFER": b"\x97",
             "READONLY_BUFFER": b"\x98", "BYTEARRAY8": b"\x96" + struct.pack("<Q", 1) + b"x", "EMPTY_SET": b"\x8f",
             "ADDITEMS": b"\x90", "FROZENSET": b"\x91", "STRING": b"S'x'\n", "BINSTRING": b"T\x01\x00\x00\x00x",
             "SHORT_BINSTRING": b"U\x01x", "BINBYTES": b"B\x01\x00\x00\x00x", "SHORT_BINBYTES": b"C\x01x",
             "BINBYTES8": b"\x8e" + struct.pack("<Q", 1) + b"x", "DUP": b"2"}
KEY = b"\x8c\x08segments"
DEEP = b"\x80\x04}(" + KEY + b"](}(\x8c\x06blocks](}(\x8c\x06frames](}(\x8c\x04name"
BULK = b"\x80\x04}(" + b"\x8c\x03pad](" + b"N" * (MIB + 17) + b"e"
PLACES = {"top": b"\x80\x04", "key": b"\x80\x04}(", "frame": DEEP, "bulk": BULK, "values": b"\x80\x04}(\x8c\x01a\x8c\x02os\x8c\x06system",
          "old": b"}("}


@pytest.mark.parametrize("place", PLACES)
def test_forbidden_opcodes_are_named_with_their_offset(tmp_path, place):
    head = PLACES[place]
    # A mebibyte each: a few tell that the offset holds beyond the first window.
    names = list(FORBIDDEN) if place != "bulk" else ["GLOBAL", "STACK_GLOBAL", "REDUCE", "BYTEARRAY8"]
    lines = refused(tmp_path, {name: head + FORBIDDEN[name] + b"u." for name in names})
    for name in names:
        assert offset(lines[name]) == len(head), (name, lines[name])
        assert re.search(r"\b%s\b" % name, lines[name]), lines[name]


@pytest.mark.parametrize("place", ("top", "frame"))
def test_unknown_opcodes_are_refused_by_byte(tmp_path, place):
    known = set(b"\x80\x95.(}])dlt\x85\x86\x87suaeJKM\x8a\x8bILGFN\x88\x89\x8cX\x8dV\x94qrphjg01") | {c[0] for c in FORBIDDEN.values()}
    head = PLACES[place]
    codes = [c for c in range(256) if c not in known]
    lines = refused(tmp_path, {"op%02x" % c: head + bytes([c]) + b"...." for c in codes})
    for c in codes:
        assert offset(lines["op%02x" % c]) == len(head), lines["op%02x" % c]
        assert "%02x" % c in lines["op%02x" % c].lower(), lines["op%02x" % c]


def test_refusal_of_a_global_shows_the_name_escaped(tmp_path):
    lines = refused(tmp_path, {
        "plain": b"\x80\x02cposix\nsystem\n.", "escape": b"\x80\x02c\x1b[31mevil\n\x1b]0;x\x07\n.",
        "long": b"\x80\x02c" + b"m" * 5000 + b"\n" + b"n" * 5000 + b"\n.",
        "fork": b"\x80\x02ctorch.jit._pickle\nrestore_type_tag\nq\x00}(u\x8c\x01aR.",
        "pytorch": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\x00."})
    assert "posix" in lines["plain"] and "system" in lines["plain"]
    assert "evil" in lines["escape"]
    assert max(map(len, re.findall("m+", lines["long"]))) <= 80
    assert "restore_type_tag" in lines["fork"]
    for line in lines.values():
        assert "not" in line and "executed" in line, line


def test_forbidden_opcode_in_every_container(tmp_path):
    data = DEEP + b"R."
    cases = {"a.gz": writers.gzipped(data), "a.zst": writers.zstd(data), "a.html": writers.page([("x", data)])}
    for line in refused(tmp_path, cases).values():
        assert "REDUCE" in line and str(len(DEEP)) in line, line


MALFORMED = {
    "memo id 2^32-1": (b"\x80\x02}r\xff\xff\xff\xff(u.", 3), "memo id jump, text": (b"}p4000000000\n(u.", 1),
    "get before put": (b"\x80\x02}(h\x05Nu.", 4), "long get before put": (b"\x80\x02}(j\x05\0\0\0Nu.", 4),
    "text get before put": (b"}(g7\nNu.", 2), "a string longer than the file": (b"\x80\x02}(X\xff\xff\xff\xffab", None),
    "a string of 2^63": (b"\x80\x04}(\x8d" + struct.pack("<Q", 1 << 63) + b"ab", None),
    "LONG1 of 255": (b"\x80\x02}(\x8c\x01a\x8a\xff" + b"\1" * 255 + b"u.", None),
    "LONG1 of 10": (b"\x80\x02}(\x8c\x01a\x8a\x0a" + b"\1" * 10 + b"u.", None),
    "LONG4 negative": (b"\x80\x02}(\x8c\x01a\x8b\xff\xff\xff\xffu.", None), "TUPLE2 on nothing": (b"\x80\x02\x86.", 2),
    "TUPLE2 over a mark": (b"\x80\x02N(N\x86.", None), "SETITEMS with an odd count": (b"\x80\x02}(\x8c\x01au.", None),
    "SETITEMS without a mark": (b"\x80\x02}NNu.", 5), "APPENDS to a dict": (b"\x80\x02}(Ne.", None),
    "SETITEM to a list": (b"\x80\x02]\x8c\x01aNs.", None), "APPEND on nothing": (b"\x80\x02]a.", None),
    "STOP with two values": (b"\x80\x02}}.", 4), "STOP with an open mark": (b"\x80\x02}(.", 4), "STOP on nothing": (b"\x80\x02.", 2),
    "POP on nothing": (b"\x80\x020.", 2), "POP_MARK without a mark": (b"\x80\x02N1.", 3), "MEMOIZE on nothing": (b"\x80\x04\x94.", 2),
    "protocol 6": (b"\x80\x06}.", None), "PROTO in the middle": (b"\x80\x02}\x80\x02(u.", 3), "no STOP": (b"\x80\x02}(u", None),
    "10^7 marks": (b"\x80\x02" + b"(" * 10**7 + b".", None), "10^6 open lists": (b"\x80\x02" + b"](" * 10**6, None),
    "an integer at the top": (b"\x80\x02K\x01.", None), "a string at the top": (b"\x80\x04\x8c\x01a.", None), "None at the top": (b"\x80\x02N.", None),
    "int that is no int": (b"}(Vkey\nIabc\nu.", None), "float that is no float": (b"}(Vkey\nFabc\nu.", None),
    "a line without an end": (b"}(V" + b"x" * 100, None), "changed after use": (b"\x80\x02}q\0(X\x08\0\0\0segments](}q\1(X\x04\0\0\0sizeK\1ueh\1X\1\0\0\0aK\1s.", None),
    "JSON: word": (b'{"segments": [], "x": nul}', None), "JSON: comma": (b'{"segments": [],, }', None),
    "JSON: deep": (b'{"segments": ' + b"[" * 100_000, None), "JSON: no string": (b'{"segments": [], x: 1}', None),
    "JSON: control": (b'{"segments": [}', None), "one byte": (b"\x80", None)}


def test_malformed_input_is_refused(tmp_path):
    cases = {"m%02d" % k: data for k, (data, _) in enumerate(MALFORMED.values())}
    lines = refused(tmp_path, cases)
    for k, (name, (_, at)) in enumerate(MALFORMED.items()):
        line = lines["m%02d" % k]
        if at is not None:
            # The opcode, or the argument behind it that is wrong.
            assert at <= offset(line) <= at + 12, (name, line)
        else:
            assert "byte " in line, (name, line)


UGLY = {
    "frame of 2^63": b"\x80\x04\x95" + struct.pack("<Q", 1 << 63) + b"}.",
    "list inside itself": b"\x80\x04}(\x8c\x01a]\x94h\0au.", "dict as its own value": b"\x80\x04}\x94(\x8c\x01ah\0u.",
    "segments hold themselves": b"\x80\x04}(\x8c\x08segments]\x94h\0au.", "top is a list of itself": b"\x80\x04]\x94h\0a.",
    "int as key": b"\x80\x04}(K\1K\2u.", "None as key": b"\x80\x04}(NNu.", "list as key": b"\x80\x04}(]Nu.",
    "two pickles": WHOLE + WHOLE, "pop": b"\x80\x04N0}(" + KEY + b"]u.", "pop mark": b"\x80\x04(NN1}(" + KEY + b"]u.", "empty dict": b"\x80\x04}.",
    "empty list": b"\x80\x04].", "nine-byte integer": b"\x80\x04}(" + KEY + b"]\x8c\x01a\x8a\x09" + b"\xff" * 8 + b"\0u.",
    "empty LONG1": b"\x80\x04}(\x8c\x01a\x8a\0" + KEY + b"]u.", "LONG4": b"\x80\x04}(\x8c\x01a\x8b\x02\0\0\0ab" + KEY + b"]u.", "bad UTF-8": b"\x80\x04}(\x8c\x03\xff\xfe\x80K\1u.",
    "repeated key": b"\x80\x04}(\x8c\x01aK\1\x8c\x01aK\2u.", "segments as dict": writers.pickled({"segments": {}, "device_traces": {}}, 4),
    "segments as text": writers.pickled({"segments": "x", "device_traces": 5}, 4),
    "items of other types": writers.pickled({"segments": [1, None, "x", []], "device_traces": [1, [2, None, "y"], {}]}, 4),
    "wrong types": writers.pickled(tiny.top([dict(tiny.half(), stream="0", is_expandable=3, segment_pool_id=[1, 2, 3], frames=7)],
                                            [tiny.event("alloc", tiny.BASE, 1.5), tiny.event("alloc", tiny.BASE, 8.0), {"action": 5},
                                             {"size": 3}, {"action": "alloc"}, tiny.event("alloc", None, None), tiny.event("free_completed", True, False)]), 4),
    "4096 empty traces": writers.pickled({"segments": [], "device_traces": [[] for _ in range(4096)]}, 4),
    "fewer traces than devices": writers.pickled(tiny.top([tiny.half(), tiny.half(device=3)], []), 4),
    "block without address": writers.pickled(tiny.top([tiny.segment([{k: v for k, v in tiny.block(0, 2 * MIB).items()}])], []), 4),
    "segment without blocks": writers.pickled(tiny.top([{"device": 0, "address": 4096, "total_size": 2 * MIB}], []), 4),
    "wrapping address": writers.pickled(tiny.top([tiny.half(2**64 - 4096)], [tiny.event("segment_alloc", 2**64 - 4096, 1 << 40)]), 4),
    "deep stack": writers.pickled(tiny.top([tiny.segment([tiny.block(tiny.BASE, 2 * MIB, frames=tiny.FRAMES * 40_000)])], []), 4)}


def test_ugly_input_does_no_harm(tmp_path):
    """Legal but strange: an answer or a refusal, never a crash or a hang."""
    names = [put(tmp_path, "u%02d" % k, data) for k, data in enumerate(UGLY.values())]
    for verb in "report", "peak":
        r = run(verb, "--json", *names, cwd=tmp_path)
        assert r.code in (0, 3)
        found, lines = answers(r), error_lines(r.err)
        for name, what in zip(names, UGLY):
            assert (name in found) != (name in lines), (what, name)
        for what in ("empty list", "pop", "pop mark", "nine-byte integer", "empty LONG1", "LONG4", "4096 empty traces", "two pickles", "deep stack"):
            assert names[list(UGLY).index(what)] in found, (what, r.err)
        run(verb, *names, cwd=tmp_path)


# The keys of a snapshot, and nothing of one behind them.
NO_LISTS = {"number": 5, "fraction": 0.5, "truth": True, "text": "x", "dict": {}, "numbers": [1, 2], "texts": ["x"], "nothings": [None]}
NO_SEGMENTS = dict(NO_LISTS, lists=[[]], **{"list of lists of dicts": [[{}]]})
NO_TRACES = dict(NO_LISTS, **{"list of numbers": [[1], []], "too deep": [[[{}]]]})
EMPTIES = {"no segments": {"segments": []}, "no traces": {"segments": [], "device_traces": []}, "None": {"segments": None, "device_traces": None},
           "empty traces": {"device_traces": [[], []]}, "a segment among others": {"segments": [5, tiny.half(), []]},
           "an event among others": {"segments": [], "device_traces": [[], [None, tiny.event("alloc", 0, 1)], 3]},
           "one trace": {"segments": [], "device_traces": [tiny.event("alloc", 0, 1)]}, "a dict of another kind": {"segments": [{"x": 1}]},
           "elsewhere": {"segments": [], "x": {"segments": 5}, "host_segments": 5, "host_traces": 5}}


def written(top, form):
    return writers.as_json(top) if form == "json" else writers.pickled(top, int(form[1]))


def key_at(data, key):
    """Where the string begins: its opcode, or its quote."""
    at = data.index(key.encode())
    return at - 5 if data[at - 5:at - 4] == b"X" else at - (2 if data[at - 2:at - 1] == b"\x8c" else 1)


@pytest.mark.parametrize("key,values,rest,says", (
    ("segments", NO_SEGMENTS, {"device_traces": tiny.plain()["device_traces"]}, "segments is no list of dicts"),
    ("device_traces", NO_TRACES, {"segments": tiny.plain()["segments"]}, "device_traces is no list of lists of dicts")))
@pytest.mark.parametrize("form", ("p0", "p2", "p4", "json"))
def test_keys_of_a_snapshot_do_not_make_one(tmp_path, key, values, rest, says, form):
    """Refused by both readers, with the place of the key, bare and wrapped."""
    plain, packed = {}, {}
    for name, value in values.items():
        for order, top in enumerate(({key: value, **rest}, {**rest, key: value}, {key: value})):
            data = written(top, form)
            stem = "%s.%d" % (name.replace(" ", "-"), order)
            plain[stem] = data
            packed[stem + ".gz"] = writers.gzipped(data), data, " (offset in the unpacked bytes)"
            packed[stem + ".html"] = writers.page([("x", data)]), data, " (offset in the decoded entry)"
    wanted = "not a memory snapshot: %s; torch.cuda.memory._dump_snapshot writes one" % says
    lines = refused(tmp_path, plain)
    for name, data in plain.items():
        assert lines[name] == "byte %d: %s" % (key_at(data, key), wanted), (name, lines[name])
        with pytest.raises(reader.Refused, match=says):
            reader.load(data)
    lines = refused(tmp_path, {name: data for name, (data, _, _) in packed.items()})
    for name, (data, inner, which) in packed.items():
        assert lines[name].endswith("byte %d: %s%s" % (key_at(inner, key), wanted, which)), (name, lines[name])


def test_lists_of_any_depth_do_not_make_one(tmp_path):
    """5,000 deep, which needs no mark."""
    deep = b"]" * 5000 + b"a" * 4999
    head = b"\x80\x04}("
    lines = refused(tmp_path, {key: head + b"\x8c" + bytes([len(key)]) + key.encode() + deep + b"u." for key in ("segments", "device_traces")})
    for key, line in lines.items():
        assert offset(line) == len(head) and key + " is no list of" in line, line


@pytest.mark.parametrize("form", ("p0", "p4", "json"))
def test_empty_lists_and_stray_items_are_read(tmp_path, form):
    """What is no dict among dicts is counted; an absent or empty list is no fault."""
    names = {}
    for name, top in EMPTIES.items():
        data = written(top, form)
        names[put(tmp_path, name.replace(" ", "-"), data)] = data
        assert reader.load(data)
    found = answers(run("report", "--json", *names, cwd=tmp_path, expect=0))
    assert set(found) == set(names)


@pytest.mark.parametrize("size", (-1, -(1 << 40), (1 << 62) + 1, 1 << 63))
def test_impossible_sizes_are_not_believed(tmp_path, size):
    """A size below zero or above 2^62 is rejected; the rest of the file may still be read."""
    for k, top in enumerate((tiny.top([tiny.half()], [tiny.event("alloc", tiny.BASE, size)]),
                             tiny.top([dict(tiny.half(), total_size=size)], []))):
        name = put(tmp_path, "s%d" % k, writers.pickled(top, 4))
        r = run("report", "--json", name, cwd=tmp_path)
        assert r.code in (0, 3)
        if r.code == 0:
            for d in r.json()["devices"]:
                assert abs(d["requested"]["peak_bytes"]) < 1 << 62 and abs(d["reserved"]["peak_bytes"]) < 1 << 62


@pytest.mark.parametrize("seed", range(2))
def test_flipped_bytes(tmp_path, seed):
    """Every byte of two small files (in `make test` every third), with one bit and with all bits turned."""
    data = (WHOLE, writers.cpp(tiny.two_devices()))[seed]
    names = []
    for i in range(0, len(data), some(3, 1)):
        for flip in (1 << (i % 8), 0xFF):
            names.append(put(tmp_path, "f%d.%d" % (i, flip), data[:i] + bytes([data[i] ^ flip]) + data[i + 1:]))
    for i in range(0, len(names), 800):
        r = run("report", "--json", *names[i:i + 800], cwd=tmp_path, timeout=300)
        assert r.code in (0, 3)
        assert len(answers(r, check=False)) + len(error_lines(r.err)) >= len(names[i:i + 800])


# Containers -----------------------------------------------------------------------------

def test_compression_where_it_does_not_belong(tmp_path):
    packed, large = writers.gzipped(WHOLE), struct.pack("<IBB", 0xFD2FB528, 0, 18 << 3) + b"\1\0\0"
    broken = bytearray(packed)
    broken[-6] ^= 1
    lines = refused(tmp_path, {
        "gzip in gzip": writers.gzipped(packed), "zstd in gzip": writers.gzipped(writers.zstd(WHOLE)),
        "gzip in zstd": writers.zstd(packed), "gzip in a page": writers.page([("a", packed)]),
        "page in a page": writers.page([("a", writers.page([("b", WHOLE)]))]),
        "window of 256 MiB": large, "dictionary": struct.pack("<IBBB", 0xFD2FB528, 1, 56, 77) + b"\1\0\0",
        "old zstd": b"\x24\xb5\x2f\xfd" + b"\0" * 20, "impossible code": packed[:10] + b"\xff" * 40,
        "not deflate": b"\x1f\x8b\x07" + packed[3:]})
    assert "gzip inside gzip" in lines["gzip in gzip"] and "zstd inside gzip" in lines["zstd in gzip"]
    assert "gzip inside zstd" in lines["gzip in zstd"]
    assert "268435456" in lines["window of 256 MiB"] or "256" in lines["window of 256 MiB"]
    assert "dictionary" in lines["dictionary"]


def test_wrong_checksums(tmp_path):
    """Damage before STOP is an error; after it the recording is there, with or without its trailer."""
    many = writers.pickled(tiny.plain(), 0) + b"\0" * 100_000
    packed = bytearray(writers.gzipped(WHOLE[:300]) + writers.gzipped(WHOLE[300:]))
    first = len(writers.gzipped(WHOLE[:300]))
    packed[first - 8] ^= 1
    refused(tmp_path, {"first-member.gz": bytes(packed)})
    packed = bytearray(writers.gzipped(many))
    packed[-8] ^= 1
    put(tmp_path, "trailer.gz", bytes(packed))
    assert run("report", "--json", "trailer.gz", cwd=tmp_path).code in (0, 3)


def test_other_files_are_named(tmp_path):
    """What the file is, and what to do about it."""
    lines = refused(tmp_path, {
        "archive": b"PK\x03\x04" + b"\0" * 100, "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345\n" % (b"a" * 64),
        "empty": b"", "page": b"<!DOCTYPE html><html><body>nothing here</body></html>",
        "text": b"hello world, this is no snapshot\n", "zeros": b"\0" * 4096, "program": b"\x7fELF\x02\x01\x01" + b"\0" * 60,
        "dict": b"\x80\x04}.", "json": b"{}"})
    words = {"archive": ("torch.save", "_dump_snapshot"), "pointer": ("LFS", "git lfs pull"), "empty": ("empty", "record it again"),
             "page": ("page", "_memory_viz"), "text": ("text", "_dump_snapshot"), "zeros": ("zero bytes", "record it again"),
             "program": ("program", "_dump_snapshot"), "dict": ("not a memory snapshot", "_dump_snapshot"),
             "json": ("not a memory snapshot", "_dump_snapshot")}
    for name, (what, cure) in words.items():
        assert what in lines[name] and cure in lines[name], lines[name]


def test_empty_inside_containers(tmp_path):
    refused(tmp_path, {"e.gz": writers.gzipped(b""), "e.zst": writers.raw_frame(b""), "e.html": writers.page([("a", b"")]),
                       "skips.zst": writers.skippable() * 3})


BOMB = b"\x80\x04}(\x8c\x01a]("


def test_bombs(tmp_path):
    """Endless values without one finished record: refused early, in little time and memory."""
    runs = [(b"N", 128 << 10)] * 4096
    cases = {"zstd": writers.raw_frame(BOMB, runs), "zstd zeros": writers.raw_frame(b"\x80\x04", [(b"\0", 128 << 10)] * 4096),
             "gzip": writers.gzipped(BOMB + b"N0" * (2 << 20)), "string": writers.raw_frame(b"\x80\x04}(X\xff\xff\xff\x7f", [(b"x", 128 << 10)] * 2048)}
    lines = refused(tmp_path, cases)
    assert set(lines) >= set(cases)


def test_page_with_a_refused_entry(tmp_path):
    """The good entries are printed, the bad one is named, the exit code says so."""
    put(tmp_path, "p.html", writers.page([("good", WHOLE), ("bad", b"\x80\x04cos\nsystem\n."), ("good", WHOLE), (None, WHOLE)]))
    r = run("report", "--json", "p.html", cwd=tmp_path, expect=3)
    found = answers(r)["p.html"]
    names = [e["file"]["entry"] for e in found]
    assert names == ["good#1", "good#2", "#1"]
    assert "GLOBAL" in r.err and "bad" in r.err
    one = run("report", "--json", put(tmp_path, "one.pickle", WHOLE), cwd=tmp_path, expect=0).json()
    for e in found:
        assert e["devices"] == one["devices"]


# Ways in --------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ("p4", "json", "gz", "zst", "page"))
def test_standard_input_and_pipes(tmp_path, form):
    data = dict(writers.every_form(tiny.two_devices()))[form]
    put(tmp_path, "plain", data)
    wanted = run("report", "--json", "plain", cwd=tmp_path, expect=0).json()
    by_stdin = run("report", "--json", "-", stdin=data, expect=0).json()
    os.mkfifo(tmp_path / "pipe")
    feed = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(data), daemon=True)
    feed.start()
    by_pipe = run("report", "--json", "pipe", cwd=tmp_path, expect=0).json()
    assert by_stdin["devices"] == by_pipe["devices"] == wanted["devices"]
    assert by_stdin["findings"] == wanted["findings"]


def test_folders(tmp_path):
    inside = tmp_path / "run"
    inside.mkdir()
    for k in range(3):
        put(inside, "rank%d.pickle" % k, writers.pickled(tiny.plain(), k))
    by_folder = run("report", "--json", "run", cwd=tmp_path, expect=0).json()
    by_files = run("report", "--json", *("run/rank%d.pickle" % k for k in range(3)), cwd=tmp_path, expect=0).json()
    assert by_folder["schema"] == "vramscope.report-set/1" and by_folder == by_files
    os.mkfifo(inside / "pipe.pickle")
    assert run("report", "--json", "run", cwd=tmp_path, timeout=20, expect=0).json() == by_files
    (tmp_path / "none").mkdir()
    r = run("report", "none", cwd=tmp_path, expect=3)
    assert "none" in r.err and len(r.err.splitlines()) == 1


def test_missing_and_forbidden_files(tmp_path):
    r = run("report", "absent.pickle", cwd=tmp_path, expect=3)
    assert r.err.startswith("vramscope: absent.pickle: ") and "byte" not in r.err
    put(tmp_path, "good", WHOLE)
    r = run("report", "--json", "absent.pickle", "good", cwd=tmp_path, expect=3)
    assert list(answers(r)) == ["good"] and "absent.pickle" in error_lines(r.err)


# What reaches a terminal ----------------------------------------------------------------

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x7f\rhidden\nline\u202e"


def test_escapes_in_frames_never_reach_a_terminal(tmp_path):
    frames = [{"name": EVIL + "f", "filename": EVIL + ".py", "line": 3}]
    top = tiny.plain()
    for e in top["device_traces"][0]:
        e["frames"], e["user_metadata"], e["compile_context"] = frames, EVIL, EVIL
    top["segments"][0]["blocks"][0]["frames"] = frames
    top["external_annotations"] = [{"name": EVIL, "stage": "START", "device": 0, "time_us": 11}]
    top["allocator_settings"] = {"PYTORCH_CUDA_ALLOC_CONF": EVIL}
    top[EVIL] = 1
    top["device_traces"][0].append({"action": EVIL, "addr": 0, "size": 0, "stream": 0, "time_us": 20})
    put(tmp_path, "evil.pickle", writers.pickled(top, 4))
    for args in (["report"], ["peak"], ["peak", "--by", "site"], ["report", "--json"], ["peak", "--json"], ["peak", "--by", "file"]):
        r = run(*args, "evil.pickle", cwd=tmp_path, expect=0)
        for text in (r.raw, r.err.encode()):
            assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae", text), (args, text[:400])


def test_escapes_in_a_file_name_never_reach_a_terminal(tmp_path):
    name = "e\x1b[31mvil.pickle"
    put(tmp_path, name, b"\x80\x04R.")
    r = run("report", name, cwd=tmp_path, expect=3)
    assert "\x1b" not in r.err and "\x1b" not in r.out
    put(tmp_path, name, WHOLE)
    assert b"\x1b" not in run("report", name, cwd=tmp_path, expect=0).raw


# Limits ---------------------------------------------------------------------------------

def test_nesting_limit(tmp_path):
    deep = b"\x80\x04}(\x8c\x01a" + b"](" * 80 + b"e" * 80 + b"\x8c\x08segments]u."
    put(tmp_path, "deep", deep)
    r = run("report", "deep", cwd=tmp_path, expect=3)
    assert "64" in r.err and "nest" in r.err
    run("report", "--limit", "nesting=200", "deep", cwd=tmp_path, expect=0)
    put(tmp_path, "honest", WHOLE)
    run("report", "honest", cwd=tmp_path, expect=0)
    run("report", "--limit", "nesting=2", "honest", cwd=tmp_path, expect=3)


@pytest.mark.parametrize("name,low", (("strings", "1"), ("items", "1"), ("nesting", "1")))
def test_lowered_limits_refuse(tmp_path, name, low):
    put(tmp_path, "honest", WHOLE)
    r = run("report", "--limit", "%s=%s" % (name, low), "honest", cwd=tmp_path, expect=3)
    assert name in r.err, "the cure is named"


def test_unpacked_limit(tmp_path):
    put(tmp_path, "a.gz", writers.gzipped(WHOLE))
    r = run("report", "--limit", "unpacked=100", "a.gz", cwd=tmp_path, expect=3)
    assert "unpacked" in r.err
    run("report", "--limit", "unpacked=1MiB", "a.gz", cwd=tmp_path, expect=0)


def test_unknown_limits_are_usage_errors(tmp_path):
    put(tmp_path, "honest", WHOLE)
    for bad in ("nestling=3", "nesting", "nesting=", "nesting=x", "=3"):
        r = run("report", "--limit", bad, "honest", cwd=tmp_path, expect=2)
        assert "nesting" in r.err, (bad, r.err)


def test_hostile_files_do_not_hide_good_ones(tmp_path):
    put(tmp_path, "good", WHOLE)
    put(tmp_path, "bad", b"\x80\x04R.")
    r = run("report", "--json", "bad", "good", "bad", cwd=tmp_path, expect=3)
    assert figure_problems(answers(r)["good"][0], reader.load(WHOLE)[0]) == []


# Recordings that lie ------------------------------------------------------------------------

def lying(folder, blocks, trace):
    """A recording with a segment for each block, of sizes that no card has."""
    segments = [dict(device=0, address=a, total_size=s, allocated_size=0, active_size=0, requested_size=0, stream=0,
                     segment_type="large", segment_pool_id=(0, 0), is_expandable=False, frames=[],
                     blocks=[dict(address=a, size=s, requested_size=s, state="active_allocated", frames=[])])
                for a, s in blocks]
    frames = [dict(name="f", filename="t.py", line=1)]
    events = [dict(action=a, addr=at, size=size, stream=0, frames=frames, **more) for a, at, size, more in trace]
    put(folder, "lie", writers.pickled(dict(segments=segments, device_traces=[events]), 4))


def test_an_undecided_verdict_is_null_in_a_report(tmp_path):
    huge = (1 << 64) - 1
    lying(tmp_path, [], [("segment_alloc", 1 << 40, huge, {}), ("alloc", 1 << 40, huge, {}), ("alloc", (1 << 40) + 512, huge, {}),
                         ("free_requested", 1 << 40, huge, {}), ("free_completed", 1 << 40, huge, {}),
                         ("oom", 0, huge, {"device_free": huge})])
    entry, = answers(run("report", "--json", "lie", cwd=tmp_path, expect=0))["lie"]
    finding, = (f for f in entry["findings"] if f["id"] == "oom")
    assert finding["evidence"]["verdict"] is None


@pytest.mark.parametrize("size", (1 << 62, 1 << 63, (1 << 64) - 512))
@pytest.mark.parametrize("verb", (["report"], ["advise", "--waste"]))
def test_savings_of_sizes_that_wrap(tmp_path, verb, size):
    lying(tmp_path, [(1 << 40, size), (size, size), (1 << 42, size)],
          [("alloc", 1 << 40, size, {}), ("alloc", 1 << 41, size, {}), ("oom", 0, size, {"device_free": size})])
    run(*verb, "--json", "lie", cwd=tmp_path, expect=0)
