"""Rows B40, B51 and B52: thresholds, the report with its score, and series of samples."""
import json

import pytest
from gpumemprof_made import GIB, MIB, call, event, grows, of_kind
from vramscope.compat.gpumemprof import MemoryAnalyzer, MemoryPattern, PerformanceInsight
from vramscope.compat.gpumemprof import analyzer as module

REPORT = ["summary", "critical_issues", "high_impact_insights", "all_patterns", "all_insights", "recommendations",
          "optimization_score"]


def test_thresholds_of_the_original_come_first_B40():
    assert list(MemoryAnalyzer().thresholds.items())[:10] == [
        ("memory_leak_ratio", 0.7), ("fragmentation_ratio", 0.3), ("inefficient_allocation_ratio", 0.5),
        ("slow_function_percentile", 0.9), ("high_memory_percentile", 0.9), ("min_calls_for_analysis", 3),
        ("gap_ratio_threshold", 0.05), ("gap_spike_zscore", 2.0), ("gap_drift_r_squared", 0.6), ("gap_fragmentation_ratio", 0.3)]
    first, second = MemoryAnalyzer(), MemoryAnalyzer()
    first.thresholds["memory_leak_ratio"] = 0.5
    assert second.thresholds["memory_leak_ratio"] == 0.7


@pytest.mark.parametrize("wrong, failure", [("0.5", TypeError), (None, TypeError)])
def test_a_threshold_that_is_no_number_is_refused_B40(wrong, failure):
    analyzer = MemoryAnalyzer()
    analyzer.thresholds["fragmentation_ratio"] = wrong
    with pytest.raises(failure):
        analyzer.analyze_memory_patterns(grows(GIB, GIB, GIB))
    del analyzer.thresholds["fragmentation_ratio"]
    with pytest.raises(KeyError, match="fragmentation_ratio"):
        analyzer.analyze_memory_patterns(grows(GIB, GIB, GIB))


def leaking():
    return [call("leak", before=i * GIB, after=(i + 1) * GIB, at=float(i), seconds=0.5) for i in range(6)]


def test_a_report_B51():
    results = leaking()
    report = MemoryAnalyzer().generate_optimization_report(results)
    assert list(report) == REPORT
    assert list(report["summary"].items()) == [
        ("total_functions_analyzed", 1), ("total_function_calls", 6), ("total_memory_allocated", 6 * GIB),
        ("total_execution_time", 3), ("analysis_timestamp", results[-1].memory_after.timestamp)]
    leak = report["critical_issues"][0]
    assert list(leak) == ["pattern_type", "description", "severity", "affected_functions", "metrics", "suggestions"]
    growth = report["high_impact_insights"][0]
    assert list(growth) == ["category", "title", "description", "impact", "confidence", "data", "recommendations"]
    assert report["all_patterns"] == [leak] and report["all_insights"] == [growth]
    assert report["recommendations"] == [
        {"priority": "high", "category": "memory_leak", "description": leak["description"], "suggestions": leak["suggestions"]},
        {"priority": "high", "category": "temporal", "description": growth["description"], "suggestions": growth["recommendations"]}]
    assert report["optimization_score"] == {"score": 65, "grade": "D", "description": "Findings ask for work", "issues_found": 2}
    json.dumps(report)


def test_a_report_of_nothing_B51():
    for report in (MemoryAnalyzer().generate_optimization_report(), MemoryAnalyzer().generate_optimization_report([])):
        assert list(report) == REPORT
        assert list(report["summary"].values()) == [0, 0, 0, 0, None]
        assert report["optimization_score"]["score"] == 100 and report["optimization_score"]["grade"] == "A"


def test_a_report_with_events_B51():
    one = [event(i * 10**9, used=8 * GIB + i * MIB, reserved=GIB) for i in range(6)]
    report = MemoryAnalyzer().generate_optimization_report([], one)
    assert list(report) == [*REPORT, "gap_analysis", "collective_attribution"]
    assert list(report["gap_analysis"][0]) == ["classification", "severity", "confidence", "evidence", "description", "remediation"]
    two = [event(i * 10**8, used=GIB + (8 * GIB if i == 6 else i % 3 * MIB), reserved=GIB, rank=r, world=2,
                 context="barrier" if i == 6 else None) for r in (0, 1) for i in range(9)]
    report = MemoryAnalyzer().generate_optimization_report([], two)
    assert list(report)[-1] == "cross_rank_analysis"
    attribution = report["collective_attribution"][0]
    assert list(attribution) == ["rank", "interval_start_ns", "interval_end_ns", "classification", "confidence", "reason_codes",
                                 "evidence"]
    assert attribution["evidence"]["peak_gap_bytes"] == 8 * GIB
    json.dumps(report)
    empty = MemoryAnalyzer().generate_optimization_report([], [])
    assert empty["gap_analysis"] == empty["collective_attribution"] == [] and "cross_rank_analysis" not in empty


def pattern(severity):
    return MemoryPattern("p", severity, severity, [], {}, [])


def insight(impact):
    return PerformanceInsight("c", "t", impact, impact, 1.0, {}, [])


@pytest.mark.parametrize("severities, impacts, points, grade", [
    ((), (), 100, "A"), (("info",), (), 95, "A"), (("warning",), (), 90, "A"), (("info", "info"), ("low",), 87, "B"),
    (("critical",), (), 80, "B"), (("warning", "info"), ("medium",), 77, "C"), (("warning",) * 3, (), 70, "C"),
    (("warning",) * 3, ("low",), 67, "D"), (("critical", "critical"), (), 60, "D"), (("critical",) * 2, ("low",), 57, "F"),
    ((), ("high",), 85, "B"), ((), ("high",) * 6, 10, "F"), (("critical",) * 5, (), 0, "F"), (("critical",) * 90, ("high",) * 90, 0, "F"),
])
def test_score_and_grade_B51(severities, impacts, points, grade):
    score = module._score([pattern(s) for s in severities], [insight(i) for i in impacts])
    assert (score["score"], score["grade"], score["issues_found"]) == (points, grade, len(severities) + len(impacts))
    assert list(score) == ["score", "grade", "description", "issues_found"]


def test_ten_recommendations_at_most_the_urgent_first_B51():
    rows = module._recommendations([pattern(s) for s in ("warning", "info", "critical") * 4],
                                   [insight(i) for i in ("medium", "high", "low") * 3])
    assert [(row["priority"], row["description"]) for row in rows] == (
        [("high", "critical")] * 4 + [("high", "high")] * 3 + [("medium", "warning")] * 3)


def series(kind, values):
    return of_kind(MemoryAnalyzer().analyze_sample_series(values), kind)


@pytest.mark.parametrize("ups, steps, severity", [(7, 10, None), (8, 10, "warning"), (9, 10, "warning"), (10, 10, "critical"),
                                                   (8, 8, None)])
def test_a_series_that_rises_B52(ups, steps, severity):
    """Nine samples are too few."""
    values = [100.0]
    for i in range(steps):
        values.append(values[-1] + (1 if i < ups else 0))
    found = series("monotonic_increase", values)
    assert (found and found.severity) == severity
    if found:
        assert found.metrics == {"increase_ratio": ups / steps, "sample_count": steps + 1}


@pytest.mark.parametrize("quiet, fires", [(9, False), (10, True)])
def test_a_spike_in_a_series_B52(quiet, fires):
    """One among n equal ones lies sqrt(n) deviations above the mean: 3 are not above 3."""
    found = series("memory_spikes", [0] * quiet + [10 * MIB])
    assert (found is not None) == fires
    if fires:
        assert found.severity == "warning" and found.metrics["spike_count"] == 1 and found.metrics["max_value"] == 10 * MIB


@pytest.mark.parametrize("last, fires", [(150, False), (150.01, True)])
def test_too_little_given_back_at_the_end_B52(last, fires):
    found = series("insufficient_cleanup", [100] * 5 + [300] * 20 + [last] * 5)
    assert (found is not None) == fires
    if fires:
        assert found.metrics == {"initial_avg": 100, "final_avg": pytest.approx(last)}


def test_unknown_samples_are_left_out_and_counted_B52():
    analyzer = MemoryAnalyzer()
    known = [float(i) for i in range(12)]
    assert analyzer.analyze_sample_series([None, float("nan"), *known, None]) == MemoryAnalyzer().analyze_sample_series(known)
    assert analyzer.dropped_samples == 3 and analyzer.analyze_sample_series([]) == []
