"""The sources of the page: what is there is what is built."""

import re
from pathlib import Path

VIEWER = Path(__file__).resolve().parents[2] / "viewer"


def sources():
    return {p.relative_to(VIEWER).as_posix() for p in VIEWER.rglob("*")
            if p.suffix in {".js", ".css", ".html"}}


def test_every_source_is_listed():
    """Of one that is not, a change does not build the page again."""
    listed = re.findall(r"^  '([^']+)',$", (VIEWER / "meson.build").read_text(), re.M)
    assert len(listed) > 50 and len(listed) == len(set(listed))
    assert set(listed) == sources()


# A module imports from its own room and from those before it.
ROOMS = ["index", "core/model", "core/memory", "core", "worker", "flame/core", "ui/draw", "flame", "ui/state", "ui/parts",
         "ui/views", "ui", ""]
PAGES = ("index", "flame")  # of their own: no other room knows them
IMPORT = re.compile(r"from '(\.{1,2}/[^']+)'")


def room(path):
    folder = path.parent.relative_to(VIEWER).as_posix()
    return ROOMS.index("" if folder == "." else folder)


def test_no_import_climbs():
    found = []
    for path in VIEWER.rglob("*.js"):
        for source in IMPORT.findall(path.read_text()):
            target = (path.parent / source).resolve()
            if room(target) > room(path):
                found.append(f"{path.relative_to(VIEWER)} may not import {source}")
    assert found == []


def test_no_room_knows_another_page():
    found = []
    for path in VIEWER.rglob("*.js"):
        for source in IMPORT.findall(path.read_text()):
            page = (path.parent / source).resolve().relative_to(VIEWER).parts[0]
            if page in PAGES and path.relative_to(VIEWER).parts[0] != page:
                found.append(f"{path.relative_to(VIEWER)} may not import {source}")
    assert found == []


def test_no_room_holds_more_than_thirty_modules():
    for name in ROOMS:
        assert len(list((VIEWER / name).glob("*.js"))) <= 30, name
