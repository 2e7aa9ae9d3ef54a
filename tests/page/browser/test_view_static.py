"""The sources and the bytes of the page of `vramscope view`: what they may not hold, and figures recomputed from them."""
import base64
import hashlib
import math
import re
import zlib
from itertools import combinations

import pytest

from conftest import ROOT, run

VIEWER = ROOT / "viewer"
MODULES = sorted(VIEWER.rglob("*.js"))
EXAMPLES = sorted((ROOT / "examples").glob("*.pickle"))
SINKS = [
    r"innerHTML|outerHTML|insertAdjacentHTML|document\s*\.\s*write|createContextualFragment|DOMParser|srcdoc",
    r"\beval\s*\(|\bFunction\s*\(|new\s+Function|setTimeout\s*\(\s*['\"`]|setInterval\s*\(\s*['\"`]",
    r"setAttribute\(\s*['\"]style|['\"]style['\"]\s*:|\.cssText|javascript:|\.on(click|error|load|message)\s*=\s*['\"`]",
    r"\bfetch\s*\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|\bimport\s*\(|import\.meta",
    r"localStorage|sessionStorage|indexedDB|document\s*\.\s*cookie",
]
SLOTS = ["parameter", "gradient", "optimizer-state", "optimizer-temp", "activation", "input", "temporary",
         "autograd-detail", "workspace", "persistent", "unknown"]
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def code(path):
    """A module without its comments."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
    return re.sub(r"^\s*//.*$", "", text, flags=re.M)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(VIEWER)))
def test_no_module_holds_a_sink(path):
    for pattern in SINKS:
        found = re.search(pattern, code(path))
        assert not found, found and found.group(0)


@pytest.mark.parametrize("folder", [VIEWER, VIEWER / "index", VIEWER / "flame"], ids=lambda p: p.name)
def test_the_markup_runs_nothing_of_its_own(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:|https?://|<link(?! rel=\"icon\" href=\"data:,\")", text)
    assert not re.search(r"@import|url\(|https?:", (folder / "style.css").read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(VIEWER)))
def test_modules_have_the_narrow_form(path):
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0].startswith("// " + path.name + " - ") and len(lines) < 600
    assert all(len(line) <= 100 for line in lines)
    for line in lines:
        if re.match(r"(import|export)\b", line):
            assert re.match(r"import \{.*|export (async )?(function\*?|const|class) \w", line), line
    if "core" in path.relative_to(VIEWER).parts:
        assert not re.search(r"\b(document|window|navigator|localStorage)\s*[.\[]", code(path))


# Colours ---------------------------------------------------------------------------------

def sheet(theme):
    """The variables of a theme of the stylesheet."""
    text = (VIEWER / "style.css").read_text(encoding="utf-8")
    light = re.search(r":root \{(.*?)\}", text, re.S).group(1)
    dark = re.search(r":root\[data-theme=\"dark\"\] \{(.*?)\}", text, re.S).group(1)
    values = dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]+)", light))
    if theme == "dark":
        values.update(re.findall(r"--([\w-]+):\s*(#[0-9a-f]+)", dark))
    return values


def linear(colour):
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(rgb):
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(a, b):
    x, y = sorted((luminance(linear(a)), luminance(linear(b))), reverse=True)
    return (x + 0.05) / (y + 0.05)


def lab(rgb):
    x = (0.4124564 * rgb[0] + 0.3575761 * rgb[1] + 0.1804375 * rgb[2]) / 0.95047
    y = 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2]
    z = (0.0193339 * rgb[0] + 0.1191920 * rgb[1] + 0.9503041 * rgb[2]) / 1.08883
    f = [v ** (1 / 3) if v > 216 / 24389 else (24389 / 27 * v + 16) / 116 for v in (x, y, z)]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def seen(colour, vision):
    rgb = linear(colour)
    return lab([min(1, max(0, sum(m * c for m, c in zip(row, rgb)))) for row in VISION[vision]])


def distance(one, two):
    """CIEDE2000."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
    c1, c2 = math.hypot((1 + g) * a1, b1), math.hypot((1 + g) * a2, b2)
    h1 = math.degrees(math.atan2(b1, (1 + g) * a1)) % 360 if c1 else 0
    h2 = math.degrees(math.atan2(b2, (1 + g) * a2)) % 360 if c2 else 0
    dh = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(dh / 2))
    lm, cm = (l1 + l2) / 2, (c1 + c2) / 2
    hm = h1 + h2 if c1 * c2 == 0 else ((h1 + h2) / 2 if abs(h1 - h2) <= 180 else (h1 + h2 + 360) / 2 % 360)
    t = (1 - 0.17 * math.cos(math.radians(hm - 30)) + 0.24 * math.cos(math.radians(2 * hm))
         + 0.32 * math.cos(math.radians(3 * hm + 6)) - 0.20 * math.cos(math.radians(4 * hm - 63)))
    sl = 1 + 0.015 * (lm - 50) ** 2 / math.sqrt(20 + (lm - 50) ** 2)
    sc, sh = 1 + 0.045 * cm, 1 + 0.015 * cm * t
    rt = -2 * math.sqrt(cm ** 7 / (cm ** 7 + 25 ** 7)) * math.sin(math.radians(60 * math.exp(-((hm - 275) / 25) ** 2)))
    dl, dc, dh = (l2 - l1) / sl, (c2 - c1) / sc, hue / sh
    return math.sqrt(dl * dl + dc * dc + dh * dh + rt * dc * dh)


def test_the_distance_is_ciede2000():
    """Pairs of Sharma, Wu and Dalal 2005."""
    for one, two, right in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, -1, 2), (50, 0, 0), 2.3669),
                            ((50, 2.5, 0), (73, 25, -18), 27.1492), ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)):
        assert abs(distance(one, two) - right) < 1e-4


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_fills_stand_out_from_the_ground_and_from_each_other(theme):
    values = sheet(theme)
    fills = [values[name] for name in SLOTS]
    assert min(contrast(fill, values["ground"]) for fill in fills) >= 3
    for vision in VISION:
        nearest = min(distance(seen(a, vision), seen(b, vision)) for a, b in combinations(fills, 2))
        assert nearest >= 12, (vision, nearest)
    assert min(max(contrast(fill, "#000000"), contrast(fill, "#ffffff")) for fill in fills) >= 4.61 - 0.005


def washed(theme, ground):
    """The ground of a row that is chosen: a wash over that of the page."""
    wash = re.findall(r"--wash:\s*(#[0-9a-f]{8})", (VIEWER / "style.css").read_text(encoding="utf-8"))[theme == "dark"]
    part = int(wash[7:], 16) / 255
    return "#" + "".join("%02x" % round(int(wash[i:i + 2], 16) * part + int(ground[i:i + 2], 16) * (1 - part)) for i in (1, 3, 5))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_signs_are_read(theme):
    values = sheet(theme)
    for name in ("text", "muted", "problem", "advice", "grew", "shrank", "focus"):
        for ground in ("ground", "raised"):
            assert contrast(values[name], values[ground]) >= 4.5, (name, ground)
    wash = washed(theme, values["ground"])
    for name in ("text", "muted", "problem", "grew", "shrank"):
        assert contrast(values[name], wash) >= 4.5, (name, "on a chosen row")
    for vision in VISION:
        assert distance(seen(values["grew"], vision), seen(values["shrank"], vision)) >= 46 - 0.5
    for ground in ("frame", "frame-next", "free"):
        assert contrast(values["text"], values[ground]) >= 7, ground
    assert contrast(values["control"], values["ground"]) >= 3
    assert contrast(values["match"], values["ground"]) >= 3
    assert contrast(values["hatch"], values["ground"]) >= 2.95


def test_figures_of_the_palette_are_those_it_was_chosen_by():
    """The smallest distances of eleven fills, of which the specification has ten: *persistent* has a hue of its own."""
    told = {"light": (13.5, 12.1, 12.0, 12.4), "dark": (13.1, 12.6, 12.5, 13.2)}
    for theme, figures in told.items():
        fills = [sheet(theme)[name] for name in SLOTS]
        for vision, figure in zip(VISION, figures):
            nearest = min(distance(seen(a, vision), seen(b, vision)) for a, b in combinations(fills, 2))
            assert abs(nearest - figure) < 0.15, (theme, vision, nearest)


# What is written ---------------------------------------------------------------------------

def page(path, *more):
    return run("view", path, *more, "-o", "-", expect=0).raw.decode()


def of_85(text):
    """What tools/bundle wrote: five characters for four bytes."""
    digits = [ord(c) - 40 for c in text.translate({ord("}"): "<", ord("~"): "@"})]
    digits += [84] * (-len(digits) % 5)
    data = b"".join((sum(d * 85 ** (4 - k) for k, d in enumerate(digits[at:at + 5])) & 0xffffffff).to_bytes(4, "big")
                    for at in range(0, len(digits), 5))
    return data[:len(text) * 4 // 5]


def test_the_policy_names_the_hashes_of_what_runs():
    text = page(EXAMPLES[0])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert text.index("Content-Security-Policy") < text.index("<style") < text.index("<script")
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    digest = lambda body: "'sha256-%s'" % base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()  # noqa: E731
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
    runs = {body for kind, body in scripts if "application/" not in kind}
    assert len(runs) == 2 and "vrs_block()" in runs
    packed, = (body for kind, body in scripts if 'id="app"' in kind)
    program, mark, _ = zlib.decompress(of_85(packed)).decode().partition("//! The page's style.\n")
    assert mark in "".join(runs).replace("\\n", "\n"), "the loader cuts there"
    runs.add(program)
    assert set(directives["script-src"].split()) == {digest(body) for body in runs}
    style, = re.findall(r"<style>(.*?)</style>", text, re.S)
    assert directives["style-src"] == digest(style)
    assert {name: directives[name] for name in directives if name not in ("script-src", "style-src")} == {
        "default-src": "'none'", "worker-src": "blob:", "img-src": "blob: data:", "base-uri": "'none'",
        "form-action": "'none'", "require-trusted-types-for": "'script'", "trusted-types": "vramscope"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.name)
def test_two_runs_write_the_same_bytes(path, tmp_path):
    first = page(path)
    assert page(path) == first
    elsewhere = tmp_path / path.name
    elsewhere.write_bytes(path.read_bytes())
    assert page(elsewhere) == first, "the folder is not in the page"
    assert str(ROOT) not in first and "/tmp/" not in first
