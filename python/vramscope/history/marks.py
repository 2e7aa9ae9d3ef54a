"""Named ranges in a memory history, by which a snapshot tells steps and phases."""
from __future__ import annotations

import sys

from vramscope import _core

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any


class Marks:
    """One range at a time: `begin` ends the one that is open."""

    def __init__(self) -> None:
        self._open: tuple[Any, str] | None = None

    def begin(self, owner: Any, name: str) -> None:
        """owner: that of the backend: a simulation is marked itself, else torch's profiler is
        asked, which does nothing while torch records no memory."""
        self.end()
        if isinstance(owner, _core.Sim):
            owner.mark(name)
            self._open = owner, name
        elif "torch" in sys.modules:
            from vramscope import _torch
            opened = _torch.open_range(sys.modules["torch"], name, always=False)
            self._open = None if opened is None else (opened, name)

    def end(self) -> None:
        """Ends the range that is open, if one is."""
        made, self._open = self._open, None
        if made is None:
            return
        if isinstance(made[0], _core.Sim):
            made[0].mark(made[1], end=True)
        else:
            made[0].__exit__(None, None, None)
