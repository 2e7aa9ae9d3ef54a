"""Row B47: each insight fires at its threshold, and not just before it; no duration of 0 divides."""
import math

import pytest
from gpumemprof_made import GIB, MIB, call, of_kind
from vramscope import _core
from vramscope.compat.gpumemprof import MemoryAnalyzer

SLOW, UNEVEN, INTENSIVE = "Slow Function Detection", "Inconsistent Execution Times", "Memory-Intensive Functions"
TOGETHER, GROWTH = "Time-Memory Correlation", "Memory Growth Trend"


def insight(title, results, **thresholds):
    analyzer = MemoryAnalyzer()
    analyzer.thresholds.update(thresholds)
    return of_kind(analyzer.generate_performance_insights(results), title)


def timed(times, calls=3):
    """Functions named by their places, each called so often with its time."""
    return [call(f"f{i}", seconds=seconds) for i, seconds in enumerate(times) for _ in range(calls)]


def test_slow_functions_B47():
    found = insight(SLOW, timed((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100)))
    assert (found.category, found.impact, found.confidence) == ("execution_time", "medium", 0.8)
    assert list(found.data.items()) == [("slow_functions", ["f10"]), ("slowest_function", "f10"), ("slowest_time", 100),
                                        ("threshold", 10)]
    assert len(found.recommendations) == 4


@pytest.mark.parametrize("results", [timed((5,) * 11), timed((7,)), timed((1, 100), calls=2), []])
def test_no_slow_functions_B47(results):
    assert insight(SLOW, results) is None


@pytest.mark.parametrize("slow, impact", [(3, "medium"), (4, "high")])
def test_impact_of_slow_functions_B47(slow, impact):
    # Of 40 functions four lie above the place 0.9 * 39 = 35.1, of 30 three above 26.1.
    found = insight(SLOW, timed(range(1, slow * 10 + 1)))
    assert found.impact == impact and len(found.data["slow_functions"]) == slow
    assert found.data["slow_functions"][0] == f"f{slow * 10 - 1}"


def test_five_slow_functions_are_named_B47():
    found = insight(SLOW, timed(range(1, 101)))
    assert found.data["slow_functions"] == ["f99", "f98", "f97", "f96", "f95"] and found.impact == "high"


@pytest.mark.parametrize("times, variation", [
    ((1, 3), None),           # 0.5 by population, but two calls
    ((1, 3, 1, 3), None),     # 0.5 is not above 0.5; the sample's deviation would be 0.58
    ((1, 3.01, 1, 3.01), 1.005 / 2.005),
    ((0, 0, 0), None), ((2, 2, 2), None), ((0, 0, 3), math.sqrt(2)),
])
def test_inconsistent_times_B47(times, variation):
    found = insight(UNEVEN, [call("f", seconds=seconds) for seconds in times])
    assert (found is None) == (variation is None)
    if found:
        assert (found.category, found.impact, found.confidence) == ("execution_time", "medium", 0.7)
        assert found.data == {"variable_functions": ["f"], "highest_variance": ("f", pytest.approx(variation))}


def test_the_most_inconsistent_function_is_named_B47():
    results = [call(name, seconds=s) for name, times in (("a", (1, 1, 9)), ("b", (0, 0, 5)), ("c", (4, 4, 4)), ("d", (1, 1, 5)))
               for s in times]
    found = insight(UNEVEN, results)
    assert found.data["variable_functions"] == ["a", "b", "d"] and found.data["highest_variance"][0] == "b"


def test_memory_intensive_functions_B47():
    results = [call(f"f{i}", seconds=2, before=0, after=i * MIB) for i in range(11)]
    found = insight(INTENSIVE, results)
    assert (found.category, found.impact, found.confidence) == ("memory_efficiency", "medium", 0.75)
    assert found.data == {"memory_intensive_functions": ["f10"], "threshold_ratio": 9 * MIB / 2}
    assert insight(INTENSIVE, results[:1] * 9) is None
    assert insight(INTENSIVE, [call("f", seconds=0, after=GIB)] * 9 + results).data == found.data  # 0 seconds do not divide
    assert insight(INTENSIVE, [call("f", seconds=0, after=GIB)] * 9) is None


def paired(noise, count=10):
    """Times against bytes with an r that the noise lowers."""
    return [call(seconds=float(i), before=0, after=(i * 10 + noise * (-1) ** i) * MIB) for i in range(1, count + 1)]


@pytest.mark.parametrize("results, fires", [
    (paired(0), True), (paired(0, 9), False), (paired(20), True), (paired(40), False),
    ([call(seconds=1.0, after=i * MIB) for i in range(10)], False),  # equal times have no r
])
def test_time_and_memory_B47(results, fires):
    found = insight(TOGETHER, results)
    assert (found is not None) == fires
    if fires:
        assert (found.category, found.impact, found.confidence) == ("correlation", "medium", 0.8)
        assert found.data["interpretation"] == "positive" and 0.7 < found.data["correlation_coefficient"] <= 1


def test_time_against_memory_B47():
    found = insight(TOGETHER, [call(seconds=11.0 - i, after=i * MIB) for i in range(1, 11)])
    assert found.data == {"correlation_coefficient": pytest.approx(-1), "interpretation": "negative"}
    assert insight(TOGETHER, paired(20), correlation_coefficient=0.9) is None


def over_time(bytes_each, step=1.0):
    return [call(before=0, after=int(bytes), at=1.7e9 + i * step) for i, bytes in enumerate(bytes_each)]


@pytest.mark.parametrize("slope, impact", [(1_000_000, "medium"), (1_000_001, "high"), (-5, None), (0, None)])
def test_memory_growth_B47(slope, impact):
    found = insight(GROWTH, over_time([10**9 + slope * i for i in range(5)]))
    assert (found and found.impact) == impact
    if found:
        assert (found.category, found.confidence) == ("temporal", 1)
        assert list(found.data) == ["growth_rate", "correlation", "p_value", "time_span"]
        assert found.data["growth_rate"] == pytest.approx(slope, rel=1e-12) and found.data["time_span"] == 4
        assert found.data["p_value"] < 1e-12


def test_growth_needs_five_calls_and_a_significant_line_B47():
    assert insight(GROWTH, over_time([1, 2, 3, 4])) is None
    def noisy(noise):
        return [GIB + i * MIB + noise * (-1) ** i for i in range(5)]
    low, high = 0, 8 * MIB  # halved down to neighbours on both sides of p = 0.05
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _core._line(range(5), noisy(middle))[3] < 0.05 else (low, middle)
    assert insight(GROWTH, over_time(noisy(low))) and insight(GROWTH, over_time(noisy(high))) is None
    assert 0.878 < insight(GROWTH, over_time(noisy(low))).confidence < 0.8785  # the r of p = 0.05 with 3 degrees


def test_calls_are_sorted_by_their_begin_B47():
    results = over_time([10, 20, 30, 40, 50, 60])
    assert insight(GROWTH, results[::-1]) == insight(GROWTH, results)


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_unknown_figures_are_left_out(unknown):
    results = timed(range(1, 12)) + paired(10, 12)
    for i, result in enumerate(results):
        result.memory_before.timestamp = float(i)
    odd = call("odd", seconds=unknown, before=unknown, after=unknown, peak=unknown, allocated=unknown, at=5.0)
    analyzer = MemoryAnalyzer()
    wanted = analyzer.generate_performance_insights(results)
    assert wanted and analyzer.generate_performance_insights(results + [odd] * 5) == wanted


def test_no_results_have_no_insight_B47():
    assert MemoryAnalyzer().generate_performance_insights() == MemoryAnalyzer().generate_performance_insights([]) == []
