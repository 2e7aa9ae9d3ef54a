/* scene_groups.c - allocations by the words of `peak --by`: viewer/core/memory/live.js in C.
 *
 * Groups are numbered in the order in which their allocations come up, but where the recording has
 * a list of them already. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/breakdown/peak_keys.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "render/answer/place.h"
#include "render/page/source.h"
#include "render/picture/families.h"
#include "render/picture/palette.h"
#include "render/picture/raster.h"
#include "render/picture/scene.h"
#include "render/write/escape.h"
#include "render/write/human.h"

const char *const scene_by_names[SCENE_BYS] = {
    [SCENE_CATEGORY] = "category", [SCENE_LINE] = "line",         [SCENE_CULPRIT] = "culprit",
    [SCENE_OWNER] = "owner",       [SCENE_MODULE] = "module",     [SCENE_SITE] = "site",
    [SCENE_FILE] = "file",         [SCENE_FUNCTION] = "function", [SCENE_PHASE] = "phase",
    [SCENE_POOL] = "pool",         [SCENE_STREAM] = "stream",     [SCENE_SIZE] = "size",
    [SCENE_AGE] = "age",           [SCENE_NAME] = "name",         [SCENE_PATH] = "path",
};

struct text_context {
    struct page_source *from;
    struct arena *arena;
    struct scene_device *d;
    uint32_t *of;
    uint32_t *of_at_peak; /* where ages are counted to the peak; NULL: the same */
    struct scene_group *group;
    uint32_t groups;
    uint32_t peak;  /* of the recording, a state: colours are given by what is alive there */
    str *told;      /* names at the cursor; NULL: those of the groups */
    uint32_t *turn; /* groups, the largest first; not of categories */
    struct vrs_error *err;
};

static enum vrs_status room(struct text_context *m, uint32_t groups)
{
    m->groups = groups;
    m->group = arena_array(m->arena, struct scene_group, groups);
    if (m->group == NULL)
        return vrs_no_memory(m->err);
    for (uint32_t i = 0; i < groups; i++)
        m->group[i].category = CATEGORIES;
    return VRS_OK;
}

static enum vrs_status name(struct text_context *m, uint32_t group, str text)
{
    m->group[group].name = arena_copy(m->arena, text);
    return m->group[group].name.ptr == NULL ? vrs_no_memory(m->err) : VRS_OK;
}

static enum vrs_status name_all(struct text_context *m, uint32_t groups,
                                void (*write)(const struct text_context *, uint32_t, char[48]))
{
    TRY(room(m, groups));
    for (uint32_t i = 0; i < groups; i++) {
        char text[48];
        write(m, i, text);
        TRY(name(m, i, str_from(text)));
    }
    return VRS_OK;
}

/* Groups that the rows number already. */
static enum vrs_status by_number(struct text_context *m, uint64_t (*of)(const void *, uint32_t),
                                 uint32_t groups,
                                 void (*write)(const struct text_context *, uint32_t, char[48]))
{
    TRY(name_all(m, groups, write));
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
    snprintf(to, 48, "%llu", (unsigned long long)m->from->s->r->streams.handle[i]);
}

static void write_age(const struct text_context *m, uint32_t i, char to[48])
{
    (void)m;
    peak_age_name(i, to);
}

static void count_ages(const struct text_context *m, uint32_t state, uint32_t *ret)
{
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        ret[i] = peak_age_class((int64_t)state - 1, (int64_t)m->d->rows.born[i] - 1);
}

/* All classes, so that each has one colour wherever the cursor is. */
static enum vrs_status by_age(struct text_context *m)
{
    TRY(name_all(m, PEAK_AGES, write_age));
    m->group[0].category = CATEGORY_PERSISTENT; /* it has no line, and stays */
    m->of_at_peak = arena_array(m->arena, uint32_t, m->d->rows.rows);
    if (m->of_at_peak == NULL)
        return vrs_no_memory(m->err);
    count_ages(m, m->d->cursor, m->of);
    count_ages(m, m->peak, m->of_at_peak);
    return VRS_OK;
}

static struct live live_of(const struct text_context *m, uint32_t row)
{
    const struct study *s = m->from->s;
    const struct lifetime *l = &s->lifetimes.at[m->from->order[row]];
    return (struct live){ .allocation = s->lifetimes.first + m->from->order[row],
                          .born = l->birth,
                          .bytes = l->bytes,
                          .stack = l->alloc_stack };
}

/* The category of a group whose memory has no line; CATEGORIES: it has one.  Where nothing tells
 * what it is for, it is as what stays. */
static enum category lineless(const struct peak_keys *keys, const struct group_key *key,
                              const struct stack_names *names)
{
    /* The stack of a site may have no frame that counts. */
    bool is_bare = keys->by == BY_SITE && str_equal(names->culprit, S("(no stack)"));
    if (key->kind == GROUP_NO_STACK && key->number != CATEGORY_UNKNOWN)
        return (enum category)key->number;
    if (is_bare || key->kind == GROUP_NO_STACK || key->kind == GROUP_NO_SITE ||
        key->kind == GROUP_UNNAMED)
        return CATEGORY_PERSISTENT;
    return CATEGORIES;
}

/* The key of each row, and of each group the stack of its first, and its category. */
static enum vrs_status group_rows(struct text_context *m, struct peak_keys *keys, stack_id *stack,
                                  enum category *category)
{
    for (uint32_t i = 0; i < m->d->rows.rows; i++) {
        struct live live = live_of(m, i);
        struct stack_names names;
        uint32_t key, known = keys->keys.len;
        TRY(naming_of(keys->naming, live.stack, &names, m->err));
        TRY(peak_keys_of(keys, &live, &names, &key, m->err));
        m->of[i] = key - 1;
        if (key != known)
            continue;
        stack[key - 1] = live.stack;
        category[key - 1] = lineless(keys, &keys->keys.at[key], &names);
    }
    return VRS_OK;
}

/* The names of groups in a state, as rows of `peak` have them: stacks of one site may differ in
 * what a recording does not count as its frames, and the largest allocation speaks for the others.
 * A group of which none is alive is called as its first stack. */
static enum vrs_status name_in(const struct text_context *m, struct peak_keys *keys,
                               const stack_id *first, uint32_t state, str *ret)
{
    const struct raster_rows *rows = &m->d->rows;
    double *largest = arena_array(keys->scratch, double, m->groups);
    stack_id *stack = arena_array(keys->scratch, stack_id, m->groups);
    if (largest == NULL || stack == NULL)
        return vrs_no_memory(m->err);
    for (uint32_t i = 0; i < m->groups; i++) {
        stack[i] = first[i];
        largest[i] = -1;
    }
    for (uint32_t i = 0; i < rows->rows; i++) {
        uint32_t group = m->of[i];
        if (rows->born[i] > state || state >= rows->end[i] || rows->bytes[i] <= largest[group])
            continue;
        largest[group] = rows->bytes[i];
        stack[group] = live_of(m, i).stack;
    }
    for (uint32_t i = 0; i < m->groups; i++) {
        TRY(peak_keys_name(keys, i + 1, stack[i], &ret[i], m->err));
        ret[i] = arena_copy(m->arena, ret[i]);
        if (ret[i].ptr == NULL)
            return vrs_no_memory(m->err);
    }
    return VRS_OK;
}

static enum vrs_status make_keyed(struct text_context *m, struct peak_keys *keys)
{
    stack_id *stack = arena_array(keys->scratch, stack_id, m->d->rows.rows);
    enum category *category = arena_array(keys->scratch, enum category, m->d->rows.rows);
    if (stack == NULL || category == NULL)
        return vrs_no_memory(m->err);
    TRY(peak_keys_begin(keys, m->from->s->device, m->err));
    TRY(group_rows(m, keys, stack, category));
    TRY(room(m, keys->keys.len - 1));
    str *at_peak = arena_array(m->arena, str, m->groups);
    m->told = arena_array(m->arena, str, m->groups);
    if (at_peak == NULL || m->told == NULL)
        return vrs_no_memory(m->err);
    TRY(name_in(m, keys, stack, m->peak, at_peak));
    TRY(name_in(m, keys, stack, m->d->cursor, m->told));
    for (uint32_t i = 0; i < m->groups; i++) {
        m->group[i].name = at_peak[i];
        m->group[i].category = category[i];
    }
    return VRS_OK;
}

static enum vrs_status by_key(struct text_context *m, enum peak_by by)
{
    const struct study *s = m->from->s;
    struct peak_keys keys = { .r = s->r,
                              .categories = &s->categories,
                              .naming = s->naming,
                              .arena = m->arena,
                              .scratch = s->scratch,
                              .by = by,
                              .site = SITE_LINE };
    enum vrs_status status = make_keyed(m, &keys);
    peak_keys_end(&keys);
    return status;
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
        return by_key(m, BY_OWNER);
    case SCENE_MODULE:
        return by_key(m, BY_MODULE);
    case SCENE_SITE:
        return by_key(m, BY_SITE);
    case SCENE_FILE:
        return by_key(m, BY_FILE);
    case SCENE_FUNCTION:
        return by_key(m, BY_FUNCTION);
    case SCENE_SIZE:
        return by_key(m, BY_SIZE);
    case SCENE_AGE:
        return by_age(m);
    case SCENE_NAME:
        return by_key(m, BY_NAME);
    case SCENE_PATH:
        return by_key(m, BY_PATH);
    case SCENE_LINE:
    case SCENE_CULPRIT:
    case SCENE_BYS:
        break;
    }
    return by_key(m, BY_LINE);
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
    uint32_t born; /* state in which the oldest alive was; UINT32_MAX: none is alive */
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

/* As the page gives colours: what is alive as rows of `peak` are ordered, then the others as they
 * come up. */
static int by_turn(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    bool x_lives = x->born != UINT32_MAX, y_lives = y->born != UINT32_MAX;
    int order = x_lives ? str_compare(x->name, y->name) : 0;
    if (x_lives != y_lives)
        return x_lives ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return order != 0 ? order : (x->group > y->group) - (x->group < y->group);
}

/* Categories from the bottom in their order, what is of none on top. */
static void rank_categories(struct text_context *m, uint32_t *bands)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->groups; i++) {
        m->group[i].colour = palette_category((enum category)i);
        if (i != CATEGORY_UNKNOWN)
            bands[count++] = i;
    }
    bands[count] = CATEGORY_UNKNOWN;
}

/* Bands from the bottom: what has no line, most of which never moves, then the largest on top, as
 * in a list. */
static void stack_bands(const struct text_context *m, const struct ranked *ranked, uint32_t *bands)
{
    uint32_t count = 0;
    for (int lined = 0; lined < 2; lined++)
        for (uint32_t i = m->groups; i > 0; i--)
            if ((m->group[ranked[i - 1].group].category == CATEGORIES) == (lined != 0))
                bands[count++] = ranked[i - 1].group;
}

/* Gives the groups their colours, in their turn. */
static enum vrs_status colour_groups(struct text_context *m, const struct ranked *ranked)
{
    struct family_name *name = arena_array(m->arena, struct family_name, m->groups);
    struct group_colour *colour = arena_array(m->arena, struct group_colour, m->groups);
    if (name == NULL || colour == NULL)
        return vrs_no_memory(m->err);
    for (uint32_t i = 0; i < m->groups; i++)
        name[i] = (struct family_name){ ranked[i].name, m->group[ranked[i].group].category };
    TRY(families_colour(name, m->groups, m->d->line, m->arena, colour, m->err));
    for (uint32_t i = 0; i < m->groups; i++)
        m->group[ranked[i].group].colour = colour[i];
    return VRS_OK;
}

/* The groups in their turn, by what is alive of each at the peak. */
static void take_turns(const struct text_context *m, const uint32_t *of, struct ranked *ret)
{
    const struct raster_rows *rows = &m->d->rows;
    for (uint32_t i = 0; i < m->groups; i++)
        ret[i] = (struct ranked){ 0, UINT32_MAX, m->group[i].name, i };
    for (uint32_t i = 0; i < rows->rows; i++) {
        struct ranked *group = &ret[of[i]];
        if (rows->born[i] > m->peak || m->peak >= rows->end[i])
            continue;
        group->bytes += rows->bytes[i];
        group->born = group->born == UINT32_MAX ? rows->born[i] : group->born;
    }
    if (m->groups > 1)
        qsort(ret, m->groups, sizeof *ret, by_turn);
}

/* Groups from the bottom: others than categories by their bytes at the peak. */
static enum vrs_status rank(struct text_context *m, enum scene_by by)
{
    uint32_t *bands = arena_array(m->arena, uint32_t, m->groups);
    struct ranked *ranked = arena_array(m->arena, struct ranked, m->groups);
    m->turn = arena_array(m->arena, uint32_t, m->groups);
    if (bands == NULL || ranked == NULL || m->turn == NULL)
        return vrs_no_memory(m->err);
    m->d->groups = (struct raster_groups){ m->of, m->groups, bands };
    m->d->group = m->group;
    if (by == SCENE_CATEGORY) {
        rank_categories(m, bands);
        return VRS_OK;
    }
    take_turns(m, m->of_at_peak != NULL ? m->of_at_peak : m->of, ranked);
    TRY(colour_groups(m, ranked));
    take_turns(m, m->of, ranked);
    for (uint32_t i = 0; i < m->groups; i++)
        m->turn[i] = ranked[i].group;
    if (m->groups > 1)
        qsort(ranked, m->groups, sizeof *ranked, by_bytes);
    stack_bands(m, ranked, bands);
    return VRS_OK;
}

/* Exact sizes may be long, and several may read alike. */
static void put_size(struct buf *to, str text)
{
    uint64_t bytes;
    bool negative;
    if (!number_integer(text, &bytes, &negative) || bytes > INT64_MAX)
        return;
    human_bytes(to, (int64_t)bytes);
    buf_format(to, " (%llu)", (unsigned long long)bytes);
}

/* As people read them.  Names are of the file; pictures show them. */
static enum vrs_status name_as_read(struct text_context *m, enum scene_by by)
{
    for (uint32_t i = 0; i < m->groups; i++) {
        str told = m->told == NULL ? m->group[i].name : m->told[i];
        struct buf text;
        buf_init(&text, SIZE_MAX / 2);
        if (by == SCENE_SIZE)
            put_size(&text, told);
        else if (by == SCENE_NAME || by == SCENE_PATH || by == SCENE_CATEGORY)
            escape_text(&text, told, false);
        else
            place_words(&text, told, false);
        enum vrs_status named = text.failed ? vrs_no_memory(m->err) : name(m, i, buf_slice(&text));
        buf_free(&text);
        TRY(named);
    }
    return VRS_OK;
}

/* How many groups have an allocation at all; `ret` of each whether it has. */
static uint32_t find_filled(const struct text_context *m, bool *ret)
{
    uint32_t filled = 0;
    for (uint32_t i = 0; i < m->d->rows.rows; i++) {
        filled += !ret[m->of[i]];
        ret[m->of[i]] = true;
    }
    return filled;
}

/* The ten largest groups, and the others as one, which is grey and lies where they lie. */
static enum vrs_status join_others(struct text_context *m)
{
    enum { LARGEST = 10, REST = LARGEST, ALL };
    uint32_t *of = arena_array(m->arena, uint32_t, m->d->rows.rows);
    uint32_t *to = arena_array(m->arena, uint32_t, m->groups);
    uint32_t *bands = arena_array(m->arena, uint32_t, ALL);
    struct scene_group *group = arena_array(m->arena, struct scene_group, ALL);
    bool *is_filled = arena_array(m->arena, bool, m->groups), rest_placed = false;
    char name[24];
    if (of == NULL || to == NULL || bands == NULL || group == NULL || is_filled == NULL)
        return vrs_no_memory(m->err);
    uint32_t filled = find_filled(m, is_filled);
    if (filled <= ALL)
        return VRS_OK;
    snprintf(name, sizeof name, "other (%u)", (unsigned)(filled - LARGEST));
    for (uint32_t i = 0, taken = 0; i < m->groups; i++) {
        uint32_t one = m->turn[i];
        to[one] = is_filled[one] && taken < LARGEST ? taken++ : REST;
        if (to[one] != REST)
            group[to[one]] = m->group[one];
    }
    group[REST] = (struct scene_group){ arena_copy(m->arena, str_from(name)), palette_other(),
                                        .is_rest = true };
    for (uint32_t i = m->groups, left = ALL; i-- > 0;) {
        uint32_t band = to[m->d->groups.bands[i]];
        if (band != REST || !rest_placed)
            bands[--left] = band;
        rest_placed = rest_placed || band == REST;
    }
    for (uint32_t i = 0; i < m->d->rows.rows; i++)
        of[i] = to[m->of[i]];
    m->d->shown = (struct raster_groups){ of, ALL, bands };
    m->d->shown_group = group;
    return group[REST].name.ptr == NULL ? vrs_no_memory(m->err) : VRS_OK;
}

enum vrs_status scene_group_rows(const struct scene *scene, struct page_source *from,
                                 struct arena *arena, struct scene_device *d, struct vrs_error *err)
{
    struct text_context m = { .from = from, .arena = arena, .d = d, .err = err };
    m.of = arena_array(arena, uint32_t, d->rows.rows);
    if (m.of == NULL)
        return vrs_no_memory(err);
    for (uint32_t p = 1; p < d->rows.states; p++)
        if (d->requested[p] > d->requested[m.peak])
            m.peak = p;
    TRY(group_by(&m, scene->asked.by));
    TRY(rank(&m, scene->asked.by));
    TRY(name_as_read(&m, scene->asked.by));
    d->shown = d->groups;
    d->shown_group = d->group;
    return scene->asked.by == SCENE_CATEGORY ? VRS_OK : join_others(&m);
}
