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
