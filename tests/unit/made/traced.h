/* traced.h - profiler traces made by hand, in a few lines, and the study of one.
 *
 * A trace that cannot be made ends the test, so callers check nothing.  Do not make one while
 * `fault_left` counts. */
#ifndef TESTS_UNIT_TRACED_H
#define TESTS_UNIT_TRACED_H

#include <stdint.h>

#include "analysis/trace/study/study.h"
#include "base/arena.h"
#include "model/trace.h"

struct traced {
    struct trace trace;
    struct arena arena;
    struct trace_study study;
};

/* A trace without an event. */
void traced_begin(struct traced *m);
void traced_end(struct traced *m);

/* A trace of these spans, studied. */
void traced_study_of(struct traced *m, const char *spans);

/* One span; its row. */
uint32_t traced_span(struct traced *m, enum span_kind kind, const char *name, uint32_t track,
                     int64_t start, int64_t duration);

/* The row of a thread or stream. */
uint32_t traced_track(struct traced *m, int64_t pid, int64_t tid);

/* Spans, separated by "; ": kind as in figures, name, PID/TID, START+DURATION, then what there is
 * of eEXTERNAL, cCORRELATION, bBYTES; as "runtime cudaLaunchKernel 1/1 10+4 c7 e3".  A name with
 * blanks stands between single quotes. */
void traced_spans(struct traced *m, const char *text);

/* Ends of links, separated by "; ": s or f, category, id, PID/TID, time; as "s ac2g 5 1/1 10". */
void traced_flows(struct traced *m, const char *text);

/* Instants of allocators, separated by "; ": TYPE/NUMBER, time, bytes, then what there is of
 * tTOTAL, rRESERVED, aADDRESS; as "1/0 100 512 t512 r1024 a4096". */
void traced_memory(struct traced *m, const char *text);

/* Studies what was made so far. */
void traced_study(struct traced *m);

/* A number below `below`, by a generator whose state is `*random`. */
uint64_t traced_draw(uint64_t *random, uint64_t below);

/* Makes the trace of random host spans on two threads, whose times lie on the grid below
 * `length`; many are equal, empty, or overlap. */
void traced_random_hosts(struct traced *m, uint64_t *random, uint32_t spans, int64_t length);

#endif
