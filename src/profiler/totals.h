/* totals.h - what all intervals of one path and device come to: number, time, memory. */
#ifndef VRS_PROFILER_TOTALS_H
#define VRS_PROFILER_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/idtab.h"
#include "base/vec.h"
#include "vramscope/profiler.h"

enum interval_kind { INTERVAL_SCOPE, INTERVAL_CHECKPOINT };
enum { STATES = VRS_STATE_UNKNOWN + 1 };

/* Bytes are allocated ones; VRS_UNKNOWN where no interval has a value. */
struct total {
    uint32_t path, device;
    uint8_t kind;
    uint64_t calls, raised;
    uint64_t total_ns, longest_ns;
    uint64_t timed, device_ns; /* calls whose time of the device is known; that time */
    uint64_t start, end;       /* of the first interval, of the last one */
    uint64_t peak, peak_delta; /* the highest; the most above an interval's start */
    int64_t growth;            /* ends minus starts, of the intervals that have both */
    uint64_t gross, kept;      /* allocated in all; of these, as much as the interval grew by */
    uint64_t allocations;
    uint64_t states[STATES]; /* intervals of each state */
};

struct totals {
    VEC(struct total) rows; /* in the order in which they first came */
    struct idtab index;
    uint32_t last; /* the row added to last, plus 1: programs ask for one again and again */
    uint64_t refused;
};

struct interval {
    uint32_t path, device;
    enum interval_kind kind;
    uint64_t duration_ns;
    uint64_t start, end, peak; /* bytes allocated */
    uint64_t gross, allocations;
    enum vrs_state state;
    bool raised;
};

void totals_init(struct totals *t);
void totals_free(struct totals *t);
void totals_clear(struct totals *t);
void totals_add(struct totals *t, const struct interval *i);
/* The device's time of an interval that was added. */
void totals_timed(struct totals *t, const struct interval *i, uint64_t device_ns);

#endif
