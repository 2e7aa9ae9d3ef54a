"""Statistics of the core against a second implementation in exact fractions."""
import array
import math
import random
import sys
from fractions import Fraction

import pytest
from conftest import some
from hypothesis import given, settings
from hypothesis import strategies as st
from models import statistics as model
from vramscope import _core

# Numbers with fewer than 53 digits, which those near 0 have, cannot be right to twelve.
PLAIN = st.floats(-1e12, 1e12).map(lambda v: v if abs(v) > 1e-200 else 0.0)
BYTES = st.integers(0, 1 << 40).map(float)
TIMES = st.integers(1_700_000_000 * 10**9, 1_700_000_100 * 10**9).map(float)
VALUES = st.one_of(*(st.lists(each, max_size=40) for each in (PLAIN, BYTES, TIMES)),
                   st.tuples(PLAIN, st.integers(1, 300)).map(lambda made: [made[0]] * made[1]))
SHARES = st.one_of(st.floats(0, 1), st.sampled_from((0, 0.25, 0.5, 0.9, 0.95, 0.99, 1)))
ODD = (math.nan, math.inf, -math.inf, None)


def check(found, wanted, beside=0):
    """`beside`: what the result cancels from, of which 1e-25 is lost at most.  What no double can be is unknown."""
    if wanted is None or abs(Fraction(wanted)) > Fraction(sys.float_info.max):
        assert found is None
        return
    assert found is not None
    distance = abs(Fraction(found) - Fraction(wanted))
    assert distance <= abs(Fraction(wanted)) / 10**12 + Fraction(beside) / 10**25, (found, float(wanted))


@given(VALUES, SHARES)
@settings(max_examples=some(12, 400), deadline=None)
def test_figures_of_values_are_those_of_the_model(values, share):
    most = max(map(abs, values), default=0)
    check(_core._mean(values), model.mean(values), most)
    check(_core._deviation(values), model.deviation(values), most)
    check(_core._percentile(values, share), model.percentile(values, share), most)
    check(_core._mad(values), model.mad(values), most)
    for found, wanted in zip(_core._robust_z(values), model.robust_z(values), strict=True):
        check(found, wanted)
    for found, at in zip(_core._quartiles(values), (0.25, 0.5, 0.75), strict=True):
        check(found, model.percentile(values, at), most)


def steepest(x, y):
    """The slope that there would be if no product of the sum cancelled another."""
    dx, dy = ([Fraction(v) - Fraction(model.mean(of)) for v in of] for of in (x, y))
    return sum(abs(a * b) for a, b in zip(dx, dy, strict=True)) / sum(a * a for a in dx)


def check_line(x, y):
    slope, intercept, r, p = _core._line(x, y)
    wanted = model.line(x, y)
    check(slope, wanted[0], 0 if wanted[0] is None else steepest(x, y))
    beside = 0 if wanted[0] is None else abs(model.mean(y)) + steepest(x, y) * abs(model.mean(x))
    check(intercept, wanted[1], beside)
    check(r, wanted[2], 1)
    assert _core._pearson(x, y) == r
    # Points that lie on a line but for the rounding of their own digits are on it.
    if wanted[2] is not None and 1 - abs(Fraction(wanted[2])) < Fraction(1, 10**36):
        assert p in (0, None) or p < 1e-15
    else:
        check(p, wanted[3], Fraction(1, 10**283))


@given(st.sampled_from((PLAIN, BYTES, TIMES)), st.sampled_from((PLAIN, BYTES)), st.integers(0, 30), st.data())
@settings(max_examples=some(12, 300), deadline=None)
def test_lines_are_those_of_the_model(of_x, of_y, count, data):
    check_line(*(data.draw(st.lists(of, min_size=count, max_size=count)) for of in (of_x, of_y)))


def test_a_slope_that_all_but_cancels():
    check_line([0.0, 0.5, -0.5], [1.0, 0.0, 1.1754943508222875e-38])
    check_line([0.0, 17.0, 1.1754943508222875e-38, 0.0], [0.0, 0.0, 2.4e-07, -2.4e-07])


@pytest.mark.parametrize("count", (3, 4, 5, 10, 31, *(pytest.param(n, marks=pytest.mark.long) for n in (200, 1001))))
@pytest.mark.parametrize("noise", (0, 0.001, 0.5, 20, 1000))
def test_lines_with_noise_are_those_of_the_model(count, noise):
    chance = random.Random(f"{count} {noise}")
    x = [1.7e9 + i * 0.1 for i in range(count)]
    check_line(x, [3e9 + 2e6 * i * (1 + noise * chance.gauss(0, 1)) for i in range(count)])
    check_line(x, [-7.0 * i + noise * chance.gauss(0, 1) for i in range(count)])


@pytest.mark.parametrize("value", (0.0, 0.1, -1 / 3, 1e-300, 5e-324, 1.7e308, 1.7e18))
@pytest.mark.parametrize("count", (1, 2, 3, 7, 10, 49, 1000))
def test_equal_values_are_their_own_figures(value, count):
    values = [value] * count
    assert _core._mean(values) == value and _core._deviation(values) == 0
    assert _core._percentile(values, 0.37) == value and _core._quartiles(values) == (value,) * 3
    assert _core._mad(values) == 0 and _core._robust_z(values) == [None] * count
    assert _core._line(values, range(count)) == (None,) * 4
    if count > 1:
        slope, intercept, r, p = _core._line(range(count), values)
        assert (slope, intercept, r, p) == (0, value, None, None)


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", (0, 3, 6))
def test_what_is_not_finite_makes_the_figures_unknown(odd, place):
    values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0]
    values[place] = odd
    assert _core._mean(values) is _core._deviation(values) is _core._mad(values) is None
    assert _core._percentile(values, 0.5) is None and _core._quartiles(values) == (None,) * 3
    assert _core._robust_z(values) == [None] * 7
    assert _core._line(values, range(7)) == _core._line(range(7), values) == (None,) * 4
    assert _core._pearson(values, range(7)) is None


def test_of_nothing_nothing_is_known():
    for empty in ([], (), array.array("d"), iter(())):
        assert _core._mean(empty) is None
    assert _core._deviation([]) is _core._mad([]) is _core._percentile([], 0.5) is None
    assert _core._quartiles([]) == (None,) * 3 and _core._robust_z([]) == [] and _core._line([], []) == (None,) * 4


@pytest.mark.parametrize("share", (-0.001, 1.001, math.nan, math.inf))
def test_shares_outside_are_unknown(share):
    assert _core._percentile([1, 2], share) is None


def test_buffers_of_doubles_are_read_as_sequences_are():
    values = [random.Random(5).gauss(0, 1e6) for _ in range(1000)]
    kinds = (values, tuple(values), array.array("d", values), memoryview(array.array("d", values)), iter(values))
    assert len({_core._deviation(kind) for kind in kinds}) == 1
    assert _core._mean(array.array("q", [1, 2, 6])) == 3 and _core._mean([1, 2, 6]) == 3
    assert _core._mean(memoryview(array.array("d", [1, 2, 6, 7]))[::2]) == 3.5
    sorted_after = array.array("d", [3, 1, 2])
    assert _core._percentile(sorted_after, 0.5) == 2 and list(sorted_after) == [3, 1, 2]


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError):
        _core._mean(["1"])
    with pytest.raises(TypeError):
        _core._mean(7)
    with pytest.raises(ValueError, match="differ in length"):
        _core._line([1, 2], [1])
    with pytest.raises(OverflowError):
        _core._mean([10**400])


def steady_in_fractions(values, share):
    """The definition, word by word."""
    for at in range(len(values)):
        median = model.percentile(values[at:], 0.5)
        if all(abs(Fraction(v) - median) <= Fraction(share) * abs(median) for v in values[at:]):
            return at
    return None


@given(st.one_of(st.lists(st.integers(-9, 9).map(float), max_size=30), st.lists(st.integers(90, 110).map(float), max_size=30)),
       st.sampled_from((0, 0.0625, 0.25, 0.5)))
@settings(max_examples=some(15, 500), deadline=None)
def test_where_values_become_steady(values, share):
    assert _core._steady(values, share) == steady_in_fractions(values, share)


def test_a_warm_up_is_found():
    assert _core._steady([1234.56, 987.43, 102.34, 101.89, 102.12], 0.05) == 2
    assert _core._steady([100.0] * 40, 0.05) == 0 and _core._steady([1.0, 100.0], 0.05) == 1
    # A spike late means that it was not steady before.
    assert _core._steady([100.0] * 40 + [106.0] + [100.0] * 3, 0.05) == 41


def test_what_can_not_be_steady():
    for values, share in (([], 0.05), ([1.0, math.nan, 1.0], 0.05), ([1.0], 0.51), ([1.0], -0.1), ([1.0], math.nan)):
        assert _core._steady(values, share) is None
