/* names.h - what the name of an event says about it, worked out once for each distinct name. */
#ifndef VRS_ANALYSIS_TRACE_STUDY_NAMES_H
#define VRS_ANALYSIS_TRACE_STUDY_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/trace.h"

/* Why a host thread was busy while a device waited for it: the strongest reason first. */
enum blame {
    BLAME_DATALOADER,
    BLAME_SYNC,
    BLAME_ALLOCATOR,
    BLAME_MODULE_LOAD,
    BLAME_OPTIMIZER,
    BLAME_OP,
    BLAME_RUNTIME,
    BLAME_PYTHON,
    BLAME_NONE,
    BLAMES
};

extern const char *const blame_names[BLAMES];

enum name_trait {
    NAME_COMMUNICATES = 1, /* a kernel of a library of collectives */
    NAME_SYNCHRONIZES = 2, /* a call that waits for a device, stream or event */
    NAME_LAUNCHES = 4,
    NAME_STEP = 8,           /* ProfilerStep#n */
    NAME_RANGE = 16,         /* a range of an optimizer or a loader */
    NAME_UNLISTED = 32,      /* tables of operators leave it out */
    NAME_MODULE = 64,        /* a Python frame that is a call of a module */
};

struct names {
    uint8_t *traits; /* of each string: enum name_trait */
    uint8_t *blame;  /* enum blame by the name alone; BLAME_OP: the name gives no reason */
};

/* False when out of memory. */
bool names_make(const struct trace *t, struct arena *arena, struct names *ret);

/* The number in ProfilerStep#n; -1: it is no step, or the number does not fit. */
int64_t name_step_number(str name);

/* The name of a range without the number that its calls are given: Optimizer.step#Adam.step stays,
 * enumerate(DataLoader)#loader.__next__#3 loses #3. */
str name_without_number(str name);

#endif
