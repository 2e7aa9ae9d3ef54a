/* rule_memory.c - the memory of a device: at the peak, in phases, and at the ends of steps. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/trace/phases/phases.h"
#include "analysis/trace/report/report.h"
#include "analysis/trace/rules/facts.h"
#include "analysis/trace/rules/rules.h"
#include "base/arena.h"
#include "model/trace.h"

/* A moment with the bytes that are allocated from there on. */
struct level {
    int64_t time, allocated, reserved;
    uint32_t index;
};

static int by_time(const void *a, const void *b)
{
    const struct level *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Mostly they are, as they were recorded. */
static bool are_in_order(const struct level *level, uint32_t levels)
{
    uint32_t i = 1;
    while (i < levels && by_time(&level[i - 1], &level[i]) < 0)
        i++;
    return i >= levels;
}

/* The device with the highest total; what runs on the host counts not. */
static int64_t find_device(const struct memory_events *m)
{
    int64_t device = TRACE_UNKNOWN, most = 0;
    for (uint32_t i = 0; i < m->rows.len; i++) {
        if (m->device_type[i] == 0 || m->device_type[i] == TRACE_UNKNOWN ||
            m->total_allocated[i] <= most)
            continue;
        most = m->total_allocated[i];
        device = m->device_number[i];
    }
    return device;
}

static void raise(int64_t *peak, int64_t to)
{
    if (to > *peak)
        *peak = to;
}

/* What is allocated from one event to the next counts in the phases of both. */
static void phase_peaks(const struct rule_facts *f, const struct level *level, uint32_t levels,
                        struct rule_memory *ret)
{
    for (uint32_t i = 0; i < levels; i++) {
        for (uint32_t k = i; k < levels && k <= i + 1; k++) {
            enum trace_phase phase = trace_phase_at(&f->report->phases, level[k].time);
            if (phase == PHASE_FORWARD)
                raise(&ret->forward_peak, level[i].allocated);
            else if (phase == PHASE_BACKWARD || phase == PHASE_RECOMPUTE)
                raise(&ret->backward_peak, level[i].allocated);
        }
    }
}

/* What is allocated at a moment; -1: before the first event. */
static int64_t level_at(const struct level *level, uint32_t levels, int64_t moment)
{
    uint32_t low = 0, high = levels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (level[middle].time <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? -1 : level[low - 1].allocated;
}

/* The longest run of steps at whose ends more is allocated than at the end of the one before. */
static void find_growth(const struct rule_facts *f, const struct level *level, uint32_t levels,
                        struct rule_memory *ret)
{
    const struct trace_report *r = f->report;
    uint32_t run = 0;
    double least = 0;
    for (uint32_t i = 0; i < r->steps; i++) {
        const struct trace_step *step = &r->step[i];
        int64_t before = level_at(level, levels, step->first_ns);
        int64_t after = level_at(level, levels, step->first_ns + step->ns);
        double growth = before > 0 ? ((double)after - (double)before) / (double)before : 0;
        bool grows = growth > f->limits->at[MEM_GROWTH];
        run = grows ? run + 1 : 0;
        least = run == 1 || growth < least ? growth : least;
        if (run > ret->growing) {
            ret->growing = run;
            ret->growth = least;
        }
    }
}

bool rule_memory_find(struct rule_facts *f)
{
    const struct memory_events *m = &f->study->trace->memory;
    struct rule_memory *ret = &f->memory;
    *ret = (struct rule_memory){ .device = find_device(m),
                                 .reserved_at_peak = TRACE_UNKNOWN };
    if (ret->device == TRACE_UNKNOWN)
        return true;
    struct arena_mark mark = arena_mark(f->arena);
    struct level *level = arena_array(f->arena, struct level, m->rows.len);
    uint32_t levels = 0;
    if (level == NULL)
        return false;
    for (uint32_t i = 0; i < m->rows.len; i++)
        if (m->device_type[i] != 0 && m->device_number[i] == ret->device &&
            m->total_allocated[i] != TRACE_UNKNOWN)
            level[levels++] = (struct level){ m->time[i], m->total_allocated[i],
                                              m->total_reserved[i], m->index[i] };
    if (!are_in_order(level, levels))
        qsort(level, levels, sizeof *level, by_time);
    ret->is_known = levels > 0;
    for (uint32_t i = 0; i < levels; i++) {
        if (level[i].allocated <= ret->peak)
            continue;
        ret->peak = level[i].allocated;
        ret->reserved_at_peak = level[i].reserved;
    }
    phase_peaks(f, level, levels, ret);
    find_growth(f, level, levels, ret);
    arena_release(f->arena, mark);
    return true;
}
