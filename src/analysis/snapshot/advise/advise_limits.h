/* advise_limits.h - what rules of advice test against, in one table.
 *
 * Chosen on real recordings, but where a rule says why.  Shares are percents, sizes bytes. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_LIMITS_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_LIMITS_H

enum {
    /* Any rule: a smaller saving is not worth a line. */
    FLOOR_PERCENT = 1, /* of the peak */
    FLOOR_BYTES = 16 << 20,

    ACCUMULATED_PERCENT = 80,   /* grad-not-cleared: of the gradients, in place in every backward */
    SAVED_WITHIN_EVENTS = 4,    /* two-generations: what is freed so near was saved for the value */
    GRAPH_PLACES_LEAST = 4,     /* no-grad: lines whose values go at once; outputs are of fewer */
    ACTIVATION_PERCENT = 50,    /* checkpoint: of the peak, */
    BLOCKS_LEAST = 4,           /*   and blocks in one forward */
    KERNEL_PERCENT = 10,        /* logits-loss, attention-math: of the peak; */
    LOSS_CHUNKS = 8,            /*   a chunked loss has one of them at a time */
    BUCKET_PERCENT = 80,        /* bucket-view: of the gradients */
    FOREACH_PERCENT = 50,       /* optimizer-foreach: temporaries, of the parameters */
    REPLACED_PERCENT = 50,      /* optimizer-replace: of parameters or state, the smaller */
    STATE_FACTOR = 2,           /* optimizer-heavy: state, in parameters */
    STRANDED_PERCENT = 5,       /* expandable: of what is reserved, */
    STRANDED_LEAST = 256 << 20, /*   and not less than this; side-stream-cache the same */
    NEAR_PERCENT = 80,          /*   of a known capacity: memory was short */
    PINNED_SEGMENT = 200 << 20, /* max-split: a smaller segment is no loss; */
    PINNED_PERCENT = 10,        /*   of it, that blocks in use may hold; */
    PIN_SHORT_EVENTS = 20,      /*   a block that lives shorter is no pin */
    EMPTIED_LEAST = 3,          /* empty-cache: calls, */
    MAPPED_AGAIN_PERCENT = 50,  /*   and of their bytes what is asked for again */
    KEPT_STEPS_LEAST = 4,       /* graph-kept: fewer show no trend */
    GROWS_LEAST = 8,            /* kv-prealloc: times in a row */
    AHEAD_STEPS = 2,            /* inputs-ahead: one is what prefetching is for */
    PENDING_PERCENT = 5,        /* pending-free: of the peak */
    UNKNOWN_PERCENT = 25,       /* capture: of the peak, */
    CAPTURE_STEPS_LEAST = 2,    /*   or fewer steps of a training */
    LEVEL_PERCENT = 95,         /* near-limit: of what was reserved, again later */
};

#endif
