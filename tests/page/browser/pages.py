"""Pages of `vramscope view` for the tests in a browser: written once, and what is asked of one that is open."""
import json
import os
import tempfile
import time
from functools import lru_cache
from pathlib import Path

import browser as chromium
import programs
from conftest import ROOT, run

EXAMPLES = ROOT / "examples"
# One number for all pixels of the picture that is open, and 0 while it is being made.
HASH = """(async () => {
  if (document.getElementById('status-note').textContent.startsWith('\\u2026')) return 0;
  if (!document.querySelector('#view > :not([hidden])')) return 0;
  let hash = 2166136261;
  for (const canvas of document.querySelectorAll('#view > :not([hidden]) canvas')) {
    if (!canvas.width || !canvas.height) continue;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const data = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    const digest = new Uint32Array(await crypto.subtle.digest('SHA-256', data));
    hash = Math.imul(hash ^ digest[0], 16777619) >>> 0;
  }
  return hash;
})()"""


@lru_cache(maxsize=1)
def _folder():
    return tempfile.TemporaryDirectory(prefix="vramscope-pages-")


@lru_cache(maxsize=None)
def written(*arguments):
    """The path of the page that `view` writes of these arguments; with VRAMSCOPE_TEST_PROGRAM set to source, bare
    or minified it has that form of its program."""
    folder = Path(tempfile.mkdtemp(dir=_folder().name))
    page = folder / (Path(arguments[0]).stem[:60] + ".html")
    run("view", *arguments, "-o", page, expect=0)
    form = os.environ.get("VRAMSCOPE_TEST_PROGRAM")
    if form:
        page.write_text(programs.with_program(page.read_text(encoding="utf-8"), form), encoding="utf-8")
    return page


class Opened(chromium.Page):
    """A page with what the tests ask of it."""

    def ready(self):
        self.wait(chromium.READY)
        return self

    def settled(self, seconds=20):
        """Until the picture is exact and stands still; its hash."""
        end, last = time.monotonic() + seconds, None
        while True:
            got = self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>"
                           " done(%s))))" % HASH)
            if got and got == last:
                return got
            assert time.monotonic() < end, "the picture does not come to rest"
            last = got
            time.sleep(0.05)

    def state(self):
        """The state of the page, as its link has it."""
        fragment = self.ask("(dispatchEvent(new Event('pagehide')), location.hash)").lstrip("#")
        return dict(part.split("=", 1) for part in fragment.split("&") if "=" in part)

    def box(self, selector):
        """Left, top, width and height of what is shown of a selector."""
        box = self.ask("(() => { const node = [...document.querySelectorAll(%s)].find((n) => n.offsetParent !== null"
                       " || n.getClientRects().length); if (!node) return null; const b = node.getBoundingClientRect();"
                       " return [b.left, b.top, b.width, b.height]; })()" % json.dumps(selector))
        assert box, "nothing is shown of " + selector
        return box

    def press_on(self, selector, **more):
        """A click in the middle of an element, which may be on its way: boxes scroll smoothly."""
        last = None
        for _ in range(60):
            self.ask("(() => { const node = [...document.querySelectorAll(%s)].find((n) => n.getClientRects().length);"
                     " if (node) node.scrollIntoView({ block: 'nearest', behavior: 'instant' }); })()" % json.dumps(selector))
            box = self.box(selector)
            if box == last:
                break
            last = box
            time.sleep(0.03)
        left, top, width, height = box
        self.click(left + width / 2, top + height / 2, **more)

    def plot(self, across, up):
        """The point of the open plot at shares of its width and of its height, from the left and the bottom."""
        left, top, _, _ = self.box("#view > :not([hidden]) .plot")
        x, y, width, height = self.picture_box()
        return left + x + width * across, top + y + height * (1 - up)

    def picture_box(self):
        """Left, top, width and height of the picture proper in the open plot."""
        return map(float, self.ask("document.querySelector('#view > :not([hidden]) .plot').dataset.box").split())

    def says(self, selector, text, seconds=20):
        """Until an element's text, blanks made plain, has `text` in it."""
        end = time.monotonic() + seconds
        while text not in (got := plain(self.text(selector))):
            assert time.monotonic() < end, (selector, text, got)
            time.sleep(0.03)

    def sound(self):
        assert self.ask("document.getElementById('alarm').hidden"), self.text("#alarm")
        assert self.complaints() == []


def plain(text):
    return text.replace("\u202f", "").replace("\xa0", " ")


def size(text):
    """The bytes of `1.50 GiB` and its like."""
    number, unit = plain(text).replace("\u2212", "-").split()
    return float(number) * {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
