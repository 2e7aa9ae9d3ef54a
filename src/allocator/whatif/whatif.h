/* whatif.h - what-if: the same program under other settings, on another device, or changed.
 *
 * The program is the order of events; for every allocation its requested size, stream, pool and
 * lifetime; and its own calls that empty the cache.  Addresses, block sizes, segments, retries and
 * out-of-memory are the model's. */
#ifndef VRS_ALLOCATOR_WHATIF_WHATIF_H
#define VRS_ALLOCATOR_WHATIF_WHATIF_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "base/fail.h"

struct program;
struct start_state;
struct machine;
struct machine_call;

/* What a run does that is worth recording.  Blocks are the machine's; `event` is of the device. */
struct run_listener {
    void *arg;
    void (*began)(void *arg, const struct machine *m, const uint32_t *block_of);
    void (*device)(void *arg, int64_t event, const struct machine_call *call);
    void (*allocated)(void *arg, uint32_t event, uint32_t slot, uint32_t block);
    void (*freed)(void *arg, int64_t event, uint32_t slot, uint32_t block, bool completed);
    void (*ran_out)(void *arg, uint32_t event, uint64_t rounded, uint64_t device_free);
    void (*passed)(void *arg, uint32_t event); /* any other event */
    void (*ended)(void *arg, const struct machine *m, const uint32_t *block_of);
};

/* What is done to one site's allocations. */
enum change_kind { CHANGE_DROP, CHANGE_SCALE, CHANGE_FREE_EARLY };

/* Events [begin, end) of the device; begin -1 takes in what is older than the recording. */
struct scope {
    int64_t begin, end;
};

struct site_change {
    enum change_kind kind;
    double factor;             /* of CHANGE_SCALE */
    const struct scope *scope; /* of CHANGE_FREE_EARLY: properly nested, by their begins */
    uint32_t scopes;
};

struct whatif_question {
    const struct allocator_config *config;
    uint64_t capacity_bytes; /* that this process can reserve; UNKNOWN_U64: no end */
    bool addresses_ascend;   /* of new segments; else they descend … */
    uint64_t below_address;  /* … from here; 0: from above all that recordings have */
    bool identity;           /* every recorded release run is kept, a recorded oom is not tried */
    /* Hears what the run does, in order; NULL: nobody. */
    const struct run_listener *listener;
    const struct site_change *change;
    const uint8_t *change_of_stack; /* for each stack: its change plus 1, or 0; NULL: none */
};

struct peak_bytes {
    uint64_t bytes;
    int64_t event; /* -1: the start */
};

/* Where a run ran out. */
struct oom_answer {
    int64_t event;          /* -1: it did not even fit at the start */
    uint64_t want_bytes;    /* rounded */
    uint64_t segment_bytes; /* what would have been asked of the device */
    uint64_t reserved_bytes, active_bytes;
    uint64_t largest_free_bytes; /* in the pool, class and stream of the request */
    uint64_t returnable_bytes;   /* that a full release would give back */
    uint64_t stranded_bytes;     /* reserved, neither active nor returnable */
};

struct whatif_answer {
    struct peak_bytes reserved, active, requested;
    uint64_t active_start_bytes; /* of the active peak, in blocks older than the recording */
    uint64_t new_memory, retries;
    uint64_t changed, changed_bytes; /* allocations at changed sites, and their requests together */
    uint64_t lower_bound_bytes;      /* of any packing: the peak of rounded requests */
    bool ran_out;
    struct oom_answer oom;
    int64_t served_oom_event;     /* a recorded out-of-memory that is now served, or -1 */
    uint64_t served_active_bytes; /* then; at most the capacity */
    bool same_curve;              /* reserved bytes equal the recorded ones at every event */
    int64_t parted_event;         /* the first at which they do not, or -1 */
};

/* Answers one question.  `start` is the state as the replay left it (corrected).  VRS_NOMEM is the
 * only failure. */
enum vrs_status whatif_run(const struct program *p, const struct start_state *start,
                           const struct whatif_question *q, struct whatif_answer *ret,
                           struct vrs_error *err) MUST_CHECK;

/* A capacity that suffices, found by halving, and checked again with one small segment more. */
struct capacity_answer {
    uint64_t bytes;
    uint64_t retries; /* at it */
    bool completes;   /* the run does, at it; else there is no answer */
    bool checked;     /* it also does with one more */
};

/* `free` is the answer to the same question without a capacity. */
enum vrs_status whatif_smallest(const struct program *p, const struct start_state *start,
                                const struct whatif_question *q, const struct whatif_answer *free,
                                struct capacity_answer *ret, struct vrs_error *err) MUST_CHECK;

/* Both identities, which say whether an answer is given without reserve. */
struct identities {
    bool reproduces;             /* 1: no capacity, recorded releases */
    uint64_t below_address;      /* that did so; for the questions */
    bool reproduces_ascending;   /* the same with ascending addresses */
    bool reproduces_at_capacity; /* 2: at the recorded capacity, the model's own retries */
    uint64_t recorded_capacity_bytes;
    uint64_t retries_at_capacity;
    int64_t first_oom_at_capacity;                  /* event, or -2: none */
    int64_t parted_event, parted_at_capacity_event; /* or -1 */
};

enum vrs_status whatif_identities(const struct program *p, const struct start_state *start,
                                  const struct allocator_config *recorded, struct identities *ret,
                                  struct vrs_error *err) MUST_CHECK;

#endif
