"""A page of charts: what MemoryVisualizer's methods return (row B58)."""
from __future__ import annotations

import os

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from os import PathLike

__all__ = ["Figure"]

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ margin: 16px; background: #ffffff; color: #1b2530; font-family: system-ui, sans-serif; }}
h1 {{ font-size: 20px; margin: 0 0 12px 16px; }}
.charts {{ display: grid; gap: 16px; max-width: {most}px;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, {least}px), 1fr)); }}
svg {{ max-width: 100%; height: auto; }}
</style></head><body>
{head}<div class="charts">
{charts}</div>
</body></html>
"""


class Figure:
    """Charts with a title, as a page that is whole in itself: no script, nothing from elsewhere.

    charts: each an element svg as text.

    >>> from vramscope.compat.gpumemprof import MemoryVisualizer, ProfileResult, MemorySnapshot
    >>> moment = MemorySnapshot(0.0, 1, 1, 1, 1, 1, 0, 0)
    >>> call = ProfileResult("f", 0.5, moment, moment, moment, 0, 0, 0, 0)
    >>> figure = MemoryVisualizer().plot_function_comparison([call], "execution_time")
    >>> figure.title, figure.html().count("<svg ")
    ('Mean execution time by function', 1)
    """

    def __init__(self, title: str, charts: list[str]) -> None:
        self.title = title
        self.charts = charts

    def svg(self) -> str:
        """The chart alone; ValueError where there are several."""
        if len(self.charts) != 1:
            raise ValueError("a figure of several charts is a page: save it as .html")
        return self.charts[0]

    def html(self) -> str:
        """The page."""
        import html
        # What a browser would not show as it is, such as a change of direction, is escaped.
        shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in self.title)
        title = html.escape(shown)
        several = len(self.charts) > 1
        return _PAGE.format(title=title, head=f"<h1>{title}</h1>\n" if several else "",
                            charts="".join(self.charts), least=560 if several else 640,
                            most=1320 if several else 960)

    def save(self, path: str | PathLike[str]) -> str:
        """Writes the page, or where the name ends in .svg the chart; returns the path.

        Raises ValueError for a name with another ending: there are no pictures in pixels.
        """
        from vramscope import files
        name = os.fspath(path)
        ending = os.path.splitext(name)[1].lower()
        if ending not in (".html", ".htm", ".svg"):
            raise ValueError(f"{name}: a figure is saved as .html or .svg")
        files.write_whole(name, self.svg() if ending == ".svg" else self.html())
        return name

    def show(self) -> str | None:
        """Shows it in a notebook, else in a browser; returns the path of the page, if one was made.

        Where there is no browser that path is printed.
        """
        import sys
        display = sys.modules.get("IPython.display")
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if display is not None and shell is not None:
            display.display(self)
            return None
        import tempfile
        import webbrowser
        from vramscope.compat._printing import out
        fd, path = tempfile.mkstemp(".html", "vramscope-")
        with open(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(self.html())
        if not webbrowser.open("file://" + path):
            out(path)
        return path

    def _repr_html_(self) -> str:
        return "".join(self.charts)
