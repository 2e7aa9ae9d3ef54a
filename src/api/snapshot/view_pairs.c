/* view_pairs.c - the studies of two devices at a time, and what they have in common. */
#include "api/snapshot/view_pairs.h"

#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/frame_class.h"
#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/study/study.h"
#include "api/file.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/recording.h"
#include "render/page/column.h"
#include "vramscope/snapshot.h"

/* One device while it is compared. */
struct side {
    const struct page_unit *unit;
    struct arena names, scratch;
    struct study_place place;
    struct study study;
    struct diff_range peak;
};

struct pairing {
    const struct vrs_view_options *o;
    struct category_rules rules;
    struct page_chunks *chunks;
    struct page_pair *pair;
    uint32_t pairs;
};

/* Matching asks for no size of a block, so nothing is replayed. */
static enum vrs_status study_unit(struct pairing *p, const struct page_unit *unit, struct side *ret,
                                  struct vrs_error *err)
{
    const struct recording *r = unit->recording->model;
    struct frame_class_options names = { text_or_empty(p->o->user_root),
                                         text_or_empty(p->o->library) };
    struct naming *naming;
    ret->unit = unit;
    TRY(naming_make(&r->code, &names, &ret->names, &naming, err));
    ret->place = (struct study_place){
        .r = r,
        .naming = naming,
        .rules = &p->rules,
        .keep = &ret->names,
        .scratch = &ret->names,
    };
    TRY(study_place_make(&ret->place, err));
    ret->place.scratch = &ret->scratch;
    TRY(study_make(&ret->place, unit->row, &ret->study, err));
    return diff_range_at(&ret->study, DIFF_LIVE, NULL, &ret->peak, err);
}

static enum vrs_status pair_sides(struct pairing *p, struct side *a, struct side *b,
                                  struct vrs_error *err)
{
    struct diff_options peak = { .range = { a->peak, b->peak } };
    struct diff_options ever = { .weight = DIFF_BYTE_EVENTS };
    struct diff_pairing at_peak, at_all;
    struct page_pair *pair = &p->pair[p->pairs++];
    struct side *sides[2] = { a, b };
    for (int s = 0; s < 2; s++) {
        ever.range[s] = (struct diff_range){ -1, (int64_t)sides[s]->study.events - 1 };
        pair->side[s].file = sides[s]->unit->file;
        pair->side[s].device = sides[s]->unit->device;
        pair->side[s].peak_state = (uint32_t)(sides[s]->peak.last + 1);
    }
    struct arena_mark mark = arena_mark(&b->scratch);
    TRY(diff_pair_stacks(&a->study, &b->study, &peak, &b->scratch, &at_peak, err));
    TRY(diff_pair_stacks(&a->study, &b->study, &ever, &b->scratch, &at_all, err));
    TRY(page_pair_pack(a->unit->shown, b->unit->shown, &at_peak, &at_all, p->chunks,
                       b->unit->recording->threads, pair, err));
    arena_release(&b->scratch, mark);
    return VRS_OK;
}

static void begin(struct side *side)
{
    *side = (struct side){ .unit = NULL };
    arena_init(&side->names, SIZE_MAX / 2);
    arena_init(&side->scratch, SIZE_MAX / 2);
}

static void end(struct side *side)
{
    arena_free(&side->names);
    arena_free(&side->scratch);
}

/* The first `together` are studied at once; others come and go beside the first. */
static enum vrs_status pair_all(struct pairing *p, const struct page_unit *unit, uint32_t units,
                                struct side *side, uint32_t together, struct vrs_error *err)
{
    for (uint32_t b = 0; b < units; b++) {
        struct side *mine = &side[b < together ? b : together - 1];
        if (b >= together) {
            end(mine);
            begin(mine);
        }
        TRY(study_unit(p, &unit[b], mine, err));
        for (uint32_t a = 0; a < b && (a == 0 || units <= PAGE_UNITS_ALL); a++)
            TRY(pair_sides(p, &side[a], mine, err));
    }
    return VRS_OK;
}

enum vrs_status view_pairs_make(const struct page_unit *unit, uint32_t units,
                                const struct vrs_view_options *o, struct page_chunks *chunks,
                                struct arena *keep, struct page_pair **ret, uint32_t *ret_count,
                                struct vrs_error *err)
{
    struct side side[PAGE_UNITS_ALL];
    struct pairing p = { .o = o, .chunks = chunks };
    if (units > PAGE_PAIRS_MOST)
        units = PAGE_PAIRS_MOST;
    if (units < 2) {
        *ret = NULL;
        *ret_count = 0;
        return VRS_OK;
    }
    chunks->where = PAGE_NEW_BLOCK;
    chunks->share = PAGE_FIXED;
    uint32_t together = units <= PAGE_UNITS_ALL ? units : 2;
    p.pair = arena_array(keep, struct page_pair,
                         units <= PAGE_UNITS_ALL ? units * (units - 1) / 2 : units - 1);
    if (p.pair == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < together; i++)
        begin(&side[i]);
    category_rules_init(&p.rules);
    enum vrs_status status =
        category_rules_read(&p.rules, str_from(category_rules_builtin), "builtin", err);
    if (status == VRS_OK)
        status = pair_all(&p, unit, units, side, together, err);
    category_rules_free(&p.rules);
    for (uint32_t i = 0; i < together; i++)
        end(&side[i]);
    if (status != VRS_OK)
        return status;
    *ret = p.pair;
    *ret_count = p.pairs;
    return VRS_OK;
}
