/* noise.c - intervals of medians, and what a change is called. */
#include "base/noise.h"

#include <math.h>

const char *const noise_verdict_names[NOISE_VERDICTS] = {
    [NOISE_SAME] = "no_difference", [NOISE_WITHIN] = "within_noise", [NOISE_FASTER] = "faster",
    [NOISE_SLOWER] = "slower",      [NOISE_NOT_JUDGED] = "not_judged",
};

double noise_of_median(double deviation, uint32_t count)
{
    const double normal = 1.96, of_medians = 1.253;
    return normal * of_medians * deviation / sqrt(count);
}

enum noise_verdict noise_judge(double change, double noise, double same)
{
    if (fabs(change) + noise <= same)
        return NOISE_SAME;
    if (fabs(change) <= noise)
        return NOISE_WITHIN;
    return change < 0 ? NOISE_FASTER : NOISE_SLOWER;
}
