"""Did a change help: two measurements, or two traces, held against each other."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, cast

from vramscope import _core
from vramscope.measuring.arguments import refused
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

    Raises vramscope.Error, which names the argument, for a file that cannot be read, for two of
    different kinds and for memory snapshots, which Recording.diff() compares; ValueError for a Trace
    that is closed; TypeError for arguments of another type.

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
    if fail_over is not None and not isinstance(fail_over, str):
        raise refused("fail_over", "a time, as \"5ms\", a share, as \"5%\", or None", fail_over)
    return _core._compare(_side("before", before), _side("after", after),
                          [_side(f"again[{at}]", each) for at, each in enumerate(_listed(again))],
                          fail_over)


def _listed(again: Any) -> Iterable[Any]:
    """What is iterable and no side of its own."""
    if (isinstance(again, (str, bytes, os.PathLike, Mapping, _core.Trace)) or
            not hasattr(again, "__iter__")):
        raise refused("again", "a list of measurements", again)
    return cast("Iterable[Any]", again)


def _side(name: str, given: Any) -> str | bytes | _core.Trace:
    """A path as str, the JSON of a measurement as bytes, a trace as it is."""
    if isinstance(given, _core.Trace):
        return given
    measured = getattr(given, "measurement", given)
    if isinstance(measured, Measurement):
        return measured.json().encode()
    if isinstance(given, (str, bytes, os.PathLike)):
        return os.fsdecode(given)
    raise refused(name, "a Measurement, a Diagnosis, a Trace or the path of one", given)
