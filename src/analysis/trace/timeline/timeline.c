/* timeline.c - one pass over the states: a sum that is the highest so far keeps its categories. */
#include "analysis/trace/timeline/timeline.h"

/* A value of one row's bytes, which was had from `ns` on. */
static void see(struct timeline_row *row, int64_t bytes, int64_t ns, bool first)
{
    if (first || bytes > row->peak) {
        row->peak = bytes;
        row->peak_ns = ns;
    }
    if (first || bytes < row->lowest)
        row->lowest = bytes;
    row->below_zero += bytes < 0;
    row->end = bytes;
}

static void see_state(struct trace_timeline *t, const int64_t bytes[TIMELINE_CATEGORIES],
                      int64_t ns, bool first)
{
    int64_t sum = 0, had = t->sum.peak;
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++) {
        see(&t->category[c], bytes[c], ns, first);
        sum += bytes[c];
    }
    see(&t->sum, sum, ns, first);
    if (!first && sum <= had)
        return;
    t->sum.at_peak = sum;
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        t->category[c].at_peak = bytes[c];
}

static void see_before(struct trace_timeline *t, const struct memory_timeline *m)
{
    see_state(t, m->before, TRACE_UNKNOWN, true);
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        t->category[c].before = m->before[c];
    t->sum.before = t->sum.end;
}

/* In which part of the time something was. */
static uint32_t bin_of(const struct trace_timeline *t, int64_t ns)
{
    double share = (double)(ns - t->first_ns) / (double)t->length_ns;
    uint32_t bin = (uint32_t)(share * TIMELINE_BINS);
    return bin < TIMELINE_BINS ? bin : TIMELINE_BINS - 1;
}

/* A state lasts until the next: it is in all parts from its own to that of the next. */
static void fill_bins(struct trace_timeline *t, const struct memory_timeline *m)
{
    int64_t bytes[TIMELINE_CATEGORIES], had = 0;
    uint32_t filled = 0; /* bins that have a value */
    t->has_bins = t->length_ns > 0;
    for (uint32_t row = 0; t->has_bins && row < m->rows.len; row++) {
        int64_t sum = memory_timeline_row(m, row, bytes);
        uint32_t bin = bin_of(t, m->time[row]);
        while (filled <= bin)
            t->bin[filled++] = had;
        if (row == 0 || sum > t->bin[bin])
            t->bin[bin] = sum;
        had = sum;
    }
}

/* Falling by the bytes at the peak, then in the order of the file. */
static void sort(struct trace_timeline *t)
{
    for (uint32_t i = 1; i < TIMELINE_CATEGORIES; i++) {
        struct timeline_row row = t->category[i];
        uint32_t at = i;
        for (; at > 0 && t->category[at - 1].at_peak < row.at_peak; at--)
            t->category[at] = t->category[at - 1];
        t->category[at] = row;
    }
}

static double share_of(int64_t bytes, int64_t sum)
{
    return sum > 0 && bytes >= 0 ? (double)bytes / (double)sum : -1;
}

enum vrs_status trace_timeline_make(const struct trace *t, struct arena *arena,
                                    struct trace_timeline *ret, struct vrs_error *err)
{
    const struct memory_timeline *m = &t->timeline;
    *ret = (struct trace_timeline){ .form = m->form,
                                    .states = m->rows.len,
                                    .sum.category = TIMELINE_CATEGORIES,
                                    .categories = TIMELINE_CATEGORIES };
    if (!trace_file_make(t, arena, &ret->file))
        return vrs_no_memory(err);
    for (uint32_t a = 0; a < TIMELINE_ACTIONS; a++)
        ret->actions[a] = m->actions[a];
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        ret->category[c].category = (uint8_t)c;
    if (m->has_before)
        see_before(ret, m);
    if (m->rows.len > 0) {
        ret->first_ns = m->time[0];
        ret->last_ns = m->time[m->rows.len - 1];
        ret->length_ns = ret->last_ns - ret->first_ns;
    }
    for (uint32_t row = 0; row < m->rows.len; row++) {
        int64_t bytes[TIMELINE_CATEGORIES];
        (void)memory_timeline_row(m, row, bytes);
        see_state(ret, bytes, m->time[row], row == 0 && !m->has_before);
    }
    fill_bins(ret, m);
    ret->sum.at_peak_ratio = share_of(ret->sum.at_peak, ret->sum.at_peak);
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        ret->category[c].at_peak_ratio = share_of(ret->category[c].at_peak, ret->sum.at_peak);
    sort(ret);
    return VRS_OK;
}
