/* step_parts.c - the peak of a training step, less what its parameters account for. */
#include "analysis/objects/step_parts.h"

#include <stdint.h>

#include "base/bytes.h"

struct step_parts step_parts_of(uint64_t peak, uint64_t parameters, uint64_t states)
{
    struct step_parts p = {
        .gradients = parameters,
        .states = states == UINT64_MAX ? u64_plus(parameters, parameters) : states,
        .activations = UINT64_MAX,
    };
    if (peak == UINT64_MAX)
        return p;
    uint64_t others = u64_plus(u64_plus(parameters, p.gradients), p.states);
    p.activations = peak > others ? peak - others : 0;
    p.mostly_activations = p.activations > peak - p.activations;
    return p;
}
