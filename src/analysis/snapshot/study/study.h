/* study.h - what the analyses of one device share, worked out once and in order.
 *
 * lifetimes -> tokens -> phases -> steps -> categories.  Phases use no steps; steps use phases;
 * categories use both; nothing later feeds back.  None of them asks for the size of a block, so
 * that they can be made beside the replay that finds these.  A study is scratch: results keep
 * their own rows in `keep`, and texts that naming gave, which live there too. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_H

#include "allocator/replay/prove.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/trust/trust.h"

struct study {
    const struct recording *r;
    uint32_t device;                   /* row of devices */
    uint32_t events;                   /* of the device */
    uint32_t threads;                  /* that may work on it; 0: one for each processor */
    bool traced;                       /* has a trace to speak of: see device_traced */
    bool stacked;                      /* some event or block of the recording has a stack */
    const struct proof *proof;         /* of the recording */
    const struct agreement *agreement; /* of the device, in it */
    struct naming *naming;             /* texts in `keep` */
    struct arena *keep;                /* of the result */
    struct arena *scratch;             /* of the call */
    const struct trust_basis *basis;
    struct curves curves; /* exact where the replay proves them: by study_prove */
    struct trust trust;   /* by study_prove */
    struct lifetimes lifetimes;
    const struct tokens *tokens;
    struct phases phases;
    struct steps steps;
    struct categories categories;
    bool bare;   /* curves and trust alone are made: what stands from lifetimes on is empty */
    bool *shown; /* of each stack_id: the result shows it */
};

/* What a call gives to the studies of its devices. */
struct study_place {
    const struct recording *r;
    const struct proof *proof;
    const struct trust_basis *basis; /* of each device; NULL: found when it is needed */
    struct naming *naming;
    const struct category_rules *rules; /* NULL: none, and no category is decided */
    struct arena *keep, *scratch;
    uint32_t threads;     /* 0: one for each processor */
    struct tokens tokens; /* the rest is made by study_place_make */
    bool *shown;
};

enum vrs_status study_place_make(struct study_place *place, struct vrs_error *err) MUST_CHECK;

/* All that needs no replay. */
enum vrs_status study_make_unproven(struct study_place *place, uint32_t device, struct study *ret,
                                    struct vrs_error *err) MUST_CHECK;

/* Their places where no study is to be more than bare, and such a study; it too is proven later. */
enum vrs_status study_place_make_bare(struct study_place *place, struct vrs_error *err) MUST_CHECK;
void study_make_bare(struct study_place *place, uint32_t device, struct study *ret);

/* What agreement and basis tell, once they are there: curves and trust.  Asked again, does
 * nothing. */
enum vrs_status study_prove(struct study *s, struct vrs_error *err) MUST_CHECK;

/* Of that trust alone, its texts in `keep`: may be a job beside others, which ask for no trust. */
enum vrs_status study_assess(struct study *s, struct arena *keep, struct vrs_error *err) MUST_CHECK;

/* Both, one after the other. */
enum vrs_status study_make(struct study_place *place, uint32_t device, struct study *ret,
                           struct vrs_error *err) MUST_CHECK;

/* A place in the program as answers show it; the stack is then printed with them. */
struct site_ref {
    str culprit, owner;
    stack_id stack;
};

enum vrs_status study_site(const struct study *s, stack_id stack, struct site_ref *ret,
                           struct vrs_error *err) MUST_CHECK;

/* The stack itself is shown. */
void study_show(const struct study *s, stack_id stack);

#endif
