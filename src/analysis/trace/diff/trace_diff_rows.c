/* trace_diff_rows.c - sorts times by name and step and adds them up. */
#include "analysis/trace/diff/trace_diff_rows.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/noise.h"
#include "base/statistics.h"
#include "base/str.h"
#include "model/ids.h"

bool diff_times_make(struct diff_times *t, uint32_t most, struct arena *arena)
{
    *t = (struct diff_times){ .row = arena_array(arena, struct radix_row, most),
                              .ns = arena_array(arena, int64_t, most) };
    return t->row != NULL && t->ns != NULL;
}

void diff_times_add(struct diff_times *t, uint32_t name, uint32_t step, int64_t ns)
{
    t->row[t->len] = (struct radix_row){ .key = (uint64_t)name << 32 | step, .id = t->len };
    t->ns[t->len++] = ns;
}

/* One value. */

/* The value at a place among all, where the zeros stand between those below and those above. */
static double value_at(const double *sorted, uint32_t below, uint32_t zeros, uint32_t at)
{
    if (at < below)
        return sorted[at];
    return at < below + zeros ? 0 : sorted[at - zeros];
}

struct trace_diff_value diff_value_of(double *value, uint32_t count, uint32_t steps)
{
    uint32_t zeros = steps - count, below = 0;
    double sum = 0, squares = 0;
    statistics_sort(value, count);
    for (uint32_t i = 0; i < count; i++) {
        below += value[i] < 0;
        sum += value[i];
    }
    double mean = sum / steps;
    for (uint32_t i = 0; i < count; i++)
        squares += (value[i] - mean) * (value[i] - mean);
    squares += mean * mean * zeros;
    double median = (value_at(value, below, zeros, (steps - 1) / 2) +
                     value_at(value, below, zeros, steps / 2)) /
                    2;
    return (struct trace_diff_value){
        .count = count,
        .median_ns = i64_of_double(round(median)),
        .std_ns = steps > 1 ? sqrt(squares / (steps - 1)) : -1,
        .noise_ns = steps > 1 ? noise_of_median(sqrt(squares / (steps - 1)), steps) : -1,
    };
}

/* A row. */

void diff_row_judge(struct trace_diff_row *row)
{
    const struct trace_diff_value *a = &row->a, *b = &row->b;
    row->status = a->count == 0   ? TRACE_DIFF_NEW
                  : b->count == 0 ? TRACE_DIFF_GONE
                                  : TRACE_DIFF_BOTH;
    row->change_ns = i64_minus(b->median_ns, a->median_ns);
    row->change = a->median_ns != 0 ? (double)row->change_ns / (double)a->median_ns : NAN;
    if (row->change_ns == 0)
        row->verdict = NOISE_SAME;
    else if (a->noise_ns < 0 || b->noise_ns < 0)
        row->verdict = NOISE_NOT_JUDGED;
    else
        row->verdict = (uint8_t)noise_judge((double)row->change_ns, a->noise_ns + b->noise_ns, 0);
}

/* Rows. */

/* The times of a side, in order of names and steps. */
struct reading_times {
    const struct diff_times *times;
    double *value; /* room for one of each step */
    uint32_t at, steps;
};

static uint32_t name_at(const struct reading_times *r)
{
    return r->at < r->times->len ? (uint32_t)(r->times->row[r->at].key >> 32) : UINT32_MAX;
}

/* Adds up the steps of a name, which may not be there. */
static struct trace_diff_value take_name(struct reading_times *r, uint32_t name)
{
    uint32_t count = 0;
    uint64_t events = 0;
    while (name_at(r) == name) {
        uint64_t key = r->times->row[r->at].key;
        int64_t sum = 0;
        for (; r->at < r->times->len && r->times->row[r->at].key == key; r->at++) {
            sum = i64_plus(sum, r->times->ns[r->times->row[r->at].id]);
            events++;
        }
        if (sum != 0)
            r->value[count++] = (double)sum;
    }
    struct trace_diff_value value = diff_value_of(r->value, count, r->steps);
    value.count = events;
    return value;
}

static bool reading_make(struct diff_times *times, uint32_t steps, struct arena *scratch,
                         struct reading_times *ret)
{
    struct radix_room room;
    *ret = (struct reading_times){ .times = times,
                                   .value = arena_array(scratch, double, steps),
                                   .steps = steps };
    if (ret->value == NULL || !radix_room_make(&room, times->len, scratch))
        return false;
    times->row = radix_sort(times->row, times->len, &room);
    return true;
}

static uint64_t size_of(int64_t change)
{
    return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

static int by_change(const void *a, const void *b)
{
    const struct trace_diff_row *x = a, *y = b;
    uint64_t one = size_of(x->change_ns), other = size_of(y->change_ns);
    if (one != other)
        return one > other ? -1 : 1;
    return str_compare(x->name, y->name);
}

static uint32_t names_of(const struct diff_times *t)
{
    uint32_t names = 0;
    for (uint32_t i = 0; i < t->len; i++)
        names += i == 0 || t->row[i].key >> 32 != t->row[i - 1].key >> 32;
    return names;
}

bool diff_rows_make(struct diff_times side[2], const uint32_t steps[2],
                    const struct strings *names, struct arena *scratch, struct arena *arena,
                    struct trace_diff_table *ret)
{
    struct reading_times r[2];
    *ret = (struct trace_diff_table){ .rows = 0 };
    for (int s = 0; s < 2; s++)
        if (!reading_make(&side[s], steps[s], scratch, &r[s]))
            return false;
    ret->row = arena_array(arena, struct trace_diff_row,
                           (size_t)names_of(&side[0]) + names_of(&side[1]));
    if (ret->row == NULL)
        return false;
    while (r[0].at < side[0].len || r[1].at < side[1].len) {
        uint32_t name = name_at(&r[0]) < name_at(&r[1]) ? name_at(&r[0]) : name_at(&r[1]);
        struct trace_diff_row *row = &ret->row[ret->rows++];
        row->a = take_name(&r[0], name);
        row->b = take_name(&r[1], name);
        row->name = arena_copy(arena, strings_text(names, (string_id){ name }));
        if (row->name.ptr == NULL)
            return false;
        diff_row_judge(row);
    }
    qsort(ret->row, ret->rows, sizeof *ret->row, by_change);
    return true;
}
