/* score.c - points that findings cost, and marks for what is left. */
#include "profiler/analyzer/score.h"

#include <stddef.h>
#include <stdint.h>

#include "profiler/analyzer/findings.h"

static const uint32_t pattern_costs[] = {
    [SEVERITY_INFO] = 5, [SEVERITY_WARNING] = 10, [SEVERITY_CRITICAL] = 20
};
static const uint32_t insight_costs[] = {
    [SEVERITY_INFO] = 3, [SEVERITY_WARNING] = 8, [SEVERITY_CRITICAL] = 15
};
static const struct {
    uint32_t from;
    char grade;
} grades[] = { { 90, 'A' }, { 80, 'B' }, { 70, 'C' }, { 60, 'D' }, { 0, 'F' } };

/* Not below 0, whatever the counts. */
static uint32_t pay(uint32_t points, const struct found_counts *found, const uint32_t *cost)
{
    for (int i = SEVERITY_INFO; i <= SEVERITY_CRITICAL; i++)
        points = found->of[i] > points / cost[i] ? 0 : points - (uint32_t)found->of[i] * cost[i];
    return points;
}

struct score score_of(const struct found_counts *patterns, const struct found_counts *insights)
{
    uint32_t points = pay(pay(100, patterns, pattern_costs), insights, insight_costs);
    size_t i = 0;
    while (points < grades[i].from)
        i++;
    return (struct score){ points, grades[i].grade };
}
