/* memory_timeline.c - the table of a memory timeline's states. */
#include "model/memory_timeline.h"

#include <stddef.h>

#include "base/bytes.h"

const char *const timeline_category_names[TIMELINE_CATEGORIES] = {
    [TIMELINE_PARAMETER] = "parameter",
    [TIMELINE_OPTIMIZER_STATE] = "optimizer_state",
    [TIMELINE_INPUT] = "input",
    [TIMELINE_TEMPORARY] = "temporary",
    [TIMELINE_ACTIVATION] = "activation",
    [TIMELINE_GRADIENT] = "gradient",
    [TIMELINE_AUTOGRAD_DETAIL] = "autograd_detail",
    [TIMELINE_UNKNOWN] = "unknown",
};

#define BYTES_OF(category)                                                                         \
    offsetof(struct memory_timeline, bytes) + (category) * sizeof(int64_t *), COLUMN_I64

static const struct column timeline_columns[] = {
    { "time", offsetof(struct memory_timeline, time), COLUMN_I64 },
    { "parameter", BYTES_OF(TIMELINE_PARAMETER) },
    { "optimizer_state", BYTES_OF(TIMELINE_OPTIMIZER_STATE) },
    { "input", BYTES_OF(TIMELINE_INPUT) },
    { "temporary", BYTES_OF(TIMELINE_TEMPORARY) },
    { "activation", BYTES_OF(TIMELINE_ACTIVATION) },
    { "gradient", BYTES_OF(TIMELINE_GRADIENT) },
    { "autograd_detail", BYTES_OF(TIMELINE_AUTOGRAD_DETAIL) },
    { "unknown", BYTES_OF(TIMELINE_UNKNOWN) },
};
const struct table_kind memory_timeline_kind = { "timeline", timeline_columns,
                                                 TIMELINE_CATEGORIES + 1 };

bool memory_timeline_push(struct memory_timeline *m, int64_t time,
                          const int64_t bytes[TIMELINE_CATEGORIES])
{
    if (!table_reserve(m, &memory_timeline_kind, 1))
        return false;
    uint32_t row = m->rows.len++;
    m->time[row] = time;
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        m->bytes[c][row] = bytes[c];
    return true;
}

bool memory_timeline_sum(const int64_t bytes[TIMELINE_CATEGORIES], int64_t *ret)
{
    int64_t sum = 0;
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        if (!i64_add(sum, bytes[c], &sum))
            return false;
    *ret = sum;
    return true;
}

int64_t memory_timeline_row(const struct memory_timeline *m, uint32_t row,
                            int64_t ret[TIMELINE_CATEGORIES])
{
    int64_t sum = 0;
    for (uint32_t c = 0; c < TIMELINE_CATEGORIES; c++)
        sum += ret[c] = m->bytes[c][row];
    return sum;
}
