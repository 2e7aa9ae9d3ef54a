/* advise.h - what to change, and the bytes it would free.
 *
 * A rule looks at what the other analyses found and either speaks, with its evidence, or stays
 * silent, with the clause that held it back.  Savings of several rules may be the same bytes; the
 * joint saving counts them once.  The sentences of a rule stand in its row of advise_table.c; the
 * renderer fills them in. */
#ifndef VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_H
#define VRS_ANALYSIS_SNAPSHOT_ADVISE_ADVISE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/breakdown/training_need.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/oom/oom.h"
#include "analysis/snapshot/oom/oom_what_if.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/timeline/timeline.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

enum advice_severity { SEVERITY_PROBLEM, SEVERITY_ADVICE, SEVERITY_NOTE, SEVERITIES };
extern const char *const severity_names[SEVERITIES];

/* Where a saving comes from. */
enum saving_source {
    SAVING_NONE,     /* the benefit is not bytes, or cannot be told */
    SAVING_DERIVED,  /* the counterfactual peak: exact for the recorded curve */
    SAVING_VERIFIED, /* of reserved memory: the recorded program, replayed with the change */
    SAVING_ESTIMATED /* a model; printed with a ~ */
};

/* What a rule tested. */
struct advice_condition {
    static_text name; /* a ratio ends in "_ratio", bytes in "_bytes" */
    double value, threshold;
    uint8_t decimals; /* of both: a ratio has some, bytes and counts are whole */
};

/* A command that shows the saving: of a verb, with options beside the file, the member of its
 * answer that says it.  All NULL: there is none. */
struct advice_verification {
    static_text verb, options, figure;
    uint64_t before_bytes; /* the figure as recorded; UNKNOWN_U64: it is not compared */
    uint64_t after_bytes;  /* and as the command prints it */
};

/* Where reserved bytes are that are not in use. */
struct advice_gap {
    uint64_t reserved_bytes, active_bytes;
    uint64_t returnable_bytes;           /* by empty_cache */
    uint64_t stranded_bytes, held_bytes; /* held: free in private pools */
    bool at_end; /* of the recording; else at the first event of the advice */
};

enum { ADVICE_EVENTS = 3, ADVICE_CONDITIONS = 4 };

struct advice {
    static_text id;
    /* Sentences to be filled in; `cost` may be NULL.  {line} is the site's, {bytes} those
     * concerned, {event} the first of the evidence; {device} what the device was asked for after
     * empty_cache; {setting}, {before} and {after} those of the verification, {peaks} what else
     * falls; {reserved}, {active}, {moment} and {gap} of a struct advice_gap. */
    static_text text, cost;
    enum advice_severity severity;
    struct site_ref site;
    bool has_site;
    bool at_owner; /* the owner is the place to act: the culprit hides it */
    int64_t at_event[ADVICE_EVENTS];
    uint32_t at_events;
    uint64_t bytes;        /* concerned */
    uint64_t saving_bytes; /* UNKNOWN_U64: none is claimed */
    enum saving_source source;
    bool at_most; /* an estimate from above */
    bool of_peak; /* what it takes away is in the joint saving */
    enum confidence confidence;
    static_text setting; /* of the allocator, to be changed; NULL: none */
    struct advice_verification verification;
    struct advice_gap gap; /* of reserved-gap */
    /* Of a setting by which less of a card suffices: what is reserved at the most, where that falls
     * by as much as is worth a line, too; else 0. */
    uint64_t recorded_peak_bytes, changed_peak_bytes;
    /* Of empty-cache: how often the device was asked for memory after such a call, and for how
     * much; `mapped`: by mapping pages of expandable segments alone. */
    uint32_t calls;
    uint64_t call_bytes;
    bool mapped;
    struct advice_condition condition[ADVICE_CONDITIONS];
    uint32_t conditions;
};

struct advice_silence {
    static_text id, clause;
};

struct advise {
    struct advice *advice; /* most bytes saved first */
    uint32_t advices;
    struct advice_silence *silent;
    uint32_t silents;
    int64_t peak_bytes, peak_event; /* of the requested curve */
    bool of_end;                    /* only the final state is known: it is the peak */
    int64_t joint_saving_bytes, joint_peak_bytes, joint_peak_event;
    uint32_t joint_rules; /* whose savings are those of the curve, and counted there */
};

/* What other analyses found; NULL where one cannot be done. */
struct advise_inputs {
    const struct timeline *timeline;
    const struct fragments *fragments; /* at the end */
    const struct training_need *training_need;
    const struct leaks *leaks;
    bool fragmented;                   /* a request failed for want of memory in one piece */
    const struct oom_what_if *what_if; /* of the last such; NULL: there is none */
    uint64_t capacity_bytes;           /* of the card, as the user knows it; 0: not known */
};

/* The members of an advice that are words: which FIELD_SENTENCE each is. */
enum advice_sentence {
    ADVICE_TEXT, /* what to do */
    ADVICE_COST  /* and what that costs; not of each */
};

/* Of a struct advice, and of a struct advice_silence. */
extern const struct row_type advice_row_type, advice_silence_row_type;

/* All rules over one device; without a trace, those that the final state suffices for.  `oom` says
 * whether a request failed for want of memory in one piece; NULL where there is no trace. */
enum vrs_status advise_compute(struct parts *parts, const struct proven_study *proven,
                               const struct oom *oom, uint64_t capacity_bytes, struct advise *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
