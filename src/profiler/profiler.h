/* profiler.h - records and scopes of one user of the meter, kept in rings and in totals. */
#ifndef VRS_PROFILER_PROFILER_H
#define VRS_PROFILER_PROFILER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "profiler/meter.h"
#include "profiler/ring.h"
#include "profiler/totals.h"
#include "vramscope/profiler.h"

/* A device that the user has records of. */
struct watched {
    struct vrs_slot slot; /* since the record before; marked, so that it stays the same */
    uint32_t device;
    uint64_t peak, at_most; /* bounds of the highest so far; VRS_UNKNOWN: none is known */
    uint64_t last_ns;       /* time of the record before */
    uint64_t allocated;     /* at the record before; VRS_UNKNOWN */
    enum vrs_state state;   /* the worst of all intervals, but for what the bounds say */
};

struct profiler {
    struct meter *meter;
    struct vrs_profiler_options options;
    uint64_t (*clock_ns)(void *arg);
    void *clock_arg;
    uint64_t made_ns;
    pthread_mutex_t guard; /* of what follows; no device is read under it */
    struct ring records, scopes;
    VEC(struct watched) watched;
    struct totals totals;
    uint64_t dropped, unwatched;
};

/* False: no memory, and to be freed all the same. */
bool profiler_init(struct profiler *p, struct meter *m, const struct vrs_profiler_options *options);
void profiler_free(struct profiler *p);
/* In a child of fork. */
void profiler_after_fork(struct profiler *p);

void profiler_backend(struct profiler *p, uint32_t backend);
void profiler_watch(struct profiler *p, uint32_t device);
void profiler_reset(struct profiler *p);
void profiler_checkpoint(struct profiler *p, uint32_t device, uint32_t path,
                         const struct vrs_detail *detail, struct vrs_record *ret);
void profiler_open(struct profiler *p, uint32_t device, uint32_t path, struct vrs_scope *ret);
void profiler_close(struct profiler *p, struct vrs_scope *scope, uint32_t raised,
                    uint64_t device_ns, struct vrs_scope_result *ret);
/* False: the row is gone. */
bool profiler_timed(struct profiler *p, struct vrs_scope_result *result, uint64_t device_ns);
void profiler_drop(struct profiler *p, struct vrs_scope *scope);
/* A copy of the totals, in `keep`; NULL: no memory. */
struct total *profiler_totals(struct profiler *p, struct arena *keep, uint32_t *ret_count);
void profiler_losses(struct profiler *p, struct vrs_profiler_losses *ret);

#endif
