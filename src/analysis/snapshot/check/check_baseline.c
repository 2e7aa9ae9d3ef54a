/* check_baseline.c - which device of the baseline a device is judged against. */
#include "analysis/snapshot/check/check_baseline.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/diff/device_pairs.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/recording.h"

/* The device of the baseline that has the same number.  Where each recording used one GPU, that is
 * the pair: the number of a GPU is where a program ran, not what it did.  NO_ROW: there is none. */
static uint32_t paired_device(const struct recording *mine, uint32_t device,
                              const struct recording *base)
{
    for (uint32_t i = 0; i < base->devices.rows.len; i++)
        if (base->devices.kind[i] == DEVICE_CUDA &&
            base->devices.number[i] == mine->devices.number[device])
            return i;
    return only_device(mine) == device ? only_device(base) : NO_ROW;
}

/* The first of the devices that are asked about; it has what is said of none of them. */
static bool is_first(const struct study *s, int64_t asked)
{
    const struct devices *d = &s->r->devices;
    if (asked != 0)
        return true;
    for (uint32_t i = 0; i < s->device; i++)
        if (d->kind[i] == DEVICE_CUDA)
            return false;
    return true;
}

static enum vrs_status judge(const struct proven_study *proven, struct check_question *q,
                             struct check_baseline *baseline, struct check *ret,
                             struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct study room;
    struct proven_study base;
    struct parts base_parts = { NULL }; /* end with `room`; those of the device live on */
    uint32_t device = NO_ROW;
    if (baseline != NULL)
        device = paired_device(s->r, s->device, baseline->place.r);
    if (device != NO_ROW) {
        TRY(study_make(&baseline->place, device, &room, err));
        TRY(proven_study_make(&room, baseline->proof, NULL, &base, err));
        q->base = &base;
        q->base_parts = &base_parts;
    }
    return check_compute(proven, q, ret, err);
}

enum vrs_status check_beside(const struct proven_study *proven,
                             const struct check_question *question, struct check_baseline *baseline,
                             const struct check **ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct check_question q = *question;
    struct check *made = arena_array(s->keep, struct check, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    q.base = NULL;
    q.speaks_for_others = is_first(s, q.device);
    struct arena_mark mark = { 0 };
    if (baseline != NULL)
        mark = arena_mark(baseline->place.scratch);
    enum vrs_status status = judge(proven, &q, baseline, made, err);
    if (baseline != NULL)
        arena_release(baseline->place.scratch, mark);
    if (status == VRS_OK)
        *ret = made;
    return status;
}
