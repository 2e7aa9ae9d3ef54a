"""Pictures of the page of `vramscope view` against stored ones: three windows, both themes, without text.

Fonts differ from machine to machine, and with them the places of what stands beside text; so the
canvases of a layout with fixed sizes are compared, drawn without a letter.  With VRAMSCOPE_UPDATE_PICTURES
set the stored ones are written anew: `tools/update-golden --pictures`.
"""
import base64
import os
import struct
import zlib
from pathlib import Path

import pytest

from conftest import some
from pages import EXAMPLES

STORED = Path(__file__).parent / "pictures"
SIZES = [(360, 740), (1280, 800), (1920, 1080)]
# Text has no ink, and the boxes that hold canvases have sizes of their own.
BEFORE = """
CanvasRenderingContext2D.prototype.fillText = function () {};
CanvasRenderingContext2D.prototype.strokeText = function () {};
CanvasRenderingContext2D.prototype.measureText = function (text) { return { width: text.length * 7 }; };
"""
COMPOSED = """(() => { const canvases = [...document.querySelectorAll('#view > :not([hidden]) .plot canvas')];
  const all = document.createElement('canvas'); all.width = canvases[0].width; all.height = canvases[0].height;
  const g = all.getContext('2d', { willReadFrequently: true });
  g.fillStyle = getComputedStyle(document.body).backgroundColor; g.fillRect(0, 0, all.width, all.height);
  for (const c of canvases) g.drawImage(c, 0, 0);
  return all.toDataURL('image/png').split(',')[1]; })()"""


def chunks(data):
    at = 8
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        yield data[at + 4:at + 8], data[at + 8:at + 8 + size]
        at += 12 + size


def pixels(data):
    """Width, height and the RGB bytes of an 8-bit PNG, RGB or RGBA, not interlaced."""
    parts = list(chunks(data))
    width, height, depth, kind, _, _, laced = struct.unpack(">IIBBBBB", parts[0][1])
    assert depth == 8 and kind in (2, 6) and laced == 0
    n = 3 if kind == 2 else 4
    raw = zlib.decompress(b"".join(body for name, body in parts if name == b"IDAT"))
    stride, above, out = width * n, bytes(width * n), bytearray()
    for y in range(height):
        start = y * (stride + 1)
        rule, row = raw[start], bytearray(raw[start + 1:start + 1 + stride])
        for i in range(stride if rule else 0):
            a, b = row[i - n] if i >= n else 0, above[i]
            c = above[i - n] if i >= n else 0
            if rule == 4:
                p = a + b - c
                near = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            else:
                near = (0, a, b, (a + b) // 2)[rule]
            row[i] = row[i] + near & 255
        above = bytes(row)
        out += above if n == 3 else b"".join(above[i:i + 3] for i in range(0, stride, 4))
    return width, height, bytes(out)


def packed(width, height, rgb):
    """A small PNG: rows as the difference to the one above."""
    lines = bytearray()
    above = bytes(width * 3)
    for y in range(height):
        row = rgb[y * width * 3:(y + 1) * width * 3]
        lines += b"\2" + bytes(a - b & 255 for a, b in zip(row, above))
        above = row

    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(bytes(lines), 9)) + chunk(b"IEND", b""))


def apart(one, two):
    """The share of pixels of which a channel differs by more than 8."""
    if one == two:
        return 0
    pairs = enumerate(zip(one, two))
    return len({i // 3 for i, (a, b) in pairs if abs(a - b) > 8}) / (len(one) / 3)


@pytest.mark.parametrize("theme", some(["dark"], ["light", "dark"]))
@pytest.mark.parametrize("size", some(SIZES[1:2], SIZES), ids=lambda s: "%dx%d" % s)
def test_the_picture_is_the_stored_one(pages, size, theme):
    def prepare(page):
        page.send("Page.addScriptToEvaluateOnNewDocument", source=BEFORE)
    page = pages(EXAMPLES / "train.pickle", size=size, before=prepare,
                 fragment="#v=1&by=category&at=1400&sel=a60&range=900-1500&theme=" + theme)
    page.settled()
    width, height = size
    page.ask("(() => { const fixed = (selector, w, h) => { const s = document.querySelector(selector).style;"
             " s.setProperty('width', w + 'px'); s.setProperty('height', h + 'px'); s.setProperty('flex', 'none'); };"
             " fixed('#view .plot', %d, %d); })()"
             % (min(width, 900) if width < 1900 else 1400, height // 2))
    page.wait("document.querySelector('#view .plot').clientHeight === %d" % (height // 2))
    page.settled()
    got = pixels(base64.b64decode(page.ask(COMPOSED)))
    path = STORED / ("train-%dx%d-%s.png" % (*size, theme))
    if os.environ.get("VRAMSCOPE_UPDATE_PICTURES"):
        STORED.mkdir(exist_ok=True)
        path.write_bytes(packed(*got))
    stored = pixels(path.read_bytes())
    assert got[:2] == stored[:2]
    assert apart(got[2], stored[2]) <= 0.001


def test_a_picture_that_differs_is_noticed():
    grey = bytes([100] * 3000)
    assert apart(grey, grey) == 0
    assert apart(grey, bytes([108] * 3000)) == 0
    assert apart(grey, bytes([109] * 3) + grey[3:]) == 0.001
    assert pixels(packed(10, 100, grey)) == (10, 100, grey)
