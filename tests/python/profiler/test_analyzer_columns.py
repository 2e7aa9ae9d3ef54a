"""Columns of the analyzer's private calls: what is no column is refused, and nothing is lost or read twice."""
import array
import math
import sys
import threading

import pytest
from vramscope import Error, _core

THRESHOLDS = _core._thresholds()
GIB = 1 << 30


def calls(count=4, **changed):
    columns = {"function": [0] * count, "started": list(map(float, range(count))), "seconds": [1.0] * count,
               "before": [0] * count, "after": [GIB] * count, "reserved": [GIB] * count, "peak": [GIB] * count,
               "allocated": [GIB] * count}
    return {**columns, **changed}


def samples(count=4, **changed):
    columns = {"ranks": [0], "time_ns": list(range(count)), "rank": [0] * count, "job": [0] * count, "world_size": [1] * count,
               "interval_ms": [1] * count, "used": [GIB] * count, "total": [GIB] * count, "reserved": [GIB] * count,
               "allocated": [0] * count, "sampled": [True] * count, "marked": [False] * count}
    return {**columns, **changed}


def test_columns_of_every_kind_of_sequence():
    wanted = _core._patterns(calls(), THRESHOLDS)
    assert wanted[0][0] == "memory_leak" and wanted[0][3]["total_memory_growth"] == 4 * GIB and wanted[0][4] == [0]
    made = calls(after=array.array("q", [GIB] * 4), before=(0.0,) * 4, function=range(0, 4, 9), peak=iter([GIB] * 4))
    made["function"] = (0,) * 4
    assert _core._patterns(made, THRESHOLDS) == wanted


def test_totals_of_calls():
    made = calls(seconds=[1, 2, 3, 4], peak=[1, 9, 3, 4], freed=[0, GIB, 0, 0])
    assert _core._totals(made) == {"allocated": 4 * GIB, "freed": GIB, "net": 3 * GIB, "peak": 9, "seconds": 10.0,
                                   "mean_seconds": 2.5, "mean_allocated": GIB}
    without = _core._totals(calls())
    assert (without["freed"], without["net"]) == (0, 4 * GIB)
    assert set(_core._totals(calls(0)).values()) == {0}
    with pytest.raises(ValueError, match="freed has 3 rows"):
        _core._totals(calls(freed=[0] * 3))


@pytest.mark.parametrize("name", calls())
@pytest.mark.parametrize("column, failure", [([0] * 3, ValueError), (["x"] * 4, TypeError), (7, TypeError), ([[]] * 4, TypeError)])
def test_what_is_no_column_of_calls_is_refused(name, column, failure):
    with pytest.raises(failure):
        _core._patterns(calls(**{name: column}), THRESHOLDS)
    with pytest.raises(KeyError, match=name):
        _core._insights({key: value for key, value in calls().items() if key != name}, THRESHOLDS)


@pytest.mark.parametrize("name", [name for name in samples() if name not in ("ranks", "sampled", "marked")])
@pytest.mark.parametrize("column, failure", [([0] * 3, ValueError), (["x"] * 4, TypeError), ([1 << 63] * 4, OverflowError)])
def test_what_is_no_column_of_samples_is_refused(name, column, failure):
    with pytest.raises(failure):
        _core._gaps(samples(**{name: column}), THRESHOLDS)
    with pytest.raises(KeyError, match=name):
        _core._first_cause({key: value for key, value in samples().items() if key != name}, THRESHOLDS)


@pytest.mark.parametrize("unknown", [None, math.nan, math.inf])
def test_unknown_figures_are_unknown_to_the_core(unknown):
    assert _core._gaps(samples(used=[unknown] * 4), THRESHOLDS) == ([], 4)
    total = _core._totals(calls(allocated=[unknown, 1, 2, 3], seconds=[unknown] * 4, peak=[unknown, 5, 1, 2]))
    assert (total["allocated"], total["seconds"], total["peak"]) == (6, 0.0, 5)


def test_ids_that_do_not_exist_are_refused():
    with pytest.raises(Error, match="sample 0 is of rank 3") as failure:
        _core._gaps(samples(rank=[3] * 4), THRESHOLDS)
    assert failure.value.status == "usage"
    with pytest.raises(OverflowError):
        _core._patterns(calls(function=[-1] * 4), THRESHOLDS)
    with pytest.raises(OverflowError):
        _core._patterns(calls(after=[1e30] * 4), THRESHOLDS)


def test_a_column_that_raises_passes_its_exception_on():
    class Odd:
        def __iter__(self):
            raise RuntimeError("mine")

    class Thresholds(dict):
        def __getitem__(self, name):
            raise LookupError("yours")
    with pytest.raises(RuntimeError, match="mine"):
        _core._patterns(calls(after=Odd()), THRESHOLDS)
    with pytest.raises(LookupError, match="yours"):
        _core._patterns(calls(), Thresholds())


def test_nothing_is_kept_of_a_call():
    for ask in (lambda: _core._patterns(calls(), THRESHOLDS), lambda: _core._gaps(samples(), THRESHOLDS),
                lambda: _core._percentile([1.0, 2.0], 0.5), lambda: _core._robust_z([1.0, 2.0, 4.0])):
        ask()
        blocks = sys.getallocatedblocks()
        for _ in range(2000):
            ask()
        assert sys.getallocatedblocks() - blocks < 100


def test_threads_ask_at_once():
    wanted, found = _core._patterns(calls(3000), THRESHOLDS), []

    def ask():
        for _ in range(20):
            found.append(_core._patterns(calls(3000), THRESHOLDS) == wanted)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 80
