/* category_table.c - sums by category and rule; they add up to the live set. */
#include "analysis/snapshot/breakdown/category_table.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_match.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

/* Sums by category and rule; rules with one id are one. */
struct sums {
    const struct categories *c;
    uint16_t *same; /* of each rule: the first with its id */
    struct category_rule_sum (*of)[CATEGORIES];
};

static enum vrs_status sums_make(const struct study *s, struct sums *sums, struct vrs_error *err)
{
    const struct categories *c = &s->categories;
    *sums = (struct sums){ .c = c };
    sums->same = arena_array(s->scratch, uint16_t, c->rules);
    sums->of = arena_take_array(s->scratch, c->rules, sizeof *sums->of);
    if (sums->same == NULL || sums->of == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->rules; i++) {
        uint32_t first = 0;
        while (strcmp(c->rule_names[first], c->rule_names[i]) != 0)
            first++;
        sums->same[i] = (uint16_t)first;
    }
    return VRS_OK;
}

static void sums_add(struct sums *s, uint32_t i, uint64_t bytes)
{
    uint16_t rule = s->same[s->c->rule[i]];
    struct category_rule_sum *sum = &s->of[rule][s->c->of[i]];
    *sum = (struct category_rule_sum){ (enum category)s->c->of[i], s->c->rule_names[rule],
                                       sum->bytes + bytes, sum->count + 1 };
}

static int by_sum(const void *a, const void *b)
{
    const struct category_rule_sum *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->category != y->category)
        return x->category < y->category ? -1 : 1;
    return strcmp(x->rule, y->rule);
}

/* Those that count something, of one category or (CATEGORIES) of all; in `keep`. */
static enum vrs_status sums_list(const struct study *s, const struct sums *sums,
                                 enum category wanted, struct category_rule_sum **ret,
                                 uint32_t *ret_len, struct vrs_error *err)
{
    uint32_t len = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            *ret = arena_array(s->keep, struct category_rule_sum, len);
        if (pass == 1 && *ret == NULL)
            return vrs_no_memory(err);
        len = 0;
        for (uint32_t rule = 0; rule < sums->c->rules; rule++)
            for (int category = 0; category < CATEGORIES; category++) {
                const struct category_rule_sum *sum = &sums->of[rule][category];
                if (sum->count == 0 || (wanted != CATEGORIES && wanted != sum->category))
                    continue;
                if (pass == 1)
                    (*ret)[len] = *sum;
                len++;
            }
    }
    for (uint32_t i = 0; i < len; i++) {
        /* Names of rules end with the call. */
        str kept = arena_copy(s->keep, str_from((*ret)[i].rule));
        if (kept.ptr == NULL)
            return vrs_no_memory(err);
        (*ret)[i].rule = kept.ptr;
    }
    if (len > 1)
        qsort(*ret, len, sizeof **ret, by_sum);
    *ret_len = len;
    return VRS_OK;
}

static int by_row(const void *a, const void *b)
{
    const struct category_row *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

static enum vrs_status add_live(const struct study *s, int64_t at, struct sums *sums,
                                struct category_table *table, struct vrs_error *err)
{
    struct category_row row[CATEGORIES] = { 0 };
    uint32_t largest[CATEGORIES] = { 0 };
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!lifetime_alive(l, at))
            continue;
        uint8_t category = s->categories.of[i];
        struct category_row *to = &row[category];
        if (to->count == 0 || l->bytes > s->lifetimes.at[largest[category]].bytes)
            largest[category] = i;
        to->bytes += l->bytes;
        to->count++;
        to->sure_bytes[s->categories.confidence[i]] += l->bytes;
        table->total_bytes += l->bytes;
        table->count++;
        sums_add(sums, i, l->bytes);
    }
    uint64_t sum = 0;
    table->row = arena_array(s->keep, struct category_row, CATEGORIES);
    if (table->row == NULL)
        return vrs_no_memory(err);
    for (int category = 0; category < CATEGORIES; category++) {
        struct category_row *from = &row[category];
        if (from->count == 0)
            continue;
        from->category = (enum category)category;
        TRY(sums_list(s, sums, from->category, &from->rule, &from->rules, err));
        TRY(study_site(s, s->lifetimes.at[largest[category]].alloc_stack, &from->largest, err));
        table->row[table->rows++] = *from;
        sum += from->bytes;
    }
    assert(sum == table->total_bytes);
    (void)sum;
    if (table->rows > 1)
        qsort(table->row, table->rows, sizeof *table->row, by_row);
    uint64_t parameter = row[CATEGORY_PARAMETER].bytes;
    table->state_factor_ratio =
        parameter == 0 ? -1 : (double)row[CATEGORY_OPTIMIZER_STATE].bytes / (double)parameter;
    return VRS_OK;
}

static enum vrs_status add_split(const struct study *s, struct category_table *table,
                                 struct vrs_error *err)
{
    const struct categories *c = &s->categories;
    table->copies = c->copies;
    table->parameter_bytes = c->copies_parameter_bytes;
    table->gradient_bytes = c->copies_gradient_bytes;
    table->optimizer_state_bytes = c->copies_state_bytes;
    table->parameter_copy_bytes = c->copies_copy_bytes;
    table->multiset_sizes = c->multiset_entries;
    table->multiset = arena_array(s->keep, struct size_count, c->multiset_entries);
    if (table->multiset == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->multiset_entries; i++)
        table->multiset[i] = c->multiset[c->multiset_entries - 1 - i];
    if (c->copies == 0)
        return VRS_OK;
    struct sums sums;
    TRY(sums_make(s, &sums, err));
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        if (s->lifetimes.at[i].birth < 0 && !c->in_copy[i])
            sums_add(&sums, i, s->lifetimes.at[i].bytes);
    return sums_list(s, &sums, CATEGORIES, &table->remainder, &table->remainders, err);
}

enum vrs_status category_table_compute(const struct study *s,
                                       const struct category_table_options *options,
                                       struct category_table *ret, struct vrs_error *err)
{
    struct category_table table = { .at_event = options->at_event };
    struct sums sums;
    struct arena_mark mark = arena_mark(s->scratch);
    TRY(sums_make(s, &sums, err));
    TRY(add_live(s, options->at_event, &sums, &table, err));
    TRY(add_split(s, &table, err));
    table.adjust_bytes =
        (int64_t)((uint64_t)curve_at(s->r, s->device, CURVE_REQUESTED, options->at_event) -
                  table.total_bytes);
    arena_release(s->scratch, mark);
    table.has_training_need = options->training_need != NULL;
    if (table.has_training_need)
        table.training_need = *options->training_need;
    *ret = table;
    return VRS_OK;
}
