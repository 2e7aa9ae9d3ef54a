/* training_need.h - need = P + S + B + max(G + OI, A + LG + H + W): which side rules, does it hold?
 *
 * Each term is the most that one kind of memory holds at once, whatever is alive beside it. */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_TRAINING_NEED_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_TRAINING_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/study/study.h"
#include "base/fail.h"
#include "base/field.h"

enum term {
    TERM_P,    /* parameters, between optimizer steps */
    TERM_S,    /* optimizer state, the same */
    TERM_B,    /* buffers, copies of the parameters, caches, communication */
    TERM_G,    /* gradients */
    TERM_OI,   /* what an optimizer makes and drops */
    TERM_G_OI, /* the maximum of their sum */
    TERM_A,    /* activations that no name holds; without a backward, temporaries too */
    TERM_LG, /* gradients of the loss's inputs: the maximum of A with details of autograd, less A */
    TERM_H,  /* what names hold over the backward: outputs, inputs */
    TERM_W,  /* workspaces */
    TERMS
};
extern const char *const term_names[TERMS];

enum { TERM_SITES = 3 };

struct need_term {
    enum term id;
    bool known;
    int64_t bytes; /* may be negative: AD */
    int64_t event;
    bool estimated;                   /* it rests on evidence of low confidence, or is not known */
    enum confidence confidence;       /* of all but a twentieth of its bytes; NONE: it has none */
    struct site_ref site[TERM_SITES]; /* that held most of it */
    uint32_t sites;
};

enum residual {
    RESIDUAL_A, /* activations, temporaries, details of autograd */
    RESIDUAL_H, /* as the next two: alive at the peak, less the term */
    RESIDUAL_W,
    RESIDUAL_B,
    RESIDUAL_G,           /* gradients alive while activations rule */
    RESIDUAL_OI,          /* the same of the optimizer's temporaries */
    RESIDUAL_G_OI,        /* optimizer side: less alive at the peak than at its own maximum */
    RESIDUAL_GENERATIONS, /* parameters and state, old and new at once; or not yet made */
    RESIDUAL_UNKNOWN,     /* unknown and persistent */
    RESIDUALS
};
extern const char *const residual_names[RESIDUALS];

/* Bytes of the measured peak that the formula does not name, or names too often. */
struct residual_item {
    enum residual id;
    int64_t bytes;
};

struct training_need {
    struct need_term term[TERMS];
    bool inference; /* nothing is trained: P + B + A + H + W */
    bool bound;     /* a term of the sum is not known: the formula is a lower bound */
    bool optimizer_side;
    int64_t margin_bytes;
    int64_t formula_bytes, measured_bytes, measured_event;
    int64_t residual_bytes;               /* measured less formula */
    double residual_ratio;                /* of the measured; 0 where nothing was */
    struct residual_item item[RESIDUALS]; /* those of any bytes */
    uint32_t items;
    int64_t unexplained_bytes;
    double crossing_ratio; /* (G + OI - W) / (A + LG + H); negative: not known */
};

/* Of a struct need_term, and of a struct training_need. */
extern const struct row_type need_term_row_type, training_need_row_type;

enum vrs_status training_need_compute(const struct study *s, struct training_need *ret,
                                      struct vrs_error *err) MUST_CHECK;

#endif
