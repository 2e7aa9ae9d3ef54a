/* ranks.c - medians over units, then the sites of two of them side by side. */
#include "analysis/snapshot/ranks/ranks.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/ranks/mad.h"
#include "analysis/snapshot/ranks/summary_moments.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"

enum {
    OUTLIER_UNITS = 4,  /* fewer have no spread to speak of */
    EQUAL_PERCENT = 1   /* within that bytes are equal */
};

/* A unit, or a site, by some number. */
struct keyed {
    uint64_t key;
    uint32_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void sort(struct keyed *at, uint32_t len)
{
    if (len > 1)
        qsort(at, len, sizeof *at, by_key);
}

struct comparison {
    struct rank_unit *unit;
    uint32_t units;
    struct arena *keep, *scratch;
    struct ranks ranks;
    struct keyed *keyed; /* room for one of each unit */
    int64_t *value;      /* likewise */
    uint32_t *group_of;  /* each unit */
    bool *is_outlier;
};

static int64_t peak_of(const struct comparison *c, uint32_t unit)
{
    return c->unit[unit].summary->common_peak_bytes;
}

/* Where no parameter was recognised, their bytes say nothing. */
static uint64_t parameters_of(const struct rank_unit *u)
{
    uint64_t bytes = u->summary->category_bytes[CATEGORY_PARAMETER];
    return u->summary->categorised && bytes != 0 ? bytes : UNKNOWN_U64;
}

static bool near(uint64_t least, uint64_t bytes)
{
    return least == UNKNOWN_U64 ? bytes == UNKNOWN_U64
                                : bytes - least <= least / 100 * EQUAL_PERCENT;
}

/* What ranks of one job have alike where it is data parallel; 0: not known. */
static uint64_t bytes_of(const struct rank_unit *u, enum category category)
{
    /* At the peak compared there may be few of them yet. */
    return category == CATEGORY_GRADIENT ? u->summary->gradients_most_bytes
                                         : u->summary->category_bytes[category];
}

static void find_differences(const struct comparison *c, struct rank_group *group)
{
    static const enum category categories[RANK_DIFFERENCES] = { CATEGORY_GRADIENT,
                                                                CATEGORY_OPTIMIZER_STATE };
    if (group->parameter_bytes == UNKNOWN_U64)
        return;
    for (int i = 0; i < RANK_DIFFERENCES; i++) {
        struct rank_difference d = { .category = categories[i], .least_bytes = UNKNOWN_U64 };
        for (uint32_t k = 0; k < group->units; k++) {
            uint32_t unit = group->unit[k];
            uint64_t bytes = bytes_of(&c->unit[unit], categories[i]);
            if (bytes == 0 || !c->unit[unit].whole)
                continue;
            if (bytes < d.least_bytes) {
                d.least_bytes = bytes;
                d.least = unit;
            }
            if (bytes > d.most_bytes) {
                d.most_bytes = bytes;
                d.most = unit;
            }
        }
        if (d.most_bytes != 0 && !near(d.least_bytes, d.most_bytes))
            group->difference[group->differences++] = d;
    }
}

static enum vrs_status make_groups(struct comparison *c, struct vrs_error *err)
{
    struct ranks *ranks = &c->ranks;
    uint32_t *member = arena_array(c->keep, uint32_t, c->units);
    ranks->group = arena_array(c->keep, struct rank_group, c->units);
    if (member == NULL || ranks->group == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->units; i++)
        c->keyed[i] = (struct keyed){ parameters_of(&c->unit[i]), i };
    sort(c->keyed, c->units);
    for (uint32_t i = 0; i < c->units; i++) {
        struct rank_group *last = ranks->group + ranks->groups - 1;
        if (i == 0 || !near(last->parameter_bytes, c->keyed[i].key)) {
            last = &ranks->group[ranks->groups++];
            *last = (struct rank_group){ .parameter_bytes = c->keyed[i].key, .unit = member + i };
        }
        last->unit[last->units++] = c->keyed[i].index;
        c->group_of[c->keyed[i].index] = ranks->groups - 1;
    }
    for (uint32_t g = 0; g < ranks->groups; g++)
        find_differences(c, &ranks->group[g]);
    return VRS_OK;
}

#define ALL_GROUPS UINT32_MAX

/* The whole units of a group by their peaks, in `keyed`; how many they are. */
static uint32_t sort_whole(struct comparison *c, uint32_t group)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < c->units; i++)
        if (c->unit[i].whole && (group == ALL_GROUPS || c->group_of[i] == group))
            /* Peaks below zero, of edited files, stand first. */
            c->keyed[len++] = (struct keyed){ (uint64_t)peak_of(c, i) ^ (uint64_t)1 << 63, i };
    sort(c->keyed, len);
    return len;
}

static uint32_t middle_of(const struct comparison *c, uint32_t len)
{
    return len == 0 ? NO_ROW : c->keyed[(len - 1) / 2].index;
}

static void find_outliers(struct comparison *c)
{
    for (uint32_t g = 0; g < c->ranks.groups; g++) {
        int64_t median;
        uint32_t len = sort_whole(c, g);
        if (len < OUTLIER_UNITS)
            continue;
        for (uint32_t i = 0; i < len; i++)
            c->value[i] = peak_of(c, c->keyed[i].index);
        int64_t limit = mad_limit(c->value, len, &median);
        for (uint32_t i = 0; i < len; i++)
            c->is_outlier[c->keyed[i].index] = peak_of(c, c->keyed[i].index) > limit;
    }
}

static enum vrs_status list_outliers(struct comparison *c, struct vrs_error *err)
{
    struct ranks *ranks = &c->ranks;
    find_outliers(c);
    ranks->outlier = arena_array(c->keep, uint32_t, c->units);
    if (ranks->outlier == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < c->units; i++)
        if (c->is_outlier[i])
            ranks->outlier[ranks->outliers++] = i;
    return VRS_OK;
}

static void find_skew(struct comparison *c)
{
    uint32_t len = sort_whole(c, ALL_GROUPS);
    c->ranks.skew_ratio = -1;
    if (len < 2)
        return;
    for (uint32_t i = 0; i < len; i++)
        c->value[i] = peak_of(c, c->keyed[i].index);
    int64_t median = mad_median(c->value, len);
    if (median <= 0)
        return;
    c->ranks.median_bytes = median;
    c->ranks.skew_ratio =
        (double)peak_of(c, c->keyed[len - 1].index) / (double)c->ranks.median_bytes;
}

static void find_straggler(struct comparison *c)
{
    uint32_t most = 0, second = NO_ROW;
    c->ranks.straggler = NO_ROW;
    if (c->units < 2)
        return;
    for (uint32_t i = 1; i < c->units; i++) {
        if (peak_of(c, i) > peak_of(c, most)) {
            second = most;
            most = i;
        } else if (second == NO_ROW || peak_of(c, i) > peak_of(c, second)) {
            second = i;
        }
    }
    c->ranks.straggler = most;
    c->ranks.straggler_saving_bytes =
        (int64_t)((uint64_t)peak_of(c, most) - (uint64_t)peak_of(c, second));
}

/* The unit in the middle of those that the fullest may be compared with. */
static uint32_t reference_of(struct comparison *c, uint32_t worst)
{
    uint32_t reference = middle_of(c, sort_whole(c, c->group_of[worst]));
    if (reference == worst || reference == NO_ROW)
        reference = middle_of(c, sort_whole(c, ALL_GROUPS));
    return reference == worst || reference == NO_ROW || peak_of(c, reference) == peak_of(c, worst)
               ? NO_ROW
               : reference;
}

/* Bytes of the worst unit, and by how much more it has for which reason. */
struct causes {
    double all, code, size, count;
};

static void add_common(struct causes *causes, const struct summary_site *w,
                       const struct summary_site *r)
{
    if (w->bytes <= r->bytes)
        return;
    double more = (double)(w->bytes - r->bytes), by_count = 0;
    /* What the additional ones would take at the other's size is the part of their number. */
    if (w->count > r->count)
        by_count = (double)(w->count - r->count) * ((double)r->bytes / (double)r->count);
    by_count = by_count < more ? by_count : more;
    causes->count += by_count;
    causes->size += more - by_count;
}

static const char *verdict_of(const struct causes *c)
{
    double explained = c->code + c->size + c->count;
    if (explained <= 0)
        return NULL;
    if (c->code > c->all / 2)
        return "different code";
    if (c->size > explained / 2)
        return "larger tensors";
    return c->count > explained / 2 ? "more tensors" : "mixed";
}

static int by_worst(const void *a, const void *b)
{
    const struct pair_row *x = a, *y = b;
    if (x->worst_bytes != y->worst_bytes)
        return x->worst_bytes > y->worst_bytes ? -1 : 1;
    if (x->reference_bytes != y->reference_bytes)
        return x->reference_bytes > y->reference_bytes ? -1 : 1;
    if (x->worst_count != y->worst_count)
        return x->worst_count > y->worst_count ? -1 : 1;
    if (x->reference_count != y->reference_count)
        return x->reference_count > y->reference_count ? -1 : 1;
    return str_compare(x->name, y->name);
}

static struct keyed *keyed_sites(const struct device_summary *u, struct arena *scratch)
{
    struct keyed *at = arena_array(scratch, struct keyed, u->sites);
    for (uint32_t i = 0; at != NULL && i < u->sites; i++)
        at[i] = (struct keyed){ u->site[i].key, i };
    if (at != NULL)
        sort(at, u->sites);
    return at;
}

/* The site of a unit as a side of a row; what is too small for a name has no row. */
struct side {
    const struct device_summary *summary;
    uint32_t site; /* NO_ROW: it does not have it */
};

static const struct summary_site *site_of(struct side side)
{
    return side.site == NO_ROW ? NULL : &side.summary->site[side.site];
}

static bool is_named(struct side side)
{
    return side.site != NO_ROW && side.site < side.summary->names;
}

static void add_row(struct rank_pair *pair, struct side w, struct side r)
{
    struct side named = is_named(w) ? w : r;
    if (!is_named(named))
        return;
    const struct summary_site *left = site_of(w), *right = site_of(r);
    pair->row[pair->rows++] = (struct pair_row){
        .name = named.summary->name[named.site].culprit,
        .worst_bytes = left == NULL ? 0 : left->bytes,
        .reference_bytes = right == NULL ? 0 : right->bytes,
        .worst_count = left == NULL ? 0 : left->count,
        .reference_count = right == NULL ? 0 : right->count,
    };
}

static void match_sites(const struct device_summary *w, const struct keyed *ws,
                        const struct device_summary *r, const struct keyed *rs,
                        struct rank_pair *pair, struct causes *causes)
{
    uint32_t i = 0, k = 0;
    while (i < w->sites || k < r->sites) {
        bool one = k == r->sites || (i < w->sites && ws[i].key < rs[k].key);
        bool other = i == w->sites || (k < r->sites && rs[k].key < ws[i].key);
        struct side left_side = { w, other ? NO_ROW : ws[i].index };
        struct side right_side = { r, one ? NO_ROW : rs[k].index };
        const struct summary_site *left = site_of(left_side), *right = site_of(right_side);
        add_row(pair, left_side, right_side);
        if (left != NULL)
            causes->all += (double)left->bytes;
        if (left != NULL && right != NULL)
            add_common(causes, left, right);
        else if (left != NULL)
            causes->code += (double)left->bytes;
        i += !other;
        k += !one;
    }
    causes->all += (double)w->other_bytes;
}

/* The row that explains most; what is too small for a name does not. */
static uint32_t largest_of(const struct rank_pair *pair)
{
    uint32_t best = NO_ROW;
    uint64_t most = 0;
    for (uint32_t i = 0; i < pair->rows; i++) {
        const struct pair_row *row = &pair->row[i];
        if (row->worst_bytes > row->reference_bytes &&
            row->worst_bytes - row->reference_bytes > most) {
            most = row->worst_bytes - row->reference_bytes;
            best = i;
        }
    }
    return best;
}

static enum vrs_status test_pair(struct comparison *c, struct vrs_error *err)
{
    struct rank_pair *pair = &c->ranks.pair;
    struct causes causes = { 0 };
    uint32_t worst = c->ranks.straggler;
    uint32_t reference = worst == NO_ROW ? NO_ROW : reference_of(c, worst);
    if (reference == NO_ROW)
        return VRS_OK;
    const struct device_summary *w = c->unit[worst].summary, *r = c->unit[reference].summary;
    if (w->sites == 0 || r->sites == 0)
        return VRS_OK;
    *pair = (struct rank_pair){ .worst = worst, .reference = reference };
    const struct keyed *ws = keyed_sites(w, c->scratch), *rs = keyed_sites(r, c->scratch);
    pair->row = arena_array(c->keep, struct pair_row, (size_t)w->names + r->names);
    if (ws == NULL || rs == NULL || pair->row == NULL)
        return vrs_no_memory(err);
    match_sites(w, ws, r, rs, pair, &causes);
    if (pair->rows > 1)
        qsort(pair->row, pair->rows, sizeof *pair->row, by_worst);
    pair->largest_row = largest_of(pair);
    pair->verdict = verdict_of(&causes);
    if (causes.all > 0) {
        pair->code_ratio = causes.code / causes.all;
        pair->size_ratio = causes.size / causes.all;
        pair->count_ratio = causes.count / causes.all;
    }
    c->ranks.has_pair = true;
    return VRS_OK;
}

/* The whole units that the straggler may be compared with, in the order of their numbers. */
static uint32_t list_like(const struct comparison *c, uint32_t group, uint32_t *ret)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < c->units; i++)
        if (c->unit[i].whole && (group == ALL_GROUPS || c->group_of[i] == group))
            ret[len++] = i;
    return len;
}

static enum vrs_status align(struct comparison *c, bool one_clock, struct vrs_error *err)
{
    struct ranks *ranks = &c->ranks;
    uint32_t *like = arena_array(c->scratch, uint32_t, c->units);
    const struct summary_moments **moments =
        arena_array(c->scratch, const struct summary_moments *, c->units);
    if (like == NULL || moments == NULL)
        return vrs_no_memory(err);
    if (ranks->straggler == NO_ROW)
        return VRS_OK;
    uint32_t len = list_like(c, c->group_of[ranks->straggler], like);
    if (len < 2)
        len = list_like(c, ALL_GROUPS, like);
    for (uint32_t i = 0; i < len; i++)
        moments[i] = &c->unit[like[i]].summary->moments;
    TRY(alignment_find(moments, like, len, one_clock, c->keep, c->scratch, &ranks->alignment, err));
    for (uint32_t i = 0; i < ranks->alignment.units; i++)
        ranks->straggler_aligned |= ranks->alignment.unit[i] == ranks->straggler;
    for (uint32_t i = 0; i < ranks->alignment.moments; i++)
        ranks->straggler_moments += ranks->alignment.moment[i].worst == ranks->straggler;
    return VRS_OK;
}

enum vrs_status ranks_compute(struct rank_unit *unit, uint32_t units, bool one_clock,
                              struct arena *keep, struct arena *scratch, struct ranks *ret,
                              struct vrs_error *err)
{
    struct comparison c = {
        .unit = unit,
        .units = units,
        .keep = keep,
        .scratch = scratch,
        .keyed = arena_array(scratch, struct keyed, units),
        .value = arena_array(scratch, int64_t, units),
        .group_of = arena_array(scratch, uint32_t, units),
        .is_outlier = arena_array(scratch, bool, units),
        .ranks = { .unit = unit, .units = units },
    };
    if (c.keyed == NULL || c.value == NULL || c.group_of == NULL || c.is_outlier == NULL)
        return vrs_no_memory(err);
    TRY(make_groups(&c, err));
    TRY(list_outliers(&c, err));
    find_skew(&c);
    find_straggler(&c);
    TRY(test_pair(&c, err));
    TRY(align(&c, one_clock, err));
    *ret = c.ranks;
    return VRS_OK;
}

bool ranks_over_median(const struct ranks *ranks, const struct rank_unit *unit, int64_t *ret)
{
    if (ranks->skew_ratio < 0 || !unit->whole)
        return false;
    /* Both are peaks of recordings, far from the ends of 64 bits but in edited files. */
    *ret = (int64_t)((uint64_t)unit->summary->common_peak_bytes - (uint64_t)ranks->median_bytes);
    return true;
}
