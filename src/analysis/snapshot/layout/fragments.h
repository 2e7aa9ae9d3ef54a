/* fragments.h - reserved memory that can be neither used nor returned, and what pins it.
 *
 * At one moment, by pool, stream and class: reserved = active + free, free = returnable + stranded.
 * Memory of private pools is apart: what is free there is held for its graphs. */
#ifndef VRS_ANALYSIS_SNAPSHOT_LAYOUT_FRAGMENTS_H
#define VRS_ANALYSIS_SNAPSHOT_LAYOUT_FRAGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"

enum { FRAGMENT_MOVES_MOST = 10 };

struct fragment_group {
    uint32_t pool;        /* row of pools; 0: the default one */
    uint64_t pool_ids[2]; /* as in the file */
    uint64_t stream;      /* its handle */
    bool small;
    uint64_t reserved_bytes, active_bytes, pending_bytes;
    uint64_t slack_bytes; /* of active blocks, beyond the request */
    uint64_t free_bytes, returnable_bytes, stranded_bytes;
    double stranded_ratio;       /* of reserved */
    uint64_t largest_free_bytes; /* run of free memory in one segment */
    double naive_ratio;          /* of free, what lies in no largest run; negative: nothing free */
    uint64_t servable_bytes;     /* the largest request that needs no new memory */
};

/* A block that is in the way, or the largest of several. */
struct fragment_culprit {
    struct site_ref site;
    uint32_t category; /* enum category */
    bool expected;     /* a workspace of the library: every process has it */
};

/* A segment of which something is stranded. */
struct fragment_pin {
    uint64_t address, total_bytes, free_bytes, active_bytes;
    uint32_t blocks;         /* active ones */
    double leverage_ratio;   /* free bytes for each active one */
    uint64_t stranded_bytes; /* what they keep from being returned */
    uint64_t returned_bytes; /* if all of them were gone */
    uint32_t oldest;         /* of them: an allocation of the device; NO_ROW: not known */
    struct fragment_culprit by;
    struct held_names names; /* of them */
};

/* A block to move.  Where several must go, the last of them has what is then returned. */
struct fragment_move {
    uint64_t address, bytes, returned_bytes;
    int64_t age_events; /* -1: older than the recording */
    struct fragment_culprit by;
    struct held_names names; /* one at most */
};

struct fragment_stream {
    uint64_t stream, bytes;
    int64_t last_event; /* its last alloc; -1: none in the recording */
};

struct fragments {
    int64_t at_event;
    bool at_end, exact;
    bool all_metrics;             /* the caller wants what misleads, too */
    bool expandable;              /* some segment is */
    struct fragment_group *group; /* of the default pool; most stranded first */
    uint32_t groups;
    struct fragment_group total; /* of them */
    struct fragment_pin *pin;    /* most stranded first */
    uint32_t pins;
    struct fragment_move move[FRAGMENT_MOVES_MOST];
    uint32_t moves;
    struct fragment_group *pool; /* private ones, over streams and classes; largest first */
    uint32_t pools;
    struct fragment_stream *stream; /* with free memory, and no alloc since half of the window */
    uint32_t streams;
};

/* Of a struct fragment_group in a struct fragments: one of the default pool, and a private one. */
extern const struct row_type fragment_group_row_type, fragment_pool_row_type;
/* Of a struct fragment_pin, of a struct fragment_move, and of a struct fragments, the result of a
 * device. */
extern const struct row_type fragment_pin_row_type, fragment_move_row_type, fragments_row_type;

/* Of the state after `event`.  `*ret` is NULL where the layout there is not known. */
enum vrs_status fragments_compute(const struct proven_study *proven, int64_t event,
                                  struct fragments **ret, struct vrs_error *err) MUST_CHECK;

#endif
