/* scene_groups.c - allocations by category, site and others: viewer/core/memory/live.js in C. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"
#include "render/page/source.h"
#include "render/page/source_names.h"
#include "render/picture/palette.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "render/write/escape.h"
#include "render/write/human.h"

const char *const scene_by_names[SCENE_BYS] = {
    [SCENE_CATEGORY] = "category", [SCENE_SITE] = "site",   [SCENE_OWNER] = "owner",
    [SCENE_MODULE] = "module",     [SCENE_PHASE] = "phase", [SCENE_POOL] = "pool",
    [SCENE_STREAM] = "stream",     [SCENE_SIZE] = "size",   [SCENE_AGE] = "age",
};

/* Classes of sizes and ages; those that occur become groups. */
enum { SIZE_CLASSES = 46, AGE_CLASSES = 12, AGE_BEFORE = 254, AGE_LATER = 255, CLASSES = 256 };

struct text_context {
    struct page_source *from;
    struct arena *arena;
    struct scene_device *d;
    uint32_t *of;
    struct scene_group *group;
    uint32_t groups;
    struct vrs_error *err;
};

static bool is_before(const struct text_context *m, uint32_t row)
{
    return m->d->rows.born[row] == 0 || page_alloc_flags(m->from, row) != 0;
}

static enum vrs_status room(struct text_context *m, uint32_t groups)
{
    m->groups = groups;
    m->group = arena_array(m->arena, struct scene_group, groups);
    return m->group == NULL ? vrs_no_memory(m->err) : VRS_OK;
}

static enum vrs_status name(struct text_context *m, uint32_t group, str text)
{
    m->group[group].name = arena_copy(m->arena, text);
    return m->group[group].name.ptr == NULL ? vrs_no_memory(m->err) : VRS_OK;
}

/* Groups that the rows number already. */
static enum vrs_status by_number(struct text_context *m, uint64_t (*of)(const void *, uint32_t),
                                 uint32_t groups,
                                 void (*write)(const struct text_context *, uint32_t, char[48]))
{
    TRY(room(m, groups));
    for (uint32_t i = 0; i < groups; i++) {
        char text[48];
        write(m, i, text);
        TRY(name(m, i, str_from(text)));
    }
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        m->of[i] = (uint32_t)of(m->from, i);
    return VRS_OK;
}

static void write_category(const struct text_context *m, uint32_t i, char to[48])
{
    (void)m;
    snprintf(to, 48, "%s", category_names[i]);
}

static void write_phase(const struct text_context *m, uint32_t i, char to[48])
{
    (void)m;
    snprintf(to, 48, "%s", i < PHASES ? phase_names[i] : "unknown");
}

static void write_pool(const struct text_context *m, uint32_t i, char to[48])
{
    memory_group_pool_name(m->from->s->r, i, to);
}

static void write_stream(const struct text_context *m, uint32_t i, char to[48])
{
    snprintf(to, 48, "0x%llx", (unsigned long long)m->from->s->r->streams.handle[i]);
}

/* By a text of the stack; what has none is told apart by whether it precedes the recording, and
 * otherwise called `nameless`. */
static enum vrs_status by_text(struct text_context *m, const uint32_t *text_of, str nameless)
{
    struct page_names *n = &m->from->names;
    uint32_t before = 0, none = 0, rows = m->d->rows.rows;
    TRY(page_names_text(n, S("before recording"), &before, m->err));
    TRY(page_names_text(n, nameless, &none, m->err));
    uint32_t *group_of = arena_array(m->arena, uint32_t, n->strings.rows.len);
    uint32_t *text = arena_array(m->arena, uint32_t, rows);
    if (group_of == NULL || text == NULL)
        return vrs_no_memory(m->err);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t id = text_of[page_alloc_stack(m->from, i)];
        id = id != 0 ? id : is_before(m, i) ? before : none;
        if (group_of[id] == 0) {
            text[groups++] = id;
            group_of[id] = groups;
        }
        m->of[i] = group_of[id] - 1;
    }
    TRY(room(m, groups));
    for (uint32_t i = 0; i < groups; i++)
        TRY(name(m, i, strings_text(&n->strings, (string_id){ text[i] })));
    return VRS_OK;
}

static uint32_t size_class(double bytes)
{
    uint32_t k = 0;
    double limit = 512;
    while (k < SIZE_CLASSES - 1 && bytes >= limit) {
        limit *= 2;
        k++;
    }
    return k;
}

static uint32_t age_class(uint32_t age)
{
    uint32_t k = 0;
    for (uint64_t limit = 10; age >= limit && k < AGE_CLASSES - 1; limit *= 10)
        k++;
    return k;
}

static void write_size(struct buf *to, uint32_t k)
{
    if (k == 0) {
        buf_text(to, "under 512 B");
        return;
    }
    human_bytes(to, (int64_t)512 << (k - 1));
    buf_text(to, " to ");
    human_bytes(to, (int64_t)512 << k);
}

static void write_age(struct buf *to, uint32_t k)
{
    unsigned long long low = 1;
    for (uint32_t i = 0; i < k && k < AGE_CLASSES; i++)
        low *= 10;
    if (k == AGE_BEFORE)
        buf_text(to, "before recording");
    else if (k == AGE_LATER)
        buf_text(to, "not yet");
    else if (k == 0)
        buf_text(to, "under 10 events");
    else
        buf_format(to, "%llu to %llu events", low, 10 * low);
}

static uint32_t class_of(const struct text_context *m, enum scene_by by, uint32_t row)
{
    uint32_t last = m->d->rows.states - 1, born = m->d->rows.born[row];
    if (by == SCENE_SIZE)
        return size_class(m->d->rows.bytes[row]);
    return is_before(m, row) ? AGE_BEFORE : born > last ? AGE_LATER : age_class(last - born);
}

static enum vrs_status by_class(struct text_context *m, enum scene_by by)
{
    uint32_t group[CLASSES] = { 0 }, groups = 0;
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        group[m->of[i] = class_of(m, by, i)] = 1;
    TRY(room(m, CLASSES));
    for (uint32_t k = 0; k < CLASSES; k++) {
        struct buf text;
        if (group[k] == 0)
            continue;
        buf_init(&text, SIZE_MAX / 2);
        if (by == SCENE_SIZE)
            write_size(&text, k);
        else
            write_age(&text, k);
        enum vrs_status named =
            text.failed ? vrs_no_memory(m->err) : name(m, groups, buf_slice(&text));
        buf_free(&text);
        TRY(named);
        group[k] = groups++;
    }
    m->groups = groups;
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        m->of[i] = group[m->of[i]];
    return VRS_OK;
}

static enum vrs_status group_by(struct text_context *m, enum scene_by by)
{
    const struct recording *r = m->from->s->r;
    switch (by) {
    case SCENE_CATEGORY:
        return by_number(m, page_alloc_category, CATEGORIES, write_category);
    case SCENE_PHASE:
        return by_number(m, page_alloc_phase, PHASES + 1, write_phase);
    case SCENE_POOL:
        return by_number(m, page_alloc_pool, r->pools.rows.len, write_pool);
    case SCENE_STREAM:
        return by_number(m, page_alloc_stream, r->streams.rows.len, write_stream);
    case SCENE_OWNER:
        return by_text(m, m->from->names.owner, S("(no stack)"));
    case SCENE_MODULE:
        return by_text(m, m->from->names.module, S("(no module)"));
    case SCENE_SIZE:
    case SCENE_AGE:
        return by_class(m, by);
    case SCENE_SITE:
    case SCENE_BYS:
        break;
    }
    return by_text(m, m->from->names.culprit, S("(no stack)"));
}

double *scene_group_bytes(const struct scene_device *d, const struct raster_groups *groups,
                          uint32_t state, struct arena *arena)
{
    double *bytes = arena_array(arena, double, groups->groups);
    for (uint32_t i = 0; bytes != NULL && i < d->rows.rows; i++)
        if (d->rows.born[i] <= state && state < d->rows.end[i])
            bytes[groups->of[i]] += d->rows.bytes[i];
    return bytes;
}

/* For qsort, which has no argument of its own. */
struct ranked {
    double bytes;
    str name;
    uint32_t group;
};

static int by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

static int by_bytes_and_name(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->group > y->group) - (x->group < y->group);
}

/* Categories from the bottom in their order, what is of none on top. */
static void rank_categories(struct text_context *m, uint32_t *bands)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->groups; i++) {
        palette_category((enum category)i, &m->group[i].slot, &m->group[i].second);
        if (i != CATEGORY_UNKNOWN)
            bands[count++] = i;
    }
    bands[count] = CATEGORY_UNKNOWN;
}

/* Whether a name is of memory without a line, which lies at the bottom: most of it never moves. */
static bool is_old(str name)
{
    return str_equal(name, S("before recording")) || str_starts(name, S("(no "));
}

/* Bands from the bottom: what has no line, then the largest on top, as in a list. */
static void stack_bands(uint32_t *bands, const struct ranked *ranked, uint32_t groups)
{
    uint32_t count = 0;
    for (int old = 1; old >= 0; old--)
        for (uint32_t i = groups; i > 0; i--)
            if (is_old(ranked[i - 1].name) == (old != 0))
                bands[count++] = ranked[i - 1].group;
}

/* Groups from the bottom: others than categories by their bytes at the peak; of these the ten
 * largest have colours. */
static enum vrs_status rank(struct text_context *m, enum scene_by by, uint32_t peak)
{
    uint32_t *bands = arena_array(m->arena, uint32_t, m->groups);
    struct ranked *ranked = arena_array(m->arena, struct ranked, m->groups);
    m->d->groups = (struct raster_groups){ m->of, m->groups, bands };
    double *bytes = scene_group_bytes(m->d, &m->d->groups, peak, m->arena);
    if (bands == NULL || ranked == NULL || bytes == NULL)
        return vrs_no_memory(m->err);
    for (uint32_t i = 0; i < m->groups; i++) {
        bands[i] = i;
        ranked[i] = (struct ranked){ bytes[i], m->group[i].name, i };
        m->group[i].slot = PALETTE_OTHER;
    }
    m->d->group = m->group;
    if (by == SCENE_CATEGORY) {
        rank_categories(m, bands);
        return VRS_OK;
    }
    if (m->groups > 1)
        qsort(ranked, m->groups, sizeof *ranked, by_bytes_and_name);
    for (uint32_t i = 0; i < m->groups && i < PALETTE_OTHER && ranked[i].bytes > 0; i++)
        m->group[ranked[i].group].slot = (uint8_t)i;
    if (m->groups > 1)
        qsort(ranked, m->groups, sizeof *ranked, by_bytes);
    stack_bands(bands, ranked, m->groups);
    return VRS_OK;
}

/* Names are of the file; pictures show them. */
static enum vrs_status make_harmless(struct text_context *m)
{
    for (uint32_t i = 0; i < m->groups; i++) {
        struct buf text;
        buf_init(&text, SIZE_MAX / 2);
        escape_text(&text, m->group[i].name, false);
        enum vrs_status named = text.failed ? vrs_no_memory(m->err) : name(m, i, buf_slice(&text));
        buf_free(&text);
        TRY(named);
    }
    return VRS_OK;
}

/* One group for each colour; what has none of its own is the last, and lies on top. */
static enum vrs_status join_others(struct text_context *m)
{
    uint32_t *of = arena_array(m->arena, uint32_t, m->d->rows.rows);
    uint32_t *bands = arena_array(m->arena, uint32_t, PALETTE_SLOTS);
    struct scene_group *group = arena_array(m->arena, struct scene_group, PALETTE_SLOTS);
    uint32_t others = 0, placed = 0;
    char name[24];
    if (of == NULL || bands == NULL || group == NULL)
        return vrs_no_memory(m->err);
    for (uint32_t i = 0; i < PALETTE_SLOTS; i++)
        group[i] = (struct scene_group){ .name = S(""), .slot = (uint8_t)i };
    for (uint32_t i = 0; i < m->groups; i++) {
        const struct scene_group *g = &m->group[m->d->groups.bands[i]];
        group[g->slot].name = g->name;
        if (g->slot == PALETTE_OTHER)
            others++;
        else
            bands[placed++] = g->slot;
    }
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        of[i] = m->group[m->of[i]].slot;
    bands[placed++] = PALETTE_OTHER;
    snprintf(name, sizeof name, "other (%u)", (unsigned)others);
    if (others > 1)
        group[PALETTE_OTHER].name = arena_copy(m->arena, str_from(name));
    m->d->shown = (struct raster_groups){ of, PALETTE_SLOTS, bands };
    /* Colours that nothing has are bands of nothing. */
    for (uint32_t slot = 0; placed < PALETTE_SLOTS; slot++) {
        bool there = false;
        for (uint32_t i = 0; i < placed; i++)
            there = there || bands[i] == slot;
        if (!there)
            bands[placed++] = slot;
    }
    m->d->shown_group = group;
    return group[PALETTE_OTHER].name.ptr == NULL ? vrs_no_memory(m->err) : VRS_OK;
}

enum vrs_status scene_group_rows(const struct scene *scene, struct page_source *from,
                                 struct arena *arena, struct scene_device *d, struct vrs_error *err)
{
    struct text_context m = { .from = from, .arena = arena, .d = d, .err = err };
    uint32_t peak = 0;
    m.of = arena_array(arena, uint32_t, d->rows.rows);
    if (m.of == NULL)
        return vrs_no_memory(err);
    for (uint32_t p = 1; p < d->rows.states; p++)
        if (d->requested[p] > d->requested[peak])
            peak = p;
    TRY(group_by(&m, scene->asked.by));
    TRY(rank(&m, scene->asked.by, peak));
    TRY(make_harmless(&m));
    d->shown = d->groups;
    d->shown_group = d->group;
    return scene->asked.by == SCENE_CATEGORY ? VRS_OK : join_others(&m);
}
