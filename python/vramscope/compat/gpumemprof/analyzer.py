"""The analyzer of gpumemprof over the rules of the core (rows B40 to B52).

Rules and figures are the core's; texts are in texts.py.  Every threshold is in `.thresholds`.
"""
from __future__ import annotations


from vramscope import _core
from vramscope.compat.gpumemprof import texts
from vramscope.compat.gpumemprof.utils import format_bytes

TYPE_CHECKING = False  # typing costs more to import than all of this
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from vramscope.compat.gpumemprof.records import (
        CollectiveAttributionConfig, CollectiveAttributionResult, GapFinding, MemoryPattern,
        PerformanceInsight)

    _Finding = tuple[str, int, float | None, dict[str, Any], list[int]]

__all__ = ["GapFinding", "MemoryAnalyzer", "MemoryPattern", "PerformanceInsight",
           "resolve_collective_attribution_config"]

_SEVERITIES = ("info", "warning", "critical")
_IMPACTS = ("low", "medium", "high")

_PRESETS: dict[str, dict[str, Any]] = {
    "low": {"min_samples_per_rank": 8, "min_gap_bytes": 256 << 20, "min_gap_ratio": 0.06,
            "robust_zscore_threshold": 3.0, "marker_window_ns": 120_000_000,
            "interval_padding_ns": 100_000_000, "synchrony_window_ns": 100_000_000,
            "min_synchrony_ratio": 0.6, "min_confidence": 0.7},
    "medium": {},
    "high": {"min_samples_per_rank": 5, "min_gap_bytes": 64 << 20, "min_gap_ratio": 0.025,
             "robust_zscore_threshold": 1.8, "marker_window_ns": 180_000_000,
             "interval_padding_ns": 160_000_000, "synchrony_window_ns": 180_000_000,
             "min_synchrony_ratio": 0.34, "min_confidence": 0.35},
}
# What may be overridden, in the order of the core, and what it may be: least, most, and whether
# the least itself is allowed.
_LIMITS: dict[str, tuple[int, int | None, bool]] = {
    "min_samples_per_rank": (3, None, True),
    "min_gap_bytes": (0, None, True),
    "min_gap_ratio": (0, None, True),
    "robust_zscore_threshold": (0, None, False),
    "marker_window_ns": (0, None, True),
    "interval_padding_ns": (0, None, True),
    "synchrony_window_ns": (0, None, True),
    "min_synchrony_ratio": (0, 1, True),
    "min_confidence": (0, 1, True),
}
# Bits of the core's reasons, by name.
_REASONS = ((16, "allocator_device_divergence"), (8, "cross_rank_synchrony"),
            (1, "gap_spike_statistical_outlier"), (2, "marker_collective_token"),
            (2, "marker_spike_overlap"), (32, "single_rank_only"), (4, "weak_marker_signal"))
# Digits that evidence is rounded to.
_DIGITS = {"max_zscore": 3, "mean_gap_bytes": 1, "std_gap_bytes": 1, "slope_bytes_per_sec": 1,
           "r_squared": 4, "p_value": 6, "gap_start_bytes": 1, "gap_end_bytes": 1,
           "avg_fragmentation_ratio": 4, "max_fragmentation_ratio": 4, "avg_gap_bytes": 1}
# More missing ranks are counted and not listed: a file may claim any number.
_MISSING_MOST = 65_536


def resolve_collective_attribution_config(
        preset: str = "medium",
        overrides: Mapping[str, Any] | None = None) -> CollectiveAttributionConfig:
    """The limits of a preset (low, medium, high) with some of them overridden.

    Raises ValueError for a preset or limit that does not exist, or a value that makes no sense.
    """
    from vramscope.compat.gpumemprof.records import CollectiveAttributionConfig
    name = (preset or "medium").strip().lower()
    if name not in _PRESETS:
        raise ValueError(f"Unknown collective attribution preset: {preset!r} "
                         f"(known: {', '.join(sorted(_PRESETS))})")
    overrides = dict(overrides or {})
    unknown = sorted(set(overrides) - set(_LIMITS))
    if unknown:
        raise ValueError(f"Unknown collective attribution override fields: {', '.join(unknown)}")
    config = CollectiveAttributionConfig(preset=name, **{**_PRESETS[name], **overrides})
    for field, (least, most, included) in _LIMITS.items():
        value = getattr(config, field)
        if not (value >= least and (included or value > least)):
            raise ValueError(f"{field} must be {'>=' if included else '>'} {least}")
        if most is not None and value > most:
            raise ValueError(f"{field} must be in [{least}, {most}]")
    return config


def totals(results: Sequence[Any]) -> dict[str, Any]:
    """Bytes and seconds of calls together: allocated, freed, net, peak, and means of a call."""
    freed = [r.memory_freed for r in results]
    return _core._totals({**_calls(results)[1], "freed": freed})


def _calls(results: Sequence[Any]) -> tuple[list[str], dict[str, list[Any]]]:
    """Names of functions in the order of their first calls, and the columns of the calls."""
    ids: dict[str, int] = {}
    columns = {
        "function": [ids.setdefault(r.function_name, len(ids)) for r in results],
        "started": [r.memory_before.timestamp for r in results],
        "seconds": [r.execution_time for r in results],
        "before": [r.memory_before.allocated_memory for r in results],
        "after": [r.memory_after.allocated_memory for r in results],
        "reserved": [r.memory_after.reserved_memory for r in results],
        "peak": [r.peak_memory_usage() for r in results],
        "allocated": [r.memory_allocated for r in results],
    }
    return list(ids), columns


# Columns of samples: their names in telemetry and in events of a tracker.
_OF_EVENTS = {
    "used": ("device_used_bytes", "device_used"),
    "total": ("device_total_bytes", "device_total"),
    "reserved": ("allocator_reserved_bytes", "memory_reserved"),
    "allocated": ("allocator_allocated_bytes", "memory_allocated"),
}


def _attribute(event: Any, names: Iterable[str]) -> Any:
    return next((getattr(event, name) for name in names if hasattr(event, name)), None)


def _time_ns(event: Any) -> int:
    time_ns: int | None = getattr(event, "timestamp_ns", None)
    return round(event.timestamp * 1e9) if time_ns is None else time_ns


def _strings(event: Any) -> Iterator[str]:
    """Type, context and every text in the metadata of an event, however deep."""
    waiting, seen = [event.event_type, event.context, event.metadata], set[int]()
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, (dict, list, tuple, set)) and id(value) not in seen:
            seen.add(id(value))
            waiting.extend(value.values() if isinstance(value, dict) else value)


def _is_collective(event: Any) -> bool:
    for text in _strings(event):
        plain = text.lower().replace("-", "_")
        joined = plain.replace("_", "")
        if any(token in plain or token.replace("_", "") in joined for token in texts.COLLECTIVES):
            return True
    return False


def _samples(events: Sequence[Any],
             marks: bool = False) -> tuple[list[str | None], dict[str, list[Any]]]:
    """Names of jobs by their numbers, and the columns of the events."""
    jobs: dict[str, int] = {}
    ranks = sorted({event.rank or 0 for event in events})
    places = {rank: place for place, rank in enumerate(ranks)}
    columns: dict[str, list[Any]] = {
        "ranks": ranks,
        "time_ns": [_time_ns(event) for event in events],
        "rank": [places[event.rank or 0] for event in events],
        "job": [jobs.setdefault(event.job_id, len(jobs) + 1) if event.job_id else 0
                for event in events],
        "world_size": [event.world_size or 0 for event in events],
        "interval_ms": [getattr(event, "sampling_interval_ms", 0) for event in events],
        "sampled": [str(event.event_type).strip().lower() == "sample" for event in events],
        "marked": [_is_collective(event) for event in events] if marks else [False] * len(events),
    }
    for column, names in _OF_EVENTS.items():
        columns[column] = [_attribute(event, names) for event in events]
    return [None, *jobs], columns


def _pattern(finding: _Finding, names: Sequence[str]) -> MemoryPattern:
    from vramscope.compat.gpumemprof.records import MemoryPattern
    kind, severity, _, figures, functions = finding
    description, advice = texts.PATTERNS[kind]
    affected = [names[function] for function in functions]
    words = {**figures, "function": affected[0] if affected else ""}
    metrics = dict(figures)
    if kind == "repeated_allocations":
        metrics = {"function_count": figures["function_count"],
                   "total_impact_functions": affected,
                   "total_memory_from_repeated": figures["total_memory_from_repeated"]}
    return MemoryPattern(kind, description.format(**words), _SEVERITIES[severity], affected,
                         metrics, [text.format(**words) for text in advice])


def _insight_data(kind: str, figures: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The figures with the names that programs know, in their order."""
    if kind == "slow_functions":
        return {"slow_functions": names[:5], "slowest_function": names[0], **figures}
    if kind == "variable_times":
        most = (names[figures["place_of_most"]], figures["most_variation"])
        return {"variable_functions": names, "highest_variance": most}
    if kind == "memory_intensive":
        return {"memory_intensive_functions": names[:5], **figures}
    if kind == "time_and_memory":
        positive = figures["correlation_coefficient"] > 0
        return {**figures, "interpretation": "positive" if positive else "negative"}
    return dict(figures)


def _insight(finding: _Finding, names: Sequence[str]) -> PerformanceInsight:
    from vramscope.compat.gpumemprof.records import PerformanceInsight
    kind, impact, confidence, figures, functions = finding
    assert confidence is not None
    category, title, description, advice = texts.INSIGHTS[kind]
    concerned = [names[function] for function in functions]
    return PerformanceInsight(category, title, description.format(count=len(concerned), **figures),
                              _IMPACTS[impact], confidence,
                              _insight_data(kind, figures, concerned), list(advice))


def _gap(finding: _Finding, dropped: int) -> GapFinding:
    from vramscope.compat.gpumemprof.records import GapFinding
    kind, severity, confidence, figures, _ = finding
    assert confidence is not None
    description, advice = texts.GAPS[kind]
    rate = format_bytes(int(figures.get("slope_bytes_per_sec", 0)))
    evidence = {name: round(value, _DIGITS[name]) if name in _DIGITS and value is not None
                else value for name, value in figures.items()}
    if dropped:
        evidence["dropped_samples"] = dropped
    return GapFinding(kind, _SEVERITIES[severity], round(confidence, 3), evidence,
                      description.format(rate=rate, **figures), list(advice))


def _attribution(finding: _Finding) -> CollectiveAttributionResult:
    from vramscope.compat.gpumemprof.records import (CollectiveAttributionEvidence,
                                                     CollectiveAttributionResult)
    kind, _, confidence, figures, _ = finding
    assert confidence is not None
    ratio = figures["peak_gap_ratio"]
    evidence = CollectiveAttributionEvidence(
        figures["marker_hits"], figures["synchronized_ranks"], figures["expected_world_size"],
        round(figures["synchrony_ratio"], 4), figures["peak_gap_bytes"],
        None if ratio is None else round(ratio, 6), round(figures["robust_zscore"], 4))
    return CollectiveAttributionResult(
        figures["rank"], figures["interval_start_ns"], figures["interval_end_ns"], kind,
        round(confidence, 3), [name for bit, name in _REASONS if figures["reasons"] & bit],
        evidence)


def _suspect(finding: _Finding) -> dict[str, Any]:
    _, sure, _, figures, _ = finding
    return {
        "rank": figures["rank"],
        "first_spike_timestamp_ns": figures["jumped_ns"],
        "aligned_first_spike_timestamp_ns": figures["aligned_ns"],
        "peak_delta_bytes": figures["bytes"],
        "spike_window_samples": figures["samples"],
        "lead_over_cluster_onset_ns": figures["lead_ns"],
        "confidence": _IMPACTS[sure],
        "evidence": {"device_used_delta_bytes": figures["bytes"],
                     "supporting_ranks_at_or_before_onset": figures["supporting"]},
    }


def _listed(ranks: Iterable[int]) -> str:
    return ", ".join(map(str, ranks))


def _cross_rank_notes(figures: dict[str, Any] | None, ranks: Sequence[dict[str, Any]],
                      missing: list[int], unlisted: int, dropped: int,
                      any_events: bool) -> list[str]:
    """What a reader of the merged timeline has to know beside it, one sentence each."""
    if not any_events:
        return ["No telemetry events were given."]
    notes = []
    if dropped:
        notes.append(f"{dropped} events without the memory used on the device were left out.")
    if figures is None:
        return notes
    if figures["jobs"] > 1:
        notes.append("Several jobs were seen; the one with the most events is looked at.")
    if missing:
        rest = f" and {unlisted} more" if unlisted else ""
        notes.append(f"Nothing is known of ranks {_listed(missing)}{rest}.")
    for rank in ranks:
        if rank["skewed"]:
            notes.append(f"The clock of rank {rank['rank']} is {rank['offset_ns']} ns from the "
                         "first rank's, as far as first samples tell.")
    short = [rank["rank"] for rank in ranks if rank["samples"] < 2]
    if len(ranks) < 2:
        notes.append("A first cause needs two ranks at least.")
    elif short:
        notes.append(f"One sample tells no jump: ranks {_listed(short)}.")
    if len(ranks) > 1 and figures["jumps"] < 2:
        notes.append("Memory of one rank alone jumped, so this is not sure." if figures["jumps"]
                     else "Memory of no rank jumped.")
    return notes


def _missing(world_size: int, participating: Iterable[int]) -> tuple[list[int], int]:
    """The first ranks that are not there, and how many more."""
    present, missing = set(participating), list[int]()
    for rank in range(world_size):
        if len(missing) == _MISSING_MOST:
            break
        if rank not in present:
            missing.append(rank)
    return missing, world_size - len(present) - len(missing)


def __getattr__(name: str) -> object:
    """Classes of findings, which records.py has: dataclasses are not imported before."""
    if name not in ("GapFinding", "MemoryPattern", "PerformanceInsight"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from vramscope.compat.gpumemprof import records
    return getattr(records, name)


class MemoryAnalyzer:
    """Finds patterns, insights, gaps and first causes in what a profiler or tracker measured.

    profiler: taken for its `results` where a call is given none. collective_sensitivity: "low",
    "medium" or "high". collective_threshold_overrides: a mapping of limits of that. compat: "v0.1"
    has the threshold of leaks of that release, which tells more of them, many false.

    `thresholds` may be edited; `dropped_samples` counts the events that the last analysis of
    events had to leave out, because a figure it needs was None.
    """

    def __init__(self, profiler: Any = None, collective_sensitivity: str = "medium",
                 collective_threshold_overrides: Mapping[str, Any] | None = None, *,
                 compat: str | None = None) -> None:
        if compat not in (None, "v0.1"):
            raise ValueError(f"compat is None or 'v0.1', not {compat!r}")
        self.profiler = profiler
        self.collective_attribution_config = resolve_collective_attribution_config(
            collective_sensitivity, collective_threshold_overrides)
        self.thresholds = _core._thresholds()
        self.dropped_samples = 0
        if compat == "v0.1":
            self.thresholds["memory_leak_ratio"] = 0.1

    def _results(self, results: Iterable[Any] | None) -> list[Any]:
        if results is None and self.profiler:
            results = self.profiler.results
        return list(results or ())

    def analyze_memory_patterns(self,
                                results: Iterable[Any] | None = None) -> list[MemoryPattern]:
        """MemoryPattern rows: leaks, fragmentation, inefficient allocation, spikes, repetitions.

        results: ProfileResult rows; None: those of the profiler. Calls of which a figure is None
        are left out of the rules that need it.
        """
        names, columns = _calls(self._results(results))
        return [_pattern(finding, names) for finding in _core._patterns(columns, self.thresholds)]

    def generate_performance_insights(
            self, results: Iterable[Any] | None = None) -> list[PerformanceInsight]:
        """PerformanceInsight rows: slow and uneven functions, memory against time, growth."""
        names, columns = _calls(self._results(results))
        return [_insight(finding, names) for finding in _core._insights(columns, self.thresholds)]

    def analyze_memory_gaps(self, events: Iterable[Any]) -> list[GapFinding]:
        """GapFinding rows, the most severe first: what the device uses beside the allocator."""
        _, columns = _samples(list(events))
        found, self.dropped_samples = _core._gaps(columns, self.thresholds)
        # Programs know no such key: it comes only with events that the original fails on.
        told = self.dropped_samples if None in columns["used"] else 0
        return [_gap(finding, told) for finding in found]

    def analyze_collective_attribution(
            self, events: Iterable[Any]) -> list[CollectiveAttributionResult]:
        """CollectiveAttributionResult rows: such gaps near collective operations, by rank."""
        _, columns = _samples(list(events), marks=True)
        limits: Any = tuple(getattr(self.collective_attribution_config, name) for name in _LIMITS)
        found, self.dropped_samples = _core._collectives(columns, limits)
        return [_attribution(finding) for finding in found]

    def analyze_cross_rank_timeline(self, events: Iterable[Any]) -> dict[str, Any]:
        """A dict of the ranks on one clock, and which of them jumped first.

        Events of every type count that carry the memory used on the device.
        """
        events = list(events)
        jobs, columns = _samples(events)
        found, self.dropped_samples = _core._first_cause(columns, self.thresholds)
        figures = next((row[3] for row in found if row[0] == "cross_rank"), None)
        ranks = [row[3] for row in found if row[0] == "rank"]
        participating = [rank["rank"] for rank in ranks]
        world_size = figures["world_size"] if figures else 0
        missing, unlisted = _missing(world_size, participating)
        return {
            "job_id": jobs[figures["job"]] if figures else None,
            "world_size": world_size,
            "participating_ranks": participating,
            "missing_ranks": missing,
            "rank_sample_counts": {str(rank["rank"]): rank["samples"] for rank in ranks},
            "alignment_offsets_ns": {str(rank["rank"]): rank["offset_ns"] for rank in ranks},
            "cluster_onset_timestamp_ns": figures.get("cluster_onset_ns") if figures else None,
            "first_cause_suspects": [_suspect(row) for row in found if row[0] == "first_cause"],
            "notes": _cross_rank_notes(figures, ranks, missing, unlisted, self.dropped_samples,
                                       bool(events)),
        }

    def analyze_sample_series(self, samples: Iterable[float | None]) -> list[MemoryPattern]:
        """MemoryPattern rows of one series of bytes: steady rise, spikes, too little given back.

        None in the series is left out and counted in `dropped_samples`.
        """
        samples = list(samples)
        known = [value for value in samples if value is not None and value == value]
        self.dropped_samples = len(samples) - len(known)
        found = _core._series({"value": known}, self.thresholds)
        return [_pattern(finding, ()) for finding in found]

    def generate_optimization_report(self, results: Iterable[Any] | None = None,
                                     events: Iterable[Any] | None = None) -> dict[str, Any]:
        """A dict of all that is found, what to do first, and a mark; with events also gaps."""
        from dataclasses import asdict
        results = self._results(results)
        patterns = self.analyze_memory_patterns(results)
        insights = self.generate_performance_insights(results)
        names, columns = _calls(results)
        total = _core._totals(columns)
        report: dict[str, Any] = {
            "summary": {
                "total_functions_analyzed": len(names),
                "total_function_calls": len(results),
                "total_memory_allocated": total["allocated"],
                "total_execution_time": total["seconds"],
                "analysis_timestamp": results[-1].memory_after.timestamp if results else None,
            },
            "critical_issues": [dict(vars(p)) for p in patterns if p.severity == "critical"],
            "high_impact_insights": [dict(vars(i)) for i in insights if i.impact == "high"],
            "all_patterns": [dict(vars(p)) for p in patterns],
            "all_insights": [dict(vars(i)) for i in insights],
            "recommendations": _recommendations(patterns, insights),
            "optimization_score": _score(patterns, insights),
        }
        if events is not None:
            events = list(events)
            report["gap_analysis"] = [asdict(f) for f in self.analyze_memory_gaps(events)]
            report["collective_attribution"] = [
                asdict(r) for r in self.analyze_collective_attribution(events)]
            if len({event.rank for event in events}) > 1:
                report["cross_rank_analysis"] = self.analyze_cross_rank_timeline(events)
        return report


def _recommendations(patterns: Sequence[MemoryPattern],
                     insights: Sequence[PerformanceInsight]) -> list[dict[str, Any]]:
    """What to do first: critical patterns, insights of high impact, other patterns; ten at most."""
    def row(priority: str, category: str, description: str,
            suggestions: list[str]) -> dict[str, Any]:
        return {"priority": priority, "category": category, "description": description,
                "suggestions": suggestions}

    def of_patterns(severity: str, priority: str) -> list[dict[str, Any]]:
        return [row(priority, p.pattern_type, p.description, p.suggestions)
                for p in patterns if p.severity == severity]

    high = [row("high", i.category, i.description, i.recommendations)
            for i in insights if i.impact == "high"]
    return (of_patterns("critical", "high") + high + of_patterns("warning", "medium"))[:10]


def _score(patterns: Sequence[MemoryPattern],
           insights: Sequence[PerformanceInsight]) -> dict[str, Any]:
    severities = [pattern.severity for pattern in patterns]
    impacts = [insight.impact for insight in insights]
    info, warning, critical = map(severities.count, _SEVERITIES)
    low, medium, high = map(impacts.count, _IMPACTS)
    points, grade = _core._score((info, warning, critical), (low, medium, high))
    return {"score": points, "grade": grade, "description": texts.GRADES[grade],
            "issues_found": len(patterns) + len(insights)}
