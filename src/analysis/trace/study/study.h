/* study.h - what the analyses of a trace share: order, trees of host threads, links to devices. */
#ifndef VRS_ANALYSIS_TRACE_STUDY_STUDY_H
#define VRS_ANALYSIS_TRACE_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/trace/study/names.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/trace.h"

/* Spans one inside another, thread by thread.  A parent holds the whole of its child; one that
 * ends within a later span is no parent of it, and is counted. */
struct forest {
    uint32_t threads;   /* rows of tracks; those without a span are empty */
    uint32_t *first;    /* of each thread, and one more: into `row` */
    uint32_t *row;      /* spans of each thread, by start, then the longer first, then by index */
    uint32_t *parent;   /* of each span of the trace: a span, or NO_ROW */
    uint32_t used;      /* threads that have spans */
    uint64_t overlaps;  /* parents left while they were still running */
    uint32_t max_depth; /* spans around each other at most, the innermost counted */
};

/* How the host code that a device event is owed to was found. */
enum rung { RUNG_EXTERNAL_ID, RUNG_LAUNCH_NESTING, RUNG_FLOW, RUNG_NONE, RUNGS };

extern const char *const rung_names[RUNGS];

struct links {
    uint32_t *launch; /* of each span: the call that launched it, or NO_ROW */
    uint32_t *owner;  /* the operator or range that it is owed to, or NO_ROW */
    uint8_t *rung;    /* enum rung, of device events */
    bool ids_agree;   /* the external ids may be trusted */
    uint64_t agree, differ;
    uint64_t events[RUNGS];
    int64_t ns[RUNGS];
    uint64_t with_launch;
    uint64_t before_window; /* launched before the recording began */
    int64_t before_window_ns;
    uint64_t most_of_a_launch;
};

/* The host code that device work came from: the call that launched it, else the code that it is
 * owed to, where the launch itself was not recorded.  NO_ROW: nothing is known, or it is no work. */
static inline uint32_t links_host(const struct links *l, uint32_t row)
{
    return l->launch[row] != NO_ROW ? l->launch[row] : l->owner[row];
}

/* The other way round: the code that it is owed to, else the launch, where that lies in no range. */
static inline uint32_t links_code(const struct links *l, uint32_t row)
{
    return l->owner[row] != NO_ROW ? l->owner[row] : l->launch[row];
}

struct trace_study {
    const struct trace *trace;
    struct names names;
    uint32_t *sorted; /* all spans, by start, then the longer first, then by index */
    uint32_t *home;   /* of host events: the track of the thread that they ran on */
    struct forest host;
    struct links links;
    uint32_t work; /* events of devices */
    bool has_range;
    bool is_foreign; /* nothing that ran is known: ranges of another tool than torch.profiler */
    int64_t first_ns, last_ns; /* of what ran; captures and unknown events do not count */
};

/* Everything is taken from `arena`. */
enum vrs_status trace_study_make(const struct trace *t, struct arena *arena, struct trace_study *ret,
                           struct vrs_error *err) MUST_CHECK;

/* The parts of it: the begin first, then the order and the index, which need not each other, then
 * the links.  Each leaves what it made in the study. */

bool study_begin(const struct trace *t, struct arena *arena, struct trace_study *ret);

/* Host code by its ids, with memory of its own until links_index_free. */
struct links_index;

/* Leaves what is told by ids alone in the study, and the index, which is to be freed whatever it
 * returns, if it is not NULL. */
bool links_index_make(struct trace_study *s, struct arena *arena, struct links_index **ret);
void links_index_free(struct links_index *index);

bool links_make(struct trace_study *s, const struct links_index *index, struct arena *arena);

bool sort_spans(const struct trace *t, struct arena *arena, uint32_t **ret);

/* The trees of the spans for which `track` is not NO_ROW, each on its track. */
bool forest_make(const struct trace *t, const uint32_t *sorted, const uint32_t *track,
                 struct arena *arena, struct forest *ret);

#endif
