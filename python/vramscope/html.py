"""Pages for notebooks: escaped text, and the picture that the core draws."""
from __future__ import annotations

from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from vramscope._core import ScopeResult


def page(text: str, picture: str) -> str:
    """A text as HTML without a script, under a picture ("": none)."""
    import html
    return picture + "<pre>" + html.escape(text) + "</pre>"


def _shown(name: str) -> str:
    """A name of the program, as a terminal takes it."""
    return name if name.isprintable() else ascii(name)[1:-1]


def scope_text(result: ScopeResult) -> str:
    """A ScopeResult for people; peaks that are lower bounds have a mark."""
    size = _core._size_text
    mark = "" if result.state in ("exact", "unknown") else ">= "
    rows = [("peak", mark + size(result.peak_bytes),
             size(result.peak_delta_bytes) + " above the start"),
            ("start", size(result.start_bytes), ""),
            ("end", size(result.end_bytes), "changed by " + size(result.delta_bytes)),
            ("in all", size(result.allocated_total_bytes), "allocated"),
            ("time", "%.3f ms" % (result.duration_ns / 1e6), ""),
            ("state", result.state, "")]
    if result.raised is not None:
        rows.append(("raised", _shown(result.raised), ""))
    lines = [_shown(" > ".join(result.path))]
    lines += ["  %-7s %12s  %s" % row for row in rows]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def scope_page(result: ScopeResult) -> str:
    """The same as HTML."""
    return page(scope_text(result), "")
