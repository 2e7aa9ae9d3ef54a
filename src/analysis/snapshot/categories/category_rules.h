/* category_rules.h - the rules that say what an allocation is for, as read from text.
 *
 * A rule is a header `rule ID CATEGORY CONFIDENCE` and indented conditions, which all must hold;
 * the first rule that holds decides.  builtin.rules is the reference of the language. */
#ifndef VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORY_RULES_H
#define VRS_ANALYSIS_SNAPSHOT_CATEGORIES_CATEGORY_RULES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/pattern.h"
#include "base/str.h"
#include "base/vec.h"

enum category {
    CATEGORY_UNKNOWN,
    CATEGORY_PARAMETER,
    CATEGORY_BUFFER,
    CATEGORY_PARAMETER_COPY, /* a moving average, a second model: no optimizer knows it */
    CATEGORY_GRADIENT,
    CATEGORY_OPTIMIZER_STATE,
    CATEGORY_OPTIMIZER_TEMP,
    CATEGORY_ACTIVATION,
    CATEGORY_INPUT,
    CATEGORY_TEMPORARY,
    CATEGORY_AUTOGRAD_DETAIL,
    CATEGORY_COMMUNICATION,
    CATEGORY_KV_CACHE,
    CATEGORY_WORKSPACE,
    CATEGORY_PERSISTENT,
    CATEGORIES,
    /* What a rule may also name; allocations never have these. */
    CATEGORY_INHERITED = CATEGORIES, /* that of the allocation it replaces in an optimizer */
    CATEGORY_SPLIT,                  /* what the split of memory without stacks made of it */
    CATEGORY_ALIKE,                  /* that of its likes whose birth was seen */
    CATEGORY_LIST                    /* what a whole list of parameters makes of it */
};
extern const char *const category_names[CATEGORIES];

enum confidence {
    CONFIDENCE_LOW,
    CONFIDENCE_MEDIUM,
    CONFIDENCE_HIGH,
    CONFIDENCE_NONE, /* of CATEGORY_UNKNOWN */
    CONFIDENCES
};
extern const char *const confidence_names[CONFIDENCES];

enum rule_key {
    /* Texts of frames. */
    RULE_KEY_ALLOC_ANY,
    RULE_KEY_ALLOC_NATIVE,
    RULE_KEY_ALLOC_OWNER,
    RULE_KEY_ALLOC_CULPRIT,
    RULE_KEY_FREE_ANY,
    RULE_KEY_FREE_NATIVE,
    /* Words: a set of them, as bits. */
    RULE_KEY_BORN,         /* enum phase */
    RULE_KEY_DIES,         /* enum phase; RULE_SAME_INTERVAL */
    RULE_KEY_BEFORE,       /* enum phase: of the interval after the one it is born in */
    RULE_KEY_FOLLOWS,      /* enum phase: of the last work before its birth; PHASE_OTHER: none */
    RULE_KEY_MEETS,        /* enum phase: an interval of it begins in its life */
    RULE_KEY_MISSES,       /* enum phase: none does */
    RULE_KEY_AWAITS,       /* enum phase: none such begins after its birth */
    RULE_KEY_SURVIVES,     /* enum phase: alive over a whole later interval of it */
    RULE_KEY_ORIGIN,       /* enum lifetime_origin */
    RULE_KEY_ALIVE_AT_END, /* RULE_YES, RULE_NO, as the next nine */
    RULE_KEY_REPLACES,
    RULE_KEY_REPLACED,
    RULE_KEY_KEEPS_GRAPH,   /* of its interval a quarter outlives it */
    RULE_KEY_BEFORE_GRAPH,  /* freed in the next interval, which that quarter outlives */
    RULE_KEY_SIZE_OF_OLDER, /* what was made before any forward has its size and lives on */
    RULE_KEY_WEIGHTS_KNOWN, /* what is older has the sizes of nearly all gradients */
    RULE_KEY_GROWS,         /* its stack asks for caches that grow */
    RULE_KEY_RECURS,        /* its stack asks for one in the step before or after, too */
    RULE_KEY_FIRST_OF_SIZE, /* of those born in a backward, or of the others */
    RULE_KEY_MAKER_LINE,    /* enum maker_line; OP_IN_MULTISET: what else it makes gets gradients */
    /* Numbers. */
    RULE_KEY_SIZE,
    RULE_KEY_LIFE_EVENTS,
    RULE_KEY_LIFE_STEPS,
    RULE_KEY_STREAM,
    RULE_KEY_POOL,
    RULE_KEYS
};

#define RULE_SAME_INTERVAL ((uint64_t)1 << 63)
enum { RULE_NO = 1, RULE_YES = 2 };

enum rule_op {
    OP_MATCHES, /* texts, as the next two; numbers of `text` */
    OP_MATCHES_NOT,
    OP_EQUAL,
    OP_LESS,
    OP_AT_LEAST,
    OP_IN_MULTISET, /* a size of the gradients */
    OP_NOT_IN_MULTISET
};

struct rule_condition {
    enum rule_key key;
    enum rule_op op;
    uint64_t number; /* bits of words; a number; a row of `text` */
};

/* What a condition on frames asks, answered once for each frame, owner or culprit. */
struct rule_text {
    enum rule_key key;
    str text;                /* the whole text, exactly, where there is no pattern */
    struct pattern *pattern; /* or NULL */
};

struct category_rule {
    str id;
    enum category category; /* or CATEGORY_INHERITED, CATEGORY_SPLIT */
    enum confidence confidence;
    uint32_t first, conditions; /* in `condition` */
};

enum { RULES_MOST = 512, RULE_TEXTS_MOST = 512 };

struct category_rules {
    VEC(struct category_rule) rule;
    VEC(struct rule_condition) condition;
    VEC(struct rule_text) text;
    VEC(str) plumbing; /* parts of paths of frames that own nothing */
    str user_root;     /* empty: none */
    struct arena arena;
};

void category_rules_init(struct category_rules *r);
void category_rules_free(struct category_rules *r);

/* Appends the rules of a text.  VRS_USAGE begins with "NAME:LINE: ". */
enum vrs_status category_rules_read(struct category_rules *r, str text, const char *name,
                                    struct vrs_error *err) MUST_CHECK;

/* The table of builtin.rules, as it stands in the tree. */
extern const char category_rules_builtin[];

#endif
