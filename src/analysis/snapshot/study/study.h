/* study.h - what the analyses of one device share, worked out once and in order.
 *
 * lifetimes -> tokens -> phases -> steps -> categories.  Phases use no steps; steps use phases;
 * categories use both; nothing later feeds back.  None of them asks what a replay finds, so that a
 * study can be made beside it (proven_study.h).  A study is scratch: results keep their own rows in
 * `keep`, and texts that naming gave, which live there too. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_H
#define VRS_ANALYSIS_SNAPSHOT_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"

struct study {
    const struct recording *r;
    uint32_t device;       /* row of devices */
    uint32_t events;       /* of the device */
    uint32_t threads;      /* that may work on it; 0: one for each processor */
    bool traced;           /* has a trace to speak of: see device_traced */
    bool stacked;          /* some event or block of the recording has a stack */
    struct naming *naming; /* texts in `keep` */
    struct arena *keep;    /* of the result */
    struct arena *scratch; /* of the call */
    struct curves curves;  /* those of blocks are lower bounds */
    struct lifetimes lifetimes;
    const struct tokens *tokens;
    struct phases phases;
    struct steps steps;
    struct categories categories;
    bool bare;   /* curves alone are made: what stands from lifetimes on is empty */
    bool *shown; /* of each stack_id: the result shows it */
};

/* What a call gives to the studies of its devices. */
struct study_place {
    const struct recording *r;
    struct naming *naming;
    const struct category_rules *rules; /* NULL: none, and no category is decided */
    struct arena *keep, *scratch;
    uint32_t threads;     /* 0: one for each processor */
    struct tokens tokens; /* the rest is made by study_place_make */
    bool *shown;
};

enum vrs_status study_place_make(struct study_place *place, struct vrs_error *err) MUST_CHECK;

/* Their places where no study is to be more than bare, and such a study. */
enum vrs_status study_place_make_bare(struct study_place *place, struct vrs_error *err) MUST_CHECK;
void study_make_bare(struct study_place *place, uint32_t device, struct study *ret);

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
