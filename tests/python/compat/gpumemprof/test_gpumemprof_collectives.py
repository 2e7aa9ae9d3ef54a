"""Row B49: gaps that come with collective communication, at each limit of the presets and just before it."""
import pytest
from gpumemprof_made import GIB, MIB, MS, event, only
from vramscope.compat.gpumemprof import MemoryAnalyzer
from vramscope.compat.gpumemprof.analyzer import resolve_collective_attribution_config

NOISE = (10, 12, 11, 9, 10, 11, 8, 12)  # MiB: median 10.5, median deviation 1


def rank_of(number, spike=8 * GIB, at=8, world=2, marker=None, quiet=NOISE, total=80 * GIB, shift=0):
    """Samples of one rank each 100 ms, with one gap that stands out, and a marker beside it."""
    gaps = [gap * MIB for gap in quiet]
    gaps.insert(at, spike)
    made = [event(i * 100 * MS + shift, used=GIB + gap, reserved=GIB, rank=number, world=world, total=total)
            for i, gap in enumerate(gaps)]
    if marker is not None:
        made.append(event(at * 100 * MS + shift + marker, used=0, rank=number, world=world, kind="phase_enter",
                          context="ncclAllReduce"))
    return made


def both(**more):
    return rank_of(0, **more) + rank_of(1, **more)


def attributed(events, sensitivity="medium", **overrides):
    return MemoryAnalyzer(None, sensitivity, overrides or None).analyze_collective_attribution(events)


def test_two_ranks_with_a_marker_B49():
    first, second = attributed(both(marker=20 * MS))
    assert (first.rank, second.rank) == (0, 1)
    assert (first.classification, first.confidence) == ("collective_confident", 1)
    assert first.interval_start_ns == 800 * MS - 120 * MS and first.interval_end_ns == 820 * MS + 120 * MS
    assert first.reason_codes == ["allocator_device_divergence", "cross_rank_synchrony", "gap_spike_statistical_outlier",
                                  "marker_collective_token", "marker_spike_overlap"]
    evidence = vars(first.evidence)
    assert list(evidence) == ["marker_hits", "synchronized_ranks", "expected_world_size", "synchrony_ratio", "peak_gap_bytes",
                              "peak_gap_ratio", "robust_zscore"]
    assert evidence["robust_zscore"] == round(0.6745 * (8192 - 11) / 1, 4)
    assert {**evidence, "robust_zscore": 0} == {
        "marker_hits": 1, "synchronized_ranks": 2, "expected_world_size": 2, "synchrony_ratio": 1,
        "peak_gap_bytes": 8 * GIB, "peak_gap_ratio": 0.1, "robust_zscore": 0}


@pytest.mark.parametrize("marker, hits", [(150 * MS, 1), (150 * MS + 1, 0), (-150 * MS, 1), (-150 * MS - 1, 0)])
def test_how_far_a_marker_may_lie_B49(marker, hits):
    found = attributed(both(marker=marker))
    assert [row.evidence.marker_hits for row in found] == ([hits] * 2 if hits else [0] * 2)
    if hits:
        assert found[0].interval_start_ns == min(marker, 0) + 800 * MS - 120 * MS
    else:  # 0.34 + 0.16 + 0.16 - 0.15
        assert (found[0].classification, found[0].confidence) == ("collective_suspect", 0.51)
        assert "weak_marker_signal" in found[0].reason_codes


def test_one_rank_alone_B49():
    found = only(attributed(rank_of(0, world=1, marker=0)))  # 0.34 + 0.16 + 0.16 - 0.15
    assert found.confidence == 0.51 and "single_rank_only" in found.reason_codes
    assert attributed(rank_of(0, world=1)) == []
    assert attributed(rank_of(0, world=1, marker=0), min_confidence=0.511) == []


@pytest.mark.parametrize("apart, synchronous", [(120 * MS, True), (120 * MS + 1, False)])
def test_how_far_ranks_may_lie_apart_B49(apart, synchronous):
    found = attributed(rank_of(0, marker=0) + rank_of(1, marker=0, shift=apart))
    assert [row.confidence for row in found] == ([1, 1] if synchronous else [0.51, 0.51])
    assert all(("cross_rank_synchrony" in row.reason_codes) == synchronous for row in found)


@pytest.mark.parametrize("total, spike, fires", [
    (80 * GIB, 128 * MIB, True), (80 * GIB, 128 * MIB - 1, False),
    (GIB, 41 * MIB, True), (GIB, 40 * MIB, False),  # 4 % is 40.96 MiB
    (None, 128 * MIB, True), (None, 127 * MIB, False),
])
def test_how_wide_a_gap_must_be_B49(total, spike, fires):
    events = [e for e in both(spike=spike, marker=0, total=None)]
    for e in events:
        e.device_total_bytes = total
    found = attributed(events)
    assert bool(found) == fires
    if fires:
        assert (found[0].evidence.peak_gap_ratio is None) == (total is None)
        assert found[0].confidence == (0.95 if total is None else 1)


@pytest.mark.parametrize("quiet, fires", [(NOISE[:5], True), (NOISE[:4], False)])
def test_six_samples_of_a_rank_are_enough_B49(quiet, fires):
    assert bool(attributed(both(quiet=quiet, at=3, marker=0))) == fires


def test_the_z_score_is_robust_or_plain_B49():
    # More than half of the gaps are equal: there is no median deviation, and one in ten lies 3 deviations out.
    plain = attributed(both(quiet=(10,) * 9, at=4, marker=0))
    assert [row.evidence.robust_zscore for row in plain] == [3, 3]
    assert attributed(both(quiet=(10,) * 9, at=4, marker=0), robust_zscore_threshold=3.01) == []
    assert attributed(both(quiet=(10,) * 6, at=4, marker=0)) == []  # sqrt(6) is below 2.5
    # Of nine gaps the median is 10 and the deviation 1 MiB: z = 0.6745 * (spike - 11).
    robust = attributed(both(spike=150 * MIB, quiet=tuple(q * 10 for q in NOISE), marker=0))
    assert [row.evidence.robust_zscore for row in robust] == [round(0.6745 * (150 - 110) / 10, 4)] * 2
    assert attributed(both(spike=140 * MIB, quiet=tuple(q * 10 for q in NOISE), marker=0)) == []


def test_presets_B49():
    events = rank_of(0, marker=0, spike=100 * MIB, total=80 * GIB) + rank_of(1, spike=100 * MIB, marker=0)
    assert attributed(events) == attributed(events, "low") == [] and len(attributed(events, " HIGH ")) == 2
    middle = both(marker=0, spike=200 * MIB)
    assert attributed(middle, "low") == [] and len(attributed(middle)) == 2
    for preset, samples, gap, z in (("low", 8, 256, 3.0), ("medium", 6, 128, 2.5), ("high", 5, 64, 1.8)):
        config = resolve_collective_attribution_config(preset)
        assert (config.preset, config.min_samples_per_rank, config.min_gap_bytes, config.robust_zscore_threshold) == (
            preset, samples, gap * MIB, z)


@pytest.mark.parametrize("overrides", [
    {"min_samples_per_rank": 2}, {"min_gap_bytes": -1}, {"min_gap_ratio": -0.1}, {"robust_zscore_threshold": 0},
    {"marker_window_ns": -1}, {"interval_padding_ns": -1}, {"synchrony_window_ns": -1}, {"min_synchrony_ratio": 1.1},
    {"min_confidence": -0.1}, {"min_confidence": float("nan")}, {"preset": "low"}, {"nonsense": 1},
])
def test_limits_that_make_no_sense_are_refused_B49(overrides):
    with pytest.raises(ValueError, match=next(iter(overrides))):
        MemoryAnalyzer(None, "medium", overrides)
    with pytest.raises(ValueError, match="preset"):
        MemoryAnalyzer(collective_sensitivity="highest")


def test_intervals_that_overlap_are_one_B49():
    events = both(marker=0) + [event(870 * MS, used=10 * GIB, reserved=GIB, rank=r, world=2) for r in (0, 1)]
    found = attributed(events)
    assert [row.rank for row in found] == [0, 1]
    assert found[0].interval_end_ns == 870 * MS + 120 * MS and found[0].evidence.peak_gap_bytes == 9 * GIB
    assert len(attributed(events, interval_padding_ns=10 * MS, marker_window_ns=0)) == 4


@pytest.mark.parametrize("metadata, is_marker", [
    ({"op": "reduce-scatter"}, True), ({"deep": [{"x": ("ReduceScatter",)}]}, True), ({"op": "matmul"}, False), ({"nccl": 1}, False),
])
def test_markers_are_found_in_texts_of_any_depth_B49(metadata, is_marker):
    metadata["itself"] = metadata
    events = both() + [event(800 * MS, used=0, rank=r, world=2, kind="mark", metadata=metadata) for r in (0, 1)]
    assert [row.evidence.marker_hits for row in attributed(events)] == [int(is_marker)] * 2


def test_samples_without_the_drivers_figure_are_dropped_and_counted_B49():
    analyzer = MemoryAnalyzer()
    unknown = [event(i * MS, used=None, rank=0, world=2) for i in range(5)]
    assert analyzer.analyze_collective_attribution(both(marker=0) + unknown) == attributed(both(marker=0))
    assert analyzer.dropped_samples == 5
    assert analyzer.analyze_collective_attribution([]) == [] and analyzer.dropped_samples == 0
