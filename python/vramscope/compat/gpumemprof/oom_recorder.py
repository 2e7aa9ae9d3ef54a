"""The flight recorder of gpumemprof: its last events, kept when memory runs out (rows B31, B32).

It departs in four places.  A bundle appears whole or not at all.  The bundle just written is never
pruned, however large it is.  A disk that is full costs the bundle, not the program.  Host memory
that ran out is told apart from that of a device.
"""
from __future__ import annotations

import os
from _thread import allocate_lock
from collections import deque
from collections.abc import Mapping

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope.compat.gpumemprof.records import OOMFlightRecorderConfig

__all__ = ["OOMExceptionClassification", "OOMFlightRecorder", "OOMFlightRecorderConfig",
           "classify_oom_exception"]

_PHRASES = ("out of memory", "cuda out of memory", "hip out of memory", "resource exhausted",
            "failed to allocate", "allocation failed")
_PREFIX = "oom_dump_"
_TORCH = "torch.cuda.OutOfMemoryError"
SCHEMA_VERSION = 1


def __getattr__(name: str) -> object:
    """OOMFlightRecorderConfig, which records.py has: dataclasses are not imported before."""
    if name != "OOMFlightRecorderConfig":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof.records import OOMFlightRecorderConfig
    return OOMFlightRecorderConfig


class OOMExceptionClassification(tuple["bool", "str | None"]):
    """(is_oom, reason): whether memory of a device ran out, and by what that is known."""

    __slots__ = ()

    @property
    def is_oom(self) -> bool:
        """Whether memory of a device ran out."""
        return self[0]

    @property
    def reason(self) -> str | None:
        """What told so; of memory of the host, which is no such failure, its name; else None."""
        return self[1]


def classify_oom_exception(exc: BaseException) -> OOMExceptionClassification:
    """Whether an exception says that memory of a device ran out, and by what that is known.

    Of a MemoryError, which is about memory of the host, the answer is (False, "host.MemoryError").

    >>> classify_oom_exception(RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    (True, 'message_pattern:out of memory')
    >>> classify_oom_exception(MemoryError())
    (False, 'host.MemoryError')
    """
    if isinstance(exc, MemoryError):
        return OOMExceptionClassification((False, "host.MemoryError"))
    for kind in type(exc).__mro__:
        name, module = kind.__name__.lower(), kind.__module__.partition(".")[0]
        if name == "outofmemoryerror" and module == "torch":
            return OOMExceptionClassification((True, _TORCH))
        if name == "outofmemoryerror" and module == "vramscope":
            return OOMExceptionClassification((True, f"{kind.__module__}.{kind.__name__}"))
        if name.endswith("resourceexhaustederror"):
            return OOMExceptionClassification((True, "tensorflow.ResourceExhaustedError"))
    message = _text(exc).lower()
    for phrase in _PHRASES:
        if phrase in message:
            return OOMExceptionClassification((True, f"message_pattern:{phrase}"))
    return OOMExceptionClassification((False, None))


def _text(value: object) -> str:
    """What str() makes of it, or where that fails the name of its class."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


class OOMFlightRecorder:
    """Keeps the newest `config.buffer_size` events, and writes them as a bundle when asked.

    A bundle is a folder `oom_dump_<UTC>_<pid>_<backend>_<n>` in `config.dump_dir` with events.json,
    metadata.json, environment.json and manifest.json.  Of those in the folder, whoever wrote them,
    the oldest go where there are more than `config.max_dumps`, then where they have together more
    than `config.max_total_mb`; 0 is no limit.

    >>> import tempfile
    >>> from vramscope.compat.gpumemprof import OOMFlightRecorderConfig
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     recorder = OOMFlightRecorder(OOMFlightRecorderConfig(enabled=True, dump_dir=folder))
    ...     recorder.record({"event_type": "sample", "memory_allocated": 7})
    ...     path = recorder.dump(reason="test", exception=RuntimeError("out of memory"),
    ...                          context=None, backend="cuda")
    ...     sorted(os.listdir(path))
    ['environment.json', 'events.json', 'manifest.json', 'metadata.json']
    """

    def __init__(self, config: OOMFlightRecorderConfig) -> None:
        self.config = config
        self._events: deque[dict[str, Any]] = deque(maxlen=max(1, int(config.buffer_size)))
        self._lock = allocate_lock()
        self._number = 0

    def record(self, event: Any) -> None:
        """Keeps one event: a mapping, or an object that has the fields as attributes."""
        kept = dict(event) if isinstance(event, Mapping) else dict(vars(event))
        with self._lock:
            self._events.append(kept)

    record_event = record

    def snapshot_events(self) -> list[dict[str, Any]]:
        """The events that are kept, in their order."""
        with self._lock:
            return [dict(event) for event in self._events]

    def dump(self, *, reason: str, exception: BaseException, context: str | None = None,
             backend: str = "cuda", metadata: Mapping[str, Any] | None = None) -> str | None:
        """Writes a bundle and returns its path; None where it is off or cannot be written.

        reason: as classify_oom_exception gives it.  context, metadata: kept beside it.  What cannot
        be written is told in one line of the log; nothing of it stays.
        """
        if not self.config.enabled:
            return None
        from vramscope.history import oom, recording
        root, part = os.fsdecode(self.config.dump_dir), None
        try:
            os.makedirs(root, exist_ok=True)
            path = self._free_path(root, backend)
            part = os.path.join(root, f".{os.path.basename(path)}.part")
            os.mkdir(part, 0o700)
            _write(part, _documents(os.path.basename(path), self.snapshot_events(), reason,
                                    exception, context, backend, dict(metadata or {})))
            os.rename(part, path)
        except Exception as error:
            if part is not None:
                oom.remove_folder(part)
            recording.log(f"no bundle of an out-of-memory error in {root}: {_text(error)}")
            return None
        except BaseException:
            if part is not None:
                oom.remove_folder(part)
            raise
        _prune(root, path, self.config.max_dumps, self.config.max_total_mb << 20)
        return path

    def _free_path(self, root: str, backend: str) -> str:
        import re
        import time
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        safe = re.sub("[^a-zA-Z0-9_-]+", "_", backend) or "unknown"
        while True:
            with self._lock:
                self._number += 1
                number = self._number
            path = os.path.join(root, f"{_PREFIX}{stamp}_{os.getpid()}_{safe}_{number}")
            if not os.path.lexists(path):
                return path


def _documents(name: str, events: list[dict[str, Any]], reason: str, exception: BaseException,
               context: str | None, backend: str, metadata: dict[str, Any]) -> dict[str, Any]:
    """The files of a bundle, the list of them last."""
    import time
    documents: dict[str, Any] = {
        "events.json": events,
        "metadata.json": {
            "reason": reason, "exception_type": type(exception).__name__,
            "exception_module": type(exception).__module__, "exception_message": _text(exception),
            "context": context, "backend": backend, "captured_event_count": len(events),
            "custom_metadata": metadata},
        "environment.json": {"pid": os.getpid(), "cwd": _told(os.getcwd), "system": _told(_system)},
    }
    documents["manifest.json"] = {
        "schema_version": SCHEMA_VERSION, "bundle_name": name,
        "created_at_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "reason": reason,
        "backend": backend, "event_count": len(events),
        "files": ["manifest.json", *documents]}
    return documents


def _system() -> dict[str, Any]:
    from vramscope.compat.gpumemprof.system import get_system_info
    return get_system_info()


def _told(ask: Any) -> Any:
    """What a question about the machine gives; None where it fails, as the events matter more."""
    try:
        return ask()
    except Exception:
        return None


def _write(folder: str, documents: Mapping[str, Any]) -> None:
    import json
    from vramscope import files
    for name, document in documents.items():
        files.write_whole(os.path.join(folder, name),
                          json.dumps(document, indent=2, default=_text, skipkeys=True) + "\n")


def _bundles(root: str) -> list[tuple[int, str, int]]:
    """(time, path, bytes) of the bundles in a folder, the oldest first."""
    found = []
    with os.scandir(root) as entries:
        for entry in entries:
            if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
                continue
            try:
                size = sum(os.lstat(os.path.join(folder, name)).st_size
                           for folder, _, names in os.walk(entry.path) for name in names)
                found.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path, size))
            except OSError:
                pass  # another process prunes the same folder
    return sorted(found)


def _prune(root: str, newest: str, most: int, most_bytes: int) -> None:
    """Removes the oldest bundles: those beyond `most`, then those that make it too large."""
    from vramscope.history import oom
    try:
        bundles = _bundles(root)
    except OSError:
        return
    others = [bundle for bundle in bundles if bundle[1] != newest]
    kept = sum(size for _, _, size in bundles)
    while others and (0 < most < len(others) + 1 or 0 < most_bytes < kept):
        _, path, size = others.pop(0)
        oom.remove_folder(path)
        kept -= size
