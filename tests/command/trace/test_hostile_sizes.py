"""Traces made to take long or much memory: what they cost grows with their size alone.

In `make test` they are small, and only have to be answered: a short run beside others tells nothing of what it costs.
In `make test-long` they have the sizes that were asked for, and time and memory are held to them."""
import os
import subprocess

import pytest

from conftest import LONG, SANITIZER, environment, program, some

SLACK_SECONDS, SLACK_MIB = 2, 400  # of a program with AddressSanitizer, whose freed memory stays a while


def cost(path, *options):
    """The exit code, what is said, the seconds of processors and the MiB that an answer takes; the file goes."""
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen([program(), "trace", *options, str(path)], stdout=nowhere, stderr=subprocess.PIPE, env=environment())
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.stderr.close()
        child.returncode = os.waitstatus_to_exitcode(status)
    os.unlink(path)  # pytest keeps what is in its folders
    assert not SANITIZER.search(said), said.decode("utf-8", "replace")[-3000:]
    return child.returncode, said.decode("utf-8", "replace"), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def write(path, parts):
    with open(path, "wb", buffering=1 << 20) as file:
        for part in parts:
            file.write(part)
    return path


def check_linear(tmp_path, make, size, *options, expect=0):
    """Four times as much takes four times as long, and no more than eight, and so does its memory."""
    code, said, short, small = cost(write(tmp_path / "small.json", make(size // 4)), *options)
    assert code == expect, said
    code, said, long, large = cost(write(tmp_path / "large.json", make(size)), *options)
    assert code == expect, said
    assert not LONG or long < 8 * short + SLACK_SECONDS, (short, long)
    assert not LONG or large < 8 * small + SLACK_MIB, (small, large)


EVERYTHING = ("--ops", "--kernels", "--gaps", "--steps", "--memory", "--calls", "--phases", "--launches", "--findings", "--modules", "--tree")
FIRST = b'{"ph":"X","cat":"cpu_op","name":"first","pid":1,"tid":1,"ts":1,"dur":1}'


def listed(events):
    """One list of these events."""
    yield b"[" + FIRST
    for event in events:
        yield b",\n" + event
    yield b"]"


# One string of a gigabyte ---------------------------------------------------------------

PIECE = b"x" * (1 << 20)


def string_of(mib, before, behind):
    yield before
    for _ in range(mib):
        yield PIECE
    yield behind


LONG_STRINGS = [
    (b"[" + FIRST + b',{"ph":"X","ts":1,"args":{"Call stack":"', b'"}}]'), (b"[" + FIRST + b',{"name":"', b""), (b'[{"name":"', b'","ph":"X","ts":1}]'),
    (b'{"traceName":"', b'","traceEvents":[]}'), (b"[" + FIRST + b',{"ph":"X","ts":1,"', b'":1}]'), (b'["', b'"]')]


@pytest.mark.parametrize("before, behind", LONG_STRINGS[:some(2, 9)])
def test_a_long_string_takes_no_memory(tmp_path, before, behind):
    code, said, seconds, mib = cost(write(tmp_path / "run.json", string_of(some(40, 1024), before, behind)))
    assert code == 3 and "--limit string" in said
    assert not LONG or mib < SLACK_MIB


@pytest.mark.parametrize("quotes", [b'"a" ', b""][:some(1, 2)])
def test_a_long_event_of_zeros_is_dropped(tmp_path, quotes):
    """A hole of a file that a crash left, within a name; control characters are damage, which is looked at."""
    path = write(tmp_path / "run.json", [b"[" + FIRST + b',{"ph":"X","ts":2,"name":"' + quotes])
    with open(path, "r+b") as file:
        file.seek(some(24, 1024) << 20)
        file.write(b'"},' + FIRST + b"]")
    code, said, seconds, mib = cost(path)
    assert code == 0, said
    assert not LONG or (mib < 2 * SLACK_MIB and seconds < 100)


# Many of something ----------------------------------------------------------------------

@pytest.mark.parametrize("key", ["pid", "tid"][:some(1, 2)])
def test_as_many_threads_as_events(tmp_path, key):
    other = "pid" if key == "tid" else "tid"

    def make(count):
        return listed(b'{"ph":"X","cat":"%s","name":"aten::mm","%s":%d,"%s":1,"ts":%d.5,"dur":3}'
                      % ((b"cpu_op", b"kernel")[i % 2], key.encode(), i, other.encode(), i) for i in range(count))

    # A process with device work is a device, of which each takes some 10 KiB.
    check_linear(tmp_path, make, some(16_000, 1_000_000 if key == "tid" else 100_000), *EVERYTHING)


@pytest.mark.parametrize("listed_too", [True, False][:some(1, 2)])
def test_as_many_devices_as_events(tmp_path, listed_too):
    def make(count):
        yield b'{"traceEvents":[' + FIRST
        for i in range(count):
            yield b',{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%d,"dur":1}' % (-i if i % 2 else i, i)
            yield b',{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":%d,"args":{"Bytes":512,"Addr":%d,"Device Type":1,"Device Id":%d,"Total Allocated":%d}}' \
                % (i, i, (i * 7919) % count, i % 9 * 512)
        yield b'],"deviceProperties":[%s]}' % b",".join(b'{"id":%d,"name":"n"}' % i for i in range(count if listed_too else 1))

    check_linear(tmp_path, make, some(16_000, 100_000), *EVERYTHING)


@pytest.mark.parametrize("opened, closed", [(b'{"a":', b"}"), (b"[", b"]")][:some(1, 2)])
@pytest.mark.parametrize("before", [b"[" + FIRST + b',{"ph":"X","ts":1,"args":{"x":', b"[" + FIRST + b","])
@pytest.mark.parametrize("ends", [True, False][:some(1, 2)])
def test_nesting(tmp_path, opened, closed, before, ends):
    check_linear(tmp_path, lambda count: [before + opened * count + (b"1" + closed * count if ends else b"")], some(400_000, 4_000_000))


@pytest.mark.parametrize("frames", [1, 40][:some(1, 2)])
def test_as_many_stacks_as_operators(tmp_path, frames):
    def make(count):
        return listed(b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"Call stack":"%s"}}'
                      % (i, b";".join(b"model.py(%d): layer%d" % (i, k) for k in range(frames))) for i in range(count))

    check_linear(tmp_path, make, some(16_000, 400_000), "--ops", "--by", "stack:64", "--findings")


def test_spans_in_each_other(tmp_path):
    def make(count):
        return listed(b'{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":%d}' % (i % 3, i, 2 * (count - i)) for i in range(count))

    check_linear(tmp_path, make, some(16_000, 400_000), "--ops", "--gaps", "--findings")


@pytest.mark.parametrize("pair", [b'"name":"n%d"', b'"args":{"External id":%d}', b'"ts":%d', b'"dur":%d', b'"cat":"c%d"', b'"unknown":%d'][:some(2, 9)])
def test_a_key_that_stands_often(tmp_path, pair):
    check_linear(tmp_path, lambda count: [b'[{"ph":"X",' + b",".join(pair % i for i in range(count)) + b"}," + FIRST + b"]"], some(50_000, 1_000_000))


@pytest.mark.parametrize("pair", [b'"traceEvents":[{"ph":"X","pid":%d,"name":"n%d","ts":1}]', b'"deviceProperties":[{"id":%d,"name":"%d"}]'])
def test_a_list_that_stands_often(tmp_path, pair):
    check_linear(tmp_path, lambda count: [b"{" + b",".join(pair % (i, i) for i in range(count)) + b',"traceEvents":[' + FIRST + b"]}"], some(20_000, 400_000))


@pytest.mark.parametrize("back", [True, False][:some(1, 2)])
def test_times_that_go_back(tmp_path, back):
    """In the order of the file each begins before the one that stands before it; or they jump."""
    def make(count):
        for i in range(count):
            at = count - i if back else i * 7919 % count
            yield b'{"ph":"X","cat":"%s","name":"n%d","pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{"correlation":%d}}' \
                % ((b"kernel", b"cpu_op", b"cuda_runtime")[i % 3], i % 50, i % 5, at, i % 7 * 50, i // 3)

    check_linear(tmp_path, lambda count: listed(make(count)), some(16_000, 600_000), *EVERYTHING)


def test_ids_beyond_64_bits(tmp_path):
    def make(count):
        for i in range(count):
            n = (1 << 64) + i // 2
            yield b'{"ph":"X","cat":"%s","name":"n","pid":%d,"tid":%d,"ts":%d,"dur":1,"args":{"correlation":%d,"External id":%d}}' \
                % ((b"kernel", b"cuda_runtime")[i % 2], 1 << 70, (1 << 70) + i % 9, i, n, n)
            yield b'{"ph":"s","cat":"ac2g","id":%d,"pid":1,"tid":1,"ts":%d}' % (n, i)

    check_linear(tmp_path, lambda count: listed(make(count)), some(16_000, 400_000), *EVERYTHING)


@pytest.mark.parametrize("word", [b"-nan(ind)", b"NaN", b"nan", b"Infinity", b"1e400"][:some(2, 9)])
def test_words_for_numbers(tmp_path, word):
    def make(count):
        for i in range(count):
            yield b'{"ph":"X","cat":"cpu_op","name":"n","pid":%s,"tid":1,"ts":%s,"dur":%s,"args":{"bytes":%s,"correlation":%s}}' \
                % (word, word if i % 2 else b"%d" % i, word, word, word)

    check_linear(tmp_path, lambda count: listed(make(count)), some(16_000, 400_000))


PIECES = [b'","', b'{"ph":', b'"name":"', b"\\", b'\\"', b'"', b"{", b'{"ph"', b"}{", b"\x01", b",", b"\\u", b'{"ph":"X","name":"\\']


@pytest.mark.parametrize("piece", PIECES[:some(3, 99)])
def test_damage_again_and_again(tmp_path, piece):
    check_linear(tmp_path, lambda count: [b"[" + FIRST + b',{"ph":"X","ts":2,"name":"' + piece * (count // len(piece)) + b'"},' + FIRST + b"]"],
                 some(1 << 19, 1 << 24))  # a longer text is beyond a limit
