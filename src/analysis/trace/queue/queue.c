/* queue.c - depths as changes in the order of time, added up by how long each lasted. */
#include "analysis/trace/queue/queue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/study/names.h"
#include "base/bytes.h"
#include "base/quickselect.h"
#include "base/radix_sort.h"
#include "base/str.h"
#include "base/table.h"
#include "model/trace.h"

/* A change is a row to be sorted: its key a moment, its id whether work starts then; of one moment
 * what is launched goes before what starts. */
enum { LAUNCHED, STARTED };

static struct radix_row change_of(int64_t moment, uint32_t what)
{
    return (struct radix_row){ .key = radix_key_i64(moment), .id = what };
}

/* The changes of one stream. */

/* The depth that is reached or kept below in half of the time. */
static int64_t middle_depth(const int64_t *ns_at, uint32_t depths, int64_t ns)
{
    int64_t sum = 0;
    for (uint32_t depth = 0; depth < depths; depth++) {
        sum += ns_at[depth];
        if (sum >= ns - sum)
            return depth;
    }
    return 0;
}

static void queue_fill(const struct radix_row *change, uint32_t changes, int64_t *ns_at,
                       struct trace_queue_row *ret)
{
    int64_t depth = 0;
    double weighted = 0;
    for (uint32_t i = 0; i < changes; i++) {
        depth += change[i].id == LAUNCHED ? 1 : -1;
        ret->below_zero += depth < 0;
        int64_t shown = depth > 0 ? depth : 0;
        ret->most = shown > ret->most ? shown : ret->most;
        if (i + 1 < changes) {
            int64_t ns = (int64_t)(change[i + 1].key - change[i].key);
            ns_at[shown] += ns;
            weighted += (double)ns * (double)shown;
        }
    }
    ret->ns = changes > 0 ? (int64_t)(change[changes - 1].key - change[0].key) : 0;
    ret->mean = ret->empty_ratio = ret->full_ratio = -1;
    ret->median = -1;
    if (ret->ns <= 0)
        return;
    int64_t full = 0;
    for (int64_t d = QUEUE_FULL; d <= ret->most; d++)
        full += ns_at[d];
    ret->mean = weighted / (double)ret->ns;
    ret->median = middle_depth(ns_at, (uint32_t)ret->most + 1, ret->ns);
    ret->empty_ratio = (double)ns_at[0] / (double)ret->ns;
    ret->full_ratio = (double)full / (double)ret->ns;
}

/* Streams. */

static int by_name(const void *a, const void *b)
{
    const struct trace_queue_row *x = a, *y = b;
    int order = str_compare(x->device, y->device);
    /* Numbers by their size: the shorter text is the smaller. */
    if (order == 0 && x->stream.len != y->stream.len)
        return x->stream.len < y->stream.len ? -1 : 1;
    return order != 0 ? order : str_compare(x->stream, y->stream);
}

/* Work that has a launch, each stream's side by side. */
struct launched {
    uint32_t *first; /* of each track, and one more: into `change` */
    struct radix_row *change;
    int64_t *ns_at;
    struct radix_room room;
};

static bool launched_find(const struct trace_study *s, struct arena *arena, struct launched *ret)
{
    const struct spans *spans = &s->trace->spans;
    uint32_t tracks = s->trace->tracks.rows.len;
    ret->first = arena_array(arena, uint32_t, (size_t)tracks + 2);
    ret->change = arena_array(arena, struct radix_row, (size_t)s->work * 2);
    ret->ns_at = arena_array(arena, int64_t, (size_t)s->work + 2);
    if (ret->first == NULL || ret->change == NULL || ret->ns_at == NULL ||
        !radix_room_make(&ret->room, s->work * 2, arena))
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++)
        if (span_is_work(spans->kind[row]) && s->links.launch[row] != NO_ROW)
            ret->first[spans->track[row] + 2] += 2;
    for (uint32_t t = 0; t < tracks; t++)
        ret->first[t + 2] += ret->first[t + 1];
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t launch = s->links.launch[row];
        if (!span_is_work(spans->kind[row]) || launch == NO_ROW)
            continue;
        uint32_t *at = &ret->first[spans->track[row] + 1];
        ret->change[(*at)++] = change_of(spans->start[launch], LAUNCHED);
        ret->change[(*at)++] = change_of(spans->start[row], STARTED);
    }
    return true;
}

static bool queues_make(const struct trace_study *s, struct arena *scratch, struct arena *arena,
                        struct trace_launches *ret)
{
    const struct tracks *tracks = &s->trace->tracks;
    struct launched l;
    if (!launched_find(s, scratch, &l))
        return false;
    ret->queue = arena_array(arena, struct trace_queue_row, tracks->rows.len);
    if (ret->queue == NULL)
        return false;
    for (uint32_t t = 0; t < tracks->rows.len; t++) {
        uint32_t changes = l.first[t + 1] - l.first[t];
        if (changes == 0)
            continue;
        struct trace_queue_row *row = &ret->queue[ret->queues++];
        row->work = changes / 2;
        struct radix_room room = l.room;
        queue_fill(radix_sort(l.change + l.first[t], changes, &room), changes, l.ns_at, row);
        for (int64_t depth = 0; depth <= row->most; depth++)
            l.ns_at[depth] = 0;
        struct trace_id pid = { tracks->pid[t], tracks->pid_form[t] };
        struct trace_id tid = { tracks->tid[t], tracks->tid_form[t] };
        if (!trace_id_copy(s->trace, pid, arena, &row->device) ||
            !trace_id_copy(s->trace, tid, arena, &row->stream))
            return false;
    }
    qsort(ret->queue, ret->queues, sizeof *ret->queue, by_name);
    return true;
}

/* Delays. */

bool launch_delay_find(const struct trace_study *s, struct arena *scratch,
                       struct launch_delay *ret)
{
    const struct spans *spans = &s->trace->spans;
    *ret = (struct launch_delay){ .count = 0 };
    int64_t *delay = arena_array(scratch, int64_t, s->work);
    double sum = 0;
    if (delay == NULL)
        return false;
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        uint32_t launch = s->links.launch[row];
        if (launch == NO_ROW)
            continue;
        int64_t ns = spans->start[row] - span_end(spans, launch);
        bool first = ret->count == 0;
        ret->negative += ns < 0;
        sum += (double)ns;
        ret->least_ns = first || ns < ret->least_ns ? ns : ret->least_ns;
        ret->most_ns = first || ns > ret->most_ns ? ns : ret->most_ns;
        delay[ret->count++] = ns;
    }
    if (ret->count == 0)
        return true;
    uint32_t count = (uint32_t)ret->count;
    ret->mean_ns = sum / (double)count;
    ret->median_ns = quickselect_i64(delay, count, (count - 1) / 2);
    ret->p95_ns = quickselect_i64(delay, count, (uint32_t)((uint64_t)(count - 1) * 95 / 100));
    return true;
}

bool trace_launches_make(const struct trace_study *s, const struct launch_delay *delay,
                         struct arena *arena, struct trace_launches *ret)
{
    const struct spans *spans = &s->trace->spans;
    struct arena scratch;
    *ret = (struct trace_launches){ .delay = *delay };
    for (uint32_t row = 0; row < spans->rows.len; row++) {
        if (!span_is_call(spans->kind[row]) ||
            (s->names.traits[spans->name[row]] & NAME_LAUNCHES) == 0)
            continue;
        ret->calls++;
        ret->ns = i64_plus(ret->ns, spans->duration[row]);
    }
    arena_init(&scratch, SIZE_MAX / 2);
    bool ok = queues_make(s, &scratch, arena, ret);
    arena_free(&scratch);
    return ok;
}
