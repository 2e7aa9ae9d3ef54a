/* statistics.c - descriptive statistics by sums in double-double arithmetic. */
#include "base/statistics.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Double-double: the unevaluated sum of a double and of what its rounding left. */
struct pair {
    double high, low;
};

static struct pair exact_sum(double a, double b)
{
    double sum = a + b, b_kept = sum - a;
    return (struct pair){ sum, (a - (sum - b_kept)) + (b - b_kept) };
}

static struct pair exact_product(double a, double b)
{
    double product = a * b;
    return (struct pair){ product, fma(a, b, -product) };
}

static struct pair negated(struct pair a)
{
    return (struct pair){ -a.high, -a.low };
}

/* Both halves are added exactly: where the high ones cancel, the low ones are the result. */
static struct pair add(struct pair a, struct pair b)
{
    struct pair high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
    high = exact_sum(high.high, high.low + low.high);
    return exact_sum(high.high, high.low + low.low);
}

static struct pair multiply(struct pair a, struct pair b)
{
    struct pair product = exact_product(a.high, b.high);
    return exact_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

static struct pair divide(struct pair a, struct pair b)
{
    double first = a.high / b.high;
    struct pair rest = add(a, negated(multiply(b, (struct pair){ first, 0 })));
    double second = rest.high / b.high;
    rest = add(rest, negated(multiply(b, (struct pair){ second, 0 })));
    return add(exact_sum(first, second), (struct pair){ rest.high / b.high, 0 });
}

static double known(double result)
{
    return isfinite(result) ? result : NAN;
}

static bool all_finite(const double *value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(value[i]))
            return false;
    return count > 0;
}

/* The power of two above all values: divided by it they neither overflow when squared nor vanish.
 */
static int scale_of(const double *value, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(value[i]));
    int scale;
    frexp(most, &scale);
    return scale;
}

static struct pair scaled_mean(const double *value, size_t count, int scale)
{
    struct pair sum = { 0, 0 };
    for (size_t i = 0; i < count; i++)
        sum = add(sum, (struct pair){ ldexp(value[i], -scale), 0 });
    return divide(sum, (struct pair){ (double)count, 0 });
}

static struct pair from_mean(double value, int scale, struct pair mean)
{
    return add((struct pair){ ldexp(value, -scale), 0 }, negated(mean));
}

double statistics_mean(const double *value, size_t count)
{
    if (!all_finite(value, count))
        return NAN;
    int scale = scale_of(value, count);
    return known(ldexp(scaled_mean(value, count, scale).high, scale));
}

double statistics_deviation(const double *value, size_t count)
{
    if (!all_finite(value, count))
        return NAN;
    int scale = scale_of(value, count);
    struct pair mean = scaled_mean(value, count, scale), squares = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        struct pair off = from_mean(value[i], scale, mean);
        squares = add(squares, multiply(off, off));
    }
    return known(ldexp(sqrt(squares.high / (double)count), scale));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return (isnan(x) != 0) - (isnan(y) != 0);
    return (x > y) - (x < y);
}

void statistics_sort(double *value, size_t count)
{
    if (count > 1)
        qsort(value, count, sizeof *value, compare);
}

/* In both digits: a median between two large values is not rounded before others are measured from
 * it. */
static struct pair percentile(const double *sorted, size_t count, double share)
{
    double place = (double)(count - 1) * share, below = floor(place), part = place - below;
    size_t at = (size_t)below;
    struct pair low = { sorted[at], 0 };
    if (part == 0 || at + 1 >= count)
        return low;
    /* low - part * low first: no term is larger than the values. */
    low = add(low, negated(exact_product(part, sorted[at])));
    return add(low, exact_product(part, sorted[at + 1]));
}

double statistics_percentile(const double *sorted, size_t count, double share)
{
    if (!(share >= 0 && share <= 1) || !all_finite(sorted, count))
        return NAN;
    return percentile(sorted, count, share).high;
}

double statistics_median(const double *sorted, size_t count)
{
    return statistics_percentile(sorted, count, 0.5);
}

struct quartiles statistics_quartiles(const double *sorted, size_t count)
{
    return (struct quartiles){ statistics_percentile(sorted, count, 0.25),
                               statistics_median(sorted, count),
                               statistics_percentile(sorted, count, 0.75) };
}

/* Distances from the median ascend to both sides of it: a merge finds the middle ones without room
 * for them. */
static double middle_distance(const double *sorted, size_t count, struct pair median)
{
    size_t right = count / 2, left = right;
    double before = 0, distance = 0;
    for (size_t taken = 0; taken <= count / 2; taken++) {
        double to_left =
            left > 0 ? add(median, (struct pair){ -sorted[left - 1], 0 }).high : INFINITY;
        double to_right =
            right < count ? add((struct pair){ sorted[right], 0 }, negated(median)).high : INFINITY;
        before = distance;
        if (to_left < to_right) {
            distance = to_left;
            left--;
        } else {
            distance = to_right;
            right++;
        }
    }
    return count % 2 ? distance : before / 2 + distance / 2;
}

double statistics_mad(const double *sorted, size_t count)
{
    if (!all_finite(sorted, count))
        return NAN;
    return known(middle_distance(sorted, count, percentile(sorted, count, 0.5)));
}

/* The MAD of the standard normal distribution, with the four digits that the modified z-score of
 * Iglewicz and Hoaglin is defined by. */
#define NORMAL_MAD 0.6745

void statistics_robust_z(const double *sorted, size_t count, const double *value, size_t asked,
                         double *ret_z)
{
    double mad = statistics_mad(sorted, count);
    struct pair median = { NAN, NAN };
    if (mad > 0)
        median = percentile(sorted, count, 0.5);
    for (size_t i = 0; i < asked; i++) {
        struct pair off = add((struct pair){ value[i], 0 }, negated(median));
        ret_z[i] = known(off.high / mad * NORMAL_MAD);
    }
}

/* Gamma(a + 1/2) / Gamma(a): the asymptotic series from 100 on, below that by recurrence.  lgamma
 * loses digits in the difference, and writes a global. */
static double gamma_ratio(double a)
{
    double factor = 1;
    for (; a < 100; a++)
        factor *= a / (a + 0.5);
    double u = 1 / a;
    double series =
        1 + u * (-1.0 / 8 +
                 u * (1.0 / 128 + u * (5.0 / 1024 + u * (-21.0 / 32768 + u * (-399.0 / 262144)))));
    return factor * sqrt(a) * series;
}

/* The continued fraction of the incomplete beta function by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS_MOST = 100000 };
    const double tiny = 1e-300;
    double d = 1 / (1 - (a + b) * x / (a + 1)), c = 1, result = d;
    for (int m = 1; m <= TERMS_MOST; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (d == 0 ? tiny : d);
        c = c == 0 ? tiny : c;
        result *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (d == 0 ? tiny : d);
        c = c == 0 ? tiny : c;
        result *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            return result;
    }
    return NAN;
}

/* The regularised incomplete beta function I(a, 1/2) at `x`, which is 1 - `y`.  Both are given, as
 * near 1 a difference from it has few digits. */
static double beta_half(double a, double x, double y)
{
    const double root_pi = 1.7724538509055160273;
    double power = exp(a * (y < 0.5 ? log1p(-y) : log(x)));
    double front = power * sqrt(y) * gamma_ratio(a) / root_pi;
    if (x < (a + 1) / (a + 2.5))
        return front / a * beta_fraction(a, 0.5, x);
    return 1 - front / 0.5 * beta_fraction(0.5, a, y);
}

/* Distances of one point from the means. */
struct point {
    struct pair x, y;
};

/* Two series of one length, and the powers of two and means that points are measured by. */
struct cloud {
    const double *x, *y;
    size_t count;
    int x_scale, y_scale;
    struct pair x_mean, y_mean;
};

static struct cloud cloud_of(const double *x, const double *y, size_t count)
{
    int x_scale = scale_of(x, count), y_scale = scale_of(y, count);
    return (struct cloud){ x,
                           y,
                           count,
                           x_scale,
                           y_scale,
                           scaled_mean(x, count, x_scale),
                           scaled_mean(y, count, y_scale) };
}

static struct point point_of(const struct cloud *c, size_t i)
{
    return (struct point){ from_mean(c->x[i], c->x_scale, c->x_mean),
                           from_mean(c->y[i], c->y_scale, c->y_mean) };
}

/* The squared distances from the line, as a share of those from the mean.  Summed by themselves: 1
 * less the square of r has few digits where r is near 1. */
static double share_beside(const struct cloud *c, struct pair slope, struct pair yy)
{
    struct pair squares = { 0, 0 };
    for (size_t i = 0; i < c->count; i++) {
        struct point off = point_of(c, i);
        struct pair beside = add(off.y, negated(multiply(slope, off.x)));
        squares = add(squares, multiply(beside, beside));
    }
    double share = divide(squares, yy).high;
    /* Less than the distances themselves are rounded by is no distance from a line. */
    return share < 1e-58 ? 0 : fmin(share, 1);
}

struct line_fit statistics_line(const double *x, const double *y, size_t count)
{
    struct line_fit fit = { NAN, NAN, NAN, NAN };
    if (count < 2 || !all_finite(x, count) || !all_finite(y, count))
        return fit;
    struct cloud c = cloud_of(x, y, count);
    struct pair xx = { 0, 0 }, xy = { 0, 0 }, yy = { 0, 0 };
    for (size_t i = 0; i < count; i++) {
        struct point off = point_of(&c, i);
        xx = add(xx, multiply(off.x, off.x));
        xy = add(xy, multiply(off.x, off.y));
        yy = add(yy, multiply(off.y, off.y));
    }
    if (xx.high == 0)
        return fit;
    struct pair slope = divide(xy, xx);
    struct pair intercept = add(c.y_mean, negated(multiply(slope, c.x_mean)));
    fit.slope = known(ldexp(slope.high, c.y_scale - c.x_scale));
    fit.intercept = known(ldexp(intercept.high, c.y_scale));
    if (yy.high == 0)
        return fit;
    double square = fmin(divide(multiply(slope, xy), yy).high, 1);
    fit.r = copysign(sqrt(square), xy.high);
    if (count > 2) {
        double beside = share_beside(&c, slope, yy);
        fit.p = beside == 0 ? 0 : beta_half(((double)count - 2) / 2, beside, square);
    }
    return fit;
}

double statistics_pearson(const double *x, const double *y, size_t count)
{
    return statistics_line(x, y, count).r;
}

/* Puts a value into its place among `count` sorted ones. */
static void insert_sorted(double *sorted, size_t count, double value)
{
    size_t from = 0, to = count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (sorted[middle] <= value)
            from = middle + 1;
        else
            to = middle;
    }
    memmove(sorted + from + 1, sorted + from, (count - from) * sizeof *sorted);
    sorted[from] = value;
}

/* From the end: where lowest and highest are further apart than any median allows, the values
 * before can not help, because they only widen that. */
size_t statistics_steady(const double *value, size_t count, double share, double *room)
{
    size_t steady = SIZE_MAX;
    if (!all_finite(value, count) || !(share >= 0 && share <= 0.5))
        return SIZE_MAX;
    for (size_t kept = 0; kept < count; kept++) {
        size_t at = count - 1 - kept;
        insert_sorted(room, kept, value[at]);
        double low = room[0], high = room[kept], most = fmax(fabs(low), fabs(high));
        double median = statistics_median(room, kept + 1), allowed = share * fabs(median);
        if (high - low > 2 * share * most * (1 + 1e-9))
            break;
        if (high - median <= allowed && median - low <= allowed)
            steady = at;
    }
    return steady;
}
