/* release_runs.h - where a trace gives memory back, by whose will. */
#ifndef VRS_ALLOCATOR_RELEASE_RUNS_H
#define VRS_ALLOCATOR_RELEASE_RUNS_H

#include "allocator/program.h"

/* Fills the runs of a program whose events are known; they live in `arena`. */
enum vrs_status release_runs_find(struct program *p, struct arena *arena, struct arena *scratch,
                                  struct vrs_error *err) MUST_CHECK;

#endif
