#!/usr/bin/env python3
"""make_corpus.py: writes the seeds of the fuzzers, the same bytes every time.

Small snapshots in every form that is read, whole, cut and slightly wrong.  What fuzzing finds
later is added beside them by hand, under a name that says what it was.
"""

import base64
import gzip
import json
import pickle
import struct
import zlib
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"

FRAMES = [{"name": "forward", "filename": "model.py", "line": 12},
          {"name": "main", "filename": "train.py", "line": 3}]


def event(action, address, size, time_us, frames=None):
    return {"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us,
            "frames": FRAMES if frames is None else frames}


def snapshot():
    base = 0x7F0000000000
    blocks = [{"address": base, "size": 1024, "requested_size": 1000, "state": "active_allocated",
               "frames": FRAMES},
              {"address": base + 1024, "size": 512, "requested_size": 512,
               "state": "active_pending_free", "frames": []},
              {"address": base + 1536, "size": 2097152 - 1536, "requested_size": 0,
               "state": "inactive", "frames": []}]
    segment = {"device": 0, "address": base, "total_size": 2097152, "allocated_size": 1024,
               "active_size": 1536, "requested_size": 1512, "stream": 0, "segment_type": "small",
               "segment_pool_id": (0, 1), "is_expandable": False, "frames": FRAMES,
               "blocks": blocks}
    trace = [event("segment_alloc", base, 2097152, 1), event("alloc", base + 4096, 700, 2),
             event("free_requested", base + 4096, 700, 3),
             event("free_completed", base + 4096, 700, 4), event("alloc", base, 1000, 5),
             event("alloc", base + 1024, 512, 6, []), event("free_requested", base + 1024, 512, 7),
             {"action": "oom", "device_free": 12345, "size": 1 << 40, "stream": 0, "frames": []}]
    return {"segments": [segment], "device_traces": [trace, []],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                                   "garbage_collection_threshold": 0.8,
                                   "roundup_power2_divisions": {"256": 0}},
            "external_annotations": [{"stage": "START", "name": "step#1", "device": 0,
                                      "time_us": 2},
                                     {"stage": "END", "name": "step#1", "device": 0,
                                      "time_us": 7}]}


def history():
    """A bare list of segments, as torch 1.13 wrote it."""
    block = {"size": 512, "state": "active_allocated",
             "history": [{"addr": 4096, "real_size": 500, "frames": FRAMES}]}
    return [{"device": 1, "address": 4096, "total_size": 512, "stream": 0,
             "segment_type": "large", "blocks": [block]}]


def pickles():
    whole = snapshot()
    for protocol in range(6):
        yield f"protocol_{protocol}", pickle.dumps(whole, protocol)
    yield "bare_list", pickle.dumps(history(), 4)
    yield "traces_first", pickle.dumps(dict(reversed(whole.items())), 4)
    data = pickle.dumps(whole, 4)
    yield "cut", data[:len(data) * 2 // 3]
    yield "trailing", data + b"\0\0\0"
    yield "global", b"\x80\x02cos\nsystem\n."
    yield "reduce", b"\x80\x02)R."
    yield "negative_size", pickle.dumps({"segments": [], "device_traces": [
        [event("alloc", -4096, -1, 1), event("alloc", 2 ** 64 - 1, 2 ** 63, 1.5)]]}, 4)


def texts():
    text = json.dumps(snapshot())
    yield "whole", text.encode()
    yield "indented", b"\xef\xbb\xbf\n" + json.dumps(history(), indent=1).encode()
    yield "cut", text[:len(text) * 2 // 3].encode()
    yield "strings", rb'{"device_traces": [[{"action": "\ud83d\ude00\ud83d\/\n\"", "size": 1.5e3}]]}'
    yield "numbers", b"[1, -2, 18446744073709551615, 1e400, -0.5E-3, NaN, -Infinity, true, null]"
    yield "deep", b"[" * 70


def page(*entries):
    return b"<!DOCTYPE html>\n<script>const local_files = [" + b", ".join(entries) + b"]\n</script>"


def entry(data, name=None, after=False):
    packed = b'"base64": "' + base64.b64encode(data) + b'"'
    named = b'"name": ' + json.dumps(name).encode()
    parts = [packed] if name is None else [packed, named] if after else [named, packed]
    return b"{" + b", ".join(parts) + b"}"


def pages():
    small = pickle.dumps(history(), 4)
    yield "one", page(entry(pickle.dumps(snapshot(), 4), "snapshot.pickle"))
    yield "three", page(entry(small, "a"), entry(small, "b", after=True), entry(small, "a"))
    yield "nameless", page(entry(small), entry(b"not a pickle"), entry(small[:40]))
    yield "escaped", page(entry(small, 'a "name"')).replace(b"/", b"\\/")
    yield "packed_inside", page(entry(gzip.compress(small, mtime=0), "gzip"))
    yield "cut", page(entry(small, "cut"))[:-40]
    yield "no_entry", b"<html>nothing here</html>"


def gzips():
    small, text = pickle.dumps(history(), 4), json.dumps(history()).encode()
    packed = gzip.compress(small, mtime=0)
    yield "whole", packed
    yield "members", gzip.compress(small[:50], mtime=0) + gzip.compress(small[50:], mtime=0)
    yield "padded", packed + bytes(100)
    yield "junk", packed + b"junk behind the last member"
    yield "cut", packed[:-20]
    yield "trailer_cut", packed[:-5]
    yield "checksum", packed[:-8] + b"\0\0\0\0" + packed[-4:]
    yield "json", gzip.compress(text, mtime=0)
    yield "page", gzip.compress(page(entry(small, "a")), mtime=0)
    yield "twice", gzip.compress(packed, mtime=0)


def frame(data, run=None):
    """A zstd frame of one raw block, or of one run of a byte; no packer is needed for these."""
    head = b"\x28\xb5\x2f\xfd\x00\x58"
    size, kind, body = (len(data), 0, data) if run is None else (run, 1, data)
    return head + struct.pack("<I", 1 | kind << 1 | size << 3)[:3] + body


def skippable(data):
    return b"\x53\x2a\x4d\x18" + struct.pack("<I", len(data)) + data


def zstds():
    small = pickle.dumps(history(), 4)
    yield "whole", frame(small)
    yield "frames", frame(small[:50]) + frame(small[50:])
    yield "skippable", skippable(b"before") + frame(small) + skippable(b"after") + skippable(b"")
    yield "cut", frame(small)[:-20]
    yield "run", frame(b"\0", run=100000)
    yield "window", b"\x28\xb5\x2f\xfd\x00\x90" + bytes(12)
    yield "dictionary", b"\x28\xb5\x2f\xfd\x01\x00\x07" + bytes(12)
    yield "legacy", skippable(b"") + b"\x27\xb5\x2f\xfd" + bytes(8)
    yield "json", frame(json.dumps(history()).encode())
    yield "gzip_inside", frame(gzip.compress(small, mtime=0))
    yield "raw_deflate", zlib.compress(small)


def main():
    for folder, seeds in [("pickle", pickles), ("json", texts), ("html", pages), ("gzip", gzips),
                          ("zstd", zstds)]:
        (CORPUS / folder).mkdir(parents=True, exist_ok=True)
        for name, data in seeds():
            (CORPUS / folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
