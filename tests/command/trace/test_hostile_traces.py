"""Traces whose numbers and names were made to do harm are answered like others."""
import gzip
import json
import random
import re
import shutil
import zlib

import pytest
from recordings import writers
from recordings.small_traces import steps, trace, write

from conftest import run, some

pytestmark = pytest.mark.usefixtures("leaks_are_faults")
MOST = (1 << 63) // 1000  # microseconds that have 64 bits of nanoseconds
TIMES = (-MOST, MOST, 0, -MOST // 2, MOST // 2, 1 << 70, 1)
CATEGORIES = ("cpu_op", "kernel", "cuda_runtime", "gpu_memcpy", "python_function", "user_annotation", "trace", "", "\x1b[2J")
NAMES = ("nn.Module: A_0", "nn.Module: B_1", "x.py(3): f", "ProfilerStep#1", "ProfilerStep#2", "aten::mm", "cudaLaunchKernel", "Memcpy HtoD (a -> b)", "\x1b]0;title\x07",
         "<script>", "‮txt.exe", "a" * 5000, "")
ALL = ("--ops", "--kernels", "--gaps", "--steps", "--memory", "--calls", "--phases", "--launches", "--findings",
       "--modules", "--tree", "--min-share", "0")
FORMATS = ("csv", "folded", "speedscope", "pprof", "html", "chrome")


def event(draw, number):
    return {"ph": "X", "cat": draw.choice(CATEGORIES), "name": draw.choice(NAMES), "pid": draw.choice((0, 1, "a", None)),
            "tid": draw.choice((1, "stream 7", {}, 1 << 80)), "ts": draw.choice((*TIMES, draw.randrange(-MOST, MOST))),
            "dur": draw.choice((MOST, 0, 1, -5, 10**19)),
            "args": {"External id": number % 7, "correlation": draw.choice((number % 9, 1 << 65, "x")), "bytes": 2**63 - 1}}


def memory(draw, number):
    totals = {"Total Allocated": draw.choice((2**63 - 1, -2**62, 0))} if draw.random() < 0.5 else {}
    return {"ph": "i", "name": "[memory]", "ts": draw.choice(TIMES), "pid": 1, "tid": 1,
            "args": {"Bytes": draw.choice((2**63 - 1, 1 - 2**63, 0, "x")), "Addr": number % 4, "Device Type": 1,
                     "Device Id": draw.choice((0, -1)), **totals}}


@pytest.mark.parametrize("seed", range(some(3, 60)))
def test_extremes_are_answered(tmp_path, seed):
    draw = random.Random(seed)
    path = tmp_path / "run.json"  # named alone below, since a long folder is broken over lines
    path.write_text(json.dumps({"traceEvents": [made(draw, i) for i in range(200) for made in (event, memory)]}))
    for words in ((), ALL):
        text = run("trace", path.name, *words, cwd=tmp_path, expect=0).out
        assert "profiler trace" in text
        assert "\x1b" not in text and "\x07" not in text and "‮" not in text
    run("trace", path.name, "--json", cwd=tmp_path, expect=0).json()
    for to in FORMATS:
        out = run("export", path.name, "--to", to, cwd=tmp_path, expect=0).raw
        assert to in ("csv", "pprof") or not set(b"\x1b\x07") & set(out)


HALF = 1 << 62  # nanoseconds
FAR = {
    "a gap of half the range": [(-HALF, 1), (HALF - 1, 1)],
    "work of half the range": [(-HALF, HALF), (0, HALF)],
    "two streams of half the range": [(-HALF, 2 * HALF - 2), (-HALF + 1, 2 * HALF - 4), (HALF - 1, 1)],
}


@pytest.mark.parametrize("name", FAR)
def test_times_far_from_each_other_are_answered(tmp_path, name):
    """Sums of such times have no 64 bits; each step, operator, launch and memory event is as far from the next."""
    events = []
    for i, (start, ns) in enumerate(FAR[name]):
        us = {"ts": start / 1000, "dur": ns / 1000}
        events += [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d" % i, "pid": 1, "tid": 1, **us},
                   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, **us},
                   {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, **us},
                   {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, **us,
                    "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7 + i, **us, "args": {"correlation": i + 1}},
                   {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0, "tid": 9, "ts": us["ts"],
                    "dur": 0.001, "args": {"bytes": 2**63 - 1}},
                   {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": us["ts"], "args": {
                       "Bytes": 1 - 2**63, "Addr": 4096, "Device Type": 1, "Device Id": 0,
                       "Total Allocated": (2**63 - 1, 1 - 2**63, 0)[i], "Total Reserved": 2**63 - 1}}]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"traceEvents": events}))
    for words in ((), ALL):
        text = run("trace", path.name, *words, cwd=tmp_path, expect=0).out
        assert "-8.00 EiB/s" not in text
    run("trace", path.name, "--json", cwd=tmp_path, expect=0).json()
    run("check", path.name, "--max-step", "1s", "--min-busy", "10%", cwd=tmp_path)
    run("diff", path.name, path.name, cwd=tmp_path, expect=0)


def test_devices_without_number_are_answered(tmp_path):
    """A process for each kernel, all of them listed: in time that grows as they do."""
    count = some(3000, 100_000)
    (tmp_path / "run.json").write_text(json.dumps({
        "deviceProperties": [{"id": i, "name": "card %d" % i, "totalGlobalMem": 1 << 30} for i in range(count)],
        "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": count - i, "tid": 7, "ts": i, "dur": 1} for i in range(count)]}))
    found = run("trace", "run.json", "--json", cwd=tmp_path, expect=0).json()["devices"]
    assert [d["device"] for d in found] == [str(i + 1) for i in range(count)]
    assert {d["streams"] for d in found} == {1}


# What cannot be meant is counted and said -----------------------------------------------

def damage(path, **more):
    doc = run("trace", "-j", path, expect=0, **more).json()
    return {d["kind"]: (d["count"], d["first_offset"]) for d in doc["file"]["damage"]}, doc


@pytest.mark.parametrize("written, kind, words", [
    ("Infinity", "no_duration", "1 event with a duration that is no number, taken as 0"),
    ("NaN", "no_duration", "1 event with a duration that is no number, taken as 0"),
    ("1e400", "time_beyond_range", "1 event with a time beyond 64 bits of nanoseconds"),
    ("9223372036854775808", "time_beyond_range", "1 event with a time beyond 64 bits of nanoseconds")])
def test_durations_that_cannot_be(tmp_path, written, kind, words):
    path = tmp_path / "run.json"
    whole = json.dumps(trace(steps(1000, 1200)))
    path.write_text(whole.replace('"dur": 0.5', '"dur": ' + written, 1))
    found, _ = damage(path)
    assert {k: n for k, (n, _) in found.items()} == {kind: 1}
    assert words in " ".join(run("trace", path, expect=0).out.split())


def test_a_check_says_what_is_damaged_and_decides_nothing_by_times_that_cannot_be(tmp_path):
    path = tmp_path / "run.json"
    whole = json.dumps(trace(steps(1000, 1200)))
    path.write_text(whole.replace('"dur": 0.5', '"dur": 1e300', 1))
    out = run("check", "--min-busy=1%", "--max-step=1us", path, expect=0).out
    assert out.count("INCONCLUSIVE") == 2 and "a time beyond 64 bits is in the file" in out
    assert "damage 1 event with a time beyond 64 bits of nanoseconds, taken as the nearest" in " ".join(out.split())
    path.write_text(whole.replace('"dur": 0.5', '"dur": -1', 1))
    out = run("check", "--min-busy=1%", path).out
    assert "damage   1 event with a negative duration, taken as 0" in out and "INCONCLUSIVE" not in out


@pytest.mark.parametrize("behind", ["%s", "%.40s", "]}", "x", "\0" * 100])
def test_what_stands_behind_the_end(tmp_path, behind):
    top = trace(steps(1000, 1200))
    whole = json.dumps(top)
    path = tmp_path / "run.json"
    path.write_text(whole + " \n")
    assert damage(path)[0] == {}
    path.write_text(whole + "\n" + (behind % whole if "%" in behind else behind))
    found, doc = damage(path)
    assert found == {"behind_the_end": (1, len(whole) + 1)} and doc["file"]["events"] == len(top["traceEvents"])
    said = " ".join(run("trace", path, expect=0).out.split())
    assert "what stands behind the end of the trace, at byte %d, is left out" % (len(whole) + 1) in said


# The packing ---------------------------------------------------------------------------

def streams(data, each=60):
    """The same bytes in streams that give what they hold piece by piece, and by each length of them how much that is."""
    pieces = [data[i:i + each] for i in range(0, len(data), each)]
    packer, gz, zst, given = zlib.compressobj(wbits=31), b"", b"", {"gzip": [(0, 0)], "zstd": [(0, 0)]}
    for i, piece in enumerate(pieces):
        gz += packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
        zst += writers.zstd(piece)
        given["gzip"].append((len(gz), (i + 1) * each))
        given["zstd"].append((len(zst), (i + 1) * each))
    return {"gzip": gz + packer.flush(), "zstd": zst}, given


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_packed_stream_that_lacks_its_tail(tmp_path, kind):
    """As soon as one event is whole it is shown; before that it is said which stream ends, and where."""
    data = json.dumps(trace(steps(1000))).encode()
    packed, given = streams(data)
    first = data.index(b"}}", data.index(b"[")) + 2
    path = tmp_path / "run.json"
    for cut in range(4, len(packed[kind]), some(17, 1)):
        path.write_bytes(packed[kind][:cut])
        here = max(text for size, text in given[kind] if size <= cut)
        if kind == "zstd" and cut in [size for size, _ in given[kind]]:
            continue  # a stream that ends where a frame does ends well
        for verb in ("trace", "report"):
            done = run(verb, path)
            if here >= first:
                assert done.code == 0 and "INCOMPLETE" in done.out, cut
                assert f"the {kind} stream ends too early, at byte {cut} of the file" in " ".join(done.out.split())
            elif done.code == 0:  # what is whole of an unfinished block is given too
                assert "INCOMPLETE" in done.out and here + 60 >= first, cut
            else:
                assert done.code == 3 and done.err.startswith(f"vramscope: {path}: byte "), cut
                assert "ends" in done.err and "no profiler trace" not in done.err and "not a" not in done.err, done.err
                if verb == "trace":
                    assert f"byte {cut}: the {kind} stream ends early, before " in done.err


def test_strict_takes_no_damage(tmp_path):
    whole = json.dumps(trace(steps(1000, 1200))).encode()
    path = tmp_path / "run.json"
    path.write_bytes(whole)
    good = run("trace", "--strict", path, expect=0)
    assert good.err == "" and good.out == run("trace", path, expect=0).out
    for data in (whole[:-2], gzip.compress(whole)[:-1], gzip.compress(whole) + b"x", whole.replace(b'"cpu_op"', b'"cpu\\_op"', 1)):
        path.write_bytes(data)
        plain, strict = run("trace", path, expect=0), run("trace", "--strict", path, expect=3)
        assert plain.err == "" and strict.out == plain.out and "damage " in plain.out
        assert "--strict does not ignore that" in strict.err and strict.err.count("\n") == 1
    assert "leave one of them out" in run("trace", "--strict", "--repair", path, expect=2).err


def broken_streams():
    data = json.dumps(trace(steps(1000, 1200))).encode()
    gz, zst = gzip.compress(data), writers.zstd(data)
    def flipped(packed, at):
        return packed[:at] + bytes([packed[at] ^ 1]) + packed[at + 1:]
    return {
        "crc of gzip": (flipped(gz, len(gz) - 8), {"checksum": (1, len(gz) - 8)}, "1 wrong checksum of the packing, at byte %d of" % (len(gz) - 8)),
        "length of gzip": (flipped(gz, len(gz) - 4), {"checksum": (1, len(gz) - 4)}, "1 wrong checksum"),
        "checksum of zstd": (flipped(zst, len(zst) - 1), {"checksum": (1, len(zst) - 4)}, "1 wrong checksum"),
        "junk behind gzip": (gz + b"\0\0junk", {"packed_bytes": (4, len(gz) + 2)}, "4 bytes behind the packed data, from byte %d of" % (len(gz) + 2)),
        "junk behind zstd": (zst + b"some junk", {"packed_bytes": (9, len(zst))}, "9 bytes behind the packed data"),
        "both": (flipped(gz, len(gz) - 1) + b"junk", {"checksum": (1, len(gz) - 4), "packed_bytes": (4, len(gz))}, "4 bytes behind"),
    }


@pytest.mark.parametrize("name", broken_streams())
def test_a_packing_that_is_wrong_at_its_end(tmp_path, name):
    if name == "checksum of zstd" and shutil.which("zstd") is None:
        pytest.skip("there is no zstd: frames without it have no checksum")
    data, wanted, words = broken_streams()[name]
    path = tmp_path / "run.json"
    path.write_bytes(data)
    found, doc = damage(path)
    assert found == wanted and doc["file"]["complete"] and doc["file"]["events"] == 8
    assert words in " ".join(run("trace", path, expect=0).out.split())
    assert run("report", "-j", path, expect=0).json()["file"]["damage"] == doc["file"]["damage"]


@pytest.mark.parametrize("data, words", [
    (b"hello world, this is text", "text that is neither JSON nor HTML"), (b"PK\3\4 and more", "a ZIP archive, as torch.save writes it, not a profiler trace"),
    (b" \n \n", "nothing but white space"), (b"\x00\x01\x02\x03\x04\x05", "neither a pickle nor JSON nor HTML")])
def test_who_asks_for_a_trace_is_told_how_one_is_made(tmp_path, data, words):
    path = tmp_path / "text.json"
    path.write_bytes(data)
    said = run("trace", path, expect=3).err
    assert words in said and "export_chrome_trace() of torch.profiler writes a profiler trace" in said and "_dump_snapshot" not in said
    said = run("report", path).err
    assert "_dump_snapshot" in said and "export_chrome_trace" not in said


def damaged_gzip(data):
    """It ends in a block of a kind that deflate does not have."""
    z = zlib.compressobj(wbits=31)
    return z.compress(data) + z.flush(zlib.Z_FULL_FLUSH) + b"\x06" + bytes(64)


def damaged_zstd(data):
    """Behind it stands a frame with a block of the reserved kind."""
    return writers.zstd(data, program=False) + b"\x28\xb5\x2f\xfd\x20\x40\x07\x02\x00" + bytes(64)


@pytest.mark.parametrize("damaged, name", [(damaged_gzip, "gzip"), (damaged_zstd, "zstd")])
def test_data_that_is_damaged_further_in_keeps_what_came_before(tmp_path, damaged, name):
    data = json.dumps(trace(steps(1000, 1200, 1300))).encode()
    whole, path = tmp_path / "whole.json", tmp_path / "run.json"
    whole.write_bytes(data[:-40])
    path.write_bytes(damaged(data[:-40]))
    cut, doc = (run("trace", "--json", p, expect=0).json() for p in (whole, path))
    assert doc["file"]["events"] == cut["file"]["events"] > 4 and not doc["file"]["complete"]
    assert doc["file"]["damage"] == cut["file"]["damage"] == [{"kind": "truncated", "count": 1, "first_offset": len(data) - 40}]
    out = " ".join(run("trace", path, expect=0).out.split())
    assert "INCOMPLETE: the file cannot be unpacked to its end" in out
    assert re.search(r"the %s data cannot be unpacked further, at byte \d+ of the file, which is byte %d unpacked; the whole events"
                     % (name, len(data) - 40), out)
    assert run("trace", "--strict", path, expect=3).out.split("\n")[1:] == run("trace", path, expect=0).out.split("\n")[1:]
    path.write_bytes(damaged(b'{"traceEvents": [{"ph": "X", "na'))
    assert "the %s data is damaged before the first whole event" % name in run("trace", path, expect=3).err


def test_a_flipped_bit_names_the_remedy(tmp_path):
    """Of the data, which cannot be unpacked then; one of the checksum alone is damage, see above."""
    packed = bytearray(gzip.compress(json.dumps(trace(steps(1000, 1200))).encode(), mtime=0))
    packed[10] |= 6  # the kind of the first block
    path = tmp_path / "run.json.gz"
    path.write_bytes(packed)
    said = run("trace", path, expect=3).err
    assert "damaged gzip data: invalid block type" in said and "`gzip -dc` gives what can still be read" in said
