"""The folder of a run: one for all processes of a job, who come to its name without talking."""
from __future__ import annotations

import errno
import json
import os
import re
import time

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

SCHEMA = "vramscope.run/1"
NAMES_MOST = 1000
RANKS_MOST = 100_000  # a number beyond is none of ranks
JOIN_SECONDS = 2  # who made a folder says within this time whose it is
NAME = re.compile(r"(?:rank(?P<rank>\d+)\.)?(?:restart(?P<restart>\d+)\.)?(?P<pid>\d+)"
                  r"\.(?P<what>json|(?:\d+|end)\.pickle|html)")


def who(rank: int | None, restart: int, pid: int) -> str:
    """What the names of a process's files begin with."""
    begun_again = f"restart{restart}." if rank is not None and restart > 0 else ""
    return ("" if rank is None else f"rank{rank}.") + begun_again + str(pid)


def parent_start() -> int | None:
    """When the parent process began, in clock ticks since boot; None where /proc has it not."""
    try:
        with open(f"/proc/{os.getppid()}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None


def job(rank: int | None) -> tuple[str, str]:
    """(name of the folder, identity of the job) of this process; the ranks of a job agree."""
    import socket
    host, env = socket.gethostname(), os.environ
    elastic = env.get("TORCHELASTIC_RUN_ID", "")
    if rank is None:
        stamp = time.strftime("%Y%m%d-%H%M%S")
        name = f"{host}-{stamp}-{os.getpid()}"
    elif elastic and elastic != "none":
        name = elastic.replace("/", "_")
    elif "SLURM_JOB_ID" in env:
        name = f"slurm-{env['SLURM_JOB_ID']}.{env.get('SLURM_STEP_ID', '0')}"
    else:
        name = f"{host}-{os.getppid()}-{parent_start()}"
    return "vramscope-" + name, name


def identity_in(folder: str) -> Any:
    """The identity of the job whose folder it is; None where it is no run's."""
    try:
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            return json.load(file).get("job")
    except (OSError, ValueError, AttributeError):
        return None


def joins(folder: str, identity: str) -> bool:
    """Whether the folder is of this job; who made it may not have written so yet."""
    end = time.monotonic() + JOIN_SECONDS
    while True:
        found = identity_in(folder)
        if found is not None or time.monotonic() > end:
            return bool(found == identity)
        time.sleep(0.02)


def numbered(folder: str) -> list[str]:
    """The names that are tried one after the other."""
    return [folder + (f"_{number}" if number else "") for number in range(NAMES_MOST)]


def is_empty(folder: str) -> bool:
    """Whether it is a folder without anything in it."""
    try:
        return not os.listdir(folder)
    except OSError:
        return False


def missing_parents(folder: str) -> list[str]:
    """The folders that must be made before it, the innermost first."""
    found = []
    while (folder := os.path.dirname(folder)) and not os.path.lexists(folder):
        found.append(folder)
    return found


def unwritable(folder: str) -> str | None:
    """Why no file can be written there, as far as that shows without writing one."""
    try:
        os.lstat(folder)
    except FileNotFoundError:
        pass
    except OSError as error:  # a name that is too long, a file among the parents
        return f"{folder}: {error.strerror}"
    from vramscope.history import recording
    there = folder
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    why = recording.unwritable(there)
    return None if why is None else f"{folder}: {os.strerror(why)}"


def take(folder: str, identity: str, *, others: bool = True, start: float = 0,
         wanted: Collection[int] | None = None) -> str:
    """Makes the folder, or joins it where it is of the same job; else _1, _2 behind its name.

    wanted: the ranks that record, None: all.  Returns its path.  Where others may not be tried its
    parents are made, and an empty one that is there is taken too.  Raises OSError where none can be
    had.
    """
    if not others:
        os.makedirs(os.path.dirname(folder), 0o700, exist_ok=True)
    for path in numbered(folder):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if others or not is_empty(path):
                if joins(path, identity):
                    return path
                if others:
                    continue
                raise
        write_document(os.path.join(path, "run.json"), begun(identity, start, wanted))
        return path
    raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), folder)


def find(folder: str, identity: str, *, others: bool = True) -> str | None:
    """The folder that a process of the same job has made; None where there is none."""
    for path in numbered(folder):
        if not os.path.isdir(path):
            return None
        if identity_in(path) == identity:
            return path
        if not others:
            return None
    return None


def free(folder: str, identity: str) -> str:
    """The first of its names that nobody else has."""
    for path in numbered(folder):
        if not os.path.lexists(path) or identity_in(path) == identity:
            return path
    return folder


def start_of(folder: str) -> float | None:
    """When the run began whose folder it is."""
    try:
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as file:
            return float(json.load(file)["start"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def recording_ranks(world_size: int | None, wanted: Collection[int] | None) -> list[int]:
    """The ranks that record, where it is known how many there are."""
    size = world_size if world_size is not None and world_size <= RANKS_MOST else 0
    return [rank for rank in range(size) if wanted is None or rank in wanted]


def begun(identity: str, start: float, wanted: Collection[int] | None) -> dict[str, Any]:
    """What run.json says with the folder's first file: no rank has said how it ended."""
    import socket
    from vramscope import ranks
    world_size = ranks.world_size()
    return {"part": "run", "job": identity, "host": socket.gethostname(), "status": "running",
            "start": start, "end": None, "world_size": world_size, "processes": [],
            "missing_ranks": recording_ranks(world_size, wanted), "files": []}


def write_document(path: str, members: dict[str, Any]) -> None:
    """A document of the schema `vramscope.run/1`."""
    from vramscope import _core
    from vramscope.history import recording
    document = {"schema": SCHEMA, "tool": _core.version(), **members}
    recording.write_text(path, json.dumps(document, indent=1) + "\n")


def read_document(path: str) -> dict[str, Any] | None:
    """The document of a process; None where there is none that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            document: dict[str, Any] = json.load(file)
        return document if document["part"] == "process" else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Unit:
    """The files of one process in the folder."""

    def __init__(self, rank: int | None, restart: int, pid: int) -> None:
        self.rank, self.restart, self.pid = rank, restart, pid
        self.who = who(rank, restart, pid)
        self.document: dict[str, Any] | None = None
        self.failures: list[int] = []  # numbers of the snapshots of failures
        self.end = self.page = False

    def snapshot(self) -> str | None:
        """The name of the one that tells most: of what ended it, else of its end."""
        told = self.document is None or self.document["status"] != 0
        if self.failures and (told or not self.end):
            return f"{self.who}.{max(self.failures)}.pickle"
        return f"{self.who}.end.pickle" if self.end else None


def units(folder: str, since: float) -> list[Unit]:
    """The processes that have files in the folder, written since a time in seconds since 1970.

    Of a rank that began again it is the last ones.
    """
    found: dict[str, Unit] = {}
    for name in sorted(os.listdir(folder)):
        parts = NAME.fullmatch(name)
        if parts is None or os.stat(os.path.join(folder, name)).st_mtime < since:
            continue
        rank = None if parts["rank"] is None else int(parts["rank"])
        unit = Unit(rank, int(parts["restart"] or 0), int(parts["pid"]))
        unit = found.setdefault(unit.who, unit)
        what = parts["what"]
        if what == "json":
            unit.document = read_document(os.path.join(folder, name))
        elif what == "html":
            unit.page = True
        elif what == "end.pickle":
            unit.end = True
        else:
            unit.failures.append(int(what.partition(".")[0]))
    last: dict[int | None, int] = {}
    for unit in found.values():
        last[unit.rank] = max(unit.restart, last.get(unit.rank, 0))
    return [unit for unit in found.values() if unit.restart == last[unit.rank]]
