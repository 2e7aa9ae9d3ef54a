"""Writers of one recording (a plain dict, or a list of segments) in every form a reader must accept.

    pickled(top, 0..5)   as CPython writes it
    cpp(top)             as PyTorch's C++ writer does (protocol 2, its own dialect)
    as_json(top)         JSON text
    page(entries)        an exported page with (name or None, bytes) entries
    gzipped(data, parts) one member for each part
    zstd(data, parts)    one frame for each part, with `skippable` frames between them
"""
import base64
import json
import pickle
import shutil
import struct
import subprocess
import zlib
from collections import Counter


def pickled(top, protocol):
    return pickle.dumps(top, protocol)


def as_json(top, indent=None):
    return json.dumps(top, indent=indent).encode()


# The C++ dialect ------------------------------------------------------------------------

TOP = ["segments", "device_traces", "allocator_settings", "external_annotations"]
SEGMENT = ["device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
           "segment_type", "segment_pool_id", "is_expandable", "blocks"]
BLOCK = ["address", "size", "requested_size", "state"]
EVENT = ["action", "addr", "device_free", "size", "stream", "compile_context", "user_metadata", "time_us", "pool_id"]
FRAME = ["name", "filename", "line"]
NOTE = ["name", "stage", "device", "time_us"]
SETTINGS = ["PYTORCH_CUDA_ALLOC_CONF", "max_split_size", "garbage_collection_threshold", "expandable_segments",
            "pinned_num_register_threads", "release_lock_on_cudamalloc", "pinned_use_cuda_host_register",
            "graph_capture_record_stream_reuse", "roundup_power2_divisions"]


class Cpp:
    """Two walks: the first counts references, the second writes."""

    def __init__(self, top):
        self.out, self.memo, self.uses = bytearray(b"\x80\x02"), {}, Counter()
        self.no_stack = []
        self.count(top)
        if isinstance(top, list):
            self.many(top, self.segment)
            self.put(id(top))
        else:
            self.record(top, TOP, self.top_value, held=True)
        self.out += b"."

    def count(self, value):
        if isinstance(value, (dict, list)):
            self.uses[id(value)] += 1
            if self.uses[id(value)] > 1:
                return
        if isinstance(value, (list, tuple)):
            for item in value:
                self.count(item)
        elif isinstance(value, dict):
            for item in value.values():
                self.count(item)

    def put(self, key):
        n = self.memo[key] = len(self.memo)
        self.out += b"q" + bytes([n]) if n < 256 else b"r" + struct.pack("<I", n)

    def seen(self, key):
        if key not in self.memo:
            return False
        n = self.memo[key]
        self.out += b"h" + bytes([n]) if n < 256 else b"j" + struct.pack("<I", n)
        return True

    def scalar(self, v):
        if v is None:
            self.out += b"N"
        elif isinstance(v, bool):
            self.out += b"\x88" if v else b"\x89"
        elif isinstance(v, float):
            self.out += b"G" + struct.pack(">d", v)
        elif isinstance(v, str):
            if not self.seen(v):
                raw = v.encode("utf-8", "surrogatepass")
                self.out += b"X" + struct.pack("<I", len(raw)) + raw
                self.put(v)
        else:
            v &= (1 << 64) - 1
            v -= (v >> 63) << 64
            if 0 <= v < 256:
                self.out += b"K" + bytes([v])
            elif 0 <= v < 65536:
                self.out += b"M" + struct.pack("<H", v)
            elif -(1 << 31) <= v < 1 << 31:
                self.out += b"J" + struct.pack("<i", v)
            else:
                self.out += b"\x8a\x08" + struct.pack("<q", v)

    def many(self, items, one):
        self.out += b"]("
        for item in items:
            one(item)
        self.out += b"e"

    def stack(self, frames):
        """A frames list is always held by the program that symbolised it."""
        if not self.seen(id(frames)):
            self.many(frames, lambda f: self.record(f, FRAME, self.anything, held=self.uses[id(f)] > 1)
                      if isinstance(f, dict) else self.anything(f))
            self.put(id(frames))

    def record(self, d, order, value, held=False, last=("frames", "forward_frames"), first=None):
        """The keys of `order`, unknown ones, then the stacks; `first` puts an empty stack before a key."""
        if self.seen(id(d)):
            return
        self.out += b"}("
        keys = [k for k in order if k in d] + [k for k in d if k not in order and k not in last]
        keys += [k for k in last if k in d]
        if first is not None:
            keys.remove("frames")
            keys.insert(keys.index(first) if first in keys else len(keys), "frames")
        for k in keys:
            self.scalar(k)
            value(k, d[k])
        self.out += b"u"
        if held or self.uses[id(d)] > 1:
            self.put(id(d))

    def anything(self, *args):
        v = args[-1]
        if isinstance(v, (dict, list)) and self.seen(id(v)):
            return
        if isinstance(v, tuple):
            self.out += b"(" if len(v) > 3 else b""
            for item in v:
                self.anything(item)
            self.out += {0: b")", 1: b"\x85", 2: b"\x86", 3: b"\x87"}.get(len(v), b"t")
        elif isinstance(v, dict):
            self.record(v, [], self.anything, held=bool(v.get("frames")))
        elif isinstance(v, list):
            self.many(v, self.anything)
            if self.uses[id(v)] > 1:
                self.put(id(v))
        else:
            self.scalar(v)

    def top_value(self, key, v):
        if key == "segments":
            self.many(v, self.segment)
        elif key == "device_traces":
            self.many(v, lambda trace: self.many(trace, self.event))
        elif key == "external_annotations":
            self.many(v, lambda a: self.record(a, NOTE, self.anything))
        elif key == "allocator_settings":
            self.record(v, SETTINGS, self.setting, held=True)
            return
        else:
            self.anything(v)
            if not isinstance(v, (dict, list)) or id(v) in self.memo:
                return
        self.put(id(v))

    def setting(self, key, v):
        if key == "roundup_power2_divisions":
            self.record(v, [], self.anything, held=True)
        else:
            self.anything(v)

    def stacked(self, d, order, value, first):
        bare = d.get("frames") == []
        self.record(dict(d, frames=self.no_stack) if bare else d, order, value,
                    held=bool(d.get("frames")), first=first if bare else None)

    def segment(self, s):
        self.stacked(s, SEGMENT, self.segment_value, "blocks")

    def segment_value(self, key, v):
        if key == "blocks":
            self.many(v, lambda b: self.stacked(b, BLOCK, self.event_value, None))
        else:
            self.event_value(key, v)

    def event(self, e):
        self.record(e, EVENT, self.event_value, held="frames" in e)

    def event_value(self, key, v):
        if key == "frames" and isinstance(v, list):
            self.stack(v)
        else:
            self.anything(v)


def cpp(top):
    return bytes(Cpp(top).out)


# Containers -----------------------------------------------------------------------------

def page(entries):
    """An exported page; the strings are padded with zero bytes as PyTorch pads them."""
    files = []
    for name, data in entries:
        data += b"\0" * (3 - len(data) % 3)
        entry = {} if name is None else {"name": name}
        entry["base64"] = base64.b64encode(data).decode()
        files.append(entry)
    return ("<!DOCTYPE html>\n<html>\n<head>\n</head>\n<body>\n<script type=\"module\">\n"
            "import {add_local_files} from \"https://example.invalid/MemoryViz.js\"\n"
            "const local_files = %s\nadd_local_files(local_files, 'Allocator State History')\n"
            "</script>\n</body>\n" % json.dumps(files)).encode()


def split(data, parts):
    step = max(1, -(-len(data) // parts))
    return [data[i:i + step] for i in range(0, len(data), step)] or [b""]


def gzipped(data, parts=1):
    out = b""
    for piece in split(data, parts):
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        out += packer.compress(piece) + packer.flush()
    return out


def skippable(content=b"note", kind=0):
    return struct.pack("<II", 0x184D2A50 + kind, len(content)) + content


def raw_frame(data, runs=()):
    """A frame of uncompressed blocks, then of `runs` (byte, count) blocks; window of 128 KiB."""
    blocks = [(0, piece, len(piece)) for piece in split(data, max(1, -(-len(data) // (128 << 10))))]
    blocks += [(1, byte, count) for byte, count in runs]
    out = struct.pack("<IBB", 0xFD2FB528, 0, 7 << 3)
    for i, (kind, content, size) in enumerate(blocks):
        out += ((i == len(blocks) - 1) | kind << 1 | size << 3).to_bytes(3, "little") + content
    return out


def zstd(data, parts=1, notes=False, program=True):
    """Real compression where the `zstd` program is there, else raw blocks: valid either way."""
    out = skippable() if notes else b""
    for piece in split(data, parts):
        if program and shutil.which("zstd"):
            out += subprocess.run(["zstd", "-cq"], input=piece, capture_output=True, check=True).stdout
        else:
            out += raw_frame(piece)
        out += skippable(b"", 15) if notes else b""
    return out


def every_form(top):
    """(name, bytes) of one recording in every text form and container."""
    forms = [("p%d" % p, pickled(top, p)) for p in range(6)]
    forms += [("cpp", cpp(top)), ("json", as_json(top)), ("json-indented", as_json(top, 1))]
    plain = pickled(top, 4)
    forms += [("page", page([("snapshot.pickle", plain)])), ("gz", gzipped(plain)), ("gz3", gzipped(plain, 3)),
              ("zst", zstd(plain)), ("zst3", zstd(plain, 3, notes=True)), ("zst-raw", zstd(plain, 2, program=False)),
              ("json.gz", gzipped(forms[7][1])), ("cpp.zst", zstd(forms[6][1])),
              ("page.gz", gzipped(page([(None, forms[6][1])])))]
    return forms
