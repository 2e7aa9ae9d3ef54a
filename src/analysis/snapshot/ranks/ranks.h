/* ranks.h - units side by side: which one bounds the job, and is that other code or larger data? */
#ifndef VRS_ANALYSIS_SNAPSHOT_RANKS_RANKS_H
#define VRS_ANALYSIS_SNAPSHOT_RANKS_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/ranks/alignment.h"
#include "analysis/snapshot/ranks/device_summary.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/field.h"
#include "base/str.h"

/* A unit with its name. */
struct rank_unit {
    const struct device_summary *summary;
    str path, entry; /* as in struct file_facts */
    uint32_t file;   /* its place among the files, by rank or path */
    uint32_t device; /* number */
    int64_t rank;
    bool rank_named; /* a map or the files' names give it; else it is the file's place */
    char grade;
    bool whole; /* else the file is cut, and the peak a lower bound that is no reference */
};

struct pair_row {
    str name;
    uint64_t worst_bytes, reference_bytes, worst_count, reference_count;
};

/* Why the fullest unit holds more than the one in the middle: shares of its bytes. */
struct rank_pair {
    uint32_t worst, reference;
    double code_ratio;    /* in sites that the other does not have */
    double size_ratio;    /* more because allocations of common sites are larger */
    double count_ratio;   /* more because there are more of them */
    const char *verdict;  /* static; NULL: nothing to explain */
    struct pair_row *row; /* by the worst's bytes */
    uint32_t rows;
    uint32_t largest_row; /* that explains most of the difference; NO_ROW: none */
};

/* What units with equal parameters have more of in one than in another. */
struct rank_difference {
    enum category category;
    uint32_t least, most; /* units */
    uint64_t least_bytes, most_bytes;
};

enum { RANK_DIFFERENCES = 2 }; /* of gradients, of optimizer states */

/* Units with equal bytes of parameters: others hold other shards or stages of a model. */
struct rank_group {
    uint64_t parameter_bytes; /* UNKNOWN_U64: not known */
    uint32_t *unit;
    uint32_t units;
    struct rank_difference difference[RANK_DIFFERENCES];
    uint32_t differences;
};

struct ranks {
    struct rank_unit *unit;
    uint32_t units;
    double skew_ratio;    /* largest to median peak; negative: not known */
    int64_t median_bytes; /* where there is a skew */
    uint32_t *outlier;    /* of at least four units in a group */
    uint32_t outliers;
    uint32_t straggler; /* NO_ROW: fewer than two units */
    int64_t straggler_saving_bytes;
    bool has_pair;
    struct rank_pair pair;
    struct rank_group *group;
    uint32_t groups;
    struct alignment alignment; /* of the straggler's group, where it has two units; else of all */
    bool straggler_aligned;     /* else it has nothing to be compared by, or its file is cut */
    uint32_t straggler_moments; /* of its moments: where the straggler has the highest peak */
};

/* Of a struct ranks. */
extern const struct row_type ranks_row_type;

/* `one_clock`: times of different units can be compared.  `unit` stays the caller's, and must live
 * as long as `*ret`, whose rows live in `keep`. */
enum vrs_status ranks_compute(struct rank_unit *unit, uint32_t units, bool one_clock,
                              struct arena *keep, struct arena *scratch, struct ranks *ret,
                              struct vrs_error *err) MUST_CHECK;

/* How far a unit's peak lies above the median.  False where that says nothing: there is no skew, or
 * the unit's file is cut. */
bool ranks_over_median(const struct ranks *ranks, const struct rank_unit *unit, int64_t *ret);

#endif
