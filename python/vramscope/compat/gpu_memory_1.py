"""Drop-in for a recipe that records a program's memory in files, named by host and time.

The files are memory snapshots, and traces of torch's profiler. Programs written for it run after
changing only the import: rows C10 and C14. Lines go to the logger of the caller's outermost
package, at the level INFO, as those of the original go to its own module's; what shows them is set
up by the program. It departs in two places. A file is never written over: names of the same second
end in _1, _2. The timeline of categories, which torch no longer makes of a trace, is made by
vramscope; where there is no device it is a text that says so.

>>> TIME_FORMAT_STR, MAX_NUM_OF_MEM_EVENTS_PER_SNAPSHOT
('%b_%d_%H_%M_%S', 100000)
"""
from __future__ import annotations

import os
import sys
import time

from vramscope import files
from vramscope.compat import _history

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    import logging
    from typing import Any

__all__ = ["MAX_NUM_OF_MEM_EVENTS_PER_SNAPSHOT", "TIME_FORMAT_STR", "export_memory_snapshot",
           "start_record_memory_history", "stop_record_memory_history", "trace_handler"]

TIME_FORMAT_STR: str = "%b_%d_%H_%M_%S"
MAX_NUM_OF_MEM_EVENTS_PER_SNAPSHOT: int = _history.MOST_EVENTS

_UNAVAILABLE = "CUDA unavailable. Not %s memory %s"


def _logger(scope: dict[str, Any]) -> logging.Logger:
    import logging
    return logging.getLogger(str(scope.get("__name__", "__main__")).partition(".")[0])


def _source(logger: logging.Logger, doing: str, what: str) -> Any:
    """What records; None after a line that says why nothing does."""
    if not _history.available():
        logger.info(_UNAVAILABLE, doing, what)
        return None
    source, why = _history.source()
    if source is None:
        logger.error("Not %s memory %s: %s", doing, what, why)
    return source


def start_record_memory_history() -> None:
    """Records memory of all devices from now on; the newest 100,000 events of each are kept.

    Where CUDA is not initialised yet, it begins when it is.
    """
    logger = _logger(sys._getframe(1).f_globals)
    source = _source(logger, "recording", "history")
    if source is not None:
        logger.info("Starting snapshot record_memory_history")
        _history.begin(source)


def stop_record_memory_history() -> None:
    """Ends recording, and forgets what was recorded."""
    logger = _logger(sys._getframe(1).f_globals)
    source = _source(logger, "recording", "history")
    if source is not None:
        logger.info("Stopping snapshot record_memory_history")
        _history.end(source)


def _prefix(*endings: str) -> str:
    """<host>_<time>, with _1, _2, ... where a file with one of the endings is there already."""
    import socket
    stem = f"{socket.gethostname()}_{time.strftime(TIME_FORMAT_STR)}"
    prefix, number = stem, 0
    while any(os.path.lexists(prefix + ending) for ending in endings):
        number += 1
        prefix = f"{stem}_{number}"
    return prefix


def export_memory_snapshot() -> None:
    """Writes what is recorded to <host>_<time>.pickle in the working folder.

    A failure is a line at the level ERROR; nothing is raised.
    """
    logger = _logger(sys._getframe(1).f_globals)
    source = _source(logger, "exporting", "snapshot")
    if source is None:
        return
    prefix = _prefix(".pickle")
    logger.info("Saving snapshot to local file: %s.pickle", prefix)
    try:
        _history.dump(source, prefix + ".pickle")
    except Exception as error:
        logger.error("Failed to capture memory snapshot %s", error)


def trace_handler(prof: Any) -> None:
    """Writes the trace of a torch.profiler.profile as <host>_<time>.json.gz.

    For `on_trace_ready`. <host>_<time>.html beside it has the memory of cuda:0 by category; where
    there is none <host>_<time>.txt says why.
    """
    from vramscope.compat import _tracing
    prefix = _prefix(".json.gz", ".html", ".txt")
    prof.export_chrome_trace(prefix + ".json.gz")
    page, why = _tracing.timeline(prefix + ".json.gz", 0)
    if page is not None:
        files.write_whole(prefix + ".html", page)
        return
    if not _history.available():
        why = "there is no device cuda:0 whose memory could be shown"
    files.write_whole(prefix + ".txt", _no_timeline(why))


def _no_timeline(why: str) -> str:
    return (f"There is no timeline of memory by category: {why}.\nA snapshot has one, too: record "
            "it with vramscope.record(), and look at it with\n    vramscope view SNAPSHOT\n")
