"""An independent plain-Python reader of memory snapshots: bytes in, a partial tree out.

It shares no code with the product and is slow on purpose.  It decodes every container and
both text forms, and it keeps what a cut file still holds: a dict is `finished` when its
closing token was read, a list is `whole` when nothing more can join it.  No name is ever
looked up and nothing is ever called; an opcode outside the accept list raises Refused.

    load(data) -> [Recording, ...]      several only for a page with several entries
"""
import base64
import json
import re
import shutil
import struct
import subprocess
import zlib


class Refused(Exception):
    """The input is no snapshot; `offset` is where that became certain."""

    def __init__(self, text, offset=0):
        super().__init__(text)
        self.offset = offset


class Cut(Exception):
    """The bytes ended inside a token."""


class Dict(dict):
    finished = False


class List(list):
    whole = False


class Recording:
    def __init__(self, top, complete, **about):
        self.top, self.complete = top, complete
        self.compression = about.get("compression", "none")
        self.wrapper = about.get("wrapper", "none")
        self.entry = about.get("entry")
        self.encoding = about.get("encoding", "pickle")
        self.protocol = about.get("protocol")


# Containers -----------------------------------------------------------------------------

def gunzip(data):
    """The unpacked bytes, and whether the last member is whole."""
    out = bytearray()
    while data:
        if data[:2] != b"\x1f\x8b"[:len(data)]:
            return bytes(out), True     # padding after the last member
        unpacker = zlib.decompressobj(31)
        try:
            out += unpacker.decompress(data)
        except zlib.error as e:
            raise Refused("gzip: %s" % e)
        if not unpacker.eof:
            return bytes(out), False
        data = unpacker.unused_data
    return bytes(out), True


def unzstd(data):
    """Raw and run-length blocks by hand, so that tests need no program; others through `zstd`."""
    out, at = bytearray(), 0

    def take(n):
        nonlocal at
        if at + n > len(data):
            raise Cut
        at += n
        return data[at - n:at]

    try:
        while at < len(data):
            magic = struct.unpack("<I", take(4))[0]
            if magic & ~15 == 0x184D2A50:
                take(struct.unpack("<I", take(4))[0])
                continue
            if magic != 0xFD2FB528:
                raise Refused("no zstd frame", at - 4)
            head = take(1)[0]
            single = head >> 5 & 1
            size_len = (1 if single else 0, 2, 4, 8)[head >> 6]
            take((0 if single else 1) + (0, 1, 2, 4)[head & 3] + size_len)
            last = 0
            while not last:
                word = int.from_bytes(take(3), "little")
                last, kind, size = word & 1, word >> 1 & 3, word >> 3
                if kind == 0:
                    # A raw block flows through as it comes.
                    if at + size > len(data):
                        out += data[at:]
                        raise Cut
                    out += take(size)
                elif kind == 1:
                    out += take(1) * size
                else:
                    return _zstd_program(data)
            if head >> 2 & 1:
                take(4)
        return bytes(out), True
    except Cut:
        return bytes(out), False


def _zstd_program(data):
    if not shutil.which("zstd"):
        raise RuntimeError("this frame has compressed blocks and there is no zstd program")
    done = subprocess.run(["zstd", "-dcq", "--memory=128MB", "--no-sparse"], input=data, capture_output=True)
    if done.returncode and b"premature" not in done.stderr and b"unexpected end" not in done.stderr:
        raise Refused("zstd: %s" % done.stderr.decode(errors="replace"))
    return done.stdout, done.returncode == 0


ENTRY = re.compile(rb'(?:"name"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*)?"base64"\s*:\s*"([A-Za-z0-9+/=\s]*)("?)')


def page_entries(data):
    """(name, bytes, whether the string is closed) for each entry of an exported page.

    Names are made distinct: the k-th of equal ones gets #k, and so does the k-th without one.
    """
    found, names = [], [json.loads(m.group(1)) if m.group(1) else "" for m in ENTRY.finditer(data)]
    for k, m in enumerate(ENTRY.finditer(data)):
        name = names[k]
        if not name or names.count(name) > 1:
            name += "#%d" % (names[:k].count(name) + 1)
        text = re.sub(rb"\s", b"", m.group(2)).rstrip(b"=")
        if len(text) % 4 == 1:
            text = text[:-1]
        found.append((name, base64.b64decode(text + b"=" * (-len(text) % 4)), m.group(3) == b'"'))
    return found


def load(data):
    compression, whole = "none", True
    if data[:2] == b"\x1f\x8b":
        compression, (data, whole) = "gzip", gunzip(data)
    elif data[:4] == b"\x28\xb5\x2f\xfd" or re.match(rb"[\x50-\x5f]\x2a\x4d\x18", data):
        compression, (data, whole) = "zstd", unzstd(data)
    start = data.lstrip()[:1]
    if start != b"<":
        return [read_one(data, compression=compression)]
    entries = page_entries(data)
    if not entries:
        raise Refused("a page without entries", len(data))
    return [read_one(inner, compression=compression, wrapper="html", entry=name, closed=closed)
            for name, inner, closed in entries]


def read_one(data, **about):
    if not data:
        raise Refused("empty")
    if data.lstrip()[:1] in (b"{", b"["):
        top, complete = Json(data).read()
        return Recording(wrap(top), complete, encoding="json", **about)
    walker = Pickle(data)
    top, complete = walker.read()
    return Recording(wrap(top), complete, encoding="pickle", protocol=walker.protocol, **about)


def wrap(top):
    """A bare list of segments is a recording without traces."""
    if isinstance(top, List):
        wrapped = Dict(segments=top)
        wrapped.bare = True
        return wrapped
    if not isinstance(top, Dict):
        raise Refused("the top value is neither a dict nor a list")
    if not lists_dicts(top.get("segments")):
        raise Refused("segments is no list of dicts")
    traces = top.get("device_traces")
    if not lists_dicts(traces) and not lists_traces(traces):
        raise Refused("device_traces is no list of lists of dicts")
    return top


def lists_dicts(value):
    """Nothing, an empty list, or a list with a dict in it."""
    return value is None or isinstance(value, List) and (not value or any(isinstance(v, Dict) for v in value))


def lists_traces(value):
    """A list with such a list in it that is not empty, or of empty lists alone."""
    return isinstance(value, List) and (any(isinstance(v, List) and v and lists_dicts(v) for v in value) or
                                        all(isinstance(v, List) and not v for v in value))


# What a cut leaves open -----------------------------------------------------------------

def nest(value, chain):
    """Hands a value the ones that stand after it without a mark: each is an item of the one before."""
    if not chain or not isinstance(value, List):
        return
    nest(chain[0], chain[1:])
    value.append(chain[0])


def adopt(parent, items):
    """Gives an open container the values that wait above its mark."""
    at = 0
    if isinstance(parent, Dict):
        while at + 1 < len(items) and isinstance(items[at], str):
            key, value, at = items[at], items[at + 1], at + 2
            chain = []
            while at < len(items) and not isinstance(items[at], str):
                chain.append(items[at])
                at += 1
            if chain:
                nest(value, chain)
            elif at < len(items) and isinstance(value, List):
                value.whole = True
            parent[key] = value
    elif isinstance(parent, List):
        while at < len(items):
            value, at = items[at], at + 1
            if isinstance(value, List) and at < len(items):
                if isinstance(items[at], Dict):
                    nest(value, [items[at]])
                    at += 1
                    value.whole = at < len(items)
                else:
                    value.whole = True
            parent.append(value)


def settle(value):
    """A parent takes this value, so that it is done."""
    if isinstance(value, List):
        value.whole = True
    elif isinstance(value, Dict):
        value.finished = True
    return value


# Pickle ---------------------------------------------------------------------------------

MARK = object()
SIZES = {form: struct.calcsize(form) for form in ("<B", "<H", "<I", "<i", "<Q", ">d")}


class Pickle:
    def __init__(self, data):
        self.data, self.at, self.protocol = data, 0, 0
        self.stack, self.memo = [], {}

    def take(self, n):
        if n < 0:
            raise Refused("negative length", self.at)
        if self.at + n > len(self.data):
            raise Cut
        self.at += n
        return self.data[self.at - n:self.at]

    def line(self):
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise Cut
        text, self.at = self.data[self.at:end], end + 1
        return text

    def number(self, form):
        size = SIZES[form]
        if self.at + size > len(self.data):
            raise Cut
        self.at += size
        return struct.unpack_from(form, self.data, self.at - size)[0]

    def to_mark(self):
        at = len(self.stack) - 1
        while self.stack[at] is not MARK:
            at -= 1
        items = self.stack[at + 1:]
        del self.stack[at:]
        return items

    def read(self):
        try:
            while True:
                start = self.at
                code = self.data[start:start + 1]
                if not code:
                    raise Cut
                self.at = start + 1
                if code == b".":
                    top, = self.stack
                    settle(top)
                    if isinstance(top, Dict):
                        for value in top.values():
                            settle(value)
                    return top, True
                self.step(code, start)
        except Cut:
            self.at = start
            return self.collapse(), False

    def step(self, code, start):
        # The most frequent ones first: three quarters of all opcodes are gets.
        stack = self.stack
        if code in self.GET:
            n = self.GET[code](self)
            if n not in self.memo:
                raise Refused("a get before its put", start)
            stack.append(self.memo[n])
        elif code in self.PLAIN:
            stack.append(self.PLAIN[code](self))
        elif code == b"\x94":
            self.memo[len(self.memo)] = stack[-1]
        elif code == b"\x80":
            self.protocol = self.number("<B")
        elif code == b"\x95":
            self.take(8)
        elif code == b"(":
            stack.append(MARK)
        elif code in b"elu" or code in b"dt":
            items = self.to_mark()
            if code == b"t":
                stack.append(tuple(items))
            elif code == b"l":
                stack.append(List(map(settle, items)))
            elif code == b"e":
                stack[-1].extend(map(settle, items))
            else:
                if code == b"d":
                    stack.append(Dict())
                if code == b"u" or items:
                    stack[-1].finished = True
                for k, v in zip(items[::2], items[1::2]):
                    stack[-1][k] = settle(v)
        elif code == b"a":
            item = stack.pop()
            stack[-1].append(settle(item))
        elif code == b"s":
            value, key = stack.pop(), stack.pop()
            stack[-1][key] = settle(value)
        elif code in (b"\x85", b"\x86", b"\x87"):
            n = code[0] - 0x84
            stack[-n:] = [tuple(stack[-n:])]
        elif code in self.PUT:
            self.memo[self.PUT[code](self)] = stack[-1]
        elif code == b"0":
            stack.pop()
        elif code == b"1":
            self.to_mark()
        else:
            raise Refused("opcode 0x%02x" % code[0], start)

    def int_line(self):
        text = self.line()
        return {b"00": False, b"01": True}.get(text) if text in (b"00", b"01") else int(text)

    PLAIN = {
        b"}": lambda p: Dict(), b"]": lambda p: List(), b")": lambda p: (),
        b"J": lambda p: p.number("<i"), b"K": lambda p: p.number("<B"), b"M": lambda p: p.number("<H"),
        b"\x8a": lambda p: int.from_bytes(p.take(p.number("<B")), "little", signed=True),
        b"\x8b": lambda p: int.from_bytes(p.take(p.number("<i")), "little", signed=True),
        b"I": int_line, b"L": lambda p: int(p.line().rstrip(b"L")),
        b"G": lambda p: p.number(">d"), b"F": lambda p: float(p.line()),
        b"N": lambda p: None, b"\x88": lambda p: True, b"\x89": lambda p: False,
        b"\x8c": lambda p: p.take(p.number("<B")).decode("utf-8", "replace"),
        b"X": lambda p: p.take(p.number("<I")).decode("utf-8", "replace"),
        b"\x8d": lambda p: p.take(p.number("<Q")).decode("utf-8", "replace"),
        b"V": lambda p: p.line().decode("raw-unicode-escape"),
    }
    PUT = {b"q": lambda p: p.number("<B"), b"r": lambda p: p.number("<I"), b"p": lambda p: int(p.line())}
    GET = {b"h": lambda p: p.number("<B"), b"j": lambda p: p.number("<I"), b"g": lambda p: int(p.line())}

    def collapse(self):
        """The value under construction, with every open container holding what was read for it."""
        stack = self.stack
        while MARK in stack:
            items = self.to_mark()
            if stack and stack[-1] is not MARK:
                adopt(stack[-1], items)
        if not stack or not isinstance(stack[0], (Dict, List)):
            raise Refused("cut before anything was read", self.at)
        if isinstance(stack[0], Dict):
            adopt(stack[0], stack[1:])
        else:
            nest(stack[0], stack[1:])
        return stack[0]


# JSON -----------------------------------------------------------------------------------

TOKEN = re.compile(rb'\s*(?:([{}\[\],:])|("(?:[^"\\]|\\.)*")|(true|false|null)|(-?[0-9][0-9.eE+-]*)(?=[\s,\]}]))', re.S)
WORD = {b"true": True, b"false": False, b"null": None}


class Json:
    def __init__(self, data):
        self.data = data

    def read(self):
        data, at, stack, keys, top = self.data, 0, [], [], None

        def put(value):
            nonlocal top
            if not stack:
                top = value
            elif isinstance(stack[-1], List):
                stack[-1].append(value)
            elif keys[-1] is None:
                keys[-1] = value
            else:
                stack[-1][keys[-1]] = value
                keys[-1] = None

        while True:
            m = TOKEN.match(data, at)
            if not m:
                rest = data[at:].lstrip()
                if rest and not rest.startswith(b'"') and not re.fullmatch(rb"[-0-9.eE+a-z]+", rest):
                    raise Refused("not JSON", at)
                if top is None:
                    raise Refused("cut before anything was read", at)
                return top, False
            at = m.end()
            sign, text, word, number = m.groups()
            if sign in (b"{", b"["):
                value = Dict() if sign == b"{" else List()
                put(value)
                stack.append(value)
                keys.append(None)
            elif sign in (b"}", b"]"):
                settle(stack.pop())
                keys.pop()
                if not stack:
                    return top, True
            elif text is not None:
                put(json.loads(text.decode("utf-8", "replace"), strict=False))
            elif word is not None:
                put(WORD[word])
            elif number is not None:
                put(json.loads(number))
