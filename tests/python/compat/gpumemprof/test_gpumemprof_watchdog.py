"""The watchdog of compat.gpumemprof: when it cleans up, how, and what it says of it; row B30."""
import doctest
import logging

import pytest
from vramscope import sim
from vramscope.compat.gpumemprof import MemoryWatchdog, TrackingEvent, watchdog

MIB = 1 << 20


class Alerts:
    """A tracker that tells what a test says."""

    def __init__(self, backend="sim"):
        self.backend, self.device, self.calls, self.events = backend, "cuda:0", [], []

    def add_alert_callback(self, call):
        self.calls.append(call)

    def _add_event(self, *event):
        self.events.append(event)

    def tell(self, kind, at=1000.0, usage=None):
        event = TrackingEvent(at, kind, 0, 0, 0, 0, metadata=None if usage is None else {"usage_percent": usage})
        for call in self.calls:
            call(event)


@pytest.fixture
def device():
    with sim.Device("1GiB") as made:
        yield made


def cached(device, bytes=20 * MIB):
    device.free(device.alloc(bytes))


def kinds(alerts):
    return [event[3]["cleanup"] for event in alerts.events]


@pytest.mark.parametrize("kind, usage, done", [
    ("critical", 96.0, ["aggressive"]), ("critical", None, ["aggressive"]), ("critical", 10.0, ["aggressive"]),
    ("warning", 89.9, []), ("warning", 90.0, ["standard"]), ("warning", 94.9, ["standard"]), ("warning", 95.0, ["aggressive"]),
    ("warning", None, []), ("error", 99.0, []), ("sample", 99.0, []),
])
def test_which_alert_asks_for_which_cleanup_B30(device, kind, usage, done):
    alerts = Alerts()
    made = MemoryWatchdog(alerts)
    alerts.tell(kind, usage=usage)
    assert kinds(alerts) == done and made.cleanup_count == len(done)


def test_thresholds_are_those_given_and_may_be_changed_B30(device):
    alerts = Alerts()
    made = MemoryWatchdog(alerts, cleanup_threshold=0.5, aggressive_cleanup_threshold=0.6)
    alerts.tell("warning", 100, usage=50)
    alerts.tell("warning", 200, usage=60)
    made.cleanup_threshold = 0.7
    alerts.tell("warning", 300, usage=65)
    assert kinds(alerts) == ["standard", "aggressive"]


def test_cleanups_are_half_a_minute_apart_B30(device):
    alerts = Alerts()
    made = MemoryWatchdog(alerts)
    for at in (1000, 1029.999, 1030, 1059.999, 1060):
        alerts.tell("critical", at)
    assert made.cleanup_count == 3 and made.last_cleanup_time == 1060
    alerts.tell("critical", 500)  # the clock was set back
    assert made.cleanup_count == 4


def test_one_that_is_off_only_cleans_when_asked_B30(device):
    cached(device)
    alerts = Alerts()
    made = MemoryWatchdog(alerts, auto_cleanup=False)
    alerts.tell("critical")
    assert made.cleanup_count == 0 and device.stats()["reserved_bytes"] == 20 * MIB
    made.force_cleanup()
    made.force_cleanup(aggressive=True)
    assert kinds(alerts) == ["standard", "aggressive"] and device.stats()["reserved_bytes"] == 0
    assert list(made.get_cleanup_stats()) == [
        "cleanup_count", "last_cleanup_time", "auto_cleanup_enabled", "cleanup_threshold", "aggressive_cleanup_threshold"]
    assert (made.get_cleanup_stats()["cleanup_count"], made.get_cleanup_stats()["auto_cleanup_enabled"]) == (2, False)
    assert made.get_cleanup_stats()["last_cleanup_time"] > 1.7e9


def test_each_says_what_it_returned_B30(device, caplog):
    kept = device.alloc(30 * MIB)
    cached(device, 20 * MIB)
    alerts = Alerts()
    MemoryWatchdog(alerts)
    with caplog.at_level(logging.INFO, "vramscope"):
        alerts.tell("warning", 1000, usage=92)
        alerts.tell("critical", 2000)  # what is left is alive
    texts = ["Performed standard memory cleanup: 20,971,520 bytes returned", "Performed aggressive memory cleanup: 0 bytes returned"]
    assert [event[:3] for event in alerts.events] == [("cleanup", 0, text) for text in texts]
    assert [event[3]["returned_bytes"] for event in alerts.events] == [20 * MIB, 0] and kept.live
    assert [record.getMessage() for record in caplog.records] == ["watchdog: " + text for text in texts]


class Cycle:
    def __init__(self, handle):
        self.me, self.handle = self, handle


@pytest.mark.parametrize("aggressive, freed", [(False, 0), (True, 20 * MIB)])
def test_an_aggressive_one_collects_garbage_first_B30(device, aggressive, freed):
    import gc
    gc.disable()
    try:
        Cycle(device.alloc(20 * MIB))
        alerts = Alerts()
        MemoryWatchdog(alerts).force_cleanup(aggressive)
    finally:
        gc.enable()
    assert alerts.events[0][3]["returned_bytes"] == freed
    gc.collect()


def test_what_fails_is_an_event_B30(device):
    alerts = Alerts()
    made = MemoryWatchdog(alerts)
    alerts.device = "cuda:7"
    alerts.tell("critical")
    assert alerts.events == [("error", 0, "Cleanup failed: device cuda:7 is not available: there are 1", None)]
    assert made.cleanup_count == 1


def test_a_backend_without_a_cache_B30():
    alerts = Alerts("cpu")
    MemoryWatchdog(alerts).force_cleanup()
    assert alerts.events[0][3] == {"cleanup": "standard", "returned_bytes": None} and "an unknown number of" in alerts.events[0][2]


def test_examples_run_B30():
    done = doctest.testmod(watchdog)
    assert done.attempted and not done.failed
