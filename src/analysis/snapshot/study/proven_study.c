/* proven_study.c - makes a proven study from a study with its proof. */
#include "analysis/snapshot/study/proven_study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/snapshot/curves/curves.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"

struct proven_study proven_study_of(const struct study *study, const struct proof *proof,
                                    const struct trust_basis *basis)
{
    struct proven_study p = {
        .study = study,
        .proof = proof,
        .agreement = &proof->agreement[study->device],
        .curves = study->curves,
        .basis = basis,
    };
    curves_prove(&p.curves, p.agreement);
    return p;
}

enum vrs_status proven_study_assess(struct proven_study *p, struct arena *keep,
                                    struct vrs_error *err)
{
    const struct study *s = p->study;
    if (p->basis == NULL) {
        struct trust_basis *basis = arena_take(keep, sizeof *basis);
        if (basis == NULL)
            return vrs_no_memory(err);
        TRY(trust_basis_find(s->r, s->device, basis, err));
        p->basis = basis;
    }
    return trust_assess(s->r, s->device, p->basis, &p->curves, p->agreement, keep, &p->trust, err);
}

enum vrs_status proven_study_make(const struct study *study, const struct proof *proof,
                                  const struct trust_basis *basis, struct proven_study *ret,
                                  struct vrs_error *err)
{
    *ret = proven_study_of(study, proof, basis);
    return proven_study_assess(ret, study->keep, err);
}

struct block_bytes proven_blocks_at(const struct proven_study *p, int64_t event)
{
    const struct recording *r = p->study->r;
    const struct allocations *a = &r->allocations;
    uint32_t device = p->study->device;
    struct block_bytes sum = { UNKNOWN_U64, UNKNOWN_U64 };
    if (p->proof->rounded_only)
        return sum;
    sum = (struct block_bytes){ 0, 0 };
    uint32_t first = r->devices.first_allocation[device];
    uint64_t state = (uint64_t)((int64_t)r->devices.first_event[device] + event + 1);
    for (uint32_t i = first; i < first + r->devices.allocations[device]; i++) {
        uint64_t bytes = block_of(&p->proof->block_sizes, i).bytes;
        bool born = a->alloc_event[i] == NO_ROW || a->alloc_event[i] < state;
        bool done = a->free_completed_event[i] != NO_ROW && a->free_completed_event[i] < state;
        bool asked = a->free_requested_event[i] != NO_ROW && a->free_requested_event[i] < state;
        /* What waits at the end of a device without such events was freed before. */
        bool waits = a->block[i] != NO_ROW && a->free_requested_event[i] == NO_ROW &&
                     r->blocks.state[a->block[i]] == BLOCK_PENDING;
        if (born && !done)
            sum.active += bytes;
        if (born && !done && !asked && !waits)
            sum.allocated += bytes;
    }
    return sum;
}
