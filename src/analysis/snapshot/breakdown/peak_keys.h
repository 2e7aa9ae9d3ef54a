/* peak_keys.h - groups of allocations, by the words of `peak --by`.
 *
 * Pictures group by the same words.  Memory without a stack is split by what it is for where groups
 * are named by frames: "(no stack) parameter"; what nothing tells is "(no stack)". */
#ifndef VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_KEYS_H
#define VRS_ANALYSIS_SNAPSHOT_BREAKDOWN_PEAK_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/attribution/naming.h"
#include "analysis/attribution/site.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/curves/live.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/idtab.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/ids.h"
#include "model/recording.h"

enum peak_by {
    BY_CULPRIT,
    BY_OWNER,
    BY_SITE,
    BY_FILE,
    BY_FUNCTION,
    BY_MODULE,
    BY_SIZE,
    BY_POOL,
    BY_STREAM,
    BY_AGE,
    BY_CATEGORY, /* needs categories */
    BY_NAME,     /* that the recorded process gave to it */
    BY_PATH,     /* the module of that name, with dots */
    BY_LINE,     /* as BY_CULPRIT, by the word that people use */
    PEAK_BYS
};
extern const char *const peak_by_names[PEAK_BYS];

/* Whether groups are the culprits, by either word. */
bool peak_is_by_line(enum peak_by by);

/* Whether a grouping names its rows by frames, and so splits memory that has none by category. */
bool peak_splits(enum peak_by by);

/* Whether a grouping is by what the recorded process called its memory. */
bool peak_is_by_name(enum peak_by by);

/* The module in a name with dots, of an enum named_kind: what it is of without its last part,
 * nothing where only blanks are left; of "exp_avg of model.weight" and of "model.weight.grad" that
 * of "model.weight". */
str peak_path_of_name(str name, uint8_t kind);

/* Classes of ages: 0 is older than the recording, 1 none, n at least 2^(n - 2) events; the last is
 * what comes later than the moment that ages are counted to. */
enum { PEAK_AGES = 35, PEAK_NOT_YET = PEAK_AGES - 1, PEAK_AGE_NAME_MOST = 48 };

/* The class of what was born by an event, -1 where it is older, in that of another. */
uint32_t peak_age_class(int64_t at_event, int64_t born);
void peak_age_name(uint32_t age, char to[PEAK_AGE_NAME_MOST]);

/* What two allocations must share to be in one row: a number of some kind, or a text. */
enum group_kind {
    GROUP_TEXT,
    GROUP_SITE,     /* a reduced stack */
    GROUP_NO_SITE,  /* no stack at all: a size */
    GROUP_NO_STACK, /* the same: what it is for, unknown where nothing tells */
    GROUP_STRING,   /* a string of the recording */
    GROUP_UNNAMED,  /* memory without a name, 0, or without a module, 1 */
    GROUP_SIZE,
    GROUP_POOL,
    GROUP_STREAM,
    GROUP_CATEGORY,
    GROUP_AGE, /* a class of ages */
};

struct group_key {
    enum group_kind kind;
    uint64_t number;
    str text;
};

struct peak_keys {
    const struct recording *r;
    const struct categories *categories; /* of the device; NULL: no memory is split */
    struct naming *naming;
    struct arena *arena;   /* of the names, and of what stands for new keys */
    struct arena *scratch; /* lives as long as the keys */
    enum peak_by by;
    enum site_key site;
    int64_t at_event; /* ages are counted to it */
    /* The rest is made by peak_keys_begin. */
    uint32_t first_allocation; /* of the device */
    struct segment_index segments;
    struct sites sites;
    struct buf text;
    VEC(struct group_key) keys; /* key 0 is none, as in idtab */
    struct idtab index;
};

/* Ends with peak_keys_end, also after a failure. */
enum vrs_status peak_keys_begin(struct peak_keys *keys, uint32_t device,
                                struct vrs_error *err) MUST_CHECK;
void peak_keys_end(struct peak_keys *keys);

/* The place in `keys` of what an allocation is grouped by; `names` are those of its stack. */
enum vrs_status peak_keys_of(struct peak_keys *keys, const struct live *live,
                             const struct stack_names *names, uint32_t *ret,
                             struct vrs_error *err) MUST_CHECK;

/* What a group is called, in `arena` or in the naming; `stack` is that of its largest member. */
enum vrs_status peak_keys_name(struct peak_keys *keys, uint32_t key, stack_id stack, str *ret,
                               struct vrs_error *err) MUST_CHECK;

#endif
