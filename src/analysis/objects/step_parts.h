/* step_parts.h - an estimate of what the peak of a training step consists of.
 *
 * Gradients are as large as parameters, and activations are the rest. */
#ifndef VRS_ANALYSIS_STEP_PARTS_H
#define VRS_ANALYSIS_STEP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

struct step_parts {
    uint64_t gradients, states; /* bytes */
    uint64_t activations;       /* bytes; 0: there is no rest; UINT64_MAX: not known */
    bool mostly_activations;    /* more than half of the peak */
};

/* UINT64_MAX: of the peak, that it is not known; of the states, that they are those of Adam, which
 * has two for each parameter. */
struct step_parts step_parts_of(uint64_t peak, uint64_t parameters, uint64_t states);

#endif
