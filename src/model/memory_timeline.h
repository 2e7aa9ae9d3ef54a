/* memory_timeline.h - an export of the framework's memory timeline: bytes by category over time.
 *
 * torch.profiler's export_memory_timeline() writes it in two forms, and both become states: a row
 * says what each category had from its time on, until the time of the next row.  What was there
 * before the recording has no time and is no row.  Times are nanoseconds of the trace's own clock
 * and never fall from row to row.  Bytes are as in the file: a category may go below 0. */
#ifndef VRS_MODEL_MEMORY_TIMELINE_H
#define VRS_MODEL_MEMORY_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

enum timeline_form {
    TIMELINE_NONE,   /* there is no timeline */
    TIMELINE_STATES, /* [times, sizes]: a state for each microsecond in which something happened */
    TIMELINE_EVENTS, /* of [time, action, bytes, category]: states are their sums */
    TIMELINE_FORMS
};

/* In the order of both forms. */
enum timeline_category {
    TIMELINE_PARAMETER,
    TIMELINE_OPTIMIZER_STATE,
    TIMELINE_INPUT,
    TIMELINE_TEMPORARY,
    TIMELINE_ACTIVATION,
    TIMELINE_GRADIENT,
    TIMELINE_AUTOGRAD_DETAIL,
    TIMELINE_UNKNOWN,
    TIMELINE_CATEGORIES
};

/* What an event did, less 1: the framework counts from 1. */
enum timeline_action {
    TIMELINE_PRE_EXISTING,
    TIMELINE_CREATE,
    TIMELINE_VERSION, /* two events, which take from one category and give to another, or the same */
    TIMELINE_DESTROY,
    TIMELINE_ACTIONS
};

struct memory_timeline {
    struct table rows;
    int64_t *time;
    int64_t *bytes[TIMELINE_CATEGORIES]; /* their sum, too, has 64 bits */
    uint8_t form;                        /* enum timeline_form */
    bool has_before;                     /* it says what was there before */
    int64_t before[TIMELINE_CATEGORIES];
    uint64_t actions[TIMELINE_ACTIONS]; /* events by what they did; of TIMELINE_STATES none */
};

extern const struct table_kind memory_timeline_kind;

/* The names that categories have in answers. */
extern const char *const timeline_category_names[TIMELINE_CATEGORIES];

/* Appends a state.  False when out of memory or rows. */
bool memory_timeline_push(struct memory_timeline *m, int64_t time,
                          const int64_t bytes[TIMELINE_CATEGORIES]);

/* A state's sum, where it has 64 bits. */
bool memory_timeline_sum(const int64_t bytes[TIMELINE_CATEGORIES], int64_t *ret);

/* The bytes of a row, and their sum. */
int64_t memory_timeline_row(const struct memory_timeline *m, uint32_t row,
                            int64_t ret[TIMELINE_CATEGORIES]);

#endif
