"""The statistics of the core again, by definition: exact fractions, roots and tails of 400 digits."""
from decimal import Decimal, getcontext
from fractions import Fraction
from math import isfinite

getcontext().prec = 400


def root(square):
    return (Decimal(square.numerator) / Decimal(square.denominator)).sqrt()


def known(*series):
    return bool(series[0]) and all(v is not None and isfinite(v) for values in series for v in values)


def mean(values):
    return sum(map(Fraction, values)) / len(values) if known(values) else None


def spread(x, y):
    """The sum of products of distances from the means."""
    x_mean, y_mean = mean(x), mean(y)
    return sum((Fraction(a) - x_mean) * (Fraction(b) - y_mean) for a, b in zip(x, y))


def deviation(values):
    return root(spread(values, values) / len(values)) if known(values) else None


def percentile(values, share):
    if not known(values) or not 0 <= share <= 1:
        return None
    ordered, place = sorted(map(Fraction, values)), Fraction((len(values) - 1) * float(share))
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def mad(values):
    middle = percentile(values, 0.5)
    return None if middle is None else percentile([abs(Fraction(v) - middle) for v in values], 0.5)


def robust_z(values):
    middle, most = percentile(values, 0.5), mad(values)
    return [Fraction("0.6745") * (Fraction(v) - middle) / most if most else None for v in values]


def arctangent(x):
    """Halved until the series needs few terms."""
    if x > Decimal("0.05"):
        return 2 * arctangent(x / (1 + (1 + x * x).sqrt()))
    total, term, n = Decimal(0), x, 1
    while abs(term) > Decimal(10) ** -398 * x:
        total, term, n = total + term / n, -term * x * x, n + 2
    return total


def tail(square, degrees):
    """Two-sided p of r, whose square this is: the closed sums for odd and for even degrees."""
    with_rest = Decimal((1 - square).numerator) / Decimal((1 - square).denominator)
    sine, total, term = root(square), Decimal(0), Decimal(1)
    for k in range(degrees % 2 + 1, degrees, 2):
        total, term = total + term, term * with_rest * k / (k + 1)
    if degrees % 2 == 0:
        return 1 - sine * total
    return 1 - (arctangent(sine / with_rest.sqrt()) + sine * with_rest.sqrt() * total) / arctangent(Decimal(1)) / 2


def line(x, y):
    """(slope, intercept, r, p)"""
    if len(x) < 2 or not known(x, y) or spread(x, x) == 0:
        return None, None, None, None
    both, most = spread(x, y), spread(y, y)
    slope = both / spread(x, x)
    intercept = mean(y) - slope * mean(x)
    if most == 0:
        return slope, intercept, None, None
    square = slope * both / most
    r = root(square).copy_sign(-1 if slope < 0 else 1)
    return slope, intercept, r, None if len(x) == 2 else 0 if square == 1 else tail(square, len(x) - 2)
