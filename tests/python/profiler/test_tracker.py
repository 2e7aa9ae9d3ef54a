"""Tracker on simulated devices with a virtual clock: events, alerts, callbacks, phases.

Trackers here sample once an hour by themselves, and else when they are told to.
"""
import copy
import gc
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import vramscope
from conftest import PACKAGE
from vramscope import Thresholds, Tracker, sim
from vramscope.compat.gpumemprof import MemoryAnalyzer, load_telemetry_events
from vramscope.tracker import KINDS, Event, of_process

MIB, GIB = 1 << 20, 1 << 30
NEVER = {"warning_percent": None, "critical_percent": None, "growth_bytes": None, "fragmentation_ratio": None}


@pytest.fixture
def device():
    with sim.Device("10GiB") as made:
        yield made


def quiet(**more):
    """A tracker that samples when it is told to, and tells of no alerts but those that are set."""
    given = {**NEVER, **{name: more.pop(name) for name in NEVER if name in more}}
    return Tracker(interval=3600, thresholds=Thresholds(**given), **more)


def kinds(tracker):
    return [event.kind for event in tracker.events()]


def until(condition, seconds=30):
    """A hang, not slowness, is a failure."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


# Events.

def test_events_of_a_run_B22(device):
    before = device.alloc(64 * MIB)
    with quiet() as tracker:
        more = device.alloc(32 * MIB)
        device.advance(1_000_000_000)
        tracker.sample()
        device.free(more)
        device.free(before)
        tracker.sample()
    start, peak, grown, shrunk, stop = tracker.events()
    assert [e.kind for e in (start, peak, grown, shrunk, stop)] == ["start", "peak", "allocation", "deallocation", "stop"]
    assert start.allocated_bytes == 64 * MIB and start.change_bytes is None  # what was there before is no allocation
    assert (grown.allocated_bytes, grown.change_bytes, grown.device) == (96 * MIB, 32 * MIB, 0)
    assert (shrunk.allocated_bytes, shrunk.change_bytes, shrunk.peak_bytes) == (0, -96 * MIB, 96 * MIB)
    assert peak.peak_bytes == 96 * MIB and "96.00 MiB" in peak.context
    assert 1e9 <= grown.t_ns - start.t_ns < 1.1e9 and grown.time - start.time == pytest.approx(1, abs=0.1)
    assert start.time == pytest.approx(time.time(), abs=60)
    samples = tracker.events("sample")
    assert len(samples) == 3 and samples[0].context is None  # the first one is the start
    every = sorted([*tracker.events(), *samples], key=lambda event: event.index)
    assert [event.index for event in every] == list(range(len(every)))


def test_what_the_driver_says_of_the_device_B22(device):
    device.other(2 * GIB)
    device.alloc(1 * GIB)
    with quiet() as tracker:
        pass
    start = tracker.events("start")[0]
    assert (start.device_used_bytes, start.device_free_bytes, start.device_total_bytes) == (3 * GIB, 7 * GIB, 10 * GIB)


def test_a_peak_between_two_samples_is_not_lost_B22(device):
    with quiet() as tracker:
        device.free(device.alloc(512 * MIB))
        tracker.sample()
        tracker.sample()
    assert kinds(tracker) == ["start", "peak", "stop"]
    assert tracker.events("peak")[0].peak_bytes == tracker.stats()["peak_bytes"] == 512 * MIB


def test_an_event_is_a_value(device):
    with quiet() as tracker, tracker.phase("load", {"step": 3, "model": "x"}):
        pass
    event = tracker.events("phase_enter")[0]
    assert event == copy.deepcopy(event) == pickle.loads(pickle.dumps(event)) != tracker.events("stop")[0]
    assert event.to_dict()["metadata"] == {"step": 3, "model": "x"} and list(event.to_dict()) == list(Event.__slots__)
    for change in (lambda: setattr(event, "kind", "peak"), lambda: delattr(event, "kind")):
        with pytest.raises(AttributeError):
            change()
    assert repr(event) == "<Event 2 phase_enter: allocated_bytes=0 change_bytes=0>"


def test_what_nobody_knows_is_none():
    with quiet(backend="none") as tracker:
        tracker.sample()
    assert kinds(tracker) == ["start", "collector_degraded", "stop"]
    known = tracker.stats()
    for name in ("allocated_bytes", "peak_bytes", "allocations", "ooms", "device_used_bytes", "device_total_bytes"):
        assert known[name] is None, name
    assert tracker.events("start")[0].allocated_bytes is None and known["rss_bytes"] > MIB
    assert tracker.timeline() == {"time": [], "allocated_bytes": [], "reserved_bytes": []}


@pytest.mark.parametrize("wrong", [{"interval": 0}, {"interval": -1}, {"interval": float("nan")}, {"interval": 3601},
                                   {"capacity": 0}, {"capacity": (1 << 24) + 1}])
def test_arguments_out_of_range(device, wrong):
    with pytest.raises(ValueError):
        Tracker(**wrong)


def test_devices_and_kinds_that_there_are_not(device):
    with pytest.raises(vramscope.Error):
        Tracker(device=3)
    tracker = quiet()
    for ask in (lambda: tracker.events("oops"), lambda: tracker.on("oops", print)):
        with pytest.raises(vramscope.Error, match="no kind of event 'oops': start, stop") as failure:
            ask()
        assert failure.value.status == "usage"


# Start and stop.

def test_a_second_start_is_ignored(device):
    tracker = quiet()
    assert not tracker.running
    tracker.sample()
    assert tracker.events() == []  # it does not run
    tracker.start()
    tracker.start()
    assert tracker.running
    tracker.stop()
    tracker.stop()
    assert not tracker.running and kinds(tracker) == ["start", "stop"]
    device.alloc(3 * MIB)
    tracker.start()
    tracker.stop()
    # What happened in between is no growth.
    assert kinds(tracker) == ["start", "stop"] * 2 and tracker.stats()["growth_samples"] == 0


def test_the_thread_samples_by_itself(device):
    with Tracker(interval=0.002) as tracker:
        until(lambda: tracker.stats()["samples"] >= 20)
        held = device.alloc(2 * MIB)
        until(lambda: tracker.events("allocation"))
    assert held.live and tracker.stats()["state"] == "stopped" and tracker.events("allocation")[0].change_bytes == 2 * MIB


def test_a_forgotten_tracker_ends_its_threads(device):
    tracker = Tracker(interval=0.002)
    tracker.on("peak", print)
    tracker.start()
    core, thread = tracker._core, tracker._callbacks.thread
    assert thread.name == "vramscope-events" and thread.daemon and core.running
    del tracker
    gc.collect()
    until(lambda: not core.running and not thread.is_alive())


class Counters:
    """A backend of the program's own, which only threads of Python may ask."""

    def __init__(self):
        self.allocated, self.threads, self.fails = 5 * MIB, set(), False

    def stats(self, device):
        self.threads.add(threading.current_thread().name)
        if self.fails:
            raise RuntimeError("the device fell off the bus")
        return {"allocated_bytes.all.current": self.allocated, "reserved_bytes.all.current": 8 * MIB}


def test_a_backend_of_python_is_read_by_a_thread_of_python():
    counters = Counters()
    with Tracker(interval=0.01, backend=counters) as tracker:
        counters.allocated = 6 * MIB
        until(lambda: tracker.events("allocation"))
        assert "vramscope-reader" in counters.threads
        counters.fails = True
        samples = tracker.stats()["samples"]
        until(lambda: tracker.stats()["samples"] > samples + 10)
        counters.allocated, counters.fails = 7 * MIB, False
        until(lambda: len(tracker.events("allocation")) == 2)
    assert [e.change_bytes for e in tracker.events("allocation")] == [MIB, MIB]
    assert vramscope.Profiler(backend=counters).losses["readings"] > 0
    assert {name for name in counters.threads if name.startswith("vramscope")} == {"vramscope-reader"}
    until(lambda: not any(thread.name == "vramscope-reader" for thread in threading.enumerate()))


# Alerts: the rules are shown one byte around each threshold in tests/unit/profiler/test_tracker.c.

def test_threads_that_start_it_at_once_do_not_wait_for_each_other():
    """One that is inside the backend has no lock that another wants: that one has the interpreter's."""
    program = """
    import threading, time
    import vramscope
    class Backend:
        def stats(self, device): return {}
        def count(self): return 1
        def current(self): return 0
        def driver_id(self, device): time.sleep(0.01)
    tracker = vramscope.Tracker(backend=Backend(), interval=3600)
    threads = [threading.Thread(target=tracker.start) for _ in range(4)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    print(tracker.running, [event.kind for event in tracker.events()].count("start"))
    tracker.stop()
    """
    done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": PACKAGE})
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 1\n", "")


def test_alerts_cross_with_hysteresis_B23_B24(device):
    held = []

    def at(percent):
        """So much of the device, of which all that is reserved is allocated."""
        while held:
            device.free(held.pop())
        device.empty_cache()
        held.append(device.alloc(percent * 10 * GIB // 100 // (2 * MIB) * (2 * MIB)))
        tracker.sample()
    with quiet(warning_percent=80, critical_percent=95) as tracker:
        for percent in (50, 81, 82, 79, 81, 77, 81, 96, 94, 96, 85, 70, 97):
            at(percent)
    told = [(e.kind, round(e.metadata["usage_percent"])) for e in tracker.events() if e.kind in ("warning", "critical")]
    assert told == [("warning", 81), ("warning", 81), ("critical", 96), ("critical", 97)]
    assert tracker.events("critical")[0].context == "CRITICAL: Memory usage at 96.0%"
    assert tracker.events("warning")[0].context == "WARNING: Memory usage at 81.0%"
    assert tracker.stats()["alerts"] == 4


def test_growth_and_fragmentation_alert_B24(device):
    with quiet(growth_bytes="150MiB", fragmentation_ratio=0.5) as tracker:
        small = device.alloc(150 * MIB)
        tracker.sample()
        large = device.alloc(200 * MIB)
        tracker.sample()
        device.free(small)
        device.free(large)
        tracker.sample()
    growth, fragmentation = tracker.events("warning")
    assert growth.context == "Large allocation detected: 200.00 MiB" and growth.metadata == {"large_allocation": True}
    assert fragmentation.context == "High fragmentation: 100.0%" and fragmentation.metadata == {"fragmentation": 1.0}


def test_thresholds_are_values():
    assert Thresholds() == Thresholds(80, 95, 100 * MIB, 0.3) != Thresholds(growth_bytes=1)
    assert repr(Thresholds(growth_bytes="1GiB", critical_percent=None)) == \
        "Thresholds(warning_percent=80.0, critical_percent=None, growth_bytes=1073741824, fragmentation_ratio=0.3)"
    for wrong in ({"warning_percent": -1}, {"growth_bytes": float("inf")}, {"fragmentation_ratio": float("nan")}):
        with pytest.raises(ValueError):
            Thresholds(**wrong)
    with pytest.raises(vramscope.Error):
        Thresholds(growth_bytes="much")


# Callbacks.

def test_callbacks_run_in_order_on_their_thread(device):
    seen = []

    def call(event):
        seen.append((event.kind, event.change_bytes, threading.current_thread().name))
    tracker = quiet()
    for kind in ("allocation", "deallocation", "stop"):
        tracker.on(kind, call)
    with tracker:
        handle = device.alloc(4 * MIB)
        tracker.sample()
        device.free(handle)
        tracker.sample()
    # Those that waited were called before stop() was over.
    assert seen == [("allocation", 4 * MIB, "vramscope-events"), ("deallocation", -4 * MIB, "vramscope-events"),
                    ("stop", 0, "vramscope-events")]


def test_no_thread_without_a_callback(device):
    before = threading.enumerate()
    with quiet() as tracker:
        assert threading.enumerate() == before
        tracker.on("stop", print).cancel()
        assert [thread.name for thread in threading.enumerate() if thread not in before] == ["vramscope-events"]


def test_a_callback_s_exception_is_counted(device):
    seen = []

    def fails(event):
        raise ValueError("first")

    def leaves(event):
        raise SystemExit("second")
    with quiet() as tracker:
        for call in (fails, leaves, seen.append):
            tracker.on("sample", call)
        tracker.sample()
        until(lambda: seen)
    known = tracker.stats()
    assert known["callback_error"] == "ValueError: first" and known["callback_errors"] == 2 * len(seen) >= 2


def test_a_callback_ends_with_its_handle(device):
    seen, other = [], []
    with quiet() as tracker:
        handle = tracker.on("sample", seen.append)
        tracker.on("sample", other.append)
        tracker.sample()
        until(lambda: other)
        handle.cancel()
        handle.cancel()
        tracker.sample()
        until(lambda: len(other) == 2)
    assert len(seen) == 1


def test_a_thousand_events_wait_and_others_are_counted(device):
    entered, go = threading.Event(), threading.Event()

    def slow(event):
        entered.set()
        go.wait(30)
    with quiet() as tracker:
        tracker.on("sample", slow)
        tracker.sample()
        assert entered.wait(30)  # it has one, or a few, and waits with them
        for _ in range(1200):
            tracker.sample()
        known = tracker.stats()
        assert known["waiting_events"] == 1000 and known["lost_callbacks"] == 200
        go.set()
    assert tracker.stats()["waiting_events"] == 0 and known["lost_samples"] == 0


def test_a_callback_may_use_the_tracker(device):
    done = []

    def call(event):
        tracker.on("phase_enter", done.append)
        tracker.sample()
        with tracker.phase("inside"):
            done.append(tracker.stats()["samples"])
        tracker.stop()
    tracker = quiet()
    tracker.on("start", call)
    tracker.start()
    until(lambda: not tracker.running)
    until(lambda: len(done) == 2)
    assert kinds(tracker) == ["start", "phase_enter", "phase_exit", "stop"]


# What is kept.

def test_filters_are_kind_then_time_then_the_last_B25(device):
    with quiet() as tracker:
        for _ in range(5):
            device.free(device.alloc(2 * MIB))
            held = device.alloc(2 * MIB)
            device.advance(1_000_000_000)
            tracker.sample()
            device.free(held)
            device.advance(1_000_000_000)
            tracker.sample()
    grown = tracker.events("allocation")
    assert len(grown) == 5 and tracker.events("allocation", last=2) == grown[3:]
    assert tracker.events("allocation", since=grown[2].time) == grown[2:]
    assert tracker.events("allocation", last=1, since=grown[2].time) == grown[4:]
    assert tracker.events("allocation", last=0) == [] and tracker.events("allocation", last=99) == grown
    assert tracker.events(last=1)[0].kind == "stop" and tracker.events(since=time.time() + 1e6) == []
    with pytest.raises(ValueError):
        tracker.events(last=-1)


def test_the_last_events_are_kept_and_others_counted(device):
    with quiet(capacity=10) as tracker:
        for _ in range(30):
            device.free(device.alloc(2 * MIB))
            tracker.sample()
            held = device.alloc(2 * MIB)
            tracker.sample()
            device.free(held)
    assert len(tracker.events()) == 10 and len(tracker.events("sample")) == 10
    known = tracker.stats()
    assert known["events"] == 10 and known["lost_events"] > 40 and known["lost_samples"] == 61 - 10
    assert tracker.events()[-1].kind == "stop"


def test_the_timeline_has_the_last_of_each_bucket_B26(device):
    held = []
    with quiet() as tracker:
        start = tracker.events("start")[0].time
        for _ in range(6):
            held.append(device.alloc(2 * MIB))
            device.advance(500_000_000)
            tracker.sample()
        device.advance(10_000_000_000)
        tracker.sample()
    line = tracker.timeline(1.0)
    assert [round(t - start, 3) for t in line["time"]] == [0, 1, 2, 3, 13]
    assert [value // (2 * MIB) for value in line["allocated_bytes"]] == [1, 3, 5, 6, 6]
    assert line["reserved_bytes"][-1] >= 12 * MIB
    assert len(tracker.timeline(60)["time"]) == 1
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            tracker.timeline(wrong)


def test_totals_are_of_samples_and_real_ones_of_counters_B27(device):
    with quiet() as tracker:
        for _ in range(10):
            device.free(device.alloc(3 * MIB))
        kept = device.alloc(8 * MIB)
        device.advance(2_000_000_000)
        tracker.sample()
        device.free(kept)
        tracker.sample()
    known = tracker.stats()
    assert (known["growth_samples"], known["growth_bytes"]) == (1, 8 * MIB)
    assert (known["shrink_samples"], known["shrink_bytes"]) == (1, 8 * MIB)
    assert (known["allocations"], known["frees"]) == (11, 11)
    assert known["allocated_total_bytes"] == known["freed_total_bytes"] == 38 * MIB
    assert known["samples"] == 4 and known["duration_ns"] > 2e9 and known["events"] == known["events_last_hour"] == 5
    assert known["started"] < known["last_sample"] and known["callback_error"] is None


def test_an_out_of_memory_error_at_a_given_byte(device):
    with quiet() as tracker:
        held = [device.alloc(6 * GIB)]
        with pytest.raises(sim.OutOfMemoryError):
            device.alloc(4 * GIB + 1)
        held.append(device.alloc(4 * GIB))
        tracker.sample()
    assert tracker.stats()["ooms"] == 1 and tracker.stats()["peak_bytes"] == 10 * GIB


def test_clearing_begins_anew(device):
    with quiet() as tracker:
        device.free(device.alloc(300 * MIB))
        tracker.sample()
        tracker.clear()
        assert tracker.events() == [] and tracker.stats()["samples"] == 0 and tracker.stats()["peak_bytes"] is None
        held = device.alloc(2 * MIB)
        tracker.sample()
    assert held.live and kinds(tracker) == ["allocation", "stop"] and tracker.stats()["peak_bytes"] == 2 * MIB


def test_a_day_on_the_virtual_clock(device):
    with quiet(growth_bytes="64MiB") as tracker:
        for hour in range(24):
            held = device.alloc(128 * MIB)
            for _ in range(360):
                device.advance(10_000_000_000)
                tracker.sample()
            device.free(held)
            tracker.sample()
    known = tracker.stats()
    assert known["duration_ns"] == pytest.approx(86_400e9, rel=1e-4) and known["samples"] == 24 * 361 + 2
    assert known["alerts"] == 24 and known["events_last_hour"] in (3, 4, 5) and known["lost_events"] == 0
    assert len(tracker.timeline(3600)["time"]) == 25  # the events themselves take microseconds


# Phases.

def test_events_have_the_path_of_their_phases_B33(device):
    held = []
    with quiet() as tracker:
        with tracker.phase("epoch"):
            forward = tracker.phase("forward")
            with forward:
                held.append(device.alloc(2 * MIB))
                tracker.sample()
            with tracker.phase("backward", {"loss": float("inf"), 3: None}), forward:
                held.append(device.alloc(2 * MIB))
                tracker.sample()
        held.append(device.alloc(2 * MIB))
        tracker.sample()
    assert [e.phase for e in tracker.events("allocation")] == [
        ("epoch", "forward"), ("epoch", "backward", "forward"), ()]
    entered, left = tracker.events("phase_enter"), tracker.events("phase_exit")
    assert [e.phase[-1] for e in entered] == ["epoch", "forward", "backward", "forward"]
    assert [e.phase[-1] for e in left] == ["forward", "forward", "backward", "epoch"]
    assert entered[2].metadata == {"loss": "inf", "3": None} and entered[2].context == "Entered backward"


def test_phases_of_an_exception_end_B33(device):
    with quiet() as tracker:
        with pytest.raises(KeyError), tracker.phase("a"), tracker.phase("b"):
            raise KeyError
        tracker.sample()
    assert tracker.events("sample")[-1].phase == () and len(tracker.events("phase_exit")) == 2


def test_phases_of_two_threads_end_in_any_order_B33(device):
    with quiet() as tracker:
        first, second = tracker.phase("first"), tracker.phase("second")
        first.__enter__()
        thread = threading.Thread(target=second.__enter__)
        thread.start()
        thread.join()
        first.__exit__(None, None, None)
        tracker.sample()
        second.__exit__(None, None, None)
    assert [e.phase for e in tracker.events("phase_exit")] == [("first",), ("first", "second")]


def test_metadata_are_bounded_B33(device):
    with quiet() as tracker:
        with tracker.phase("x", {"object": object}):
            pass
        with pytest.raises(ValueError, match="4096 bytes"):
            tracker.phase("x", {"text": "x" * 4096})
    assert "object" in tracker.events("phase_enter")[0].metadata


def test_names_of_any_kind_B33(device):
    with quiet() as tracker, tracker.phase("a\x00\x1b\ud800é"):
        pass
    assert tracker.events("phase_enter")[0].phase == ("a\x00\x1b\ud800é",)


# Ranks.

@pytest.mark.parametrize("env, given, told", [
    ({}, {}, (None, None, None, None)),
    ({"RANK": "2", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "j"}, {}, ("j", 2, 1, 4)),
    ({"RANK": "2", "LOCAL_RANK": "1", "WORLD_SIZE": "4"}, {"rank": 3, "job_id": "mine"}, ("mine", 3, 1, 4)),
    ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_JOB_ID": "77"}, {}, ("77", 0, None, 1)),
])
def test_job_and_ranks_are_read_at_the_start(device, monkeypatch, tmp_path, env, given, told):
    tracker = quiet(**given)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    with tracker:
        pass
    tracker.export(tmp_path / "x.jsonl")
    record = vars(load_telemetry_events(tmp_path / "x.jsonl")[0])
    job, rank, local, world = told
    assert (record["job_id"], record["rank"], record["world_size"]) == (job, rank or 0, world or 1)
    assert record["local_rank"] == (local if local is not None else rank or 0)


def test_ranks_that_do_not_fit_are_refused(device):
    with pytest.raises(ValueError, match="rank 4 is none of 4"):
        quiet(rank=4, world_size=4).start()


def test_three_ranks_with_shifted_clocks(tmp_path):
    """The files of three trackers, whose clocks differ by seconds: the rank that jumps first is found."""
    events = []
    for rank, jump in ((0, 5), (1, 3), (2, 6)):
        with sim.Device("10GiB") as device, quiet(rank=rank, world_size=3, job_id="j") as tracker:
            for step in range(10):
                if step == jump:
                    device.other(4 * GIB)
                device.advance(100_000_000)
                tracker.sample()
            path = tracker.export(tmp_path / f"{rank}.json", "json")
        found = load_telemetry_events(path, permissive_legacy=False)
        assert len(found) == 11  # a start and ten samples
        for event in found:
            event.timestamp_ns += rank * 3_000_000_000
            event.sampling_interval_ms = 100
        events += found
    told = MemoryAnalyzer().analyze_cross_rank_timeline(events)
    assert told["participating_ranks"] == [0, 1, 2] and told["first_cause_suspects"][0]["rank"] == 1


# The host.

def test_memory_of_the_process_is_tracked():
    with of_process(interval=3600, capacity=100) as tracker:
        kept = bytearray(os.urandom(1)) * (64 * MIB)
        tracker.sample()
        del kept
    grown = [e for e in tracker.events("allocation") if e.change_bytes > 60 * MIB]
    event = grown[0]
    assert event.allocated_bytes == event.reserved_bytes == event.rss_bytes and event.mapped_bytes > event.rss_bytes
    assert event.device_used_bytes is None and event.cpu_ns > 0 and event.host_used_bytes > 64 * MIB


# Processes.

def program(text, **more):
    return subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(text)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=300, **more)


def test_a_child_of_fork_begins_anew(device):
    calls = []
    tracker = Tracker(interval=0.01)
    tracker.on("allocation", calls.append)
    tracker.start()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            good = not tracker.running and tracker.stats()["state"] == "stopped by fork"
            tracker.start()
            held = device.alloc(2 * MIB)
            until(lambda: calls and held.live)
            tracker.stop()
            status = 0 if good and tracker.events()[-1].kind == "stop" else 2
        finally:
            os._exit(status)
    assert os.waitpid(pid, 0)[1] == 0
    assert tracker.running and calls == []
    tracker.stop()


EXITS = """
    import sys, threading, vramscope
    from vramscope import sim, Tracker
    device = sim.Device("1GiB")
    device.__enter__()
    tracker = Tracker(interval=0.001)
    tracker.on("sample", lambda event: event.to_dict())
    tracker.start()
    phase = tracker.phase("never left")
    phase.__enter__()
    {end}
"""


@pytest.mark.parametrize("end", ["", "sys.exit(0)", "threading.Thread(target=sys.exit).start()", "import os; os._exit(0)",
                                 "threading.Thread(target=lambda: tracker.stop()).start()"])
def test_a_program_may_end_while_it_tracks(end):
    for _ in range(3):
        done = program(EXITS.format(end=end))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


MANY = """
    import os, random, sys, threading
    from vramscope import sim, Tracker
    for number in range(int(sys.argv[1])):
        pid = os.fork()
        if pid == 0:
            break
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(f"the {number}th")
    else:
        print("all")
        sys.exit()
    device = sim.Device("1GiB")
    device.__enter__()
    tracker = Tracker(interval=0.001, sink=sys.argv[2] if number % 5 == 0 else None)
    for kind in ("sample", "start", "stop", "phase_enter"):
        tracker.on(kind, lambda event: tracker.sample() if number % 2 else event.to_dict())
    tracker.start()
    phase = tracker.phase("never left")
    phase.__enter__()
    if number % 3 == 0:
        threading.Thread(target=lambda: [tracker.sample() for _ in range(100000)], daemon=True).start()
    if number % 7 == 0:
        threading.Thread(target=tracker.stop).start()
    if number % 11 == 0:
        os._exit(0)
"""


@pytest.mark.parametrize("exits", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_programs_end_while_they_track(tmp_path, exits):
    done = subprocess.run([sys.executable, "-B", "-c", textwrap.dedent(MANY), str(exits), str(tmp_path)], capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": PACKAGE}, timeout=1200)
    assert (done.returncode, done.stdout, done.stderr) == (0, "all\n", "")


def test_the_import_is_light():
    done = program("""
        import sys, vramscope, vramscope.tracker
        assert not {"torch", "numpy", "threading", "json", "typing", "dataclasses"} & set(sys.modules)
        assert len(sys._current_frames()) == 1
    """)
    assert (done.returncode, done.stderr) == (0, "")


def test_kinds_are_those_of_the_row_B22():
    assert KINDS == ("start", "stop", "peak", "allocation", "deallocation", "warning", "critical", "error", "cleanup",
                     "sample", "phase_enter", "phase_exit", "collector_degraded", "collector_recovered")


def test_what_no_tracker_takes_is_refused_with_a_sentence(device):
    with pytest.raises(TypeError, match="thresholds are Thresholds or None, not "):
        Tracker(thresholds={})
    with pytest.raises(TypeError, match="a callback can be called, unlike 3"):
        Tracker(interval=3600).on("peak", 3)
