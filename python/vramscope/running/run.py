"""python -m vramscope run [options] SCRIPT ARG...: a program that tells why its memory ran out."""
from __future__ import annotations

import os
import sys

from vramscope import hooks

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vramscope.running.run_process import Run

EXIT_USAGE, EXIT_FAILED, EXIT_INTERRUPTED = 2, 3, 130
NUMBER_DIGITS, WAIT_SECONDS, RANKS_MOST = 9, 168 * 3600, 1_000_000
UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


class Usage(Exception):
    """What is wrong with the words."""


def one_of(*names: str) -> Callable[[str, str], str]:
    def read(name: str, text: str) -> str:
        if text not in names:
            raise Usage(f"{name} is one of {', '.join(names)}, not {text!r}")
        return text
    return read


def path(name: str, text: str) -> str:
    if not text:
        raise Usage(f"{name} is a folder, not {text!r}")
    return text


def number(name: str, text: str) -> int:
    if not text.isdecimal():
        raise Usage(f"{name} is a number, not {text!r}")
    if len(text) > NUMBER_DIGITS:
        raise Usage(f"{name} is a number of at most {NUMBER_DIGITS} digits, not {text!r}")
    return int(text)


def size(name: str, text: str) -> str:
    from vramscope import _core
    try:
        _core.size(text)
    except _core.Error:
        raise Usage(f"{name} is a size such as 256MiB, not {text!r}") from None
    return text


def seconds(name: str, text: str) -> float:
    """500ms, 1s, 2min, 1h; a number alone is of seconds."""
    figure = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    try:
        value = float(figure) * UNITS[text[len(figure):] or "s"]
    except (KeyError, ValueError):
        raise Usage(f"{name} is a time such as 500ms or 10s, not {text!r}") from None
    if not 0 <= value <= WAIT_SECONDS:
        raise Usage(f"{name} is a time from 0 to {WAIT_SECONDS // 3600}h, not {text!r}")
    return value


def interval(name: str, text: str) -> float:
    value = seconds(name, text)
    if not 0.001 <= value <= 3600:
        raise Usage(f"{name} is from 1ms to 1h, not {text!r}")
    return value


def rank_list(name: str, text: str) -> list[int] | None:
    """all, or numbers and ranges of them: 0,4-7."""
    if text == "all":
        return None
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise Usage(f"{name} is all, or ranks such as 0,4-7, not {text!r}")
        low, high = number(name, first), number(name, last or first)
        if not low <= high < RANKS_MOST:
            raise Usage(f"{name} has ranges from lower to higher of ranks below {RANKS_MOST}, "
                        f"not {part!r}")
        found.update(range(low, high + 1))
    return sorted(found)


# Option: (its name among the settings, the default, how its value is read; None: it has none).
OPTIONS: dict[str, tuple[str, Any, Any]] = {
    "-o": ("folder", None, path),
    "--history": ("history", 100_000, number),
    "--stacks": ("stacks", "python", one_of("python", "all", "none")),
    "--on-oom": ("on_oom", "snapshot", one_of("snapshot", "note", "off")),
    "--max-dumps": ("max_dumps", 5, number),
    "--max-bytes": ("max_bytes", "256MiB", size),
    "--report": ("report", False, None),
    "--no-report": ("report", False, None),
    "--view": ("view", False, None),
    "--monitor": ("monitor", False, None),
    "--interval": ("interval", 1.0, interval),
    "--ranks": ("ranks", None, rank_list),
    "--children": ("children", False, None),
    "--wait": ("wait", 10.0, seconds),
    "--strict": ("strict", False, None),
}
LONG = {"--output": "-o"}


def unknown(name: str) -> Usage:
    import difflib
    near = difflib.get_close_matches(name, OPTIONS, 1)
    return Usage(f"there is no option {name}" + (f"; the nearest is {near[0]}" if near else ""))


def parse(words: list[str]) -> tuple[dict[str, Any], str, str, list[str]]:
    """(settings, kind of the program "script", "-m" or "-c", what, its words)"""
    settings = {name: default for name, default, _ in OPTIONS.values()}
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        if word in ("-m", "-c"):
            if not words:
                raise Usage(f"{word} needs a value")
            return settings, word, words.pop(0), words
        if not word.startswith("-") or word == "-":
            words.insert(0, word)
            break
        name, given, value = word.partition("=")
        name = LONG.get(name, name)
        if name not in OPTIONS:
            raise unknown(name)
        key, _, read = OPTIONS[name]
        if read is None:
            if given:
                raise Usage(f"{name} takes no value")
            settings[key] = name != "--no-report"
            continue
        if not given:
            if not words:
                raise Usage(f"{name} needs a value")
            value = words.pop(0)
        settings[key] = read(name, value)
    if len(words) > 1 and words[0] in ("-m", "-c"):  # after --
        return settings, words[0], words[1], words[2:]
    if not words:
        raise Usage("a script is wanted: vramscope run [options] SCRIPT [ARG...]")
    return settings, "script", words[0], words[1:]


def check_folder(folder: str | None) -> None:
    """A folder that is there already must be empty, or of this job."""
    if folder is None or not os.path.lexists(folder):
        return
    from vramscope import ranks
    from vramscope.running import run_folder
    if not os.path.isdir(folder):
        raise Usage(f"-o {folder}: it is no folder; give a new or an empty one")
    if run_folder.is_empty(folder):
        return
    rank = ranks.own_rank()
    if rank is None or not run_folder.joins(folder, run_folder.job(rank)[1]):
        whose = "of another run" if run_folder.identity_in(folder) is not None else "not empty"
        raise Usage(f"-o {folder}: it is {whose}; give a new or an empty folder")


def begin(settings: dict[str, Any]) -> Run | None:
    """Begins what is recorded, unless an outer run is in charge."""
    if "VRAMSCOPE_RUN" in os.environ:
        return None
    if sys.platform != "linux":
        raise RuntimeError("run records on Linux alone")
    from vramscope.running import run_process
    started = run_process.Run(settings)
    if settings["strict"]:
        started.check()
    started.begin()
    if settings["children"]:
        from vramscope.running import run_children
        run_children.announce(started)
    return started


def status_of(error: BaseException) -> int:
    """The exit status of a program that ends with this exception."""
    if isinstance(error, SystemExit):
        code = error.code
        return 0 if code is None else code if isinstance(code, int) else 1
    return EXIT_INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1


def execute(kind: str, what: str, words: list[str], started: Run | None) -> None:
    """Runs the program; what it raises goes on to the interpreter's own top."""
    from vramscope.running import program
    runs: dict[str, Callable[[str, list[str]], None]] = {
        "script": program.run_script, "-m": program.run_module, "-c": program.run_code}
    after = started.tell if started is not None else lambda error: None
    wrapped = hooks.Hooks(after, program.cut)
    wrapped.install_threads()
    try:
        runs[kind](what, words)
    except BaseException as error:
        if started is not None:
            started.status, started.raised = status_of(error), type(error).__name__
            started.exits = isinstance(error, SystemExit)
        if not isinstance(error, SystemExit):
            wrapped.wrap_uncaught()
        raise
    if started is not None:
        started.status = 0


def main(words: list[str]) -> int:
    if any(word in ("-h", "--help") for word in words[:1]):
        from vramscope import _command
        return _command.execute(["run", "--help"])
    try:
        settings, kind, what, words = parse(words)
        if kind == "script" and what != "-" and not os.path.exists(what):
            sys.stderr.write(f"{sys.executable}: can't open file {os.path.abspath(what)!r}: "
                             f"[Errno 2] No such file or directory\n")
            return EXIT_USAGE
        check_folder(settings["folder"])
    except Exception as error:
        hooks.say(f"vramscope: run: {error}\n")
        return EXIT_USAGE
    started: Run | None = None
    try:
        started = begin(settings)
    except Exception as error:
        hooks.swallow(error)
        hooks.say(f"vramscope: run: the program is not recorded: {error}\n")
        if settings["strict"]:
            return EXIT_FAILED
    execute(kind, what, words, started)
    return 0
