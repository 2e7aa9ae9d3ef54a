/* advise_limits.h - what rules of advice test against, in one table.
 *
 * Chosen on real recordings, but where a rule says why.  Shares are percents, sizes bytes. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_LIMITS_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_LIMITS_H

enum {
    /* Any rule: a smaller saving is not worth a line. */
    FLOOR_PERCENT = 1, /* of the peak */
    FLOOR_BYTES = 16 << 20,
    /* A line that holds more of the peak, for several owners, hides where to act. */
    HIDING_PERCENT = 50,
    ABOUT_PERCENT = 90, /* of what another rule saves: about as much */

    ACCUMULATED_PERCENT = 80, /* grad-not-cleared: of the gradients, in place in every backward */
    SAVED_WITHIN_EVENTS = 4,  /* two-generations: what is freed so near was saved for the value; */
    MATCHED_PERCENT = 80,     /*   of what went together, that is there again in the same sizes */
    GRAPH_PLACES_LEAST = 4,   /* no-grad: lines whose values go at once; outputs are of fewer; */
    KEPT_WITHOUT_GRAPH = 2,   /*   values that an operator without a graph has: in and out */
    ACTIVATION_PERCENT = 50,  /* checkpoint: of the peak, */
    BLOCKS_LEAST = 4,         /*   and blocks in one forward; */
    BLOCKS_DIFFER = 10,       /*   in bytes, at the most, of the largest; */
    BOUNDARY_SHARES = 64,     /*   a smaller part of a block is not what the next begins with; */
    PARTINGS_MOST = 256,      /*   lines that are tried; */
    GRAPH_VALUES = 4,         /*   of a block, that nothing but a graph keeps; */
    COMMON_PERCENT = 80,      /*   of the blocks, under the line that calls them */
    KERNEL_PERCENT = 10,      /* logits-loss, attention-math: of the peak; */
    LOSS_CHUNKS = 8,          /*   a chunked loss has one of them at a time; */
    PRODUCTS_LEAST = 2,       /*   attention has them before and behind its softmax */
    BUCKET_PERCENT = 80,      /* bucket-view: of the gradients */
    FOREACH_PERCENT = 50,     /* optimizer-foreach: temporaries, of the parameters */
    REPLACED_PERCENT = 50,    /* optimizer-replace: of parameters or state, the smaller */
    STATE_FACTOR = 2,         /* optimizer-heavy: state, in parameters */
    CASTS_PERCENT = 80,       /* autocast-cache: of the parameters */
    COPY_PERCENT = 95,        /* second-model: of the parameters; */
    OLDER_COPIES_MOST = 8,    /*   parameters, gradients and state of no more than two */

    SETTING_PERCENT = 5,           /* a setting: of what is reserved at the most; */
    SETTING_EVENTS_MOST = 1 << 17, /*   to replay more would take longer than all else */
    STRANDED_LEAST = 256 << 20,    /* expandable without a replay; side-stream-cache the same */
    NEAR_PERCENT = 80,             /*   of a known capacity: memory was short */
    PINNED_SEGMENT = 200 << 20,    /* max-split: a smaller segment is no loss; */
    PINNED_PERCENT = 10,           /*   of it, that blocks in use may hold; */
    PIN_SHORT_EVENTS = 20,         /*   a block that lives shorter is no pin */
    EMPTIED_LEAST = 3,             /* empty-cache: calls, */
    MAPPED_AGAIN_PERCENT = 50,     /*   and of their bytes what is asked for again */
    GAP_PERCENT = 10,              /* reserved-gap: above what is in use */

    KEPT_STEPS_LEAST = 4,    /* graph-kept: fewer show no trend */
    GROWS_LEAST = 8,         /* kv-prealloc: times in a row; */
    WAITING_MOST = 512,      /*   allocations looked at for the one that takes a place; */
    CACHE_SHARES = 64,       /*   so many layers may share what is worth a line */
    CACHE_PERCENT = 25,      /* kv-pool: of what is in use */
    AHEAD_STEPS = 2,         /* inputs-ahead: one is what prefetching is for; */
    QUEUED_LEAST = 2,        /*   batches that are let go of as late as each other */
    PENDING_PERCENT = 5,     /* pending-free: of the peak */
    UNKNOWN_PERCENT = 25,    /* capture: of the peak, */
    CAPTURE_STEPS_LEAST = 2, /*   or fewer steps of a training that began before */
    LEVEL_PERCENT = 95,      /* near-limit: of what was reserved, again later */
};

#endif
