/* questions.h - what a device's program is asked, and the answers: a row for each question, beside
 * the first one, "same": the recorded settings, nothing changed. */
#ifndef VRS_ALLOCATOR_WHATIF_QUESTIONS_H
#define VRS_ALLOCATOR_WHATIF_QUESTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "allocator/machine/config.h"
#include "allocator/replay/replay.h"
#include "allocator/whatif/changed_sites.h"
#include "allocator/whatif/whatif.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"
#include "model/recording.h"

struct questions {
    const char *const *set; /* settings, as "max_split_size_mb:64" */
    uint32_t sets;
    struct site_options sites;
    uint64_t capacity_bytes; /* of the device; 0: no end */
    str words;               /* all of these as they were asked; empty: nothing is changed */
    bool any;                /* else agreement alone is wanted */
    bool sweep;              /* usual settings are tried besides, each as one more question */
    bool smallest;           /* what capacity suffices for each */
    bool anyway;             /* even where the model does not reproduce the recording */
    uint32_t threads;        /* 0: one for each processor */
    struct recording *run;   /* takes what the last question's run did; NULL: nobody does */
    struct stack_namer namer;
};

/* One question: a replay of its own. */
struct replay_row {
    str question; /* "same", "expandable_segments:True", "--drop train.py:12", … */
    struct whatif_answer answer;
    uint64_t reserved_ascending_bytes; /* peak with ascending addresses; answer's where not asked */
    uint64_t capacity_bytes;           /* UNKNOWN_U64: none was set */
    bool has_smallest;
    struct capacity_answer smallest;
    str oom_culprit; /* of the request that ran out; empty: none, or unknown */
    /* To the first row: all of them 0 in that one. */
    int64_t delta_reserved_bytes, delta_active_bytes;
    int64_t delta_smallest_bytes; /* where both have a smallest capacity */
    bool smallest_compared;
};

/* What the replay of a device found. */
struct replay_result {
    uint64_t events;
    uint64_t recorded_peak_bytes; /* reserved, as recorded */
    struct agreement agreement;
    bool overflowed;              /* the trace lost its oldest events, or may have: the caller's */
    struct identities identities; /* where has_identities */
    bool has_identities;
    bool certain;           /* answers are given without reserve */
    struct replay_row *row; /* the first is "same"; none unless more than agreement was asked */
    uint32_t rows;
};

/* Of a struct replay_row, and of a struct replay_result, that of a device. */
extern const struct row_type replay_row_type, replay_result_row_type;

/* The recorded settings as the caller changes them. */
enum vrs_status questions_config(const struct questions *q, struct allocator_config *config,
                                 struct vrs_error *err) MUST_CHECK;

/* Replays a device and asks.  Where it cannot be replayed, `agreement` has the refusal; where the
 * model is poor and `anyway` is not set, there are no rows.  Rows live in `keep`.  VRS_USAGE for a
 * site or scope that the recording does not have. */
enum vrs_status questions_answer(const struct questions *q, const struct recording *r,
                                 uint32_t device, struct arena *keep, struct arena *scratch,
                                 struct replay_result *ret, struct vrs_error *err) MUST_CHECK;

/* Fills what follows from the rest: `certain`, and of each row its differences. */
void replay_conclude(struct replay_result *result);

#endif
