"""The recorder of memory as drop-in modules use it: begun and ended by calls that are no block.

A recording that `vramscope.record` has begun is left alone: it goes on as it began, and its block
ends it.
"""
from __future__ import annotations

import importlib
import sys

from vramscope import backends
from vramscope.history import recording
from vramscope.hooks import swallow

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from vramscope.history.recording import Source

MOST_EVENTS = 100_000
_wanted: object | None = None  # one object for each begin; None after an end


def available() -> bool:
    """Whether there is a device.  torch is imported for the question, as the originals do."""
    if backends.active() is None and "torch" not in sys.modules:
        try:
            importlib.import_module("torch")
        except ImportError:
            pass
    return backends.available(backends.auto())


def source() -> tuple[Source | None, str | None]:
    """(what records, None) or (None, why nothing does)."""
    return recording.source()


def _is_of_a_block(of: Source) -> bool:
    """Whether a block of record() that is open records with this source."""
    key = getattr(of, "device", None) or type(of)
    return any(recorder._source_key() == key for recorder in recording._begun)


def begin(of: Source) -> None:
    """Records from now on, or from the moment in which CUDA is initialised, all kinds of frames."""
    global _wanted
    if _is_of_a_block(of):
        return
    token = _wanted = object()

    queued = False

    def when_ready() -> None:
        if _wanted is not token:  # it was ended before CUDA was there
            return
        try:
            of.begin(MOST_EVENTS, "all", "all")
        except BaseException as error:
            if not queued:
                raise
            swallow(error)  # else the program's own first use of CUDA would fail by it
    queued = of.when_ready(when_ready)
    if not queued:
        when_ready()


def end(of: Source) -> None:
    """Ends recording, and forgets what was recorded."""
    global _wanted
    if not _is_of_a_block(of):
        _wanted = None
        of.stop()


def dump(of: Source, path: str) -> None:
    """Writes a snapshot, with names, which appears whole."""
    recording.write_snapshot(of, path)
