"""Which rank of which job this process is, as the launcher says it in variables.

>>> from vramscope import ranks
>>> ranks.identity({"RANK": "3", "WORLD_SIZE": "8", "TORCHELASTIC_RUN_ID": "night"})
{'job_id': 'night', 'rank': 3, 'local_rank': None, 'world_size': 8}
"""
from __future__ import annotations

import os

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["FIELDS", "identity"]

FIELDS = ("job_id", "rank", "local_rank", "world_size")
# Rank, local rank and number of ranks: torchrun, Open MPI, Slurm.  The first launcher that says
# rank and number wins: its variables are not mixed with those of an outer one.
LAUNCHERS = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
)
JOBS = ("TORCHELASTIC_RUN_ID", "SLURM_JOB_ID")
# All that is read of the environment.
VARIABLES = (*(name for names in LAUNCHERS for name in names), *JOBS, "SLURM_STEP_ID",
             "TORCHELASTIC_RESTART_COUNT")


def _text(env: Mapping[str, str], name: str) -> str | None:
    return env.get(name, "").strip() or None


def _whole(env: Mapping[str, str], name: str, field: str) -> int | None:
    text = _text(env, name)
    try:
        return None if text is None else int(text)
    except ValueError:
        raise ValueError(f"{field} must be an integer, which {name} is not: {text!r}") from None


def job(env: Mapping[str, str] | None = None) -> str | None:
    """The job's name, or None."""
    env = os.environ if env is None else env
    return next(filter(None, (_text(env, name) for name in JOBS)), None)


def variables() -> dict[str, str]:
    """Those of VARIABLES that are set, for whoever reads a report later."""
    return {name: os.environ[name] for name in VARIABLES if name in os.environ}


def own_rank() -> int | None:
    """The rank of this process; None also where what the variables say is no number."""
    try:
        rank: int | None = identity()["rank"]
        return rank
    except ValueError:
        return None


def world_size() -> int | None:
    """How many ranks the job has; None also where what the variables say is no such number."""
    try:
        size: int | None = identity()["world_size"]
    except ValueError:
        return None
    return None if size is None or size < 1 else size


def restarts() -> int:
    """How often torchrun has begun this rank again."""
    count = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    return int(count) if count.isdecimal() else 0


def identity(env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A dict of FIELDS by the variables `env`, those of the process if None; None: nobody says so.

    Raises ValueError where a variable that is read is no whole number.
    """
    env = os.environ if env is None else env
    for names in LAUNCHERS:
        if _text(env, names[0]) is not None and _text(env, names[2]) is not None:
            rank, local_rank, world_size = map(_whole, (env,) * 3, names, FIELDS[1:])
            return {"job_id": job(env), "rank": rank, "local_rank": local_rank,
                    "world_size": world_size}
    return {"job_id": job(env), "rank": None, "local_rank": None, "world_size": None}
