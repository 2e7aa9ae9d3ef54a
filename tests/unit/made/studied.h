/* studied.h - the study of the one device of a sample, proven.
 *
 * A study that cannot be made ends the test. */
#ifndef TESTS_UNIT_STUDIED_H
#define TESTS_UNIT_STUDIED_H

#include "allocator/replay/prove.h"
#include "allocator/replay/replay.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

struct studied {
    struct recording r;
    struct agreement agreement; /* none, unless a test says more before the study is made */
    struct proof proof;         /* of it, and blocks as long as rounded requests */
    struct category_rules rules;
    struct arena keep, scratch;
    struct study_place place;
    struct study study;
    struct proven_study proven;
};

/* A recording of one device, to be filled by what sample.h has. */
void studied_begin(struct studied *s);

/* Finishes the sample and studies it, with these rules before those built in. */
void studied_make(struct studied *s, const char *own_rules);

/* Studies it again, with every allocation failing in turn, also those of what comes `then`; NULL:
 * nothing does. */
void studied_without_memory(struct studied *s, enum vrs_status (*then)(struct studied *s));

void studied_end(struct studied *s);

#endif
