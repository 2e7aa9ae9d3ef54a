/* diff_obstacles.h - what prevents or limits the comparison of two devices. */
#ifndef VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_OBSTACLES_H
#define VRS_ANALYSIS_SNAPSHOT_DIFF_DIFF_OBSTACLES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/study/proven_study.h"

enum diff_obstacle_kind {
    /* They cannot be compared. */
    OBSTACLE_NEEDS_TRACE,   /* a side has none to sum */
    OBSTACLE_NO_STEPS,      /* a side has none to divide by */
    OBSTACLE_NO_PARAMETERS, /* likewise */
    /* They can, with a reserve. */
    OBSTACLE_FINAL_STATES,   /* neither has a trace */
    OBSTACLE_FINAL_STATE,    /* a side has none */
    OBSTACLE_BEGINS_LATE,    /* one side alone does */
    OBSTACLE_PER_STEP,       /* likewise, and figures are divided by steps for that */
    OBSTACLE_UNLIKE_PARTS,   /* likewise, and no steps are known */
    OBSTACLE_NO_STACKS,      /* neither has stacks */
    OBSTACLE_NO_STACKS_OF_A, /* it alone has none */
    OBSTACLE_NO_STACKS_OF_B,
    OBSTACLE_CUT, /* the file of a side is */
    OBSTACLES
};

struct diff_obstacles {
    struct {
        enum diff_obstacle_kind kind;
        int side; /* that it is about; -1: both */
    } at[OBSTACLES];
    uint32_t count;
};

/* Whether the last one leaves something to be compared. */
bool diff_can_be(const struct diff_obstacles *o);

/* Finds them, the worst last.  Where only sums of unlike parts of a run could be compared, and
 * steps are known, `options->per` becomes a step. */
void diff_obstacles_find(const struct proven_study *const proven[2], const struct diff_question *q,
                         struct diff_options *options, struct diff_obstacles *ret);

#endif
