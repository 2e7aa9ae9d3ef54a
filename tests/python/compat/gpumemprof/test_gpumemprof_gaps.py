"""Row B48: classes of gaps between device and allocator, each at its threshold and just before it."""
import math

import pytest
from gpumemprof_made import GIB, MIB, event, of_kind, only
from vramscope.compat.gpumemprof import MemoryAnalyzer, TrackingEvent

SECOND = 10**9


def samples(gaps, total=80 * GIB, reserved=4 * GIB, allocated=None):
    return [event(i * SECOND, used=reserved + gap, reserved=reserved, allocated=allocated, total=total)
            for i, gap in enumerate(gaps)]


def gap(kind, events, **thresholds):
    analyzer = MemoryAnalyzer()
    analyzer.thresholds.update(thresholds)
    return of_kind(analyzer.analyze_memory_gaps(events), kind)


@pytest.mark.parametrize("most, fires", [(4 * GIB, True), (4 * GIB - 1, False), (-4 * GIB, True)])
def test_a_gap_below_five_percent_is_none_B48(most, fires):
    events = samples((0, 0, most), allocated=2 * GIB)
    assert bool(MemoryAnalyzer().analyze_memory_gaps(events)) == fires


def test_two_samples_are_too_few_B48():
    assert MemoryAnalyzer().analyze_memory_gaps(samples((8 * GIB, 8 * GIB), allocated=0)) == []
    assert MemoryAnalyzer().analyze_memory_gaps([]) == []


@pytest.mark.parametrize("quiet, z, severity", [
    (4, 2, None), (5, math.sqrt(5), "warning"), (16, 4, "warning"), (17, math.sqrt(17), "critical"),
])
def test_transient_spike_B48(quiet, z, severity):
    """One gap among n equal ones lies sqrt(n) population deviations above the mean."""
    found = gap("transient_spike", samples((GIB,) * quiet + (9 * GIB,)))
    assert (found and found.severity) == severity
    if found:
        assert found.confidence == round(min(1, z / 6), 3) and len(found.remediation) == 3
        mean = GIB + 8 * GIB / (quiet + 1)
        assert list(found.evidence.items()) == [
            ("spike_count", 1), ("max_gap_bytes", 9 * GIB), ("max_zscore", round(z, 3)),
            ("mean_gap_bytes", round(mean, 1)), ("std_gap_bytes", round((9 * GIB - mean) / z, 1))]


def test_equal_gaps_have_no_spike_B48():
    assert gap("transient_spike", samples((9 * GIB,) * 9)) is None


def drifting(noise, count=6):
    return samples([8 * GIB + i * MIB + noise * (-1) ** i for i in range(count)])


def test_persistent_drift_B48():
    found = gap("persistent_drift", drifting(0))
    assert (found.severity, found.confidence, len(found.remediation)) == ("critical", 1, 3)
    assert list(found.evidence.items()) == [("slope_bytes_per_sec", MIB), ("r_squared", 1), ("p_value", 0),
                                            ("gap_start_bytes", 8 * GIB), ("gap_end_bytes", 8 * GIB + 5 * MIB)]
    assert "1.00 MB" in found.description
    assert gap("persistent_drift", drifting(0, 5)) and gap("persistent_drift", drifting(0, 4)) is None
    assert gap("persistent_drift", drifting(0)[::-1])  # times count, not the order
    falling = samples([9 * GIB - i * MIB for i in range(6)])
    assert gap("persistent_drift", falling) is None and gap("persistent_drift", samples([9 * GIB] * 6)) is None


@pytest.mark.parametrize("limit, severities", [(0.6, (None, "warning")), (0.85, ("warning", "critical"))])
def test_r_squared_of_a_drift_B48(limit, severities):
    """The noise at which R2 passes the limit, found by halving, fires on one side alone."""
    from vramscope import _core

    def r_squared(noise):
        return _core._pearson(range(6), [i * MIB + noise * (-1) ** i for i in range(6)]) ** 2
    low, high = 0, 8 * MIB
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if r_squared(middle) > limit else (low, middle)
    assert tuple(found and found.severity for found in (gap("persistent_drift", drifting(n)) for n in (high, low))) == severities


@pytest.mark.parametrize("percent, severity", [(29, None), (30, "warning"), (50, "warning"), (51, "critical")])
def test_fragmentation_like_B48(percent, severity):
    reserved = 100 * MIB
    found = gap("fragmentation_like", samples((8 * GIB,) * 3, reserved=reserved, allocated=(100 - percent) * MIB))
    assert (found and found.severity) == severity
    if found:
        assert found.confidence == round(min(1, percent / 60), 3)
        assert list(found.evidence.items()) == [("avg_fragmentation_ratio", percent / 100), ("max_fragmentation_ratio", percent / 100),
                                                ("avg_gap_bytes", 8 * GIB), ("sample_count", 3)]


def test_the_most_severe_comes_first_B48():
    events = samples([8 * GIB + i * MIB for i in range(9)] + [40 * GIB], allocated=int(2.6 * GIB))
    found = MemoryAnalyzer().analyze_memory_gaps(events)
    assert {row.classification for row in found} == {"transient_spike", "fragmentation_like"}
    weights = [(("critical", "warning").index(row.severity), -row.confidence) for row in found]
    assert weights == sorted(weights)
    steady = MemoryAnalyzer().analyze_memory_gaps(samples([8 * GIB + i * MIB for i in range(9)], allocated=int(2.6 * GIB)))
    assert [row.classification for row in steady] == ["persistent_drift", "fragmentation_like"]


def test_samples_without_the_drivers_figure_are_dropped_and_counted_B48():
    known = samples((8 * GIB,) * 3, allocated=0)
    events = [event(1, used=None), *known, event(2, used=GIB, total=None), event(3, used=0, total=0)]
    analyzer = MemoryAnalyzer()
    found = only(analyzer.analyze_memory_gaps(events))
    assert analyzer.dropped_samples == 3 and found.evidence["dropped_samples"] == 3
    assert found.evidence["sample_count"] == 3
    assert "dropped_samples" not in only(analyzer.analyze_memory_gaps(known)).evidence and analyzer.dropped_samples == 0
    assert analyzer.analyze_memory_gaps([event(i) for i in range(9)]) == [] and analyzer.dropped_samples == 9


def test_events_of_a_tracker_are_read_too_B22():
    events = [TrackingEvent(1.7e9 + i, "sample", GIB, 4 * GIB, 0, 0, device_used=12 * GIB + i * MIB, device_total=80 * GIB)
              for i in range(6)]
    found = MemoryAnalyzer().analyze_memory_gaps(events)
    assert [row.classification for row in found] == ["persistent_drift", "fragmentation_like"]
    assert found[0].evidence["slope_bytes_per_sec"] == pytest.approx(MIB, rel=1e-6)
