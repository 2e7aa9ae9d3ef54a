"""Row B50: ranks with clocks of their own on one timeline, and which of them jumped first."""
import json

import pytest
from gpumemprof_made import GIB, MIB, MS, event
from vramscope.compat.gpumemprof import MemoryAnalyzer, load_telemetry_events, telemetry_event_to_dict

KEYS = ["job_id", "world_size", "participating_ranks", "missing_ranks", "rank_sample_counts", "alignment_offsets_ns",
        "cluster_onset_timestamp_ns", "first_cause_suspects", "notes"]


def rank_of(number, jumps_at=None, jump=GIB, shift=0, count=10, world=3, base=2 * GIB, **more):
    return [event(10**18 + shift + i * 100 * MS, used=base + (jump if jumps_at is not None and i >= jumps_at else 0),
                  rank=number, world=world, **more) for i in range(count)]


def timeline(events):
    return MemoryAnalyzer().analyze_cross_rank_timeline(events)


def test_three_ranks_with_shifted_clocks_B50(tmp_path):
    shifts = {0: 0, 1: 5_000 * MS, 2: -70 * MS}
    events = [e for rank, at in ((0, 6), (1, 3), (2, 5)) for e in rank_of(rank, at, shift=shifts[rank], job="night")]
    for rank in range(3):
        path = tmp_path / f"rank{rank}.json"
        path.write_text(json.dumps([telemetry_event_to_dict(e) for e in events if e.rank == rank]))
    read = [e for rank in (2, 0, 1) for e in load_telemetry_events(tmp_path / f"rank{rank}.json")]
    found = timeline(read)
    assert list(found) == KEYS
    suspects = found.pop("first_cause_suspects")
    notes = found.pop("notes")
    assert found == {
        "job_id": "night", "world_size": 3, "participating_ranks": [0, 1, 2], "missing_ranks": [],
        "rank_sample_counts": {"0": 10, "1": 10, "2": 10},
        "alignment_offsets_ns": {"0": 0, "1": 5_000 * MS, "2": -70 * MS},
        "cluster_onset_timestamp_ns": 10**18 + 500 * MS}
    assert [s["rank"] for s in suspects] == [1, 2]
    assert list(suspects[0].items()) == [
        ("rank", 1), ("first_spike_timestamp_ns", 10**18 + 5_300 * MS), ("aligned_first_spike_timestamp_ns", 10**18 + 300 * MS),
        ("peak_delta_bytes", GIB), ("spike_window_samples", 1), ("lead_over_cluster_onset_ns", 200 * MS), ("confidence", "high"),
        ("evidence", {"device_used_delta_bytes": GIB, "supporting_ranks_at_or_before_onset": 2})]
    assert suspects[1]["confidence"] == "low" and suspects[1]["lead_over_cluster_onset_ns"] == 0
    assert len(notes) == 1 and "rank 1" in notes[0] and "5000000000 ns" in notes[0]


@pytest.mark.parametrize("offset, noted", [(500 * MS, False), (500 * MS + 1, True)])
def test_a_clock_more_than_five_samples_away_is_noted_B50(offset, noted):
    notes = timeline(rank_of(0, 3, world=2) + rank_of(1, 4, world=2, shift=offset))["notes"]
    assert bool(notes) == noted


@pytest.mark.parametrize("base, jump, fires", [
    (0, 64 * MIB, True), (0, 64 * MIB - 1, False),
    (90 * GIB, 10 * GIB, True), (90 * GIB + 10, 10 * GIB, False),  # a tenth of the most, rounded down
])
def test_how_high_a_jump_must_be_B50(base, jump, fires):
    found = timeline(rank_of(0, 3, jump, base=base, world=2, total=None) + rank_of(1, world=2))
    assert bool(found["first_cause_suspects"]) == fires
    assert any("one rank alone" in note for note in found["notes"]) == fires
    assert any("no rank" in note for note in found["notes"]) != fires
    if fires:
        assert found["first_cause_suspects"][0]["confidence"] == "low" and found["cluster_onset_timestamp_ns"] is None


def test_a_jump_may_take_several_samples_B50():
    steps = [0, 30, 60, 90, 90, 90]
    rising = [event(i * 100 * MS, used=steps[i] * MIB, rank=0, world=2) for i in range(6)]
    found = timeline(rising + rank_of(1, 8, world=2))["first_cause_suspects"][0]
    assert (found["rank"], found["spike_window_samples"], found["peak_delta_bytes"]) == (0, 3, 90 * MIB)
    broken = [event(i * 100 * MS, used=used * MIB, rank=0, world=2) for i, used in enumerate((0, 60, 60, 63, 63, 126))]
    assert timeline(broken + rank_of(1, world=2))["first_cause_suspects"] == []


@pytest.mark.parametrize("second, extra, confidence", [
    (4, (), "high"), (3, (), "medium"), (4, ("missing",), "low"), (4, ("short",), "low"),
])
def test_how_sure_a_first_cause_is_B50(second, extra, confidence):
    world = 3 if extra else 2
    events = rank_of(0, 3, world=world) + rank_of(1, second, world=world, jump=2 * GIB)
    if "short" in extra:
        events += rank_of(2, count=1)
    found = timeline(events)
    first = found["first_cause_suspects"][0]
    assert first["confidence"] == confidence and first["rank"] == (1 if second == 3 else 0)
    assert found["missing_ranks"] == ([2] if "missing" in extra else [])
    assert len(found["notes"]) == len(extra) and all("2" in note for note in found["notes"])


def test_a_lead_shorter_than_a_sample_is_not_sure_B50():
    late = rank_of(1, 3, world=2)
    for e in late[1:]:
        e.timestamp_ns += 99 * MS  # 99 ms after the other, whose samples are 100 ms apart
    assert timeline(rank_of(0, 3, world=2) + late)["first_cause_suspects"][0]["confidence"] == "medium"


def test_the_job_with_the_most_events_B50():
    events = rank_of(0, 3, job="a", count=5) + rank_of(1, 3, job="b") + rank_of(0, job="b") + rank_of(2, count=30)
    found = timeline(events)
    assert found["job_id"] == "b" and found["participating_ranks"] == [0, 1] and "Several jobs" in found["notes"][0]
    assert found["rank_sample_counts"] == {"0": 10, "1": 10} and found["missing_ranks"] == [2]


def test_of_jobs_with_as_many_events_the_first_counts_B50():
    for first, second in ("ab", "ba"):
        assert timeline(rank_of(0, 3, job=first) + rank_of(1, 3, job=second))["job_id"] == first


@pytest.mark.parametrize("kind", ["sample", "allocation", "peak", "start"])
def test_events_of_every_type_that_carry_memory_count_B50(kind):
    found = timeline(rank_of(0, 3, world=2, kind=kind) + rank_of(1, 5, world=2, kind=kind))
    assert [s["rank"] for s in found["first_cause_suspects"]] == [0, 1] and found["notes"] == []


def test_events_without_the_drivers_figure_are_dropped_and_counted_B50():
    analyzer = MemoryAnalyzer()
    known = rank_of(0, 3, world=2) + rank_of(1, 5, world=2)
    found = analyzer.analyze_cross_rank_timeline([event(i, rank=i % 2, world=2) for i in range(7)] + known)
    assert analyzer.dropped_samples == 7 and found["notes"][0].startswith("7 events")
    assert found["first_cause_suspects"] == timeline(known)["first_cause_suspects"]
    nothing = timeline([event(0, rank=0)])
    assert nothing["world_size"] == 0 and nothing["job_id"] is None and nothing["first_cause_suspects"] == []


def test_few_ranks_and_none_B50():
    assert list(timeline([])) == KEYS and timeline([])["notes"] and timeline([])["world_size"] == 0
    alone = timeline(rank_of(0, 3, world=1))
    assert alone["first_cause_suspects"] == [] and alone["world_size"] == 1 and "two ranks" in alone["notes"][0]


def test_a_file_may_claim_any_number_of_ranks_B50():
    found = timeline(rank_of(0, 3, world=10**9) + rank_of(1, 3, world=10**9))
    assert found["world_size"] == 10**9 and len(found["missing_ranks"]) == 65_536 and found["missing_ranks"][0] == 2
    assert "and 999934462 more" in found["notes"][0]


def test_the_interval_told_is_used_where_there_are_no_two_samples_B50():
    found = timeline(rank_of(0, count=1, world=2, interval=1) + rank_of(1, count=1, world=2, interval=1, shift=6 * MS))
    assert any("clock of rank 1" in note for note in found["notes"])
