"""What this process may use of its machine."""
from __future__ import annotations

import os

__all__ = ["processors"]


def processors() -> int | None:
    """How many processors it may run on, the most workers that torch suggests; None: not known."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        return os.cpu_count()
