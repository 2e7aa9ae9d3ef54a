"""MemoryTracker, CPUMemoryTracker and monitoring on simulated devices and the host: rows B10, B17, B20 to B29, B33, B55, B60."""
import csv
import importlib
import json
import logging
import mmap
import os
import threading
import time

import pytest
import vramscope
from vramscope import sim
from vramscope.compat import gpumemprof
from vramscope.compat.gpumemprof import (CPUMemoryProfiler, CPUMemoryTracker, DeviceMemoryCollector, DeviceMemorySample, GPUMemoryProfiler,
                                         MemoryAnalyzer, MemoryProfiler, MemoryTracker, TrackingEvent, load_telemetry_events, monitoring)

MIB, GIB = 1 << 20, 1 << 30
HOUR = 3600  # an interval that does not pass
STATS = ["peak_memory", "total_allocations", "total_deallocations", "total_allocation_bytes", "total_deallocation_bytes",
         "alert_count", "tracking_start_time", "last_memory_check"]
STATISTICS = [*STATS, "total_events", "events_last_hour", "backend", "oom_flight_recorder_enabled", "last_oom_dump_path",
              "current_memory_allocated", "current_memory_reserved", "memory_utilization_percent", "average_allocation_size",
              "average_deallocation_size", "tracking_duration_seconds", "allocations_per_second", "bytes_allocated_per_second"]


@pytest.fixture
def device():
    with sim.Device("10GiB") as made:
        yield made


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "TORCHELASTIC_RUN_ID", "SLURM_JOB_ID"):
        monkeypatch.delenv(name, raising=False)


def until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def types(events):
    return [event.event_type for event in events]


# MemoryTracker.

def test_arguments_and_attributes_B20(device):
    tracker = MemoryTracker()
    assert str(tracker.device) == "cuda:0" and tracker.backend == "sim" and tracker.total_memory == 10 * GIB
    assert (tracker.sampling_interval, tracker.max_events, tracker.enable_alerts) == (0.1, 10000, True)
    assert (tracker.last_oom_dump_path, tracker.oom_buffer_size, tracker.is_tracking) == (None, 10000, False)
    assert tracker.distributed_identity == {"job_id": None, "rank": 0, "local_rank": 0, "world_size": 1}
    assert tracker.events == tracker.get_events() == tracker.alert_callbacks == []
    assert MemoryTracker(max_events=7).oom_buffer_size == 7 and MemoryTracker(oom_buffer_size=3).oom_buffer_size == 3
    given = MemoryTracker("cuda:0", job_id="j", rank=1, local_rank=0, world_size=2)
    assert given.distributed_identity == {"job_id": "j", "rank": 1, "local_rank": 0, "world_size": 2}


@pytest.mark.parametrize("wrong", [{"sampling_interval": 0}, {"sampling_interval": -0.1}, {"sampling_interval": float("nan")},
                                   {"max_events": 0}, {"max_events": -1}, {"device": 3}, {"device": "cpu"}, {"rank": 2}])
def test_arguments_that_make_no_sense_B20(device, wrong):
    with pytest.raises(ValueError):
        MemoryTracker(**wrong)


def test_without_a_device_B20(monkeypatch):
    monkeypatch.setenv("VRAMSCOPE_BACKEND", "none")
    with pytest.raises(RuntimeError):
        MemoryTracker()


def test_ranks_come_from_the_launcher_B20(device, monkeypatch):
    for name, value in (("RANK", "3"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "4"), ("TORCHELASTIC_RUN_ID", "night")):
        monkeypatch.setenv(name, value)
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        pass
    event = tracker.get_events()[0]
    assert (event.job_id, event.rank, event.local_rank, event.world_size) == ("night", 3, 1, 4)


class Collector(DeviceMemoryCollector):
    """A device of another kind."""

    used = 3 * MIB

    def name(self):
        return "other"

    def is_available(self):
        return True

    def sample(self):
        return DeviceMemorySample(allocated_bytes=self.used, reserved_bytes=8 * MIB, used_bytes=None, free_bytes=None,
                                  total_bytes=None, active_bytes=None, inactive_bytes=None, device_id=0)

    def capabilities(self):
        return {"backend": "other"}


def test_a_collector_is_read_in_place_of_the_backend_B20():
    collector = Collector()
    with MemoryTracker(sampling_interval=0.01, collector=collector) as tracker:
        collector.used = 5 * MIB
        until(lambda: tracker.get_events("allocation"))
    assert tracker.backend == "other" and tracker.collector is collector and tracker.collector_capabilities == {"backend": "other"}
    event = tracker.get_events("allocation")[0]
    assert (event.memory_allocated, event.memory_reserved, event.memory_change, event.backend) == (5 * MIB, 8 * MIB, 2 * MIB, "other")
    assert event.active_memory is None and event.device_used is None


def test_tracking_starts_and_stops_B21(device):
    before = threading.enumerate()
    with MemoryTracker(sampling_interval=0.002) as tracker:
        tracker.start_tracking()
        assert tracker.is_tracking and set(threading.enumerate()) <= set(before)  # no thread of Python samples
        until(lambda: len(tracker.get_events("sample")) > 10)
    tracker.stop_tracking()
    assert not tracker.is_tracking and types(tracker.events) == ["start", "stop"]
    tracker.start_tracking()
    tracker.stop_tracking()
    assert types(tracker.events) == ["start", "stop"] * 2


def test_fields_of_events_B22(device):
    device.other(2 * GIB)
    small = device.alloc(4 * MIB)
    with MemoryTracker(sampling_interval=HOUR, job_id="j", enable_alerts=False) as tracker:
        held = device.alloc(60 * MIB)
        device.free(small)
        device.advance(1_500_000_000)
        tracker.sample()
    start, peak, grown, _ = tracker.get_events()
    assert type(grown) is TrackingEvent and types(tracker.get_events()) == ["start", "peak", "allocation", "stop"]
    assert grown.timestamp - start.timestamp == pytest.approx(1.5, abs=0.01)
    assert (grown.memory_allocated, grown.memory_change, grown.device_id, grown.job_id) == (60 * MIB, 56 * MIB, 0, "j")
    reserved = device.stats()["reserved_bytes"]
    assert grown.memory_reserved == reserved and grown.active_memory == held.bytes
    # fixed: not the larger of allocated and reserved, so that memory of others is seen
    assert (grown.device_used, grown.device_free, grown.device_total) == (reserved + 2 * GIB, 8 * GIB - reserved, 10 * GIB)
    assert (start.memory_change, start.metadata, grown.metadata, grown.backend) == (0, None, None, "sim")
    assert tracker.get_events("sample")[0].memory_allocated == 60 * MIB


def test_free_parts_of_segments_are_inactive_B22(device):
    with MemoryTracker(sampling_interval=HOUR, enable_alerts=False) as tracker:
        held = device.alloc(4 * MIB)
        tracker.sample()
    (event,) = tracker.get_events("allocation")
    assert held.live and (event.active_memory, event.inactive_memory) == (4 * MIB, 16 * MIB)


def test_hidden_memory_is_found_by_the_analyzer_B22(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        for step in range(8):
            device.other(6 * GIB if step == 4 else 0)
            device.advance(1_000_000_000)
            tracker.sample()
    found = MemoryAnalyzer().analyze_memory_gaps(tracker.get_events("sample"))
    assert [finding.classification for finding in found] == ["transient_spike"]


def test_thresholds_B23(device):
    tracker = MemoryTracker()
    assert tracker.thresholds == {"memory_warning_percent": 80.0, "memory_critical_percent": 95.0,
                                  "memory_leak_threshold": 100 * MIB, "fragmentation_threshold": 0.3}
    tracker.set_threshold("memory_warning_percent", 60)
    assert tracker.thresholds["memory_warning_percent"] == 60
    for wrong in (lambda: tracker.set_threshold("oops", 1), lambda: tracker.thresholds.update(oops=1)):
        with pytest.raises(ValueError, match="Unknown threshold: oops"):
            wrong()


def test_fragmentation_is_a_share_of_what_is_reserved_B23(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        first, second = device.alloc(7 * MIB), device.alloc(8 * MIB)
        tracker.sample()
        assert tracker.get_alerts() == []  # a quarter of 20 MiB; a third of what is allocated
        device.free(first)
        tracker.sample()
    assert second.live and [alert.metadata for alert in tracker.get_alerts()] == [{"fragmentation": 0.6}]


def test_a_threshold_may_be_set_in_the_dict_B23(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        tracker.thresholds["memory_leak_threshold"] = 12 * MIB
        held = device.alloc(12 * MIB)
        tracker.sample()
        assert tracker.get_alerts() == []
        tracker.thresholds.update({"memory_leak_threshold": 12 * MIB - 1})
        more = device.alloc(12 * MIB)
        tracker.sample()
        assert held.live and more.live and [a.metadata for a in tracker.get_alerts()] == [{"large_allocation": True}]


def test_messages_and_metadata_of_alerts_B24(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        held = [device.alloc(8 * GIB)]
        tracker.sample()
        held.append(device.alloc(1536 * MIB))
        tracker.sample()
        held.clear()
        tracker.sample()
    alerts = tracker.get_alerts()
    assert [(a.event_type, a.metadata) for a in alerts] == [
        ("warning", {"usage_percent": 80.0}), ("warning", {"large_allocation": True}), ("critical", {"usage_percent": 95.0}),
        ("warning", {"fragmentation": 1.0})]
    assert [a.context for a in alerts] == ["WARNING: Memory usage at 80.0%", "Large allocation detected: 8.00 GiB",
                                           "CRITICAL: Memory usage at 95.0%", "High fragmentation: 100.0%"]
    assert tracker.stats["alert_count"] == 4 and tracker.get_alerts(last_n=1) == alerts[-1:]
    assert tracker.get_alerts(last_n=0) == alerts == [e for e in tracker.events if e.event_type in ("warning", "critical", "error")]


def test_an_alert_is_not_repeated_at_each_sample_B24(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        held = device.alloc(9 * GIB)
        for _ in range(20):
            tracker.sample()
    assert held.live and len(tracker.get_alerts()) == 2  # of usage and of growth, once each


def test_alerts_may_be_off_B24(device):
    with MemoryTracker(sampling_interval=HOUR, enable_alerts=False) as tracker:
        tracker.set_threshold("memory_warning_percent", 10)
        held = device.alloc(9 * GIB)
        tracker.sample()
        assert held.live and tracker.get_alerts() == []
        tracker.enable_alerts = True
        tracker.sample()
        assert len(tracker.get_alerts()) == 1


def test_callbacks_of_alerts_B24(device):
    seen, other = [], []

    def fails(event):
        raise RuntimeError("a mistake of the program")
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        for call in (seen.append, fails, other.append):
            tracker.add_alert_callback(call)
        assert tracker.alert_callbacks == [seen.append, fails, other.append]
        held = device.alloc(9 * GIB)
        tracker.sample()
        tracker._add_event("error", 0, "of the program", {"code": 7})
        tracker._add_event("cleanup", 0, "no alert")
        until(lambda: len(other) == 3)
        tracker.remove_alert_callback(other.append)
        tracker.remove_alert_callback(print)
        tracker._add_event("error", 0, "again")
    assert held.live and seen == tracker.get_alerts() and types(seen) == ["warning", "warning", "error", "error"]
    assert seen[2].context == "of the program" and seen[2].metadata == {"code": 7} and seen[2].memory_allocated == 9 * GIB
    assert other == seen[:3] and tracker.alert_callbacks == [seen.append, fails]
    known = tracker.get_statistics()
    assert known["callback_errors"] == 4 and known["callback_error"] == "RuntimeError: a mistake of the program"


def test_filters_B25(device):
    held = []
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        for _ in range(5):
            held.append(device.alloc(2 * MIB))
            device.advance(1_000_000_000)
            tracker.sample()
    grown = tracker.get_events("allocation")
    assert len(grown) == 5 and tracker.get_events(event_type="allocation", last_n=2) == grown[3:]
    assert tracker.get_events("allocation", since=grown[3].timestamp) == grown[3:]
    assert tracker.get_events("allocation", last_n=1, since=grown[1].timestamp) == grown[4:]
    assert tracker.get_events("oops") == [] and tracker.get_events("", 0, 0) == tracker.get_events() == tracker.events


def test_the_oldest_events_go_B25(device):
    with MemoryTracker(sampling_interval=HOUR, max_events=6, enable_alerts=False) as tracker:
        for _ in range(20):
            device.free(device.alloc(2 * MIB))
            held = device.alloc(2 * MIB)
            tracker.sample()
            device.free(held)
            tracker.sample()
    assert len(tracker.events) == len(tracker.get_events("sample")) == 6 and tracker.get_statistics()["lost_events"] == 36 + 1


def test_the_timeline_B26(device):
    held = []
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        assert MemoryTracker().get_memory_timeline() == {"timestamps": [], "allocated": [], "reserved": []}
        for _ in range(6):
            held.append(device.alloc(2 * MIB))
            device.advance(500_000_000)
            tracker.sample()
    line = tracker.get_memory_timeline(interval=1.0)
    assert list(line) == ["timestamps", "allocated", "reserved"]
    first = tracker.events[0].timestamp
    assert [round(t - first, 3) for t in line["timestamps"]] == [0, 1, 2, 3]
    assert [value // (2 * MIB) for value in line["allocated"]] == [1, 3, 5, 6]
    assert line["reserved"] == [20 * MIB] * 4


def test_a_long_timeline_takes_no_time_B26(device):
    with MemoryTracker(sampling_interval=HOUR, max_events=10_000) as tracker:
        for _ in range(10_000):
            device.advance(8_640_000_000)  # a day in all
            tracker.sample()
    # Of 86 million stretches: what is linear in them does not end before the test is given up.
    assert len(tracker.get_memory_timeline(0.001)["timestamps"]) == 10_000


def test_statistics_B27(device):
    tracker = MemoryTracker(sampling_interval=HOUR)
    assert list(tracker.get_statistics())[:len(STATISTICS)] == STATISTICS and list(tracker.stats) == STATS
    assert tracker.stats == dict.fromkeys(STATS, 0) | {"tracking_start_time": None}
    with tracker:
        held = [device.alloc(40 * MIB)]
        device.advance(2_000_000_000)
        tracker.sample()
        held.append(device.alloc(60 * MIB))
        device.advance(2_000_000_000)
        tracker.sample()
        device.free(held.pop())
        tracker.sample()
    known = tracker.get_statistics()
    assert {name: known[name] for name in STATS} == tracker.stats
    assert (known["peak_memory"], known["total_allocations"], known["total_allocation_bytes"]) == (100 * MIB, 2, 100 * MIB)
    assert (known["total_deallocations"], known["total_deallocation_bytes"], known["alert_count"]) == (1, 60 * MIB, 1)
    assert (known["average_allocation_size"], known["average_deallocation_size"]) == (50 * MIB, 60 * MIB)
    assert known["tracking_duration_seconds"] == pytest.approx(4, abs=0.01)
    assert known["allocations_per_second"] == pytest.approx(0.5, abs=0.01)
    assert known["bytes_allocated_per_second"] == pytest.approx(25 * MIB, rel=0.01)
    assert known["current_memory_allocated"] == 40 * MIB and known["current_memory_reserved"] == device.stats()["reserved_bytes"]
    assert known["memory_utilization_percent"] == 100 * device.stats()["reserved_bytes"] / (10 * GIB)
    assert (known["backend"], known["oom_flight_recorder_enabled"], known["last_oom_dump_path"]) == ("sim", False, None)
    assert known["total_events"] == known["events_last_hour"] == len(tracker.events)


def test_events_are_exported_B28(device, tmp_path):
    tracker = MemoryTracker(sampling_interval=HOUR, job_id="j", rank=1, world_size=2)
    tracker.export_events(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="Unsupported format: xml"):
        tracker.export_events(tmp_path / "x", format="xml")
    assert os.listdir(tmp_path) == []
    with tracker:
        held = device.alloc(9 * GIB)
        tracker.sample()
    tracker.export_events(tmp_path / "x.json", format="json")
    tracker.export_events(tmp_path / "x.csv")
    loaded = load_telemetry_events(tmp_path / "x.json", permissive_legacy=False)
    assert held.live and {"start", "sample", "warning", "stop"} <= {event.event_type for event in loaded}
    warning = next(event for event in loaded if event.event_type == "warning")
    assert (warning.collector, warning.sampling_interval_ms, warning.rank, warning.world_size) == ("gpumemprof.sim_tracker", HOUR * 1000, 1, 2)
    assert warning.metadata == {"backend": "sim", "usage_percent": 90.0} and warning.device_used_bytes == 9 * GIB
    with open(tmp_path / "x.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["event_type"] for row in rows] == [event.event_type for event in loaded]
    assert [int(row["timestamp_ns"]) for row in rows] == [event.timestamp_ns for event in loaded]


def test_events_are_cleared_B28(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker:
        device.free(device.alloc(9 * GIB))
        tracker.sample()
        tracker.clear_events()
        assert tracker.events == [] and tracker.stats["peak_memory"] == tracker.stats["alert_count"] == 0
        held = device.alloc(2 * MIB)
        tracker.sample()
    assert held.live and types(tracker.events)[0] == "allocation" and tracker.is_tracking is False


def recorder():
    """The flight recorder, whose bundles rows B31 and B32 show."""
    return pytest.importorskip("vramscope.compat.gpumemprof.oom_recorder", reason="row B31 is not built yet")


def test_a_failure_leaves_a_bundle_and_passes_B29(device, tmp_path):
    recorder()
    with MemoryTracker(sampling_interval=HOUR, enable_oom_flight_recorder=True, oom_dump_dir=str(tmp_path / "dumps"),
                       oom_buffer_size=3) as tracker:
        held = device.alloc(8 * GIB)
        with pytest.raises(sim.OutOfMemoryError) as failure, tracker.capture_oom(context="forward", metadata={"step": 3}):
            device.alloc(4 * GIB)
        assert held.live and failure.value.__cause__ is failure.value.__context__ is None
        path = tracker.last_oom_dump_path
        assert path == tracker.get_statistics()["last_oom_dump_path"] and os.path.dirname(path) == str(tmp_path / "dumps")
        told = json.loads((tmp_path / "dumps" / os.path.basename(path) / "metadata.json").read_text())
        events = json.loads((tmp_path / "dumps" / os.path.basename(path) / "events.json").read_text())
    assert told["context"] == "forward" and told["custom_metadata"]["step"] == 3
    assert told["custom_metadata"]["sample_allocated_bytes"] == 8 * GIB and told["custom_metadata"]["total_memory_bytes"] == 10 * GIB
    assert told["custom_metadata"]["tracker_stats"]["peak_memory"] == 8 * GIB
    assert len(events) == 3 and events[-1]["event_type"] == "error" and events[-1]["metadata"]["oom_reason"] == told["reason"]
    assert types(tracker.get_alerts())[-1] == "error"


def test_other_failures_leave_none_B29(device, tmp_path):
    recorder()
    tracker = MemoryTracker(sampling_interval=HOUR, enable_oom_flight_recorder=True, oom_dump_dir=str(tmp_path / "dumps"))
    with pytest.raises(KeyError), tracker.capture_oom():
        raise KeyError("x")
    assert tracker.handle_exception(ValueError("x")) is None and tracker.last_oom_dump_path is None
    assert tracker.events == [] and os.listdir(tmp_path) == []
    path = tracker.handle_exception(RuntimeError("CUDA out of memory. Tried to allocate"), context="c")
    assert os.path.isdir(path) and tracker.last_oom_dump_path == path and types(tracker.events) == ["error"]


def test_without_the_recorder_failures_pass_B29(device, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracker = MemoryTracker(sampling_interval=HOUR)
    with pytest.raises(RuntimeError, match="out of memory"), tracker.capture_oom():
        raise RuntimeError("out of memory")
    assert tracker.handle_exception(RuntimeError("out of memory")) is None and os.listdir(tmp_path) == []


def test_our_own_failure_does_not_stand_before_the_program_s_B29(device, monkeypatch, caplog):
    tracker = MemoryTracker(sampling_interval=HOUR, enable_oom_flight_recorder=True)

    def fails(name):
        raise ImportError("broken installation")
    monkeypatch.setattr(importlib, "import_module", fails)
    with caplog.at_level(logging.WARNING, "vramscope"), pytest.raises(RuntimeError, match="out of memory") as failure:
        with tracker.capture_oom():
            raise RuntimeError("out of memory")
    assert failure.value.__context__ is None and "broken installation" in caplog.text


def test_phases_stand_in_the_metadata_B33(device):
    with MemoryTracker(sampling_interval=HOUR) as tracker, tracker.phase("epoch"), tracker.phase("forward", {"step": 1}):
        held = device.alloc(2 * MIB)
        tracker.sample()
    assert held.live and tracker.get_events("allocation")[0].metadata == {"phase": ["epoch", "forward"]}
    assert tracker.get_events("phase_enter")[1].metadata == {"phase": ["epoch", "forward"], "step": 1}


# Monitoring.

def test_monitoring_appends_to_snapshots_B10(device):
    device.other(GIB)
    held = device.alloc(32 * MIB)
    profiler = GPUMemoryProfiler()
    before = threading.enumerate()
    synchronizations = device.stats()
    profiler.start_monitoring(interval=0.002)
    profiler.start_monitoring(interval=50)  # ignored
    assert set(threading.enumerate()) <= set(before)  # no thread of Python
    until(lambda: len(profiler.snapshots) > 20)
    assert profiler.get_summary() == {"message": "No profiling results available"}
    profiler.profile_function(device.alloc, 2 * MIB)
    assert profiler.get_summary()["monitoring_active"] is True
    profiler.stop_monitoring()
    profiler.stop_monitoring()
    taken = len(profiler.snapshots)
    summary = profiler.get_summary()
    assert summary["monitoring_active"] is False and summary["snapshots_collected"] == taken
    time.sleep(0.05)
    assert len(profiler.snapshots) == taken and profiler.snapshots.dropped == 0
    first = profiler.snapshots[0]
    assert (first.operation, first.device_id, first.allocated_memory) == ("monitor", 0, 32 * MIB)
    assert first.reserved_memory == synchronizations["reserved_bytes"] and first.cpu_memory > 64 * MIB
    assert first.timestamp == pytest.approx(time.time(), abs=60) and first.max_memory_allocated == 32 * MIB and held.live
    times = [snapshot.timestamp for snapshot in profiler.snapshots]
    assert times == sorted(times)


def test_monitoring_goes_on_after_a_stop_B10(device):
    profiler = GPUMemoryProfiler(track_cpu_memory=False)
    for interval in (0.001, 0.002):
        taken = len(profiler.snapshots)
        profiler.start_monitoring(interval)
        until(lambda: len(profiler.snapshots) > taken + 5)
        profiler.stop_monitoring()
    assert profiler.snapshots[-1].cpu_memory == 0
    profiler.clear_results()
    assert profiler.snapshots == []
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ValueError):
            profiler.start_monitoring(wrong)


def test_snapshots_are_bounded_and_those_dropped_counted_B10(device, monkeypatch):
    assert monitoring.MOST == 1_000_000
    profiler = GPUMemoryProfiler()
    monitor = profiler._monitor = monitoring.Monitor(profiler._make_tracker, profiler._monitored, most=10)
    monitor.start(HOUR)
    for _ in range(50):
        monitor._core.sample()
    assert len(profiler.snapshots) == 10 and profiler.snapshots.dropped == 41  # and the first
    monitor._core.sample()
    assert len(profiler.snapshots) == 10 and profiler.snapshots.dropped == 42
    monitor.stop()


def test_the_end_of_a_with_ends_monitoring_B17(device):
    with GPUMemoryProfiler() as profiler:
        profiler.start_monitoring(0.002)
        until(lambda: profiler.snapshots)
    assert profiler._monitor.running is False
    with pytest.raises(KeyError), GPUMemoryProfiler() as profiler:
        profiler.start_monitoring(0.002)
        raise KeyError
    assert profiler._monitor.running is False


def test_functions_of_the_module_monitor_B55(device):
    gpumemprof.set_global_profiler(None)
    gpumemprof.stop_monitoring()  # of nothing
    gpumemprof.start_monitoring(0.002)
    profiler = gpumemprof.get_global_profiler()
    until(lambda: len(profiler.snapshots) > 3)
    gpumemprof.stop_monitoring()
    assert profiler._monitor.running is False
    gpumemprof.set_global_profiler(None)


def test_the_facade_monitors_B56(device):
    with MemoryProfiler() as facade:
        facade.start_monitoring(0.002)
        until(lambda: len(facade.profiler.snapshots) > 3)
        facade.stop_monitoring()
        assert facade.profiler._monitor.running is False
        facade.start_monitoring(0.002)
    assert facade.profiler._monitor.running is False


# The host.

def test_memory_of_the_process_is_monitored_B60():
    profiler = CPUMemoryProfiler()
    profiler.start_monitoring(0.002)
    until(lambda: len(profiler.snapshots) > 3)
    kept = bytearray(b"x") * (96 * MIB)
    taken = len(profiler.snapshots)
    until(lambda: len(profiler.snapshots) > taken + 5)
    profiler.stop_monitoring()
    first, last, summary = profiler.snapshots[0], profiler.snapshots[-1], profiler.get_summary()
    assert last.rss - first.rss > 90 * MIB and last.vms > last.rss and len(kept) == 96 * MIB
    assert max(snapshot.cpu_percent for snapshot in profiler.snapshots) > 1 and first.cpu_percent == 0
    assert summary["snapshots_collected"] == len(profiler.snapshots) and summary["memory_change_from_baseline"] == last.rss - first.rss
    profiler.clear_results()
    assert profiler.snapshots == []


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


def touch(pages):
    """Writes to each page, so that all are resident, also where a system has taken some away since."""
    for at in range(0, len(pages), mmap.PAGESIZE):
        pages[at] = 1


def test_memory_of_the_process_is_tracked_B60(tmp_path):
    with CPUMemoryTracker(sampling_interval=HOUR, job_id="j") as tracker:
        # Pages that go back at once, whatever the allocator of the process does.
        with mmap.mmap(-1, 200 * MIB) as kept:
            tracker.sample()
            before = resident()
            touch(kept)
            tracker.sample()
            written = resident() - before
        tracker.sample()
    grown, shrunk = (max(tracker.get_events(kind), key=lambda e: abs(e.memory_change)) for kind in ("allocation", "deallocation"))
    # What the allocator gives back meanwhile is in the process's own figure, too.
    assert abs(grown.memory_change - written) < 64 * MIB and grown.memory_change > 64 * MIB
    assert shrunk.memory_change < -100 * MIB
    assert (grown.device_id, grown.backend, grown.job_id, grown.device_used) == (-1, "cpu", "j", None)
    assert grown.memory_allocated == grown.memory_reserved and types(tracker.events)[0] == "start" and types(tracker.events)[-1] == "stop"
    assert [a.metadata for a in tracker.get_alerts()] == [{"large_allocation": True}]
    known = tracker.get_statistics()
    assert known["mode"] == "cpu" and known["peak_memory"] >= grown.memory_allocated and known["total_events"] == len(tracker.events)
    assert known["current_memory_allocated"] > MIB and known["tracking_duration_seconds"] >= 0
    tracker.export_events(tmp_path / "x.json", format="json")
    loaded = load_telemetry_events(tmp_path / "x.json", permissive_legacy=False)
    assert {(e.device_id, e.collector) for e in loaded} == {(-1, "gpumemprof.cpu_tracker")} and loaded[0].device_total_bytes is None
    assert len(tracker.get_memory_timeline(1)["allocated"]) >= 1
    tracker.clear_events()
    assert tracker.events == []
    for wrong in ({"sampling_interval": 0}, {"max_events": 0}, {"rank": 2}):
        with pytest.raises(ValueError):
            CPUMemoryTracker(**wrong)


def test_names_stand_where_the_original_has_them():
    from vramscope.compat.gpumemprof import cpu_profiler, tracker
    assert tracker.MemoryTracker is MemoryTracker and tracker.TrackingEvent is TrackingEvent
    assert cpu_profiler.CPUMemoryTracker is CPUMemoryTracker
    for module in (cpu_profiler, tracker):
        with pytest.raises(AttributeError, match="nothing"):
            module.nothing


def test_an_error_of_the_native_tracker_is_one_of_values_here(device):
    with pytest.raises(ValueError):
        MemoryTracker(sampling_interval=1e9)
    with pytest.raises(vramscope.Error):
        MemoryTracker()._add_event("oops", 0, "no such kind")
