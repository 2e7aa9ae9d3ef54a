"""First screens of real recordings against what was looked at when they were stored: the mean colours of 16 x 10 cells.

The recordings are of others, and so are pictures of them: what is kept tells a screen from another, and shows none.
With VRAMSCOPE_UPDATE_PICTURES set they are stored anew; look at the screens first.
"""
import base64
import json
import os

import pytest

from conftest import some
from pages import EXAMPLES
from test_view_pictures import STORED, pixels

FILE = STORED / "first_screens.json"
ACROSS, DOWN = 16, 10
SCREENS = [(1280, 800, "light"), (1280, 800, "dark"), (1920, 1080, "light"), (1920, 1080, "dark"), (390, 844, "light")]
# Screens are read at a quarter of their size: letters are a shade there, whatever the font.
SCALE = 0.25
# So far apart are cells of which one is not the other, and so many may be: fonts move what stands beside text.
FAR, MOST = 24, 0.06


def cells(page, width, height):
    """Mean red, green and blue of each cell."""
    shot = page.send("Page.captureScreenshot", format="png",
                     clip={"x": 0, "y": 0, "width": width, "height": height, "scale": SCALE})
    w, h, rgb = pixels(base64.b64decode(shot["data"]))
    found = bytearray()
    for y in range(DOWN):
        rows = range(y * h // DOWN, (y + 1) * h // DOWN)
        for x in range(ACROSS):
            left, right = x * w // ACROSS, (x + 1) * w // ACROSS
            parts = [rgb[3 * (row * w + left):3 * (row * w + right)] for row in rows]
            n = len(rows) * (right - left)
            found += bytes(sum(sum(part[k::3]) for part in parts) // n for k in range(3))
    return bytes(found)


def apart(one, two):
    """The share of cells that are far from each other."""
    far = [any(abs(a - b) > FAR for a, b in zip(one[i:i + 3], two[i:i + 3])) for i in range(0, len(one), 3)]
    return sum(far) / len(far)


def stored():
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def screen(pages, path, width, height, theme):
    page = pages(path, size=(width, height), before=lambda page: page.send(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}]))
    if page.ask("document.querySelector('#view > :not([hidden]) canvas') !== null"):
        page.settled()
    found = cells(page, width, height)
    page.sound()
    return found


@pytest.mark.parametrize("width, height, theme", some(SCREENS[:1], SCREENS))
def test_first_screens_are_those_that_were_looked_at(pages, shared, width, height, theme):
    paths = [*sorted(EXAMPLES.glob("*.pickle")), *sorted((shared / "data/snapshots").iterdir())]
    known, wrong = stored(), []
    for path in some(paths[::4], paths):
        name = "%s %dx%d %s" % (path.name, width, height, theme)
        got = screen(pages, path, width, height, theme)
        if os.environ.get("VRAMSCOPE_UPDATE_PICTURES"):
            known[name] = base64.b64encode(got).decode()
        elif apart(got, base64.b64decode(known[name])) > MOST:
            wrong.append((name, apart(got, base64.b64decode(known[name]))))
    if os.environ.get("VRAMSCOPE_UPDATE_PICTURES"):
        lines = ",\n".join("%s: %s" % (json.dumps(key), json.dumps(known[key])) for key in sorted(known))
        FILE.write_text("{\n%s\n}\n" % lines)
    assert wrong == []


def test_another_screen_is_noticed(pages):
    """The same recording, in other colours or with another view."""
    path, size = EXAMPLES / "train.pickle", (1280, 800)
    whole = screen(pages, path, *size, "light")
    for fragment in ("#v=1&by=category", "#v=1&view=leaks&by=line"):
        page = pages(path, size=size, fragment=fragment)
        page.settled()
        assert apart(whole, cells(page, *size)) > MOST, fragment
    assert apart(whole, whole) == 0
