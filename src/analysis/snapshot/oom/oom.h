/* oom.h - why a request for memory failed, proven with numbers.
 *
 * Only the state at the event counts: frees by the unwinding of the stack follow it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_OOM_OOM_H
#define VRS_ANALYSIS_SNAPSHOT_OOM_OOM_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/oom/oom_measure.h"
#include "analysis/snapshot/oom/oom_message.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/oom/oom_tests.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"
#include "model/ids.h"
#include "model/recording.h"

struct parts;

/* Where the figures are from. */
enum oom_basis {
    OOM_NOTHING,   /* there is neither an event nor a text */
    OOM_EVENT,     /* the trace holds it */
    OOM_LAST,      /* the text agrees with the last event: nothing happened since */
    OOM_TEXT_ALONE /* arithmetic on the text */
};

struct oom_site {
    struct site_ref site;
    uint64_t bytes; /* requested, of what was alive */
    uint32_t count;
    struct held_names names;
};

/* Sites, largest first, that together hold what was missing. */
struct oom_sites {
    struct oom_site *at;
    uint32_t count;
    uint64_t bytes; /* together */
    bool enough;    /* else all there are do not suffice, and none is listed */
};

/* An earlier request that failed, or several of one site, one soon after the other. */
struct oom_earlier {
    int64_t event; /* of the last of them */
    uint64_t request_bytes;
    uint32_t retries;         /* those before it */
    enum oom_verdict verdict; /* OOM_UNDECIDED: not worked out */
};

struct oom {
    enum oom_basis basis;
    int64_t event; /* -1: none */
    uint64_t time_us;
    struct oom_request request;
    struct oom_measured measured; /* its layout is gone */
    /* Of its figures; UNKNOWN_U64. */
    uint64_t capacity_seen_bytes, outside_process_bytes, other_processes_bytes;
    struct oom_answer_of_tests tests; /* the verdict is of the program, the tests of the request */
    struct oom_program program;
    enum confidence confidence;
    bool exact;      /* sizes of blocks are measured or proven */
    bool expandable; /* the recording was made with expandable segments */
    bool has_short_by;
    int64_t short_by_bytes;
    uint64_t need_bytes; /* that would have had to go */
    struct oom_sites must_go, must_go_category;
    enum category category; /* of must_go_category */
    bool has_category;
    uint64_t live_bytes;           /* requested, alive at the event */
    struct held_names names;       /* of that */
    uint64_t previous_step_bytes;  /* the same at the same place of the step before; UNKNOWN_U64 */
    double steps_of_growth;        /* negative: unknown */
    struct oom_message text;       /* where basis is not an event alone: text.any */
    bool text_free, text_reserved; /* the text disagrees with the event */
    bool text_tried, text_capacity, text_allocated;
    uint64_t text_over_bytes; /* of the recording, more than the card of the text has; 0: none */
    /* A capacity below what the recording had of its card is not that card's, and not used. */
    bool capacity_refused;
    uint64_t most_reserved_bytes; /* or at the event reserved and free; 0: not known */
    stack_id request_stack;
    struct site_ref request_site;
    uint32_t step;    /* in which it failed, from 1; 0: not known */
    enum phase phase; /* by its stack; PHASE_OTHER: not known */
    uint32_t retries; /* of this request, before it */
    struct oom_earlier *earlier;
    uint32_t earliers;
    struct oom_evidence evidence;
    struct oom_what_if what_if;
};

/* Of a struct oom: what is known of the moment and how it was judged, from the event to the tests;
 * and all of it, the result of a device. */
extern const struct row_type oom_facts_row_type, oom_row_type;
/* Of a struct oom_site, and of a struct oom_earlier. */
extern const struct row_type oom_site_row_type, oom_earlier_row_type;

/* Is the text about this device?  A recording of one device may number it otherwise. */
bool oom_message_is_of(const struct study *s, const struct oom_message *m);

/* Is the text about a GPU that the recording has under no such number? */
bool oom_message_is_foreign(const struct recording *r, const struct oom_message *m);

/* Is the text of another failure, or another device, than the recording's? */
bool oom_text_differs(const struct oom *oom);

/* Why the last request failed, with what grows as its trend.  `message` NULL: none;
 * one about another device is not used.  `capacity_bytes` of the card, as the user knows it; 0:
 * unknown. */
enum vrs_status oom_compute(struct parts *parts, const struct proven_study *proven,
                            const struct oom_message *message, uint64_t capacity_bytes,
                            struct oom *ret, struct vrs_error *err) MUST_CHECK;

#endif
