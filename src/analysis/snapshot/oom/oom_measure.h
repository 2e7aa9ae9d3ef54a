/* oom_measure.h - where memory lay at the moment of a request that failed. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_MEASURE_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/layout/layout.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"

/* What was asked for. */
struct oom_request {
    uint64_t bytes;  /* of the block; UNKNOWN_U64 */
    uint64_t stream; /* its handle */
    uint32_t pool;   /* row of pools; 0: the default pool */
};

/* The state after an event, as far as a request is concerned. */
struct oom_measured {
    struct oom_figures figures; /* without those of a text */
    uint64_t free_runs;         /* of internal_free; UNKNOWN_U64 */
    uint64_t largest_run;       /* of them, of any class */
    struct layout layout;
    bool laid_out; /* else the layout is of no use, and what stands on it unknown */
};

/* Measures; in `arena` lies the layout. */
enum vrs_status oom_measure(const struct proven_study *proven, int64_t event,
                            const struct oom_request *request, struct arena *arena,
                            struct oom_measured *ret, struct vrs_error *err) MUST_CHECK;

/* One kind of memory: a pool, a stream, a class. */
struct oom_place {
    uint32_t pool;        /* row of pools; 0: the default pool */
    uint64_t pool_ids[2]; /* as in the file */
    uint64_t stream;
    bool small;
    uint64_t reserved_bytes, active_bytes, free_bytes, returnable_bytes, largest_free_bytes;
};

/* A segment whose free memory its blocks hold back. */
struct oom_pin {
    uint64_t address, total_bytes, free_bytes, active_bytes;
    uint32_t blocks;      /* active */
    struct site_ref site; /* of the largest of them */
};

/* Memory freed and still waiting for another stream. */
struct oom_pending {
    struct site_ref site;
    uint64_t bytes; /* of blocks */
    uint32_t count;
    int64_t oldest_event; /* at which a free was asked for; -1: before the recording */
};

/* Of a struct oom_place, of a struct oom_pin, and of a struct oom_pending. */
extern const struct row_type oom_place_row_type, oom_pin_row_type, oom_pending_row_type;

enum { OOM_PINS_MOST = 5 };

struct oom_evidence {
    struct oom_place *place; /* most free bytes first */
    uint32_t places;
    struct oom_pin *pin; /* of the request's pool and stream, most free bytes first */
    uint32_t pins;
    struct oom_pending *pending; /* most bytes first */
    uint32_t pendings;
};

/* Rows live in the study's `keep`; none where there is no layout. */
enum vrs_status oom_evidence_find(const struct study *s, const struct oom_measured *m,
                                  const struct oom_request *request, struct oom_evidence *ret,
                                  struct vrs_error *err) MUST_CHECK;

#endif
