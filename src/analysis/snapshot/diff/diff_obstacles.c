/* diff_obstacles.c - traces, beginnings, stacks and divisors of two devices beside each other. */
#include "analysis/snapshot/diff/diff_obstacles.h"

#include <stdbool.h>

#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/study/moment.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"

static void add(struct diff_obstacles *o, enum diff_obstacle_kind kind, int side)
{
    o->at[o->count].kind = kind;
    o->at[o->count++].side = side;
}

bool diff_can_be(const struct diff_obstacles *o)
{
    return o->count == 0 || o->at[o->count - 1].kind > OBSTACLE_NO_PARAMETERS;
}

static void find_traces(const struct study *const side[2], const struct diff_options *options,
                        struct diff_obstacles *o)
{
    int without = side[0]->traced ? 1 : 0;
    if (side[0]->traced && side[1]->traced)
        return;
    if (options->weight != DIFF_LIVE)
        add(o, OBSTACLE_NEEDS_TRACE, without);
    else if (side[0]->traced || side[1]->traced)
        add(o, OBSTACLE_FINAL_STATE, without);
    else
        add(o, OBSTACLE_FINAL_STATES, -1);
}

static bool starts_late(const struct proven_study *s)
{
    return s->trust.window == WINDOW_LATE_START || s->trust.window == WINDOW_OVERFLOWED ||
           s->trust.window == WINDOW_OVERFLOW_SUSPECTED;
}

/* One recording has all of its run and the other only the end: what was allocated in them can be
 * compared step by step, not as a whole. */
static void find_windows(const struct proven_study *const proven[2], const struct diff_question *q,
                         struct diff_options *options, struct diff_obstacles *o)
{
    const struct study *const side[2] = { proven[0]->study, proven[1]->study };
    int late = starts_late(proven[0]) ? 0 : 1;
    if (starts_late(proven[0]) == starts_late(proven[1]) || !side[0]->traced || !side[1]->traced)
        return;
    bool sums = options->weight != DIFF_LIVE;
    bool steps = q->has_moment[0] && q->moment[0].kind == AT_STEP && q->moment[1].kind == AT_STEP;
    if (!sums || steps || options->per != DIFF_PER_NOTHING) {
        add(o, OBSTACLE_BEGINS_LATE, late);
    } else if (side[0]->steps.count > 0 && side[1]->steps.count > 0) {
        options->per = DIFF_PER_STEP;
        add(o, OBSTACLE_PER_STEP, late);
    } else {
        add(o, OBSTACLE_UNLIKE_PARTS, late);
    }
}

static void find_stacks(const struct study *const side[2], struct diff_obstacles *o)
{
    if (!side[0]->stacked && !side[1]->stacked)
        add(o, OBSTACLE_NO_STACKS, -1);
    else if (!side[0]->stacked)
        add(o, OBSTACLE_NO_STACKS_OF_A, 0);
    else if (!side[1]->stacked)
        add(o, OBSTACLE_NO_STACKS_OF_B, 1);
}

static void find_divisors(const struct study *const side[2], const struct diff_options *options,
                          struct diff_obstacles *o)
{
    bool steps = options->per == DIFF_PER_STEP;
    for (int s = 0; s < 2; s++)
        if (diff_per_of(side[s], options->per, options->range[s].last) == 0) {
            add(o, steps ? OBSTACLE_NO_STEPS : OBSTACLE_NO_PARAMETERS, s);
            return;
        }
}

void diff_obstacles_find(const struct proven_study *const proven[2], const struct diff_question *q,
                         struct diff_options *options, struct diff_obstacles *ret)
{
    const struct study *const side[2] = { proven[0]->study, proven[1]->study };
    ret->count = 0;
    find_traces(side, options, ret);
    if (!diff_can_be(ret))
        return;
    find_windows(proven, q, options, ret);
    find_stacks(side, ret);
    for (int s = 0; s < 2; s++)
        if (!side[s]->curves.of[CURVE_REQUESTED].start_known)
            add(ret, OBSTACLE_CUT, s);
    find_divisors(side, options, ret);
}
