/* release_runs.h - runs of releases of cached memory in a trace: by empty_cache, or by a retry. */
#ifndef VRS_ALLOCATOR_REPLAY_RELEASE_RUNS_H
#define VRS_ALLOCATOR_REPLAY_RELEASE_RUNS_H

#include "allocator/replay/program.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/recording.h"

/* Fills the runs of a program whose events are known; they live in `arena`. */
enum vrs_status release_runs_find(struct program *p, struct arena *arena, struct arena *scratch,
                                  struct vrs_error *err) MUST_CHECK;

/* What the stack of an event that gives memory back says of whose will it was. */
enum release_words {
    RELEASE_NOT_TOLD = 1, /* no frame tells; 0 is left to callers, for "not asked yet" */
    RELEASE_EMPTY_CACHE,  /* the program emptied the cache */
    RELEASE_MALLOC        /* the allocator, to serve a request: memory was short */
};
enum release_words release_stack_says(const struct recording *r, stack_id stack);

#endif
