/* peak.c - groups a live set; rows and adjustment add up to the curve, whatever the file says. */
#include "analysis/snapshot/breakdown/peak.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/breakdown/peak_owners.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/curves/memory_group.h"
#include "analysis/snapshot/study/held_names.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

struct group {
    struct peak_row row;
    struct live biggest;            /* stands for the row */
    struct stack_names names;       /* of the first member */
    str category, confidence, rule; /* the same; ptr NULL: not known */
    bool culprits_differ, owners_differ, slack_unknown;
    bool categories_differ, confidences_differ, rules_differ;
    uint32_t members;
};

struct grouping {
    const struct recording *r;
    const struct peak_options *options;
    struct naming *naming;
    struct arena *arena; /* of the result */
    struct vrs_error *err;
    struct arena scratch;
    struct peak_keys keys;
    VEC(struct group) groups; /* by the places of their keys */
};

/* Larger first, then earlier, then the order of the allocations. */
static bool stands_before(const struct live *a, const struct live *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    return a->born != b->born ? a->born < b->born : a->allocation < b->allocation;
}

/* Category, confidence and rule, where all members have the same. */
static void add_category(const struct grouping *g, struct group *group, const struct live *live)
{
    const struct categories *c = g->options->categories;
    if (c == NULL)
        return;
    uint32_t i = live->allocation - g->keys.first_allocation;
    str none = { NULL, 0 };
    str category = str_from(category_names[c->of[i]]), rule = str_from(c->rule_names[c->rule[i]]);
    str confidence =
        c->confidence[i] == CONFIDENCE_NONE ? none : str_from(confidence_names[c->confidence[i]]);
    if (group->members == 0) {
        group->category = category;
        group->confidence = confidence;
        group->rule = rule;
    }
    group->categories_differ |= !str_equal(category, group->category);
    group->confidences_differ |= !str_equal(confidence, group->confidence);
    group->rules_differ |= !str_equal(rule, group->rule);
}

static void add_member(struct grouping *g, struct group *group, const struct live *live,
                       const struct stack_names *names)
{
    struct peak_row *row = &group->row;
    struct block_size block = { 0, SOURCE_ROUNDED };
    if (g->options->sizes != NULL)
        block = block_of(g->options->sizes, live->allocation);
    if (group->members == 0 || live->born < row->oldest_event)
        row->oldest_event = live->born;
    if (group->members == 0 || stands_before(live, &group->biggest))
        group->biggest = *live;
    add_category(g, group, live);
    group->members++;
    row->bytes += live->bytes;
    row->slack_bytes += block.bytes - live->bytes;
    group->slack_unknown |= block.source == SOURCE_ROUNDED || block.bytes < live->bytes;
    group->culprits_differ |= !str_equal(names->culprit, group->names.culprit);
    group->owners_differ |= !str_equal(names->owner, group->names.owner);
}

static enum vrs_status group_all(struct grouping *g, const struct live_set *set)
{
    for (uint32_t i = 0; i < set->len; i++) {
        struct live *live = &set->at[i];
        struct stack_names names;
        TRY(naming_of(g->naming, live->stack, &names, g->err));
        TRY(peak_keys_of(&g->keys, live, &names, &live->group, g->err));
        if (live->group == g->groups.len && !vec_push(&g->groups, (struct group){ .names = names }))
            return vrs_no_memory(g->err);
        add_member(g, &g->groups.at[live->group], live, &names);
    }
    return VRS_OK;
}

static int by_group_and_birth(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

/* Half of the traced members are younger than this; of an even number, the mean of the two in the
 * middle.  Members are sorted by birth, the untraced ones first. */
static double median_age(const struct live *member, uint32_t members, int64_t at_event)
{
    uint32_t old = 0;
    while (old < members && member[old].born < 0)
        old++;
    uint32_t traced = members - old;
    if (traced == 0)
        return -1;
    int64_t low = member[old + (traced - 1) / 2].born, high = member[old + traced / 2].born;
    return (double)(at_event - low + at_event - high) / 2;
}

static int by_bytes(const void *a, const void *b)
{
    const struct peak_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->oldest_event != y->oldest_event)
        return x->oldest_event < y->oldest_event ? -1 : 1;
    int order = str_compare(x->name, y->name);
    return order != 0 ? order : (x->stack.n > y->stack.n) - (x->stack.n < y->stack.n);
}

static int by_larger(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* Puts a size among the heaviest, which stand by larger bytes in all, then by larger size. */
static void keep_heaviest(struct peak_row *row, struct size_count size)
{
    uint32_t at = row->sizes;
    while (at > 0 && row->size[at - 1].bytes * row->size[at - 1].count < size.bytes * size.count)
        at--;
    if (at == PEAK_SIZES)
        return;
    if (row->sizes < PEAK_SIZES)
        row->sizes++;
    for (uint32_t i = row->sizes - 1; i > at; i--)
        row->size[i] = row->size[i - 1];
    row->size[at] = size;
}

/* The sizes of what neither a stack nor a category tells apart. */
static enum vrs_status add_sizes(struct grouping *g, const struct live *member, uint32_t members,
                                 struct peak_row *row)
{
    struct arena_mark mark = arena_mark(&g->scratch);
    uint64_t *bytes = arena_array(&g->scratch, uint64_t, members);
    row->size = arena_array(g->arena, struct size_count, PEAK_SIZES);
    if (bytes == NULL || row->size == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < members; i++)
        bytes[i] = member[i].bytes;
    if (members > 1)
        qsort(bytes, members, sizeof *bytes, by_larger);
    for (uint32_t i = 0, end; i < members; i = end) {
        for (end = i + 1; end < members && bytes[end] == bytes[i];)
            end++;
        keep_heaviest(row, (struct size_count){ bytes[i], end - i });
        row->distinct_sizes++;
    }
    arena_release(&g->scratch, mark);
    return VRS_OK;
}

static int by_stack(const void *a, const void *b)
{
    const struct live *x = a, *y = b;
    if (x->stack.n != y->stack.n)
        return x->stack.n < y->stack.n ? -1 : 1;
    if (x->born != y->born)
        return x->born < y->born ? -1 : 1;
    return (x->allocation > y->allocation) - (x->allocation < y->allocation);
}

/* The stack that is shown for a row: that with most of its bytes. */
static enum vrs_status find_stack(struct grouping *g, const struct live *member, uint32_t members,
                                  struct peak_row *row)
{
    struct arena_mark mark = arena_mark(&g->scratch);
    struct live *at = arena_array(&g->scratch, struct live, members);
    const struct live *first = NULL;
    if (at == NULL)
        return vrs_no_memory(g->err);
    for (uint32_t i = 0; i < members; i++)
        at[i] = member[i];
    if (members > 1)
        qsort(at, members, sizeof *at, by_stack);
    for (uint32_t i = 0, end; i < members; i = end) {
        uint64_t bytes = 0;
        for (end = i; end < members && at[end].stack.n == at[i].stack.n; end++)
            bytes += at[end].bytes;
        row->distinct_stacks++;
        bool more = first == NULL || bytes > row->stack_bytes ||
                    (bytes == row->stack_bytes && at[i].born < first->born);
        if (!more)
            continue;
        first = &at[i];
        row->stack = first->stack;
        row->stack_bytes = bytes;
    }
    arena_release(&g->scratch, mark);
    return VRS_OK;
}

static enum vrs_status find_names(struct grouping *g, const struct live *member, uint32_t members,
                                  struct held_names *ret)
{
    struct names_sum sum = { .r = g->r };
    for (uint32_t i = 0; i < members && g->r->named.rows.len > 0; i++)
        names_sum_add(&sum, member[i].allocation);
    return names_sum_end(&sum, g->arena, ret, g->err);
}

static enum vrs_status make_rows(struct grouping *g, const struct live_set *set, struct peak *ret)
{
    ret->rows = g->groups.len - 1;
    ret->row = arena_array(g->arena, struct peak_row, ret->rows);
    if (ret->row == NULL)
        return vrs_no_memory(g->err);
    if (set->len > 1)
        qsort(set->at, set->len, sizeof *set->at, by_group_and_birth);
    uint32_t member = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < ret->rows; i++) {
        struct group *group = &g->groups.at[i + 1];
        struct peak_row *row = &ret->row[i];
        *row = group->row;
        const struct group_key *key = &g->keys.keys.at[i + 1];
        TRY(peak_keys_name(&g->keys, i + 1, group->biggest.stack, &row->name, g->err));
        row->named = peak_is_by_name(g->options->by) && key->kind != GROUP_UNNAMED;
        if (key->kind == GROUP_NO_STACK && key->number == CATEGORY_UNKNOWN)
            TRY(add_sizes(g, set->at + member, group->members, row));
        if (peak_is_by_line(g->options->by) && group->owners_differ)
            TRY(peak_owners_find(g->naming, set->at + member, group->members, g->arena, &g->scratch,
                                 row, g->err));
        row->count = group->members;
        row->share_ratio = set->bytes == 0 ? 0 : (double)row->bytes / (double)set->bytes;
        row->largest_bytes = group->biggest.bytes;
        TRY(find_stack(g, set->at + member, group->members, row));
        TRY(find_names(g, set->at + member, group->members, &row->names));
        row->median_age_events = median_age(set->at + member, group->members, g->options->at_event);
        row->slack_bytes = group->slack_unknown ? UNKNOWN_U64 : row->slack_bytes;
        row->culprit = group->culprits_differ ? (str){ NULL, 0 } : group->names.culprit;
        row->owner = group->owners_differ ? (str){ NULL, 0 } : group->names.owner;
        row->category = group->categories_differ ? (str){ NULL, 0 } : group->category;
        row->confidence = group->confidences_differ ? (str){ NULL, 0 } : group->confidence;
        row->rule = group->rules_differ ? (str){ NULL, 0 } : group->rule;
        member += group->members;
        sum += row->bytes;
    }
    assert(sum == set->bytes);
    (void)sum;
    if (ret->rows > 1)
        qsort(ret->row, ret->rows, sizeof *ret->row, by_bytes);
    return VRS_OK;
}

static enum vrs_status compute(struct grouping *g, uint32_t device, struct peak *ret)
{
    struct live_set set;
    int64_t at = g->options->at_event;
    TRY(live_at(g->r, device, at, &g->scratch, &set, g->err));
    TRY(peak_keys_begin(&g->keys, device, g->err));
    if (!vec_push(&g->groups, (struct group){ .members = 0 }))
        return vrs_no_memory(g->err);
    TRY(group_all(g, &set));

    int64_t total = curve_at(g->r, device, CURVE_REQUESTED, at);
    struct peak peak = {
        .by = g->options->by,
        .key = g->options->key,
        .at_event = at,
        .total_bytes = total,
        .adjust_bytes = (int64_t)((uint64_t)total - set.bytes),
        .live_bytes = set.bytes,
        .live_count = set.len,
    };
    TRY(find_names(g, set.at, set.len, &peak.names));
    TRY(make_rows(g, &set, &peak));
    *ret = peak;
    return VRS_OK;
}

enum vrs_status peak_compute(const struct recording *r, uint32_t device,
                             const struct peak_options *options, struct naming *naming,
                             struct arena *arena, struct peak *ret, struct vrs_error *err)
{
    struct peak_options asked = *options;
    if (!device_traced(r, device))
        asked.at_event = (int64_t)r->devices.events[device] - 1;
    struct grouping g = {
        .r = r,
        .options = &asked,
        .naming = naming,
        .arena = arena,
        .err = err,
        .keys = { .r = r,
                  .categories = asked.categories,
                  .naming = naming,
                  .arena = arena,
                  .scratch = &g.scratch,
                  .by = asked.by,
                  .site = asked.key,
                  .at_event = asked.at_event },
        .groups.max = UINT32_MAX,
    };
    arena_init(&g.scratch, SIZE_MAX);
    enum vrs_status status = compute(&g, device, ret);
    peak_keys_end(&g.keys);
    vec_free(&g.groups);
    arena_free(&g.scratch);
    return status;
}
