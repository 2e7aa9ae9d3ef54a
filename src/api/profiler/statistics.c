/* statistics.c - the statistics of base, by their public names. */
#include "vramscope/statistics.h"

#include <stddef.h>

#include "base/statistics.h"

double vrs_statistics_mean(const double *value, size_t count)
{
    return statistics_mean(value, count);
}

double vrs_statistics_deviation(const double *value, size_t count)
{
    return statistics_deviation(value, count);
}

void vrs_statistics_sort(double *value, size_t count)
{
    statistics_sort(value, count);
}

double vrs_statistics_percentile(const double *sorted, size_t count, double share)
{
    return statistics_percentile(sorted, count, share);
}

struct vrs_quartiles vrs_statistics_quartiles(const double *sorted, size_t count)
{
    struct quartiles q = statistics_quartiles(sorted, count);
    return (struct vrs_quartiles){ q.low, q.median, q.high };
}

double vrs_statistics_mad(const double *sorted, size_t count)
{
    return statistics_mad(sorted, count);
}

void vrs_statistics_robust_z(const double *sorted, size_t count, const double *value, size_t asked,
                             double *ret_z)
{
    statistics_robust_z(sorted, count, value, asked, ret_z);
}

struct vrs_line vrs_statistics_line(const double *x, const double *y, size_t count)
{
    struct line_fit fit = statistics_line(x, y, count);
    return (struct vrs_line){ fit.slope, fit.intercept, fit.r, fit.p };
}

double vrs_statistics_pearson(const double *x, const double *y, size_t count)
{
    return statistics_pearson(x, y, count);
}

size_t vrs_statistics_steady(const double *value, size_t count, double share, double *room)
{
    return statistics_steady(value, count, share, room);
}
