/* step_growth.c - judges the readings of steps by the rule for growth.
 *
 * What grew is told by two counts of objects. */
#include "analysis/objects/step_growth.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/objects/storages.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/growth.h"
#include "base/str.h"

enum { JUDGED_MOMENTS_MIN = 3 };

const char *const step_growth_class_names[STEP_GROWTH_CLASSES] = {
    [STEP_GROWTH_UNDECIDED] = "undecided", [STEP_GROWTH_STABLE] = "stable",
    [STEP_GROWTH_PLATEAU] = "plateau",     [STEP_GROWTH_SAWTOOTH] = "sawtooth",
    [STEP_GROWTH_TOO_SMALL] = "too_small", [STEP_GROWTH_SUSPECT] = "suspect",
    [STEP_GROWTH_LEAK] = "leak",
};

static const enum step_growth_class class_of[GROWTH_CLASSES] = {
    [GROWTH_STABLE] = STEP_GROWTH_STABLE,     [GROWTH_PLATEAU] = STEP_GROWTH_PLATEAU,
    [GROWTH_SAWTOOTH] = STEP_GROWTH_SAWTOOTH, [GROWTH_SUSPECT] = STEP_GROWTH_SUSPECT,
    [GROWTH_LEAK] = STEP_GROWTH_LEAK,
};

/* What is constant, weights above all, would hide in its one percent what comes to it in steps: the
 * rule is asked of what is above the lowest moment. */
static enum vrs_status judge(const struct step_readings *r, struct step_growth *g,
                             struct arena *keep, struct vrs_error *err)
{
    uint64_t *above = arena_array(keep, uint64_t, r->moments);
    int64_t *room = arena_array(keep, int64_t, SLOPE_PAIRS_MAX);
    struct step_trend *trend = arena_array(keep, struct step_trend, 1);
    if (above == NULL || room == NULL || trend == NULL)
        return vrs_no_memory(err);
    uint64_t low = UINT64_MAX;
    for (uint32_t t = 0; t < r->moments; t++)
        low = r->bytes[t] < low ? r->bytes[t] : low;
    for (uint32_t t = 0; t < r->moments; t++)
        above[t] = r->bytes[t] - low;
    struct growth_trend seen = growth_judge(above, r->moments, room);
    bool rises = seen.every_steps != 0;
    int64_t growth = (int64_t)(r->bytes[r->moments - 1] - r->bytes[0]);
    *trend = (struct step_trend){ .grows = rises && growth >= (int64_t)r->least_bytes,
                                  .growth_bytes = growth,
                                  .slope_bytes = seen.slope_bytes,
                                  .rises_every = seen.every_steps };
    g->class = (uint8_t)(rises && !trend->grows ? STEP_GROWTH_TOO_SMALL : class_of[seen.class]);
    g->trend = trend;
    return VRS_OK;
}

/* Whether of what grew nothing that matters is left at `bytes`. */
static bool is_gone(const struct step_readings *r, uint64_t bytes)
{
    int64_t left = (int64_t)(bytes - r->bytes[0]);
    return left <= 0 || left < (int64_t)r->least_bytes;
}

/* What a collection of garbage says of growth. */
static enum vrs_status look_at_collection(const struct step_readings *r, struct step_growth *g,
                                          struct arena *keep, struct vrs_error *err)
{
    if (r->collected_bytes == UINT64_MAX || g->trend == NULL)
        return VRS_OK;
    struct step_collection *made = arena_array(keep, struct step_collection, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    made->growth_bytes = (int64_t)(r->collected_bytes - r->bytes[0]);
    made->held_by_cycles = g->trend->grows && is_gone(r, r->collected_bytes) &&
                           (r->present_bytes == UINT64_MAX || !is_gone(r, r->present_bytes));
    g->collection = made;
    return VRS_OK;
}

/* An object of one of both counts; it has the bytes of a storage if it is the first on it. */
struct counted {
    const struct live_object *object;
    uint64_t bytes;
    bool last;
};

static enum vrs_status count_objects(const struct object_census *census, bool last,
                                     struct arena *keep, struct counted *to, struct vrs_error *err)
{
    struct tensor_place *place = arena_array(keep, struct tensor_place, census->objects);
    uint32_t *first = arena_array(keep, uint32_t, census->objects);
    if (place == NULL || first == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < census->objects; i++)
        place[i].storage = census->object[i].storage;
    TRY(storages_find(place, census->objects, first, err));
    for (uint32_t i = 0; i < census->objects; i++) {
        const struct live_object *o = &census->object[i];
        bool counts = first[i] == i && o->storage_bytes != UINT64_MAX;
        to[i] = (struct counted){ o, counts ? o->storage_bytes : 0, last };
    }
    return VRS_OK;
}

static int compare_kinds(const struct live_object *a, const struct live_object *b)
{
    const str left[] = { a->name, a->shape, a->dtype, a->device };
    const str right[] = { b->name, b->shape, b->dtype, b->device };
    for (uint32_t i = 0; i < sizeof left / sizeof *left; i++) {
        int order = str_compare(left[i], right[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int by_kind(const void *a, const void *b)
{
    const struct counted *left = a, *right = b;
    return compare_kinds(left->object, right->object);
}

static int by_growth(const void *a, const void *b)
{
    const struct grown_kind *left = a, *right = b;
    if (left->growth_bytes != right->growth_bytes)
        return left->growth_bytes < right->growth_bytes ? 1 : -1;
    const struct live_object one = { left->name, left->shape, left->dtype, left->device, 0, 0 };
    const struct live_object other = { right->name, right->shape, right->dtype, right->device, 0,
                                       0 };
    return compare_kinds(&one, &other);
}

/* One row for each kind that changed, or only for those that did not shrink; `counted` is in the
 * order of kinds. */
static void gather_rows(const struct counted *counted, uint32_t count, bool shrunk,
                        struct step_growth *g, int64_t *invisible)
{
    for (uint32_t i = 0; i < count;) {
        const struct live_object *o = counted[i].object;
        struct grown_kind row = {
            .name = o->name, .shape = o->shape, .dtype = o->dtype, .device = o->device
        };
        for (; i < count && compare_kinds(counted[i].object, o) == 0; i++) {
            *(counted[i].last ? &row.last_bytes : &row.first_bytes) += counted[i].bytes;
            *(counted[i].last ? &row.last_count : &row.first_count) += 1;
        }
        row.growth_bytes = (int64_t)(row.last_bytes - row.first_bytes);
        *invisible -= row.growth_bytes;
        bool shrinks = row.growth_bytes < 0 ||
                       (row.growth_bytes == 0 && row.last_count < row.first_count);
        bool changes = row.growth_bytes != 0 || row.first_count != row.last_count;
        if (shrinks ? shrunk : changes)
            g->row[g->rows++] = row;
    }
    if (g->rows > 0)
        qsort(g->row, g->rows, sizeof *g->row, by_growth);
}

/* Where memory fell after the last step, what shrank may have been freed after it. */
static enum vrs_status compare(const struct step_readings *r, struct arena *keep,
                               struct step_growth *g, struct vrs_error *err)
{
    const struct object_census *first = r->first, *last = r->last;
    bool fell = g->bytes != NULL && r->moments > 0 && r->present_bytes < r->bytes[r->moments - 1];
    uint32_t count = first->objects + last->objects;
    struct counted *counted = arena_array(keep, struct counted, count);
    g->row = arena_array(keep, struct grown_kind, count);
    struct step_census *census = arena_array(keep, struct step_census, 1);
    if (counted == NULL || g->row == NULL || census == NULL)
        return vrs_no_memory(err);
    TRY(count_objects(first, false, keep, counted, err));
    TRY(count_objects(last, true, keep, counted + first->objects, err));
    if (count > 0)
        qsort(counted, count, sizeof *counted, by_kind);
    census->from_step = first->step;
    census->to_step = last->step;
    census->invisible_bytes = (int64_t)(last->requested_bytes - first->requested_bytes);
    gather_rows(counted, count, !fell, g, &census->invisible_bytes);
    g->census = census;
    return VRS_OK;
}

/* Memory may have fallen by something else, as weights that are no more: kinds of objects that are
 * still more than they were are not freed. */
static bool is_freed(const struct step_readings *r, const struct step_growth *g)
{
    if (g->trend == NULL || !g->trend->grows || r->present_bytes == UINT64_MAX ||
        !is_gone(r, r->present_bytes))
        return false;
    uint64_t kept = 0;
    for (uint32_t i = 0; i < g->rows; i++)
        kept += g->row[i].growth_bytes > 0 ? (uint64_t)g->row[i].growth_bytes : 0;
    return kept == 0 || kept < r->least_bytes;
}

enum vrs_status step_growth_compute(const struct step_readings *r, struct arena *keep,
                                    struct step_growth *ret, struct vrs_error *err)
{
    uint32_t steps = r->moments > 0 ? (r->moments - 1) * r->every : 0;
    struct step_growth g = {
        .class = STEP_GROWTH_UNDECIDED,
        .steps = steps,
        .first_step = r->first_step,
        .last_step = r->first_step + steps,
        .every = r->every,
        .wanted = (r->wanted - 1) * r->every,
        .bytes = r->bytes,
        .moments = r->moments,
        .least_bytes = r->least_bytes,
    };
    for (uint32_t t = 0; t < r->moments; t++)
        g.bytes = r->bytes[t] == UINT64_MAX ? NULL : g.bytes;
    if (g.bytes != NULL && r->moments >= r->wanted && r->moments >= JUDGED_MOMENTS_MIN)
        TRY(judge(r, &g, keep, err));
    TRY(look_at_collection(r, &g, keep, err));
    if (r->first != NULL && r->last != NULL)
        TRY(compare(r, keep, &g, err));
    g.freed = is_freed(r, &g);
    *ret = g;
    return VRS_OK;
}
