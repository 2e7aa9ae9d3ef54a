#include "made/studied.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "allocator/replay/block_sizes.h"
#include "allocator/replay/prove.h"
#include "allocator/replay/replay.h"
#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "made/fault.h"
#include "made/sample.h"
#include "model/recording.h"

void studied_begin(struct studied *s)
{
    *s = (struct studied){ .agreement = { .grade = GRADE_NONE } };
    sample_init(&s->r);
    sample_device(&s->r, 0);
}

static void forget(struct studied *s)
{
    block_sizes_free(&s->proof.block_sizes);
    category_rules_free(&s->rules);
    arena_free(&s->keep);
    arena_free(&s->scratch);
}

static enum vrs_status study(struct studied *s, const char *own_rules)
{
    const struct frame_class_options none = { S(""), S("") };
    s->place = (struct study_place){
        .r = &s->r,
        .rules = &s->rules,
        .keep = &s->keep,
        .scratch = &s->scratch,
    };
    arena_init(&s->keep, SIZE_MAX / 2);
    arena_init(&s->scratch, SIZE_MAX / 2);
    category_rules_init(&s->rules);
    s->proof = (struct proof){ .agreement = &s->agreement };
    TRY(block_sizes_round(&s->r, &s->proof.block_sizes, NULL));
    TRY(category_rules_read(&s->rules, str_from(own_rules), "own", NULL));
    TRY(category_rules_read(&s->rules, str_from(category_rules_builtin), "builtin", NULL));
    TRY(naming_make(&s->r.code, &none, &s->keep, &s->place.naming, NULL));
    TRY(study_place_make(&s->place, NULL));
    TRY(study_make(&s->place, 0, &s->study, NULL));
    return proven_study_make(&s->study, &s->proof, NULL, &s->proven, NULL);
}

void studied_make(struct studied *s, const char *own_rules)
{
    sample_finish(&s->r);
    assert_int_equal(study(s, own_rules), VRS_OK);
}

struct again {
    struct studied *s;
    enum vrs_status (*then)(struct studied *s);
};

static enum vrs_status study_again(void *arg)
{
    const struct again *again = arg;
    forget(again->s);
    TRY(study(again->s, ""));
    return again->then == NULL ? VRS_OK : again->then(again->s);
}

void studied_without_memory(struct studied *s, enum vrs_status (*then)(struct studied *s))
{
    struct again again = { s, then };
    fault_each(study_again, NULL, &again);
}

void studied_end(struct studied *s)
{
    forget(s);
    recording_free(&s->r);
}
