/* profile.c - totals into rows, in the order of a tree. */
#include "profiler/profile.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "profiler/totals.h"

/* The ids of a path from outside in, and their number; false: no memory. */
static bool chain_of(struct names *names, uint32_t path, struct arena *keep,
                     struct profile_row *row)
{
    uint32_t depth = 0;
    for (uint32_t at = path; at != NAME_NONE; at = names_path_at(names, at).parent)
        depth++;
    row->order = arena_array(keep, uint32_t, depth + 1);
    row->name = arena_array(keep, str, depth + 1);
    row->names = depth;
    if (row->order == NULL || row->name == NULL)
        return false;
    for (uint32_t at = path; depth-- > 0; at = names_path_at(names, at).parent) {
        row->order[depth] = at;
        row->name[depth] = names_text(names, names_path_at(names, at).name);
    }
    return true;
}

/* What is in a buffer, kept; the buffer is freed.  ptr NULL: no memory. */
static str kept(struct arena *keep, struct buf *text)
{
    str copy = text->failed ? (str){ NULL, 0 } : arena_copy(keep, buf_slice(text));
    buf_free(text);
    return copy;
}

/* Names are any bytes; what is shown is UTF-8.  False: no memory. */
static bool texts_of(struct arena *keep, struct profile_row *row)
{
    struct buf path;
    bool ok = true;
    buf_init(&path, SIZE_MAX / 2);
    for (uint32_t i = 0; i < row->names; i++) {
        struct buf name;
        buf_init(&name, SIZE_MAX / 2);
        utf8_repair(&name, row->name[i]);
        row->name[i] = kept(keep, &name);
        ok = ok && row->name[i].ptr != NULL;
        buf_text(&path, i > 0 ? " / " : "");
        buf_str(&path, row->name[i]);
    }
    row->path = kept(keep, &path);
    return ok && row->path.ptr != NULL;
}

static double transient_share(const struct total *t)
{
    if (t->gross == VRS_UNKNOWN || t->kept == VRS_UNKNOWN || t->gross == 0)
        return -1;
    return 1 - (double)t->kept / (double)t->gross;
}

static bool row_of(const struct total *t, struct names *names, struct arena *keep,
                   struct profile_row *ret)
{
    *ret = (struct profile_row){
        .kind = t->kind == INTERVAL_SCOPE ? "scope" : "checkpoint",
        .device = t->device,
        .calls = t->calls,
        .raised = t->raised,
        .total_ns = t->total_ns,
        .longest_ns = t->longest_ns,
        .timed = t->timed,
        .device_ns = t->timed > 0 ? t->device_ns : VRS_UNKNOWN,
        .start = t->start,
        .end = t->end,
        .peak = t->peak,
        .peak_delta = t->peak_delta,
        .growth = t->growth,
        .growth_known = t->start != VRS_UNKNOWN && t->end != VRS_UNKNOWN,
        .gross = t->gross,
        .allocations = t->allocations,
        .transient = transient_share(t),
    };
    for (uint32_t i = 0; i < STATES; i++)
        ret->states.of[i] = t->states[i];
    return chain_of(names, t->path, keep, ret) && texts_of(keep, ret);
}

/* A path and the first row that it is, or is around. */
struct first_row {
    uint32_t path, row;
};

static int by_path(const void *a, const void *b)
{
    const struct first_row *x = a, *y = b;
    if (x->path != y->path)
        return x->path < y->path ? -1 : 1;
    return x->row == y->row ? 0 : x->row < y->row ? -1 : 1;
}

/* Ids of paths, which are the process's, become the first row that each has in this profile.
 * False: no memory. */
static bool number_by_rows(struct profile *p, struct arena *keep)
{
    size_t count = 0, used = 0, firsts = 0;
    for (uint32_t i = 0; i < p->rows; i++)
        count += p->row[i].names;
    struct first_row *first = arena_array(keep, struct first_row, count + 1);
    if (first == NULL)
        return false;
    for (uint32_t i = 0; i < p->rows; i++)
        for (uint32_t depth = 0; depth < p->row[i].names; depth++)
            first[used++] = (struct first_row){ p->row[i].order[depth], i };
    qsort(first, used, sizeof *first, by_path);
    for (size_t i = 0; i < used; i++)
        if (i == 0 || first[i].path != first[firsts - 1].path)
            first[firsts++] = first[i];
    for (uint32_t i = 0; i < p->rows; i++)
        for (uint32_t depth = 0; depth < p->row[i].names; depth++) {
            uint32_t *at = &p->row[i].order[depth];
            size_t low = 0, high = firsts;
            while (high - low > 1) {
                size_t middle = low + (high - low) / 2;
                if (first[middle].path <= *at)
                    low = middle;
                else
                    high = middle;
            }
            *at = first[low].row;
        }
    return true;
}

/* Outer paths first, those beside each other by which ended first; then device, then kind. */
static int in_order(const void *a, const void *b)
{
    const struct profile_row *x = a, *y = b;
    for (uint32_t i = 0; i < x->names && i < y->names; i++)
        if (x->order[i] != y->order[i])
            return x->order[i] < y->order[i] ? -1 : 1;
    if (x->names != y->names)
        return x->names < y->names ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->kind[0] == y->kind[0] ? 0 : x->kind[0] > y->kind[0] ? -1 : 1;
}

static void count_states(struct profile *s)
{
    for (uint32_t i = 0; i < s->rows; i++) {
        const uint64_t *of = s->row[i].states.of;
        s->lower_bounds += of[VRS_SAMPLED] + of[VRS_LOST] + of[VRS_RACED];
        s->unknown += of[VRS_NESTED] + of[VRS_STATE_UNKNOWN];
    }
}

enum vrs_status profile_make(struct profiler *p, struct names *names, struct arena *keep,
                             struct profile *ret, struct vrs_error *err)
{
    struct vrs_profiler_losses losses;
    profiler_losses(p, &losses);
    *ret = (struct profile){
        .records = losses.records.next - losses.records.first,
        .scopes = losses.scopes.next - losses.scopes.first,
        .records_lost = losses.records.lost,
        .scopes_lost = losses.scopes.lost,
        .scopes_dropped = losses.dropped,
    };
    uint32_t count;
    const struct total *total = profiler_totals(p, keep, &count);
    ret->row = total != NULL ? arena_array(keep, struct profile_row, (size_t)count + 1) : NULL;
    bool ok = ret->row != NULL;
    for (; ok && ret->rows < count; ret->rows++)
        ok = row_of(&total[ret->rows], names, keep, &ret->row[ret->rows]);
    if (!ok || !number_by_rows(ret, keep))
        return vrs_no_memory(err);
    qsort(ret->row, ret->rows, sizeof *ret->row, in_order);
    count_states(ret);
    return VRS_OK;
}
