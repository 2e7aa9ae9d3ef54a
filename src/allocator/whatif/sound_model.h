/* sound_model.h - the model of one device, to be asked where it reproduces the recording. */
#ifndef VRS_ALLOCATOR_WHATIF_SOUND_MODEL_H
#define VRS_ALLOCATOR_WHATIF_SOUND_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/program.h"
#include "allocator/replay/start_state.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

struct sound_model {
    struct allocator_config recorded;
    struct program program;
    struct start_state start;
    bool exact; /* replayed, it does what was recorded */
    struct identities identities;
    bool sound; /* choosing for itself, too, and at the recorded capacity */
};

/* Without identities.  In `scratch`; the members point to one another, so that it stays where it
 * is. */
enum vrs_status sound_model_begin(const struct recording *r, uint32_t device, struct arena *scratch,
                                  struct sound_model *ret, struct vrs_error *err) MUST_CHECK;

/* The rest of it: four runs more. */
enum vrs_status sound_model_prove(struct sound_model *model, struct vrs_error *err) MUST_CHECK;

/* Whether two configurations are the same for a what-if. */
bool sound_model_same(const struct allocator_config *a, const struct allocator_config *b);

#endif
