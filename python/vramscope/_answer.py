"""An answer of the core about objects of the program: a mapping, with texts and for notebooks."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vramscope import _core


class Answer(Mapping[str, Any]):
    """A mapping of its JSON document; `str()` is its text.  It keeps no object of the program.

    Raises KeyError as a dict does.

    >>> from vramscope import Profiler, sim
    >>> with sim.Device(), Profiler() as p, p.scope("load"):
    ...     pass
    >>> answer = p.summary()
    >>> answer.to_dict()["schema"], "rows" in answer
    ('vramscope.profile/1', True)
    >>> answer.text(width=60, ascii=True, rows=1).split()[0], answer.json()[0], answer.csv()[:4]
    ('where', '{', 'path')
    """

    def __init__(self, result: _core.Result) -> None:
        self._result = result

    def __getitem__(self, key: str) -> Any:
        return self._result[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result)

    def __len__(self) -> int:
        return len(self._result)

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, Any]:
        """The JSON document as a dict of its own."""
        return self._result.to_dict()

    def text(self, *, width: int = 80, ascii: bool = False, rows: int = 0) -> str:
        """Tables for people.  rows: how many of the longest table; 0: as many as suit."""
        return self._result.text(width=width, ascii=ascii, rows=rows)

    def json(self) -> str:
        """The document, as its schema in docs/schema describes it."""
        return self._result.json()

    def csv(self) -> str:
        """The rows, comma-separated, below a line of names."""
        return self._result.csv()

    def _repr_html_(self) -> str:
        import html
        return "<pre>%s</pre>" % html.escape(self.text(width=120))
