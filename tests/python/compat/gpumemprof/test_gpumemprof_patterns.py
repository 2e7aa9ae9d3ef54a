"""Rows B42 to B46: each pattern fires at its threshold, and not one unit before it."""
import math

import pytest
from gpumemprof_made import GIB, MIB, call, grows, of_kind
from vramscope.compat.gpumemprof import MemoryAnalyzer


def pattern(kind, results, **thresholds):
    analyzer = MemoryAnalyzer()
    analyzer.thresholds.update(thresholds)
    return of_kind(analyzer.analyze_memory_patterns(results), kind)


@pytest.mark.parametrize("growths, fires", [
    ((50 * MIB, 50 * MIB + 1, 0), False),  # two of three grow: 0.67
    ((40 * MIB, 40 * MIB, 20 * MIB), False),  # 100 MiB is not above 100 MiB
    ((40 * MIB, 40 * MIB, 20 * MIB + 1), True),
    ((60 * MIB, 60 * MIB), False),  # two calls
    ((50 * MIB,) * 7 + (0, 0, 0), False),  # 0.7 is not above 0.7
    ((50 * MIB,) * 8 + (0, 0, 0), True),  # 0.73 is
    ((200 * MIB,) * 9 + (-9 * 200 * MIB,), False),  # all of it is given back
])
def test_memory_leak_B42(growths, fires):
    found = pattern("memory_leak", grows(*growths))
    assert (found is not None) == fires
    if fires:
        assert found.severity == "warning" and found.affected_functions == ["f"] and len(found.suggestions) == 4
        assert found.metrics == {"total_memory_growth": sum(growths), "average_growth_per_call": sum(growths) / len(growths),
                                 "positive_growth_ratio": sum(g > 0 for g in growths) / len(growths),
                                 "call_count": len(growths)}
        assert isinstance(found.metrics["total_memory_growth"], int)


@pytest.mark.parametrize("total, severity", [(GIB, "warning"), (GIB + 1, "critical")])
def test_severity_of_a_leak_B42(total, severity):
    assert pattern("memory_leak", grows(MIB, MIB, total - 2 * MIB)).severity == severity


def test_leaks_are_told_for_each_function_in_the_order_of_first_calls_B42():
    results = [r for _ in range(3) for r in (*grows(GIB, name="b"), *grows(MIB, name="quiet"), *grows(MIB * 40, name="a"))]
    found = MemoryAnalyzer().analyze_memory_patterns(results)
    leaks = [row for row in found if row.pattern_type == "memory_leak"]
    assert [row.affected_functions for row in leaks] == [["b"], ["a"]]
    assert [row.severity for row in leaks] == ["critical", "warning"]


def test_the_older_threshold_of_leaks_B42():
    results = grows(*(200 * MIB,) * 2, *(0,) * 8)
    old = MemoryAnalyzer(compat="v0.1")
    assert old.thresholds["memory_leak_ratio"] == 0.1 and MemoryAnalyzer().thresholds["memory_leak_ratio"] == 0.7
    assert of_kind(old.analyze_memory_patterns(results), "memory_leak")
    assert pattern("memory_leak", results) is None
    assert of_kind(old.analyze_memory_patterns(grows(*(200 * MIB,), *(0,) * 9)), "memory_leak") is None  # 0.1
    with pytest.raises(ValueError):
        MemoryAnalyzer(compat="v0.2")


@pytest.mark.parametrize("shares, severity", [
    ((30, 30, 30), None), ((30, 30, 31), "warning"), ((50, 50, 50), "warning"), ((50, 50, 51), "critical"),
])
def test_fragmentation_B43(shares, severity):
    results = [call("f" if i else "g", before=0, after=(100 - share) * MIB, reserved=100 * MIB)
               for i, share in enumerate(shares)]
    found = pattern("fragmentation", results)
    assert (found and found.severity) == severity
    if found:
        assert found.metrics["average_fragmentation"] == pytest.approx(sum(shares) / 300)
        assert found.metrics["max_fragmentation"] == max(shares) / 100
        high = [r.function_name for r, share in zip(results, shares) if share > 30]
        assert found.affected_functions == list(dict.fromkeys(high))
        assert found.metrics["high_fragmentation_functions"] == len(set(high))


def test_nothing_reserved_is_no_fragmentation_B43():
    assert pattern("fragmentation", [call(reserved=0)] * 5) is None
    mixed = [call(reserved=0)] * 50 + [call(after=60 * MIB, reserved=100 * MIB)]
    assert pattern("fragmentation", mixed).metrics["average_fragmentation"] == pytest.approx(0.4)


def shrunk(peak_mib, count=3, name="f", before_mib=0):
    """Calls that say 100 MiB were allocated and have a peak below that above their begin, as sound counters never do."""
    before = before_mib * MIB
    return [call(name, before=before, after=before, peak=before + peak_mib * MIB, allocated=100 * MIB)] * count


@pytest.mark.parametrize("results, fires", [
    (shrunk(49), True), (shrunk(50), False), (shrunk(49, count=2), False), (shrunk(49, 2) + shrunk(49, 2, "g"), False),
    (shrunk(49, 3) + shrunk(50, 9), True),  # only calls below the threshold are in the mean
    (shrunk(49, before_mib=1000), True), (shrunk(50, before_mib=1000), False),
])
def test_inefficient_allocation_B44(results, fires):
    found = pattern("inefficient_allocation", results)
    assert (found is not None) == fires
    if fires:
        assert found.severity == "warning" and found.affected_functions == ["f"]
        assert found.metrics == {"inefficient_function_count": 1, "average_efficiency": pytest.approx(0.49)}


def test_sound_counters_are_never_inefficient_B44():
    results = [call(before=i * MIB, after=(i + 50) * MIB, peak=(i + 50) * MIB) for i in range(20)]
    assert pattern("inefficient_allocation", results) is None


@pytest.mark.parametrize("values, spikes", [
    ((10, 20, 30, 40, 50, 99), 1),   # quartiles 22.5, 47.5: 85
    ((10, 20, 30, 40, 50, 85), 0),
    ((10, 20), 0),
    ((0,) * 20 + (10, 20), 0),       # only what is positive counts
    ((7,) * 9 + (8,), 1),            # no spread: all above the third quartile
    ((7,) * 9 + (7,), 0),
])
def test_memory_spikes_B45(values, spikes):
    found = pattern("memory_spikes", grows(*(v * MIB for v in values)))
    assert (found.metrics["spike_count"] if found else 0) == spikes
    if found:
        assert found.severity == "warning" and found.metrics["max_allocation"] == max(values) * MIB


def test_figures_of_spikes_B45():
    found = pattern("memory_spikes", grows(*(v * MIB for v in (10, 20, 30, 40, 50, 99))))
    assert found.metrics == {"spike_count": 1, "spike_threshold": (47.5 + 1.5 * 25) * MIB, "max_allocation": 99 * MIB,
                             "median_allocation": 35.0 * MIB}


@pytest.mark.parametrize("spikes, severity", [(4, "warning"), (5, "critical")])
def test_severity_of_spikes_B45(spikes, severity):
    results = grows(*(MIB,) * 40, name="f") + grows(*(GIB,) * spikes, name="g")
    found = pattern("memory_spikes", results)
    assert found.severity == severity and found.metrics["spike_count"] == spikes and found.affected_functions == ["g"]
    assert found.metrics["median_allocation"] == MIB


@pytest.mark.parametrize("bytes, calls, fires", [
    (50 * MIB - 1, 10, True), (50 * MIB, 10, False), (MIB, 9, False), (0, 10, True),
])
def test_repeated_allocations_B46(bytes, calls, fires):
    found = pattern("repeated_allocations", grows(*(bytes,) * calls))
    assert (found is not None) == fires
    if fires:
        assert found.severity == "info"
        assert found.metrics == {"function_count": 1, "total_impact_functions": ["f"],
                                 "total_memory_from_repeated": bytes * calls}


def test_the_five_largest_of_repeated_allocations_B46():
    results = [r for name, bytes in zip("abcdefg", (3, 1, 9, 3, 7, 5, 2)) for r in grows(*(bytes * MIB,) * 10, name=name)]
    found = pattern("repeated_allocations", results)
    assert found.affected_functions == found.metrics["total_impact_functions"] == ["c", "e", "f", "a", "d"]
    assert found.metrics["function_count"] == 7 and found.metrics["total_memory_from_repeated"] == 300 * MIB


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_unknown_figures_are_left_out(unknown):
    known = grows(40 * MIB, 40 * MIB, 40 * MIB, reserved=20 * GIB)
    mixed = known + [call(before=unknown, after=unknown, reserved=unknown, peak=unknown, allocated=unknown)] * 20
    for result in mixed[3:]:
        result.memory_after.reserved_memory = result.memory_peak.allocated_memory = unknown
    analyzer = MemoryAnalyzer()
    assert analyzer.analyze_memory_patterns(mixed) == analyzer.analyze_memory_patterns(known)
    assert of_kind(analyzer.analyze_memory_patterns(mixed), "memory_leak").metrics["call_count"] == 3


@pytest.mark.parametrize("unknown", [None, math.nan])
def test_a_call_without_its_end_says_nothing_of_fragments(unknown):
    known = grows(40 * MIB, 40 * MIB, 40 * MIB, reserved=20 * GIB)
    open_ended = [call(before=0, after=0, reserved=40 * GIB) for _ in range(20)]
    for result in open_ended:
        result.memory_after.allocated_memory = unknown
    assert pattern("fragmentation", known) == pattern("fragmentation", known + open_ended)
    assert pattern("memory_leak", known + open_ended).metrics["call_count"] == 3


@pytest.mark.parametrize("name, value", [("memory_leak_bytes", 1 << 40), ("min_calls_for_analysis", 4)])
def test_thresholds_may_be_edited_B40(name, value):
    results = grows(GIB, GIB, GIB)
    assert pattern("memory_leak", results) and pattern("memory_leak", results, **{name: value}) is None


def test_no_results_have_no_pattern_B41():
    assert MemoryAnalyzer().analyze_memory_patterns() == MemoryAnalyzer().analyze_memory_patterns([]) == []
    profiler = type("Profiler", (), {"results": grows(GIB, GIB, GIB)})()
    assert of_kind(MemoryAnalyzer(profiler).analyze_memory_patterns(), "memory_leak")
    assert MemoryAnalyzer(profiler).analyze_memory_patterns([]) == []
