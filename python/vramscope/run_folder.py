"""The folder of a run: one for all ranks of a job, who come to its name without talking."""
from __future__ import annotations

import json
import os
import time

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from typing import Any

SCHEMA = "vramscope.run/1"
NAMES_MOST = 1000


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
    end = time.monotonic() + 2
    while True:
        found = identity_in(folder)
        if found is not None or time.monotonic() > end:
            return bool(found == identity)
        time.sleep(0.02)


def take(folder: str, identity: str, *, others: bool = True) -> str:
    """Makes the folder, or joins it where it is of the same job; else _1, _2 behind its name.

    Returns its path.  Raises OSError where none can be had, and where others may not be tried.
    """
    for number in range(NAMES_MOST):
        path = folder + (f"_{number}" if number else "")
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if joins(path, identity):
                return path
            if others:
                continue
            raise
        write_identity(path, identity)
        return path
    raise FileExistsError(17, os.strerror(17), folder)


def write_identity(folder: str, identity: str) -> None:
    from vramscope import recording
    document = json.dumps({"schema": SCHEMA, "job": identity, "time": time.time()}) + "\n"
    recording.write_text(os.path.join(folder, "run.json"), document)
