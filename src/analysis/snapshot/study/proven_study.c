/* proven_study.c - curves and trust, once the replay has spoken. */
#include "analysis/snapshot/study/proven_study.h"

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
