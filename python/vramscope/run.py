"""python -m vramscope run [options] SCRIPT ARG...: a program that tells why its memory ran out."""
from __future__ import annotations

import os
import sys

from vramscope import late, oom

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from vramscope.recording import Source
    from vramscope.sim import Device

EXIT_USAGE, EXIT_FAILED = 2, 3
ALWAYS_KEPT = 5  # failures at one line of the program, before only one in a minute is written
# Option: (its name among the settings, the default, how its value is read; None: it has none).
OPTIONS: dict[str, tuple[str, Any, Any]] = {
    "-o": ("folder", None, str),
    "--history": ("history", 100_000, int),
    "--stacks": ("stacks", "python", ("python", "all", "none")),
    "--on-oom": ("on_oom", "snapshot", ("snapshot", "note", "off")),
    "--max-dumps": ("max_dumps", 5, int),
    "--max-bytes": ("max_bytes", "256MiB", str),
    "--strict": ("strict", False, None),
    "--no-report": ("no_report", False, None),
}
LONG = {"--output": "-o"}


class Usage(Exception):
    """What is wrong with the words."""


def read_value(name: str, how: Any, text: str) -> Any:
    if isinstance(how, tuple):
        if text not in how:
            raise Usage(f"{name} is one of {', '.join(how)}, not {text!r}")
        return text
    if how is int:
        if not text.isdecimal():
            raise Usage(f"{name} is a number, not {text!r}")
        return int(text)
    if name == "--max-bytes":
        from vramscope import _core
        _core.size(text)
    return text


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
        key, _, how = OPTIONS[name]
        if how is None:
            settings[key] = True
            continue
        if not given:
            if not words:
                raise Usage(f"{name} needs a value")
            value = words.pop(0)
        settings[key] = read_value(name, how, value)
    if not words:
        raise Usage("a script is wanted: vramscope run [options] SCRIPT [ARG...]")
    return settings, "script", words[0], words[1:]


def check_folder(folder: str | None) -> None:
    """A folder that is there already must be of this job."""
    if folder is not None and os.path.lexists(folder):
        from vramscope import ranks, run_folder
        rank = ranks.identity()["rank"]
        if rank is None or not run_folder.joins(folder, run_folder.job(rank)[1]):
            raise Usage(f"-o {folder}: it exists; the folder of a run is a new one")


class Run:
    """What is recorded beside the program."""

    def __init__(self, settings: dict[str, Any]) -> None:
        from vramscope import ranks, run_folder
        self.settings, self.pid, self.number = settings, os.getpid(), 0
        self.rank: int | None = None
        try:
            self.rank = ranks.identity()["rank"]
        except ValueError:
            pass
        self.who = (f"rank{self.rank}." if self.rank is not None else "") + str(self.pid)
        restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        if self.rank is not None and restart.isdecimal() and int(restart) > 0:
            self.who = f"rank{self.rank}.restart{int(restart)}.{self.pid}"
        name, self.job = run_folder.job(self.rank)
        self.given, self.made, self.status = settings["folder"] is not None, False, 0
        # The program may change its folder.
        self.folder = os.path.abspath(settings["folder"] if self.given else name)
        self.limits = oom.Limits(settings["max_dumps"], settings["max_bytes"], 0, self._remove)

    def begin(self) -> None:
        """Attaches to simulated devices as they are made, and to torch when it is ready."""
        import atexit
        from vramscope import backends
        atexit.register(self.end)
        oom._handlers.append(self)
        backends.watch(self._watch)
        if self.settings["on_oom"] != "off":
            if "torch" in sys.modules:
                self.torch_is_here()
            else:
                late.when_imported("torch", self.torch_is_here)

    def _watch(self, device: Device) -> None:
        from vramscope import recording
        self._attach(recording.SimSource(device))

    def torch_is_here(self) -> None:
        """Queues the beginning: torch may be imported and CUDA never used."""
        try:
            from vramscope import _torch
            there = _torch.Recorder(sys.modules["torch"])
            if there.refused() is None:
                there.when_ready(lambda: self._attach(there))
        except BaseException as error:
            oom.swallow(error)

    def _attach(self, there: Source) -> None:
        """Runs inside the program's initialisation, so that nothing may escape."""
        try:
            if os.getpid() != self.pid or self.settings["on_oom"] == "off":
                return
            if self.settings["history"] > 0 and not there.enabled():
                stacks = self.settings["stacks"]
                there.begin(self.settings["history"], None if stacks == "none" else "all",
                            "python" if stacks == "none" else stacks)
            oom.observe(there)
        except BaseException as error:
            oom.swallow(error)

    def heard(self, event: oom.Event) -> None:
        if self.settings["on_oom"] != "snapshot":
            return
        # The first failures are all kept; a program that goes on failing pays once a minute.
        self.limits.min_seconds = 0 if self.number < ALWAYS_KEPT else 60
        if not self.limits.allows(event):
            return
        from vramscope import recording
        self.number += 1
        try:
            path = os.path.join(self._folder(), f"{self.who}.{self.number}.pickle")
            _, event.names = recording.write_snapshot(event.source, path,
                                                      seconds=recording.NAMES_SECONDS)
            event.path = path
            self.limits.keep(path, os.stat(path).st_size)
        except OSError as error:
            oom.say(f"vramscope: {error.filename or self.folder}: {error.strerror}\n")
            self._leave_nothing()

    def _folder(self) -> str:
        """The folder, made with the first file."""
        if not self.made:
            from vramscope import run_folder
            self.folder = run_folder.take(self.folder, self.job, others=not self.given)
            self.made = True
        return self.folder

    def _leave_nothing(self) -> None:
        """No file, no folder; where ranks share it, another one may be about to write."""
        if self.made and self.rank is None and not self.limits.kept:
            self.made = False
            self._remove(os.path.join(self.folder, "run.json"))
            try:
                os.rmdir(self.folder)
            except OSError as error:
                oom.swallow(error)

    def _remove(self, path: str) -> None:
        try:
            os.unlink(path)
        except OSError as error:
            oom.swallow(error)

    def tell(self, error: BaseException | None) -> None:
        if self.settings["on_oom"] != "off":
            oom.tell(error, self.rank)

    def end(self) -> None:
        """The last thing at exit: what the program caught is one line."""
        try:
            if os.getpid() != self.pid:
                return
            caught = oom.untold()
            if caught and self.status != 0:
                oom.tell_event(caught[-1], "", self.rank)
            elif caught:
                files = "".join(f" {path}" for path in self.limits.kept)
                oom.say(f"vramscope: memory ran out {len(caught)} times, which the program caught;"
                        f"{files or ' no snapshot'}\n")
        except BaseException as error:
            oom.swallow(error)


def status_of(code: object) -> int:
    """The exit status of SystemExit(code)."""
    return 0 if code is None else code if isinstance(code, int) else 1


def main(words: list[str]) -> int:
    if any(word in ("-h", "--help") for word in words[:1]):
        from vramscope import _command
        return _command.execute(["run", "--help"])
    from vramscope import program
    try:
        settings, kind, what, words = parse(words)
        if kind == "script" and not os.path.exists(what):
            sys.stderr.write(f"{sys.executable}: can't open file {os.path.abspath(what)!r}: "
                             f"[Errno 2] No such file or directory\n")
            return EXIT_USAGE
        check_folder(settings["folder"])
    except Exception as error:
        oom.say(f"vramscope: run: {error}\n")
        return EXIT_USAGE
    started: Run | None = None
    after: Callable[[BaseException | None], object] = lambda error: None  # noqa: E731
    try:
        if "VRAMSCOPE_RUN" not in os.environ:
            started = Run(settings)
            started.begin()
            after = started.tell
    except Exception as error:
        oom.swallow(error)
        oom.say(f"vramscope: run: the program is not recorded: {error}\n")
        if settings["strict"]:
            return EXIT_FAILED
    hooks = oom.Hooks(after, program.cut)
    hooks.install_threads()
    runs: dict[str, Callable[[str, list[str]], None]] = {
        "script": program.run_script, "-m": program.run_module, "-c": program.run_code}
    try:
        runs[kind](what, words)
    except SystemExit as ended:
        if started is not None:
            started.status = status_of(ended.code)
        raise
    except BaseException:
        hooks.wrap_uncaught()
        raise
    return 0
