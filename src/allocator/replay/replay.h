/* replay.h - does the model reproduce a recording?
 *
 * The recorded requests drive the machine, and what it does is compared with what was recorded:
 * the address of every allocation, every segment that was asked for, every run of releases, the
 * final blocks.  What is taken from the recording and not predicted: addresses of new segments,
 * when a free completes, that a release or an out-of-memory happens. */
#ifndef VRS_ALLOCATOR_REPLAY_REPLAY_H
#define VRS_ALLOCATOR_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "base/fail.h"

enum replay_grade {
    GRADE_NONE, /* nothing to replay, or an edited file */
    GRADE_POOR,
    GRADE_MOSTLY,    /* at least 99 % of the addresses, and the final blocks */
    GRADE_CORRECTED, /* exact, after sizes of blocks older than the trace were corrected */
    GRADE_EXACT,
    GRADES
};

extern const char *const replay_grade_names[GRADES]; /* "none", "poor", "mostly", … */

enum disagreement {
    AGREES,
    WRONG_ADDRESS,      /* another block was handed out */
    ADDRESS_TAKEN,      /* the recorded address is in use in the model */
    SEGMENT_NOT_ASKED,  /* new memory where the model had a block that fits */
    SEGMENT_MISSING,    /* no new memory where the model needed some */
    SEGMENT_DIFFERS,    /* new memory of another size or place */
    UNKNOWN_FREE,       /* a free of what the model does not hold */
    SIZE_CLASH,         /* a free of another size than was requested */
    RELEASE_IMPOSSIBLE, /* a segment was given back that is in use in the model */
    RELEASE_DIFFERS,    /* a run of releases is not the model's full release */
    SNAPSHOT_DIFFERS,   /* the bytes in use that a snapshot event tells */
    FINAL_DIFFERS,      /* a final block */
    DISAGREEMENTS
};

extern const char *const disagreement_names[DISAGREEMENTS]; /* "wrong_address", … */

struct first_disagreement {
    enum disagreement kind; /* AGREES: none */
    int64_t event;          /* of the device; the number of events for the final state */
    uint64_t expected_address, recorded_address; /* UNKNOWN_U64 where it is not about one */
    uint64_t expected_bytes, recorded_bytes;     /* likewise */
};

enum { RUN_EMPTY_CACHE, RUN_RETRY, RUN_CAUSES };

/* Why no grade was given, or why the replay stopped early. */
enum replay_refusal {
    REFUSED_NOT,
    REFUSED_NO_EVENTS,    /* no trace, or the newest event of a ring of one */
    REFUSED_CUT,          /* the file is cut: its end state is not known */
    REFUSED_HOST,         /* host memory is counted, not replayed */
    REFUSED_INCONSISTENT, /* the segments or the start contradict themselves */
    REFUSED_LANES,        /* more streams and pools than are followed */
    REFUSED_WORK,         /* so many disagreements that following them was given up */
    REFUSED_BACKEND,      /* made by another allocator (cudaMallocAsync, a profiler) */
    REFUSED_ASKED,        /* the caller did not want it */
    REFUSALS
};

extern const char *const replay_refusal_names[REFUSALS]; /* "no_trace", …; NULL: not refused */

struct exact_curve {
    int64_t start_bytes, peak_bytes, end_bytes;
    int64_t peak_event, peak_last_event;
};

struct agreement {
    enum replay_grade grade;
    enum replay_refusal refusal;
    uint64_t addresses, addresses_equal;   /* allocations, and those at the recorded address */
    uint64_t new_memory, new_memory_equal; /* of these, with the recorded segments or maps */
    uint64_t release_runs, release_runs_equal;
    uint64_t final_blocks, final_blocks_equal;
    uint64_t snapshots, snapshots_equal;
    uint64_t unexpected_segments, unknown_frees, size_clashes, impossible_releases;
    uint64_t runs_by_stack[RUN_CAUSES], runs_by_sequence[RUN_CAUSES];
    uint64_t preexisting, inferred, corrected; /* blocks older than the trace */
    uint64_t
        ambiguous; /* of the inferred: may own up to 1 MiB more, which nothing in the file shows */
    struct first_disagreement first;
    /* Block bytes in use or pending (active) and in use (allocated), of the model. */
    struct exact_curve active, allocated;
};

struct program;
struct start_state;

/* Replays the program from its start state.  Where a disagreement shows that a start block owns
 * more than was inferred, its size is corrected in `start` and the replay begins again.
 *
 * `block_bytes` (NULL, or of each alloc of the device, in order) takes their blocks' sizes.
 * VRS_NOMEM is the only failure. */
enum vrs_status replay_run(const struct program *p, struct start_state *start,
                           const struct allocator_config *config, uint64_t *block_bytes,
                           struct agreement *ret, struct vrs_error *err) MUST_CHECK;

/* The whole of a recording that the model reproduces can be trusted with questions. */
static inline bool grade_is_exact(enum replay_grade grade)
{
    return grade >= GRADE_CORRECTED;
}

#endif
