/* diff_reasons.c - what stands between two recordings that are compared. */
#include "api/snapshot/diff.h"
#include "base/buf.h"

static const char *const side_names[2] = { "A", "B" };

enum vrs_status diff_reason(struct arena *keep, struct diff_device *d, enum answer_status status,
                            const char *id, str text, struct vrs_error *err)
{
    d->status = status;
    return answer_reason_add(keep, &d->reason, &d->reasons, id, text, err);
}

bool diff_can_be(const struct diff_device *d)
{
    return d->status == ANSWER_OK || d->status == ANSWER_PARTIAL;
}

/* A sentence about one side, %s standing for its letter, and for the other's where `both`. */
static enum vrs_status add(const struct diff_pair *pair, struct diff_device *d,
                           enum answer_status status, const char *id, const char *before, int side,
                           const char *after, struct vrs_error *err)
{
    struct buf text;
    buf_init(&text, 512);
    buf_text(&text, before);
    buf_text(&text, side_names[side]);
    buf_text(&text, after);
    enum vrs_status result = text.failed
                                 ? vrs_no_memory(err)
                                 : diff_reason(pair->keep, d, status, id, buf_slice(&text), err);
    buf_free(&text);
    return result;
}

static enum vrs_status check_traces(const struct diff_pair *pair, struct diff_device *d,
                                    struct vrs_error *err)
{
    bool traced[2] = { pair->side[0]->traced, pair->side[1]->traced };
    for (int s = 0; s < 2; s++)
        if (!traced[s] && pair->options.weight != DIFF_LIVE)
            return add(pair, d, ANSWER_NEEDS_TRACE, "needs_trace", "", s,
                       " has no trace, only a final state; --weight live compares that", err);
    if (!traced[0] && !traced[1])
        return diff_reason(pair->keep, d, ANSWER_PARTIAL, "no_trace",
                           S("the recordings have no trace: final states are compared"), err);
    for (int s = 0; s < 2; s++)
        if (!traced[s])
            return add(pair, d, ANSWER_PARTIAL, "no_trace", "", s,
                       " has no trace: its final state is compared with a moment of the other; "
                       "--at end compares two final states",
                       err);
    return VRS_OK;
}

static bool starts_late(const struct study *s)
{
    return s->trust.window == WINDOW_LATE_START || s->trust.window == WINDOW_OVERFLOWED ||
           s->trust.window == WINDOW_OVERFLOW_SUSPECTED;
}

/* One recording has all of its run and the other only the end: what was allocated in them can be
 * compared step by step, not as a whole. */
static enum vrs_status check_windows(struct diff_pair *pair, const struct diff_options_read *read,
                                     struct diff_device *d, struct vrs_error *err)
{
    const struct study *const *s = pair->side;
    int late = starts_late(s[0]) ? 0 : 1;
    if (starts_late(s[0]) == starts_late(s[1]) || !s[0]->traced || !s[1]->traced)
        return VRS_OK;
    bool sums = pair->options.weight != DIFF_LIVE;
    bool steps =
        read->has_moment[0] && read->moment[0].kind == AT_STEP && read->moment[1].kind == AT_STEP;
    if (!sums || steps || pair->options.per != DIFF_PER_NOTHING)
        return add(pair, d, ANSWER_PARTIAL, "window_mismatch", "only ", late,
                   " begins after its program had allocated memory: what is older there has no "
                   "stack",
                   err);
    if (s[0]->steps.count > 0 && s[1]->steps.count > 0) {
        pair->options.per = DIFF_PER_STEP;
        return add(pair, d, ANSWER_PARTIAL, "window_mismatch", "only ", late,
                   " begins late: figures are compared per step", err);
    }
    return add(pair, d, ANSWER_PARTIAL, "window_mismatch", "only ", late,
               " begins late and no steps are known: the sums are of unlike parts of a run", err);
}

static enum vrs_status check_stacks(const struct diff_pair *pair, struct diff_device *d,
                                    struct vrs_error *err)
{
    bool stacked[2] = { pair->side[0]->stacked, pair->side[1]->stacked };
    if (!stacked[0] && !stacked[1])
        return diff_reason(pair->keep, d, ANSWER_PARTIAL, "no_stacks",
                           S("neither recording has stacks: rows are categories or sizes"), err);
    for (int s = 0; s < 2; s++)
        if (!stacked[s])
            return add(pair, d, ANSWER_PARTIAL, "no_stacks", "", s,
                       s == 0 ? " has no stacks: a row that is new need not be new code"
                              : " has no stacks: a row that is gone need not be gone from the code",
                       err);
    return VRS_OK;
}

static enum vrs_status check_per(const struct diff_pair *pair, struct diff_device *d,
                                 struct vrs_error *err)
{
    const struct diff_options *o = &pair->options;
    for (int s = 0; s < 2; s++)
        if (diff_per_of(pair->side[s], o->per, o->range[s].last) == 0)
            return add(pair, d, ANSWER_NOT_APPLICABLE, "nothing_to_divide_by", "", s,
                       o->per == DIFF_PER_STEP ? " has no complete steps to divide by"
                                               : " has no known parameters to divide by",
                       err);
    return VRS_OK;
}

enum vrs_status diff_reasons(struct diff_pair *pair, const struct diff_options_read *read,
                             struct diff_device *d, struct vrs_error *err)
{
    TRY(check_traces(pair, d, err));
    if (!diff_can_be(d))
        return VRS_OK;
    TRY(check_windows(pair, read, d, err));
    TRY(check_stacks(pair, d, err));
    for (int s = 0; s < 2; s++)
        if (!pair->side[s]->curves.of[CURVE_REQUESTED].start_known)
            TRY(add(pair, d, ANSWER_PARTIAL, "incomplete", "the file of ", s,
                    " is cut: memory older than the part read is missing", err));
    return check_per(pair, d, err);
}
