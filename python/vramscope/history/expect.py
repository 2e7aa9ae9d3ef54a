"""expect_recording(): how many events a recording will have, and how large its file will be."""
from __future__ import annotations

from vramscope import _core
from vramscope.profiler import Profiler

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Expected", "expect_recording"]


class Expected:
    """What to expect of a recording; None is what is not known.

    events_per_step: of one device. steps: that it will have. events: of them, at most max_entries.
    least_bytes, most_bytes: of the file. steps_that_fit: whose events the recorder keeps.

    >>> Expected(100, steps=3, max_entries=200).text().split(";")[0]
    'A step makes 100 events'
    """

    def __init__(self, events_per_step: int | None, steps: int, max_entries: int) -> None:
        self.events_per_step, self.steps, self.max_entries = events_per_step, steps, max_entries
        self.events, self.least_bytes, self.most_bytes, self.steps_that_fit = _core._expected(
            events_per_step, steps, max_entries)

    def text(self) -> str:
        """One or two sentences for people."""
        if self.events_per_step is None or self.most_bytes is None or self.least_bytes is None:
            return "Nothing is known of the recording: there is no device."
        size = _core._size_text
        said = (f"A step makes {self.events_per_step:,} events; a recording of {self.steps:,} has "
                f"{self.events:,}, and takes {size(self.least_bytes)} to {size(self.most_bytes)}.")
        if self.steps_that_fit is not None and self.steps_that_fit < self.steps:
            said += (f" {self.max_entries:,} entries keep the last {self.steps_that_fit:,} steps: "
                     "the start will be missing.")
        return said

    def __str__(self) -> str:
        return self.text()


def expect_recording(step: Callable[[], object], *, steps: int = 3,
                     max_entries: int = 100_000) -> Expected:
    """Runs a step once, and tells what a recording of such steps will be: an Expected; row C09.

    step: what the program does again and again, called once. steps: how many will be recorded.
    max_entries: as of record(). It counts what is allocated and freed on the current device by its
    own counters: an allocation is one event, a free two. Those of segments are not foreseen; they
    belong to the first steps. Run a step before, if the first allocates what later ones keep.

    Raises what the step raises.

    >>> import vramscope
    >>> from vramscope import sim
    >>> with sim.Device() as device:
    ...     print(vramscope.expect_recording(lambda: device.free(device.alloc("1MiB")), steps=10_000))
    A step makes 3 events; a recording of 10,000 has 30,000, and takes 1.14 MiB to 11.44 MiB.
    """
    with Profiler() as profiler:
        with profiler.scope("step") as scope:
            step()
        result = scope.result
    events = None if result is None else _core._step_events(result.allocations, result.frees)
    return Expected(events, steps, max_entries)
