/* check_diff.c - what has grown against a baseline, place by place. */
#include "analysis/check_diff.h"

#define MILLION 1e6

static const char *const stages[] = {
    [DIFF_EXACT] = "M0", [DIFF_LINE] = "M1",      [DIFF_FUNCTION] = "M2",
    [DIFF_FUZZY] = "M3", [DIFF_UNMATCHED] = "M4",
};

enum vrs_status check_diff_make(struct study *base, struct study *s, struct diff *ret,
                                struct vrs_error *err)
{
    struct diff_options options = { .weight = DIFF_LIVE, .per = DIFF_PER_NOTHING };
    TRY(diff_range_at(base, DIFF_LIVE, NULL, &options.range[0], err));
    TRY(diff_range_at(s, DIFF_LIVE, NULL, &options.range[1], err));
    return diff_compute(base, s, &options, ret, err);
}

static int64_t growth_of(const struct diff_row *row)
{
    return (int64_t)(row->of[1].bytes - row->of[0].bytes);
}

/* Memory whose place is not known. */
static bool is_nameless(const struct diff_row *row)
{
    return row->has_stack[1] ? row->stack[1].n == 0 : !row->has_stack[0] || row->stack[0].n == 0;
}

static bool is_meant(const struct diff_row *row, enum limit_kind kind)
{
    if (is_nameless(row))
        return kind == LIMIT_DELTA;
    return kind != LIMIT_NEW_SITE || row->change == DIFF_NEW;
}

void check_diff_value(const struct study *base, const struct study *s, const struct diff *diff,
                      enum limit_kind kind, struct check_value *ret)
{
    struct check_value *v = ret;
    int64_t most = 0, nameless = 0;
    *v = (struct check_value){ .event = CHECK_NO_EVENT, .at = CHECK_NO_EVENT };
    if (!base->stacked || !s->stacked) {
        v->reason = "needs_stacks";
        v->text = base->stacked ? "the recording has no stacks" : "the baseline has no stacks";
        return;
    }
    for (uint32_t i = 0; i < diff->rows; i++) {
        const struct diff_row *row = &diff->row[i];
        if (is_nameless(row) && growth_of(row) > 0)
            nameless += growth_of(row);
        if (is_meant(row, kind) && growth_of(row) > most)
            most = growth_of(row);
    }
    v->known = true;
    v->lower = most;
    v->upper = nameless > most ? nameless : most;
    v->source = CHECK_DERIVED;
    v->at = diff->end[1].at_event;
    v->event = s->traced ? v->at : CHECK_NO_EVENT;
    if (v->upper > v->lower) {
        v->reason = "no_stack";
        v->text = "some of the growth has no stack, so its site is not known";
    }
}

/* Puts a row among the largest that were found; the first of equal ones stays first. */
static void offer(const struct diff *diff, uint32_t *largest, uint32_t *count, uint32_t i)
{
    uint32_t at = *count;
    while (at > 0 && growth_of(&diff->row[largest[at - 1]]) < growth_of(&diff->row[i]))
        at--;
    if (at == CHECK_DIFF_ROWS)
        return;
    if (*count < CHECK_DIFF_ROWS)
        ++*count;
    for (uint32_t k = *count - 1; k > at; k--)
        largest[k] = largest[k - 1];
    largest[at] = i;
}

static enum vrs_status keep_row(struct study *s, const struct diff_row *from,
                                struct check_diff_row *to, struct vrs_error *err)
{
    *to = (struct check_diff_row){
        .name = arena_copy(s->keep, from->name),
        .stage = stages[from->stage],
        .status = diff_change_names[from->change],
        .score = from->stage == DIFF_FUZZY ? from->score / MILLION : -1,
        .a_bytes = (int64_t)from->of[0].bytes,
        .b_bytes = (int64_t)from->of[1].bytes,
        .delta_bytes = growth_of(from),
    };
    return to->name.ptr == NULL ? vrs_no_memory(err) : VRS_OK;
}

enum vrs_status check_diff_rows(struct study *s, const struct diff *diff, enum limit_kind kind,
                                str user_root, struct check_row *row, struct vrs_error *err)
{
    uint32_t largest[CHECK_DIFF_ROWS], count = 0;
    bool sites = kind != LIMIT_DELTA; /* which has its own */
    for (uint32_t i = 0; i < diff->rows; i++)
        if (is_meant(&diff->row[i], kind) && growth_of(&diff->row[i]) > 0)
            offer(diff, largest, &count, i);
    row->diff = arena_array(s->keep, struct check_diff_row, CHECK_DIFF_ROWS);
    if (sites)
        row->site = arena_array(s->keep, struct check_site, CHECK_SITES);
    if (row->diff == NULL || row->site == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++) {
        const struct diff_row *from = &diff->row[largest[i]];
        TRY(keep_row(s, from, &row->diff[row->diffs++], err));
        if (sites && from->has_stack[1])
            TRY(check_site_of(s, from->stack[1], from->of[1].bytes, user_root,
                              &row->site[row->sites++], err));
    }
    return VRS_OK;
}
