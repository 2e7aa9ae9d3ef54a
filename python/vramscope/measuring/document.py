"""What measurements share: a mapping of its JSON document, which can be printed and saved."""
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope import files

    _Base = Mapping[str, Any]
else:
    _Base = Mapping

__all__ = ["Document"]


class Document(_Base):
    """A mapping of its JSON document; `str()` is its text.  It keeps no object of the program.

    Raises KeyError as a dict does.

    >>> from vramscope import Measurement
    >>> made = Measurement("latency", [], [], [], {"model": "Net"}, [])
    >>> made, made["what"], len(made) == len(list(made)) == len(dict(made))
    (<vramscope.Measurement of 'Net'>, 'latency', True)
    """

    def __init__(self, document: dict[str, Any], under: Mapping[str, Any]) -> None:
        """under: the conditions, of which the model is what repr() names."""
        self._document, self._of = document, under.get("model")

    def __getitem__(self, key: str) -> Any:
        return self._document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def __repr__(self) -> str:
        of = "" if self._of is None else f" of {self._of!r}"
        return f"<vramscope.{type(self).__name__}{of}>"

    def __str__(self) -> str:
        return self.text()

    @abstractmethod
    def text(self) -> str:
        """The document for people."""

    def json(self) -> str:
        """The document, as its schema in docs/schema describes it."""
        import json
        return json.dumps(self._document, indent=2)

    def save(self, path: files.Path) -> None:
        """Writes the document to a file at `path`, whole or not at all; what fails is an OSError.

        `vramscope compare` reads that of a Measurement and of a Diagnosis.

        >>> import vramscope, os, tempfile
        >>> from vramscope import sim
        >>> with sim.Device() as device, tempfile.TemporaryDirectory() as folder:
        ...     made = vramscope.measure_latency(lambda: device.advance(1_000_000), iterations=5)
        ...     made.save(os.path.join(folder, "before.json"))
        ...     os.listdir(folder)
        ['before.json']
        """
        from vramscope import files
        files.write_whole(path, self.json() + "\n")
