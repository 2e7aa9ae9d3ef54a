"""Waits, inside a program that is watched, until trackers have sampled it."""
import gc
import time

from vramscope import _core, tracker


def taken(least_bytes=0):
    """How many samples the trackers keep that saw so many bytes allocated; None: there is no tracker."""
    kind = 1 << tracker.KINDS.index("sample")
    trackers = [thing for thing in gc.get_objects() if type(thing) is _core.Tracker]
    rows = [row for each in trackers for row in each.events(kind, 0, -1)]
    return sum((tracker.event_of(row).allocated_bytes or 0) >= least_bytes for row in rows) if trackers else None


def wait(count=5, least_bytes=0, begins=False, seconds=60):
    """Returns when there are so many samples; `begins`: a tracker that is not there yet is waited for, too."""
    end = time.monotonic() + seconds
    while (found := taken(least_bytes)) is None and begins or found is not None and found < count:
        assert time.monotonic() < end, "nobody samples"
        time.sleep(0.01)
