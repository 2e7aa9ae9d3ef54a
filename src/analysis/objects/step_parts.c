/* step_parts.c - sums that stop at the largest number. */
#include "analysis/objects/step_parts.h"

#include <stdint.h>

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct step_parts step_parts_of(uint64_t peak, uint64_t parameters, uint64_t states)
{
    struct step_parts p = {
        .gradients = parameters,
        .states = states == UINT64_MAX ? plus(parameters, parameters) : states,
        .activations = UINT64_MAX,
    };
    if (peak == UINT64_MAX)
        return p;
    uint64_t others = plus(plus(parameters, p.gradients), p.states);
    p.activations = peak > others ? peak - others : 0;
    p.mostly_activations = p.activations > peak - p.activations;
    return p;
}
