/* steps.h - where one training step ends and the next begins. */
#ifndef VRS_ANALYSIS_SNAPSHOT_STEPS_STEPS_H
#define VRS_ANALYSIS_SNAPSHOT_STEPS_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/steps/mark_events.h"
#include "analysis/snapshot/steps/phases.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"

enum step_source {
    STEPS_NONE,
    STEPS_MARKS,
    STEPS_OPTIMIZER,
    STEPS_PHASES,
    STEPS_ANNOTATIONS,
    STEPS_PERIOD,
    STEP_SOURCES
};
extern const char *const step_source_names[STEP_SOURCES];

/* What is numbered: training steps, or, where nothing is trained, what repeats itself. */
enum step_kind { STEP_TRAINING, STEP_PASS, STEP_KINDS };
extern const char *const step_kind_names[STEP_KINDS];

/* The begin of a step, complete unless it says otherwise. */
struct step_boundary {
    uint32_t event;
    uint32_t end_event;    /* the last of its own; forwards that belong to no step may follow */
    uint32_t valley_event; /* the lowest-live point up to its end */
    int64_t live_bytes;    /* requested, just before `event` */
    int64_t peak_bytes;    /* of the step that begins here */
    int64_t peak_event;
    uint8_t kind; /* enum step_kind, of all the same */
};

/* Forwards between training steps that no backward follows: validation, sampling. */
struct step_pass {
    uint32_t first_event, last_event;
};

/* A period that is no step: layers, recurrent or diffusion steps inside a forward. */
struct inner_loop {
    uint32_t period_allocs, repeats;
    double similarity_ratio;
    static_text refused_by; /* the rule's id */
    stack_id stack;         /* of its anchor */
};

struct steps {
    enum step_source source;
    enum step_kind kind;
    uint32_t count;       /* complete steps; boundary[i] begins step i */
    uint32_t micro_steps; /* pairs of forward and backward in a step */
    struct step_boundary *boundary;
    bool unended; /* boundary[count] is a step behind them that began and did not end */
    uint32_t end_event;               /* the last event of the last complete step */
    bool end_is_boundary;             /* another step begins there, or a mark ends this one */
    int64_t end_bytes;                /* requested, after it */
    double similarity_median_ratio;   /* negative: not worked out */
    uint32_t agreement[STEP_SOURCES]; /* complete steps that each source finds */
    bool low_confidence;              /* found by stacks alone, with sizes that vary */
    struct inner_loop *inner;
    uint32_t inners;
    struct step_pass *pass; /* between training steps, and before and behind them */
    uint32_t passes;
};

/* What the steps of a device are found in. */
struct steps_input {
    const struct recording *r;
    uint32_t device;
    const struct tokens *tokens;
    const struct phases *phases;
    const struct mark_events *marks;
    const struct lifetimes *lifetimes;
};

enum vrs_status steps_make(const struct steps_input *input, struct arena *arena, struct steps *ret,
                           struct vrs_error *err) MUST_CHECK;

/* The complete step an event belongs to, from 0; -1: before the first, `count`: after the last. */
int64_t steps_at(const struct steps *s, int64_t event);

/* Asks the same of one event after the other; those that ascend take no search. */
struct step_cursor {
    const struct steps *steps;
    uint32_t begun; /* steps that have begun at the event asked last */
};
int64_t step_cursor_at(struct step_cursor *c, int64_t event);

#endif
