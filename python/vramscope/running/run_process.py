"""What `run` records of one process, from the program's first line to the interpreter's end."""
from __future__ import annotations

import os
import sys
import time

from vramscope import hooks

from vramscope import late
from vramscope.history import oom

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from vramscope.history.recording import Source
    from vramscope.running.run_monitor import Monitor
    from vramscope.sim import Device

ALWAYS_WRITTEN = 5  # failures, before one line of the program adds only one file in a minute


class Run:
    """One process: its settings, its identity, its files.

    settings: what run.parse gives.  inherited: in a child of `--children` the folder and the job of
    the outermost process, which alone prints and merges at the end.
    """

    def __init__(self, settings: dict[str, Any], inherited: tuple[str, str] | None = None) -> None:
        from vramscope import ranks
        from vramscope.running import run_folder
        self.settings, self.pid, self.number = settings, os.getpid(), 0
        self.rank, self.restart = ranks.own_rank(), ranks.restarts()
        self.child, self.start = inherited is not None, time.time()
        self.who = run_folder.who(self.rank, self.restart, self.pid)
        name, self.job = run_folder.job(self.rank)
        if inherited is not None:
            name, self.job = inherited
        self.given = inherited is not None or settings["folder"] is not None
        # The program may change its folder.
        self.folder = os.path.abspath(name if inherited else settings["folder"] or name)
        self.made = self.reported = False
        self.own_folders: list[str] = []  # that did not exist before, the innermost first
        self.warned = False  # whether it was said at the beginning that no file can be written
        self.status: int | None = None  # None: this process can not know it
        self.raised: str | None = None  # the class of the exception that ended the program
        self.exits = False  # by SystemExit, perhaps because of what it caught
        self.sources: list[Source] = []
        self.refused: str | None = None
        self.began: list[Source] = []
        self.ooms: list[tuple[str, oom.Event]] = []  # those that have a file, and its path
        self.losses = {"limited": 0, "failed": 0, "removed": 0}
        self.lines: dict[str, bool] = {}  # what is to be said, and whether it was
        self.end_path: str | None = None
        self.monitor: Monitor | None = None
        self.telemetry_path: str | None = None
        self.unrecorded_path: str | None = None  # where children say that they are not recorded
        self.unrecorded = 0  # how many did
        self.limits = oom.Limits(settings["max_dumps"], settings["max_bytes"], 0, self._remove)

    @property
    def records(self) -> bool:
        """Whether this rank is one of --ranks."""
        wanted = self.settings["ranks"]
        return wanted is None or self.rank is None or self.rank in wanted

    @property
    def shows_end(self) -> bool:
        """Whether a snapshot of the end is wanted."""
        return bool(self.settings["report"] or self.settings["view"])

    def begin(self) -> None:
        """Attaches to simulated devices as they are made, and to torch when it is ready."""
        import atexit
        from vramscope import backends
        atexit.register(self.end)
        if not self.records:
            return
        oom._handlers.append(self)
        oom.run_is_here = True
        if self.settings["on_oom"] == "off" and not self.shows_end and \
                not self.settings["monitor"]:
            return
        self._warn()
        backends.watch(self._watch)
        if "torch" in sys.modules:
            self.torch_is_here()
        else:
            late.when_imported("torch", self.torch_is_here)

    def _warn(self) -> None:
        """A place that can not be written is known before the program has worked for hours."""
        from vramscope.running import run_folder
        why = run_folder.unwritable(self.folder)
        if why is not None and not self.child and (self.settings["on_oom"] != "note" or
                                                   self.shows_end or self.settings["monitor"]):
            self.warned = True
            hooks.say(f"vramscope: run: nothing can be kept: {why}\n")

    def check(self) -> None:
        """Raises RuntimeError where it is clear that nothing can be recorded."""
        from importlib import metadata
        from vramscope.running import run_folder
        why = run_folder.unwritable(self.folder)
        if why is not None:
            raise RuntimeError(why)
        try:
            version = metadata.version("torch")
        except metadata.PackageNotFoundError:
            return  # the program may have it elsewhere, or none and a simulated device
        if tuple(map(int, version.split(".")[:2])) < (2, 1):
            raise RuntimeError(f"torch {version} is older than 2.1, whose recorder is the first "
                               f"that serves")

    def _watch(self, device: Device) -> None:
        from vramscope.history import recording
        self._attach(recording.SimSource(device))

    def torch_is_here(self) -> None:
        """Queues the beginning: torch may be imported and CUDA never used."""
        try:
            from vramscope import _torch
            there = _torch.Recorder(sys.modules["torch"])
            self.refused = there.refused()
            if self.refused is None and not there.when_ready(lambda: self._attach(there)):
                self.refused = "this torch tells nobody when CUDA is initialised"
        except BaseException as error:
            hooks.swallow(error)

    def _attach(self, there: Source) -> None:
        """Runs inside the program's initialisation, so that nothing may escape."""
        try:
            if os.getpid() != self.pid:
                return
            self.sources.append(there)
            wanted = self.settings["on_oom"] == "snapshot" or self.shows_end
            if wanted and self.settings["history"] > 0:
                from vramscope.history import recording
                none = self.settings["stacks"] == "none"
                self.refused = recording.begin(there, self.settings["history"],
                                               None if none else "all",
                                               "python" if none else self.settings["stacks"])
                if self.refused is None:
                    self.began.append(there)
            if self.settings["on_oom"] != "off":
                oom.observe(there)
            self._watch_over_time(there)
        except BaseException as error:
            hooks.swallow(error)

    def _watch_over_time(self, there: Source) -> None:
        """Samples the first device that there is."""
        if self.settings["monitor"] and self.monitor is None:
            from vramscope.running import run_monitor
            try:
                self.monitor = run_monitor.Monitor(self, there)
            except OSError as error:
                self.failed(error)

    def changed(self) -> bool:
        """Whether the program ended a recording that was begun here."""
        try:
            return not all(there.enabled() for there in self.began)
        except Exception as error:
            hooks.swallow(error)
            return False

    def heard(self, event: oom.Event) -> None:
        """Writes the snapshot of a failure, inside the request that fails."""
        if self.settings["on_oom"] != "snapshot":
            return
        self.limits.min_seconds = 0 if self.number < ALWAYS_WRITTEN else 60
        if not self.limits.take(event, lambda: self.write_failure(event)):
            self.losses["limited"] += 1

    def write_failure(self, event: oom.Event) -> tuple[str, int] | None:
        """(path, size) of the snapshot of a failure; None where it can not be."""
        self.number += 1
        self.losses["limited"] -= event.is_late
        path = self.write_snapshot(event.source, str(self.number), event)
        if path is None:
            return None
        self.ooms.append((path, event))
        self.write_event(path, event)
        return path, os.stat(path).st_size

    def write_snapshot(self, there: Source, what: str, event: oom.Event | None) -> str | None:
        """The path of <who>.<what>.pickle, or None where it can not be."""
        from vramscope.history import recording
        try:
            path = os.path.join(self.take_folder(), f"{self.who}.{what}.pickle")
            _, names = recording.write_snapshot(there, path, seconds=recording.NAMES_SECONDS)
        except OSError as error:
            self.failed(error)
            self._leave_nothing()
            return None
        if event is not None:
            event.path = path
            event.keep_largest(names)
        return path

    def write_event(self, path: str, event: oom.Event) -> None:
        """The failure's figures beside its snapshot; again when its verdict is known."""
        from vramscope.running import run_folder
        try:
            run_folder.write_document(event_path(path), {
                "part": "oom", "who": self.who, "rank": self.rank, "device": event.device,
                "time": event.time, "site": None if event.site is None else list(event.site),
                "asked_bytes": event.asked, "allocated_bytes": event.allocated,
                "reserved_bytes": event.reserved, "free_bytes": event.free,
                "total_bytes": event.total, "message": event.message, "verdict": event.verdict,
                "snapshot": os.path.basename(path)})
        except OSError as error:
            self.failed(error)

    def failed(self, error: OSError) -> None:
        """A file could not be written: that is one line, when the program has said its own."""
        self.losses["failed"] += 1
        line = f"vramscope: {error.filename or self.folder}: {error.strerror}\n"
        if line not in self.lines:
            self.lines[line] = self.warned and not self.made

    def say_lines(self) -> None:
        """Prints what could not be written, each once."""
        for line, said in self.lines.items():
            if not said:
                hooks.say(line)
            self.lines[line] = True

    def take_folder(self) -> str:
        """The folder, made with the first file."""
        if not self.made:
            from vramscope.running import run_folder
            wanted, there = self.folder, os.path.lexists(self.folder)
            self.own_folders = run_folder.missing_parents(wanted)
            try:
                self.folder = run_folder.take(wanted, self.job, others=not self.given,
                                              start=self.start, wanted=self.settings["ranks"])
            except OSError:
                self._leave_nothing()
                raise
            if not there or self.folder != wanted:
                self.own_folders.insert(0, self.folder)
            self.made = True
        return self.folder

    def found_folder(self) -> str | None:
        """The folder of this job, be it that another process made it; None: there is none."""
        if not self.made:
            from vramscope.running import run_folder
            found = run_folder.find(self.folder, self.job, others=not self.given)
            self.folder, self.made = found or self.folder, found is not None
        return self.folder if self.made else None

    def _leave_nothing(self) -> None:
        """No file, no folder; where processes share it, another one may be about to write."""
        if self.rank is not None or self.child or self.limits.kept:
            return
        if self.made:
            self._unlink(os.path.join(self.folder, "run.json"))
        self.made = False
        for folder in self.own_folders:
            if os.path.isdir(folder):
                try:
                    os.rmdir(folder)
                except OSError as error:
                    hooks.swallow(error)
        self.own_folders = []

    def _remove(self, path: str) -> None:
        """An older snapshot goes, with its figures."""
        self.losses["removed"] += 1
        self._unlink(path)
        self._unlink(event_path(path))
        self.ooms = [kept for kept in self.ooms if kept[0] != path]

    def _unlink(self, path: str) -> None:
        try:
            os.unlink(path)
        except OSError as error:
            hooks.swallow(error)

    def tell(self, error: BaseException | None) -> None:
        """Prints the verdict, where memory ran out by this exception."""
        if self.settings["on_oom"] == "off":
            return
        from vramscope.history import telling
        event = telling.tell(error, self.rank, self.refused, self.limits.kept)
        if event is not None:
            self.write_told(event)
            self.say_lines()

    def write_told(self, event: oom.Event) -> None:
        for path, written in self.ooms:
            if written is event:
                self.write_event(path, event)

    def end(self) -> None:
        """The last thing at exit; an interrupt ends it."""
        if os.getpid() != self.pid:
            return
        try:
            from vramscope.running import run_end
            run_end.finish(self)
        except KeyboardInterrupt:
            pass
        except BaseException as error:
            hooks.swallow(error)


def event_path(path: str) -> str:
    """Where the figures of a snapshot's failure stand."""
    return path.removesuffix(".pickle") + ".oom.json"
