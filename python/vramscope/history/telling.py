"""What is printed when device memory ran out: the verdict of the snapshot that was left."""
from __future__ import annotations

import os
import shlex
import sys
import time
import weakref

from vramscope.history.recording import ALREADY
from vramscope.hooks import say, swallow

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from vramscope._core import Result
    from vramscope.history.oom import Event

VERDICT_SECONDS = 10.0
LATE = ("vramscope: its line had failed often; the snapshot is of now, and holds the failure among its "
        "events\n")

_without: list[object] = []  # the mark of the last exception that was told and has no Event


class _Late(Exception):
    """A load took too long."""


def verdict(event: Event, message: str) -> str | None:
    """The text of `vramscope oom --message MESSAGE PATH`; None where that takes too long."""
    from vramscope import _core
    assert event.path is not None
    end = time.monotonic() + VERDICT_SECONDS

    def progress(done: int, total: int) -> None:
        if time.monotonic() > end:
            raise _Late
    try:
        with _core.load(event.path, threads=1, progress=progress) as recording:
            result = recording.oom(message=message or None)
    except _Late:
        return None
    event.verdict = verdict_of(result, event.device)
    colour, wide = terminal()
    return result.text(colour=colour, width=wide)


def verdict_of(result: Result, number: int) -> str | None:
    """What the verdict of a device is called, in an answer of `oom`."""
    for device in result["devices"]:
        if device["device"] == number and device["result"] is not None:
            name: str | None = device["result"]["verdict"]
            return name
    return None


def terminal() -> tuple[bool, int]:
    """(whether stderr shows colours, its width or None)."""
    try:
        number = sys.stderr.fileno()
        if not os.isatty(number):
            return False, 80
        return "NO_COLOR" not in os.environ, os.get_terminal_size(number).columns
    except (AttributeError, OSError, ValueError):
        return False, 80


def keep_verdict(path: str, text: str) -> None:
    """In the folder of a bundle; the manifest lists what was written at the failure itself."""
    folder, name = os.path.split(path)
    if name == "snapshot.pickle":
        from vramscope.history import recording
        try:
            recording.write_text(os.path.join(folder, "verdict.txt"), text)
        except OSError as error:
            swallow(error)


def largest_names(event: Event, text: str) -> str:
    """Lines of the largest tensors, where the verdict does not name them itself."""
    lines = [f"  {entry['bytes']:>14,} B  {entry['name']}\n" for entry in event.largest]
    if not lines or all(entry["name"] in text for entry in event.largest):
        return ""
    return "largest tensors with a name:\n" + "".join(lines)


def mark(error: BaseException) -> object:
    """What tells an exception from others and keeps nothing: an id alone soon is another's."""
    try:
        return weakref.ref(error)
    except TypeError:  # of a built-in class
        return id(error), str(error)


def tell(error: BaseException | None, rank: int | None = None,
         refused: str | None = None, kept: list[str] | tuple[()] = ()) -> Event | None:
    """Prints what happened, once, where memory ran out by this exception; the Event of it.

    refused: why no snapshot can be had, where that is known.  kept: the snapshots that there are.
    """
    from vramscope.history import oom
    found, event = oom.event_of(error)
    if found is None:
        return None
    message = str(found)
    if event is None:
        if _without == [mark(found)]:
            return None
        _without[:] = [mark(found)]
        why = f": {refused}" if refused is not None and refused != ALREADY else ""
        say(f"vramscope: memory ran out; there is no snapshot of it{why}\n{message}\n")
    elif event.told is None:
        event.told = id(found)
        tell_event(event, message, rank, kept)
    return event


def tell_event(event: Event, message: str, rank: int | None = None,
               kept: list[str] | tuple[()] = ()) -> None:
    """Prints the verdict of an Event, or where there is no snapshot of it what is known besides."""
    from vramscope.history import oom
    event.told, event.message = event.told or id(event), message or None
    who = "" if rank is None else f" (rank {rank})"
    text = f"vramscope: memory ran out on cuda:{event.device}{who}\n"
    oom.write_late(event)
    if event.path is None or not os.path.exists(event.path):
        say(text + (f"{message}\n" if message else "") + figures(event) + no_snapshot(event, kept))
        return
    if event.is_late:
        text += LATE
    # Without the message's figures the command may come to another verdict.
    words = (["--message", message] if message else []) + [event.path]
    more = f"vramscope: {event.path}   more: {shlex.join(['vramscope', 'oom', *words])}\n"
    try:
        told = verdict(event, message)
    except Exception as failure:
        swallow(failure)
        told = f"vramscope: no verdict: {failure}\n"
    if told is not None:
        text += told if told.endswith("\n") else told + "\n"
        text += largest_names(event, told)
        keep_verdict(event.path, text)
    say(text + more)


def tell_caught(caught: list[Event], files: list[str], known: bool = True) -> None:
    """One line, if there is any.  known: whether it is clear that the program caught them."""
    if not caught:
        return
    times = "once" if len(caught) == 1 else f"{len(caught)} times"
    whose = ", which the program caught" if known else ""
    kept = "".join(f" {path}" for path in files) or " no snapshot"
    say(f"vramscope: memory ran out {times}{whose};{kept}\n")


def no_snapshot(event: Event, kept: list[str] | tuple[()]) -> str:
    """Why there is none, where one was wanted, and which is the last."""
    if event.lost is None:
        return ""
    last = f"; the last one is {kept[-1]}" if kept else ""
    return f"vramscope: there is no snapshot of it: {event.lost}{last}\n"


def figures(event: Event) -> str:
    """What is known without a snapshot."""
    rows = (("asked", event.asked), ("in use", event.allocated), ("reserved", event.reserved),
            ("free", event.free), ("capacity", event.total))
    return "".join(f"{name:9} {'-' if value is None else format(value, ',')} B\n"
                   for name, value in rows)
