/* sound_model.c - replays a device, and tries whether the model chooses as the recording did. */
#include "allocator/whatif/sound_model.h"

#include <stddef.h>

#include "allocator/machine/rounding.h"
#include "allocator/replay/recorded.h"
#include "allocator/replay/replay.h"

enum vrs_status sound_model_begin(const struct recording *r, uint32_t device, struct arena *scratch,
                                  struct sound_model *ret, struct vrs_error *err)
{
    enum replay_refusal refusal = REFUSED_NOT;
    struct agreement agreement = { .grade = GRADE_NONE };
    *ret = (struct sound_model){ .recorded = config_of_recording(r) };
    TRY(program_make(r, device, scratch, &ret->program, &refusal, err));
    if (refusal == REFUSED_NOT)
        TRY(start_state_make(&ret->program, &ret->recorded, scratch, &ret->start, &refusal, err));
    if (refusal != REFUSED_NOT)
        return VRS_OK;
    TRY(replay_run(&ret->program, &ret->start, &ret->recorded, NULL, &agreement, err));
    ret->exact = grade_is_exact(agreement.grade);
    return VRS_OK;
}

enum vrs_status sound_model_prove(struct sound_model *model, struct vrs_error *err)
{
    struct identities *identities = &model->identities;
    if (!model->exact)
        return VRS_OK;
    TRY(whatif_identities(&model->program, &model->start, &model->recorded, identities, err));
    model->sound = identities->reproduces && identities->reproduces_at_capacity;
    return VRS_OK;
}

bool sound_model_same(const struct allocator_config *a, const struct allocator_config *b)
{
    for (uint32_t i = 0; i < ROUNDING_DIVISIONS; i++)
        if (a->rounding.divisions[i] != b->rounding.divisions[i])
            return false;
    return a->expandable == b->expandable && a->max_split_bytes == b->max_split_bytes;
}
