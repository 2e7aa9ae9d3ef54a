/* check.c - judges each limit by its value. */
#include "analysis/snapshot/check/check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/check/check_diff.h"
#include "analysis/snapshot/check/check_values.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/diff/diff.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/recording.h"

enum { EXIT_EXCEEDED = 1, EXIT_UNDECIDED = 4 };

#define MILLION 1e6

const char *const check_outcome_names[CHECK_OUTCOMES] = { "pass", "fail", "inconclusive" };
const char *const check_source_names[CHECK_SOURCES] = { "measured", "derived", "estimated" };

/* The device beside the baseline's, once it is asked for. */
struct comparison {
    bool made;
    struct diff diff;
};

/* A limit on its way to its row. */
struct judging {
    const struct proven_study *proven;
    struct comparison *comparison;
    const struct check_question *q;
    const struct limit *limit;
    struct check_value value;
    struct check_row *row;
};

static void undecided(struct check_row *row, const char *reason, const char *text)
{
    row->outcome = CHECK_INCONCLUSIVE;
    row->reason = reason;
    row->reason_text = str_from(text);
}

/* Hostile sizes wrap. */
static int64_t less(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* The sum of two limits, which are not negative. */
static int64_t limit_plus(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

/* The value of the baseline that a share or a difference is of; false, with the row undecided,
 * where it is not known exactly. */
static enum vrs_status base_value(struct judging *j, bool *ret_known, int64_t *ret,
                                  struct vrs_error *err)
{
    struct check_value base;
    *ret_known = false;
    if (j->q->base == NULL) {
        undecided(j->row, "no_baseline_device", "the baseline does not have this device");
        return VRS_OK;
    }
    TRY(check_value_of(j->q->base_parts, j->q->base, j->limit, j->q->budget, &base, err));
    if (!base.known || base.open || base.lower != base.upper) {
        undecided(j->row, "baseline_unknown", "the baseline does not have this figure exactly");
        return VRS_OK;
    }
    *ret_known = true;
    *ret = base.lower;
    return VRS_OK;
}

/* The part of the limit that is known before its value, else what an undecided row shows. */
static void show_limit(const struct limit *limit, struct check_row *row)
{
    row->measure = limit->kind == LIMIT_UNKNOWN_SHARE                       ? CHECK_RATIO
                   : limit->kind == LIMIT_OOM || limit->kind == LIMIT_RETRY ? CHECK_COUNT
                                                                            : CHECK_BYTES;
    row->limit_known = !limit_is_of_traces(limit->kind) &&
                       (row->measure == CHECK_RATIO || !limit->amount.relative);
    row->limit = (int64_t)limit->amount.bytes;
    row->limit_ratio = (double)limit->amount.millionths / MILLION;
}

/* The limit in the measure of the value. */
static enum vrs_status find_limit(struct judging *j, bool *ret_known, struct vrs_error *err)
{
    struct check_row *row = j->row;
    int64_t whole = 0; /* the baseline's */
    bool delta = j->limit->kind == LIMIT_DELTA;
    bool sites = j->limit->kind == LIMIT_SITE_DELTA || j->limit->kind == LIMIT_NEW_SITE;
    *ret_known = true;
    if (row->measure == CHECK_RATIO) {
        row->limit = amount_of(j->limit->amount, j->value.whole);
        return VRS_OK;
    }
    bool tolerant = sites && j->q->budget->tolerance.relative;
    if (delta || tolerant || j->limit->amount.relative) {
        TRY(base_value(j, ret_known, &whole, err));
        if (!*ret_known)
            return VRS_OK;
    }
    row->limit = amount_of(j->limit->amount, whole);
    row->limit_known = true;
    if (!delta && !sites)
        return VRS_OK;
    int64_t tolerance = amount_of(j->q->budget->tolerance, whole);
    row->limit = limit_plus(row->limit, tolerance);
    if (delta) {
        j->value.lower = less(j->value.lower, whole);
        j->value.upper = less(j->value.upper, whole);
        j->value.source = CHECK_DERIVED;
    }
    if (tolerance > 0 && j->value.reason == NULL) {
        j->value.reason = "tolerance";
        j->value.text = "the limit includes the tolerance";
    }
    return VRS_OK;
}

static void show_value(struct judging *j)
{
    const struct check_value *v = &j->value;
    struct check_row *row = j->row;
    row->value_known = true;
    row->value = v->lower;
    row->upper = v->upper;
    row->upper_known = v->lower != v->upper;
    row->value_ratio = v->whole > 0 ? (double)v->lower / (double)v->whole : 0;
    row->source = v->source;
    row->event = v->event;
    row->reason = v->reason;
    if (v->reason != NULL)
        row->reason_text = str_from(v->text);
}

static void judge(struct judging *j)
{
    const struct check_value *v = &j->value;
    struct check_row *row = j->row;
    bool least = j->limit->kind == LIMIT_HEADROOM;
    bool over = least ? v->lower < row->limit : v->lower > row->limit;
    bool maybe = least ? v->open : v->open || v->upper > row->limit;
    if (over && v->source == CHECK_ESTIMATED && !j->q->allow_estimates)
        undecided(row, "estimated", "an estimate fails a limit only with --allow-estimates");
    else if (over)
        row->outcome = CHECK_FAIL;
    else
        row->outcome = maybe || (v->unmatched && j->q->strict) ? CHECK_INCONCLUSIVE : CHECK_PASS;
}

static enum vrs_status compare(struct judging *j, struct vrs_error *err)
{
    if (!j->comparison->made)
        TRY(check_diff_make(j->q->base, j->proven, &j->comparison->diff, err));
    j->comparison->made = true;
    return VRS_OK;
}

/* Who exceeds the limit. */
static enum vrs_status add_evidence(struct judging *j, struct vrs_error *err)
{
    enum limit_kind kind = j->limit->kind;
    bool sites = kind == LIMIT_SITE_DELTA || kind == LIMIT_NEW_SITE;
    if (!sites)
        TRY(check_sites_find(j->proven, j->limit, &j->value, j->q->user_root, j->row, err));
    if (!sites && kind != LIMIT_DELTA)
        return VRS_OK;
    TRY(compare(j, err));
    return check_diff_rows(j->proven->study, &j->comparison->diff, kind, j->q->user_root, j->row,
                           err);
}

static enum vrs_status judge_limit(struct judging *j, struct vrs_error *err)
{
    struct check_value *v = &j->value;
    bool known = false;
    j->row->measure = v->measure == CHECK_BYTES ? j->row->measure : v->measure;
    if (!v->known) {
        undecided(j->row, v->reason, v->text);
        return VRS_OK;
    }
    if (v->has_estimate && j->q->allow_estimates && v->lower != v->upper) {
        v->lower = v->upper = v->estimate;
        v->source = CHECK_ESTIMATED;
    }
    TRY(find_limit(j, &known, err));
    if (!known)
        return VRS_OK;
    show_value(j);
    judge(j);
    return j->row->outcome == CHECK_FAIL ? add_evidence(j, err) : VRS_OK;
}

/* Sites against those of the baseline, at moments that can be compared. */
static enum vrs_status judge_sites(struct judging *j, struct vrs_error *err)
{
    const struct study *s = j->proven->study;
    if (j->q->base == NULL) {
        undecided(j->row, "no_baseline_device", "the baseline does not have this device");
        return VRS_OK;
    }
    const struct study *base = j->q->base->study;
    if (s->traced != base->traced) {
        undecided(j->row, "needs_trace",
                  s->traced ? "the baseline has no trace" : "the recording has no trace");
        return VRS_OK;
    }
    if (!base->curves.of[CURVE_REQUESTED].start_known) {
        undecided(j->row, "baseline_unknown", "the baseline is cut: its peak is not known");
        return VRS_OK;
    }
    TRY(compare(j, err));
    TRY(check_diff_value(base, s, &j->comparison->diff, j->limit->kind, &j->value, err));
    check_value_leave_open(s, &j->value);
    return judge_limit(j, err);
}

static bool has_device(const struct recording *r, uint32_t number)
{
    for (uint32_t d = 0; d < r->devices.rows.len; d++)
        if (r->devices.kind[d] == DEVICE_CUDA && r->devices.number[d] == number)
            return true;
    return false;
}

/* Whether a limit is of this device; one of a device that is not there is not lost. */
static bool applies(const struct study *s, const struct check_question *q,
                    const struct limit *limit, bool *ret_missing)
{
    *ret_missing = false;
    if (limit_is_of_traces(limit->kind))
        return q->speaks_for_others;
    if (limit->kind != LIMIT_DEVICE_PEAK || s->r->devices.number[s->device] == limit->device)
        return true;
    bool asked = q->device == 0 || q->device == (int64_t)limit->device + 1;
    *ret_missing = q->speaks_for_others && !(asked && has_device(s->r, limit->device));
    return *ret_missing;
}

static enum vrs_status fill_row(const struct proven_study *proven, const struct check_question *q,
                                const struct limit *limit, bool missing,
                                struct comparison *comparison, struct check_row *row,
                                struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct judging j = {
        .proven = proven, .q = q, .limit = limit, .comparison = comparison, .row = row
    };
    *row = (struct check_row){
        .kind = limit->kind,
        .name = arena_copy(s->keep, limit->name),
        .event = CHECK_NO_EVENT,
    };
    if (row->name.ptr == NULL)
        return vrs_no_memory(err);
    show_limit(limit, row);
    if (limit_is_of_traces(limit->kind)) {
        undecided(row, "other_kind", "a limit of profiler traces");
        return VRS_OK;
    }
    if (missing) {
        undecided(row, "no_such_device", "the recording does not have this device");
        return VRS_OK;
    }
    if (q->strict && proven->trust.grade == 'D') {
        undecided(row, "grade_d", "the file contradicts itself, which --strict does not accept");
        return VRS_OK;
    }
    if (limit->kind == LIMIT_SITE_DELTA || limit->kind == LIMIT_NEW_SITE)
        return judge_sites(&j, err);
    TRY(check_value_of(q->parts, proven, limit, q->budget, &j.value, err));
    return judge_limit(&j, err);
}

enum vrs_status check_compute(const struct proven_study *proven, const struct check_question *q,
                              struct check *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct comparison comparison = { .made = false };
    struct check made = {
        .row = arena_array(s->keep, struct check_row, q->budget->limits),
        .strict = q->strict,
        .path_cut = q->path_cut,
    };
    if (made.row == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < q->budget->limits; i++) {
        const struct limit *limit = &q->budget->limit[i];
        bool missing = false;
        if (!applies(s, q, limit, &missing))
            continue;
        struct arena_mark mark = arena_mark(s->scratch);
        struct check_row *row = &made.row[made.rows];
        enum vrs_status status = fill_row(proven, q, limit, missing, &comparison, row, err);
        arena_release(s->scratch, mark);
        TRY(status);
        made.rows++;
        made.fails += row->outcome == CHECK_FAIL;
        made.inconclusive += row->outcome == CHECK_INCONCLUSIVE;
    }
    made.exit_code = made.fails > 0                       ? EXIT_EXCEEDED
                     : q->strict && made.inconclusive > 0 ? EXIT_UNDECIDED
                                                          : 0;
    *ret = made;
    return VRS_OK;
}
