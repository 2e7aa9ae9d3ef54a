"""Reads a page of `vramscope view` by its contract, docs/view-format.md, in plain Python."""
import base64
import json
import re
import zlib

WIDTH = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}
SCRIPT = re.compile(r'<script type="application/(?:octet-stream|json)" id="(\w+)">(.*?)</script>', re.S)


class Page:
    def __init__(self, text):
        self.scripts = dict(SCRIPT.findall(text))
        self.head = json.loads(self.scripts["head"])
        names = ["cover"] + ["b%d" % i for i in range(1, len(self.scripts))]
        self.blocks = [base64.b64decode(self.scripts[name], validate=True)
                       for name in names if name in self.scripts]

    def column(self, column):
        """The numbers of a column."""
        rows, width = column["rows"], WIDTH[column["type"]]
        if "const" in column:
            return [column["const"]] * rows
        stored = self.blocks[column["block"]][column["at"]:column["at"] + column["len"]]
        unpacker = zlib.decompressobj()
        planes = unpacker.decompress(stored)
        assert unpacker.eof and not unpacker.unused_data and not unpacker.flush()
        assert len(planes) == rows * column["planes"] and 1 <= column["planes"] <= width
        values = [0] * rows
        for plane in range(column["planes"]):
            part = (planes[plane * rows:(plane + 1) * rows] if "shuffle" in column["enc"]
                    else planes[plane::column["planes"]])
            for row, byte in enumerate(part):
                values[row] |= byte << 8 * plane
        if "zigzag" in column["enc"]:
            values = [(v >> 1) ^ -(v & 1) for v in values]
        if "delta" in column["enc"]:
            at, modulus = 0, 1 << 8 * width
            for row, difference in enumerate(values):
                at = (at + difference) % modulus
                values[row] = at
        assert max(values) == column["max"]
        return values

    def table(self, device, name):
        """The columns of a table, each a list; a table without rows has none."""
        columns = device["tables"].get(name, {"columns": {}})["columns"]
        return {key: self.column(column) for key, column in columns.items()}

    def strings(self, device, name="string"):
        table = device["tables"][name]
        lengths = self.column(table["columns"]["len"])
        data = bytes(self.column(table["columns"]["bytes"])) if "bytes" in table["columns"] else b""
        texts, at = [], 0
        for length in lengths:
            texts.append(data[at:at + length].decode())
            at += length
        assert at == len(data)
        return texts


def live_at(alloc, state):
    """The rows that are alive in a state."""
    return [row for row, (born, until) in enumerate(zip(alloc["born"], alloc["until"]))
            if born <= state and (until == 0 or state < born + until)]


def adjust_at(page, device, state):
    """What the live rows of a state lack to the requested curve."""
    table = page.table(device, "adjust") or {"state": [], "more": [], "less": []}
    steps = [row for row, first in enumerate(table["state"]) if first <= state]
    return table["more"][steps[-1]] - table["less"][steps[-1]] if steps else device["adjust_bytes"]


STAGES = ("M0", "M1", "M2", "M3", "M4", "small")


def live_sums(page, device, state, match, keyless):
    """Bytes and count of what is alive in a state, by match; by what has no stack to match."""
    alloc, sums = page.table(device, "alloc"), {}
    for row in live_at(alloc, state):
        place = match[alloc["stack"][row]]
        if not place:
            kind = {"category": alloc["cat"], "size": alloc["bytes"]}.get(keyless)
            place = ("keyless", kind[row] if kind else None)
        held, count = sums.get(place, (0, 0))
        sums[place] = held + alloc["bytes"][row], count + 1
    return sums


def peak_rows(page, pair):
    """The rows of a pair at both peaks: (stage, score or None, A's bytes, B's, A's count, B's)."""
    sides = [page.head["files"][pair[s]["file"]]["devices"][pair[s]["device"]] for s in "ab"]
    matches = [page.table(pair, s)["peak"] if page.table(pair, s) else [] for s in "ab"]
    found = page.table(pair, "peak") or {"stage": [], "score": []}
    a, b = (live_sums(page, device, pair[s]["peak_state"], match, pair["keyless"])
            for device, s, match in zip(sides, "ab", matches))
    rows = []
    for place in set(a) | set(b):
        stage, score = STAGES[pair["first"]] if place in a and place in b else "M4", None
        if not isinstance(place, tuple):
            stage = STAGES[found["stage"][place - 1]]
            score = found["score"][place - 1] if stage == "M3" else None
        (a_bytes, a_count), (b_bytes, b_count) = a.get(place, (0, 0)), b.get(place, (0, 0))
        rows.append((stage, score, a_bytes, b_bytes, a_count, b_count))
    return sorted(rows, key=str)
