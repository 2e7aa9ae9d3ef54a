"""Did a change help: two measurements, or two traces, held against each other."""
from __future__ import annotations

import os
from typing import cast

from vramscope import _core
from vramscope.measuring.measure import Measurement

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable

    from vramscope.files import Path
    from vramscope.measuring.diagnosis import Diagnosis

__all__ = ["compare"]


def compare(before: Measurement | Diagnosis | _core.Trace | Path,
            after: Measurement | Diagnosis | _core.Trace | Path, *,
            again: Iterable[Measurement | Diagnosis | Path] = (),
            fail_over: str | None = None) -> _core.Result:
    """Whether a change helped: row D31; a Result as `vramscope compare` gives it.

    before, after: a Measurement each, a Diagnosis, which has one, or the path of the JSON of either;
    or a Trace each, or its path. Of measurements the Result has for each time that both have the
    medians, their change with its interval, and what it is called: "faster", "slower",
    "no_difference", "within_noise", or "not_judged" with the reason. "verdict" is that of "judged",
    the step or the call; "conditions" are those that differ, "memory" the peaks of both. Of traces
    it is that of `vramscope diff`.

    again: a list of further measurements of the program of before, unchanged. An interval is of one
    run; what the medians of these differ by from that of before is noise too, and is added to it:
    "between_runs" of each time, None where no repeat tells it.
    fail_over: a limit for the judged median, as "5ms" or "5%" of the one before, whether or not
    that is more than the noise; the Result's own `verdict` is False where it is exceeded or cannot
    be compared.

    Raises vramscope.Error, which names the argument, for a file that cannot be read, for two of different kinds and for
    memory snapshots, which Recording.diff() compares; ValueError for a Trace that is closed.

    >>> import vramscope
    >>> made = vramscope.compare("examples/measurements/before.json",
    ...                          "examples/measurements/after.json", fail_over="5%")
    >>> made["verdict"], made["judged"], made.verdict
    ('faster', 'step', True)
    >>> step = made["times"][-1]
    >>> step["change_low"] < step["change"] < step["change_high"] < 0
    True
    >>> made = vramscope.compare("examples/measurements/before.json",
    ...                          "examples/measurements/after.json",
    ...                          again=["examples/measurements/again.json"])
    >>> made["verdict"], made["times"][-1]["between_runs"] > 0
    ('faster', True)
    """
    if isinstance(again, (str, bytes, os.PathLike, Measurement)) or hasattr(again, "measurement"):
        raise TypeError("again takes a list of measurements")
    return _core._compare(_side("before", before), _side("after", after),
                          [_side(f"again[{i}]", each) for i, each in enumerate(again)], fail_over)


def _side(name: str,
          given: Measurement | Diagnosis | _core.Trace | Path) -> str | bytes | _core.Trace:
    """A path as str, the JSON of a measurement as bytes, a trace as it is."""
    if isinstance(given, _core.Trace):
        return given
    measured = getattr(given, "measurement", given)
    if isinstance(measured, Measurement):
        return measured.json().encode()
    try:
        return os.fsdecode(cast("Path", given))
    except TypeError:
        raise TypeError(f"{name} is a Measurement, a Diagnosis, a Trace or a path, not "
                        f"{type(given).__name__}") from None
