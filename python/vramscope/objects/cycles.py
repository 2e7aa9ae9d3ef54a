"""Reference cycles that keep tensors alive until the collector happens to run.

A cycle is no leak, but its memory comes back late.  While a watch is on, the collector keeps what
it finds unreachable instead of freeing it, one collection at a time; a thread looks for cycles in
it, tells of those that hold tensors, and has it freed.
"""
from __future__ import annotations

import _thread
import atexit
import gc
import logging
import os
import sys
import threading
import types
from collections.abc import Callable
from queue import Queue
from typing import Any

from vramscope import _core, files
from vramscope._answer import Answer
from vramscope.objects import storages

__all__ = ["Cycles", "Handle", "watch_cycles"]

# Collections that wait to be looked at, and objects of one that are.
_WAITING, _OBJECTS = 16, 1_000_000

# A callback that does not return must not keep a program from its end.
_SECONDS_JOINED = 1.0


class Cycles(Answer):
    """Reference cycles of one collection: `rows`, the one that holds most first, and their `bytes`.

    A row has `bytes`, `tensors`, `objects`, `cycle` (types along the shortest cycle), `to_tensor`
    (types from there to the largest tensor) and `text`, all of it as a sentence.
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A dict for each cycle."""
        return list(self["rows"])


def _label(thing: Any) -> str:
    """What an object is called: a function by its name, else its type."""
    kind = type(thing)
    if kind is types.FunctionType:
        return "function " + str(thing.__qualname__)
    if kind is types.FrameType:
        return "frame of " + str(thing.f_code.co_name)
    return str(kind.__qualname__)


def _counts(thing: Any, device: str | None) -> bool:
    """Whether it is a tensor on the device that is watched: any but the CPU where None is."""
    torch = sys.modules.get("torch")
    if torch is None or not issubclass(type(thing), torch.Tensor) or storages.is_lazy(thing):
        return False
    if device is None:
        return thing.device.type not in ("cpu", "meta")
    return device in (thing.device.type, str(thing.device))


_Graph = tuple[list[tuple[str, int, "int | None"]], list[tuple[int, int]]]


def _graph_of(garbage: list[Any], device: str | None) -> _Graph | None:
    """What the core takes of a list of garbage; None where it has no tensor."""
    objects: list[tuple[str, int, int | None]] = [(_label(thing), 0, None) for thing in garbage]
    references: list[tuple[int, int]] = []
    keep: list[Any] = []
    for i, thing in enumerate(garbage):
        if not _counts(thing, device):
            continue
        # Of a tensor that is made of several the others stand behind it.
        for *_, key, size, _ in storages.rows(thing, 0, "", storages.OTHER, keep):
            if objects[i][2] is None:
                objects[i] = (objects[i][0], key, size)
            else:
                references.append((i, len(objects)))
                objects.append((objects[i][0], key, size))
    if not keep:
        return None
    number = {id(thing): i for i, thing in enumerate(garbage)}
    references += ((i, number[id(to)]) for i, thing in enumerate(garbage)
                   for to in gc.get_referents(thing) if id(to) in number)
    return objects, references


class Handle:
    """A watch that is on; `cancel`, or the end of a `with` block, ends it.

    losses: how often something was left out or failed: `collections` that came too fast, `objects`
    of too large ones, exceptions of the `callback`, drawings that could not be written (`graph`),
    and failures of the watch itself (`failed`).
    """

    def __init__(self, callback: Callable[[Cycles], object] | None, device: str | None,
                 min_bytes: int, graph: str | None, log: bool) -> None:
        self.losses = {"collections": 0, "objects": 0, "callback": 0, "graph": 0, "failed": 0}
        self._callback, self._device, self._min_bytes = callback, device, min_bytes
        self._graph, self._log, self._drawn = graph, log, -1
        self._queue: Queue[tuple[list[Any], int] | None] = Queue()
        self._leaving, self._left = False, list[Any]()  # at the exit; what is not let go then
        self._saving = False
        self._before = 0
        self._on = True
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._read, name="vramscope-reader", daemon=True)
        self._thread.start()
        gc.callbacks.append(self._collector)
        atexit.register(self._exit)

    def cancel(self) -> None:
        """Ends the watch; what was collected so far is looked at before, a second at most.

        `flush` waits longer.
        """
        self._end(_SECONDS_JOINED)

    def _end(self, seconds: float) -> None:
        """Ends the watch, and waits so long for the thread, which a child of fork has not."""
        forked = self._pid != os.getpid()
        if self._on:
            self._on = False
            gc.callbacks.remove(self._collector)
            self._stop_saving()
            if not forked:
                self._queue.put(None)
        if not forked and threading.current_thread() is not self._thread:
            self._thread.join(seconds)
        if forked or not self._thread.is_alive():
            atexit.unregister(self._exit)

    def _exit(self) -> None:
        """At the interpreter's end: half of the time to look, half to come to an end without.

        A thread that lets tensors go while the interpreter ends would abort the process.
        """
        self._end(_SECONDS_JOINED / 2)
        self._leaving = True
        self._end(_SECONDS_JOINED / 2)

    def flush(self) -> None:
        """Waits until what was collected so far has been looked at."""
        self._queue.join()

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        self.cancel()

    def _stop_saving(self) -> None:
        if self._saving:
            self._saving = False
            gc.set_debug(gc.get_debug() & ~gc.DEBUG_SAVEALL)

    def _collector(self, phase: str, info: dict[str, int]) -> None:
        """At the begin and the end of each collection, on the thread that it happens on."""
        try:
            # Where somebody else has flags set, they are his; in a child of fork nobody would look.
            theirs = os.getpid() != self._pid or threading.current_thread() is self._thread
            if phase == "start" and gc.get_debug() == 0 and not theirs:
                self._saving, self._before = True, len(gc.garbage)
                gc.set_debug(gc.DEBUG_SAVEALL)
            elif phase == "stop" and self._saving:
                self._stop_saving()
                garbage = gc.garbage[self._before:]
                del gc.garbage[self._before:]
                if garbage and self._queue.qsize() < _WAITING:
                    self._queue.put((garbage, info["generation"]))
                elif garbage:
                    # It is found again, one generation later.
                    self.losses["collections"] += 1
        except KeyboardInterrupt:
            self.losses["failed"] += 1
            _thread.interrupt_main()
        except BaseException:
            self.losses["failed"] += 1

    def _read(self) -> None:
        while self._read_one(self._queue.get()):
            pass

    def _look_and_free(self, garbage: list[Any], generation: int) -> None:
        if not self._leaving:
            self._look(garbage)
        if self._leaving:
            self._left.append(garbage)
            return
        # What was kept is one generation older now; there it is freed.
        garbage.clear()
        gc.collect(min(generation + 1, 2))

    def _read_one(self, item: tuple[list[Any], int] | None) -> bool:
        """Looks at one collection; False: it was the last."""
        try:
            if item is not None:
                self._look_and_free(*item)
        except BaseException:
            self.losses["failed"] += 1
        finally:
            self._queue.task_done()
        return item is not None

    def _look(self, garbage: list[Any]) -> None:
        if len(garbage) > _OBJECTS:
            self.losses["objects"] += len(garbage) - _OBJECTS
            del garbage[_OBJECTS:]
        graph = _graph_of(garbage, self._device)
        if graph is None:
            return
        cycles = Cycles(_core.cycles(*graph, self._min_bytes, False))
        if not cycles.rows:
            return
        if self._graph is not None and cycles.rows[0]["bytes"] > self._drawn:
            self._draw(self._graph, graph, cycles.rows[0]["bytes"])
        for row in cycles.rows if self._log else ():
            logging.getLogger("vramscope").warning("%s", row["text"])
        try:
            if self._callback is not None:
                self._callback(cycles)
        except BaseException:
            self.losses["callback"] += 1


    def _draw(self, path: str, graph: _Graph, size: int) -> None:
        try:
            files.write_whole(path, _core.cycles(*graph, self._min_bytes, True))
            self._drawn = size
        except OSError as error:
            self.losses["graph"] += 1
            logging.getLogger("vramscope").warning("%s: %s", path, error.strerror)


def watch_cycles(callback: Callable[[Cycles], object] | None = None, *, min_bytes: int | str = 1,
                 graph: str | os.PathLike[str] | None = None, device: Any = None,
                 log: bool = True) -> Handle:
    """Tells of reference cycles that keep tensors alive, as the collector finds them.

    callback: is given the `Cycles` of one collection, on the thread `vramscope-reader`; what it
    raises is counted.  min_bytes: cycles that hold less are not told; a number of bytes, or a text
    such as "1MiB".  graph: a file for a drawing (SVG) of the cycle that holds most of those found
    so far.  device: tensors that count, "cuda:0", 0 or "cpu"; None: those of any device but the
    host.  log: whether each is a warning of the logger `vramscope`.

    What the collector finds is freed a little later than without a watch, by a second collection;
    finalizers run when they would, or on that thread.  Nothing is watched while somebody else has
    flags of the collector set, nor in a child of fork.  Raises Error for a text that is no size,
    ValueError for a number of bytes below 0.

    >>> with vramscope.watch_cycles(print) as watch:
    ...     watch.losses["failed"]
    0
    """
    least = _core.size(min_bytes) if isinstance(min_bytes, str) else min_bytes
    if not 0 <= least < 1 << 64:
        raise ValueError("min_bytes is no number of bytes: %r" % min_bytes)
    if device is not None:
        device = "cuda:%d" % device if isinstance(device, int) else str(device)
    return Handle(callback, device, least, None if graph is None else os.fspath(graph), log)
