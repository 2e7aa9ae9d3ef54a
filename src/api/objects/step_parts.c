/* step_parts.c - what the peak of a training step consists of, for the caller. */
#include "analysis/objects/step_parts.h"

#include <stdint.h>

#include "vramscope/objects.h"

void vrs_step_parts(uint64_t peak, uint64_t parameters, uint64_t states, struct vrs_step_parts *ret)
{
    struct step_parts p = step_parts_of(peak, parameters, states);
    *ret = (struct vrs_step_parts){ p.gradients, p.states, p.activations, p.mostly_activations };
}
