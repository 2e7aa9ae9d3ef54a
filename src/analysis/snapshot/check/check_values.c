/* check_values.c - the value of each limit's figure, one function each. */
#include "analysis/snapshot/check/check_values.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/block_sizes.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/cache/parts.h"
#include "analysis/snapshot/categories/categories.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/check/budget.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/layout/fragments.h"
#include "analysis/snapshot/leaks/leaks.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/proven_study.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/table.h"
#include "model/recording.h"

/* What the allocator may hand out beyond a rounded request: in the large pool up to 1 MiB. */
enum { LARGE = 1 << 20, LARGE_MORE = 1 << 20 };

static uint64_t block_more(struct block_size block)
{
    return block.source == SOURCE_ROUNDED && block.bytes > LARGE ? LARGE_MORE : 0;
}

static void unknown(struct check_value *v, const char *reason, const char *text)
{
    v->known = false;
    v->reason = reason;
    v->text = text;
}

/* Whether events of the device may be missing because the file is cut: what was not read may hold
 * more of anything but of what is of the end alone. */
static bool is_cut(const struct study *s)
{
    return !s->curves.of[CURVE_REQUESTED].start_known;
}

static void without_trace(const struct study *s, struct check_value *v)
{
    if (is_cut(s))
        unknown(v, "incomplete", "the file is cut before its events");
    else
        unknown(v, "needs_trace",
                s->events == 1 ? "the trace is one event long" : "the recording has no trace");
}

static void exactly(struct check_value *v, int64_t bytes, enum check_source source)
{
    v->known = true;
    v->lower = v->upper = bytes;
    v->source = source;
}

/* What of the past the recording does not show. */
static void within_window(const struct proven_study *proven, struct check_value *v)
{
    if (proven->trust.window == WINDOW_COMPLETE)
        return;
    v->reason = "recorded_window";
    v->text = "in the recorded window";
}

/* The end of a curve is that of its last event, unless events are missing before it. */
static void end_of(const struct proven_study *proven, enum curve_name which, struct check_value *v)
{
    const struct study *s = proven->study;
    exactly(v, proven->curves.of[which].end_bytes, CHECK_MEASURED);
    v->at = s->events - (int64_t)1;
    v->event = s->traced && !is_cut(s) ? v->at : CHECK_NO_EVENT;
    v->weight = is_cut(s) ? WEIGHT_FINAL : WEIGHT_BYTES;
}

/* The top of a curve; that of a cut file is no lower than its end. */
static void top_of(const struct proven_study *proven, enum curve_name which, struct check_value *v)
{
    const struct study *s = proven->study;
    const struct curve *c = &proven->curves.of[which];
    exactly(v, c->peak_bytes, CHECK_MEASURED);
    v->event = v->at = c->peak_event;
    v->weight = WEIGHT_BYTES;
    within_window(proven, v);
    if (is_cut(s) && c->end_known && c->end_bytes >= c->peak_bytes)
        end_of(proven, which, v);
    else if (is_cut(s) && !s->traced)
        v->event = CHECK_NO_EVENT;
}

/* The moment of questions about who is alive: the peak, without a trace the final state. */
static void at_peak(const struct proven_study *proven, struct check_value *v)
{
    const struct study *s = proven->study;
    v->at = s->events - (int64_t)1;
    if (s->traced) {
        v->event = v->at = proven->curves.of[CURVE_REQUESTED].peak_event;
        within_window(proven, v);
    } else {
        v->reason = "final_state";
        v->text = "in the final state: the recording has no trace";
    }
}

/* The sum of spans of bytes at every state, by lower and by upper bound. */
struct spans {
    uint64_t *lower, *upper; /* changes; events + 1 of each */
    int64_t events;
};

static enum vrs_status spans_make(const struct study *s, struct spans *ret, struct vrs_error *err)
{
    size_t states = (size_t)s->events + 1;
    *ret = (struct spans){ arena_array(s->scratch, uint64_t, states),
                           arena_array(s->scratch, uint64_t, states), s->events };
    return ret->lower == NULL || ret->upper == NULL ? vrs_no_memory(err) : VRS_OK;
}

/* Bytes that are there after each event from `first` to the one before `end`. */
static void spans_add(struct spans *spans, int64_t first, int64_t end, uint64_t bytes,
                      uint64_t more)
{
    if (first >= spans->events || first >= end)
        return;
    spans->lower[first + 1] += bytes;
    spans->upper[first + 1] += bytes + more;
    if (end >= spans->events)
        return;
    spans->lower[end + 1] -= bytes;
    spans->upper[end + 1] -= bytes + more;
}

/* The top of the states after the events from `first`, -1 for the start, to `last`. */
static void spans_top_in(const struct spans *spans, int64_t first, int64_t last,
                         struct check_value *v)
{
    uint64_t lower = 0, upper = 0;
    int64_t top = INT64_MIN, upper_top = INT64_MIN;
    for (int64_t i = 0; i <= last + 1; i++) {
        lower += spans->lower[i];
        upper += spans->upper[i];
        if (i <= first)
            continue;
        if ((int64_t)lower > top) {
            top = (int64_t)lower;
            v->event = v->at = i - 1;
        }
        if ((int64_t)upper > upper_top)
            upper_top = (int64_t)upper;
    }
    exactly(v, top, CHECK_DERIVED);
    v->upper = upper_top > top ? upper_top : top;
}

static void spans_top(const struct spans *spans, struct check_value *v)
{
    spans_top_in(spans, -1, spans->events - 1, v);
}

static void contradicted(struct check_value *v)
{
    v->reason = "contradiction";
    v->text =
        "the file contradicts itself: its final state and its allocations give different values";
}

/* Where a file contradicts itself, the curve, which its end holds, and the allocations that were
 * seen give two values: only what both of them exceed is exceeded.  States after `first` to `last`.
 */
static enum vrs_status by_both(const struct proven_study *proven, int64_t first, int64_t last,
                               struct check_value *v, struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct spans spans;
    struct check_value seen;
    if (proven->trust.grade != 'D')
        return VRS_OK;
    TRY(spans_make(s, &spans, err));
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        spans_add(&spans, l->birth, l->freed, l->bytes, 0);
    }
    spans_top_in(&spans, first, last, &seen);
    if (seen.lower == v->lower)
        return VRS_OK;
    v->upper = seen.lower > v->upper ? seen.lower : v->upper;
    v->lower = seen.lower < v->lower ? seen.lower : v->lower;
    contradicted(v);
    return VRS_OK;
}

static enum vrs_status value_of_peak(const struct proven_study *proven, struct check_value *v,
                                     struct vrs_error *err)
{
    const struct study *s = proven->study;
    if (!s->traced && !is_cut(s)) {
        without_trace(s, v);
        return VRS_OK;
    }
    top_of(proven, CURVE_REQUESTED, v);
    return is_cut(s) ? VRS_OK : by_both(proven, -1, s->events - (int64_t)1, v, err);
}

static void rounded(struct check_value *v)
{
    if (v->lower == v->upper)
        return;
    v->reason = "rounded_blocks";
    v->text = "the sizes of some blocks are known by the rounding rule only";
}

static enum vrs_status value_of_peak_active(const struct proven_study *proven,
                                            struct check_value *v, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *c = &proven->curves.of[CURVE_ACTIVE];
    struct check_value most = { 0 };
    struct spans spans;
    if (!s->traced && !is_cut(s)) {
        without_trace(s, v);
        return VRS_OK;
    }
    top_of(proven, CURVE_ACTIVE, v);
    if (v->weight == WEIGHT_BYTES)
        v->weight = WEIGHT_BLOCK;
    v->source = CHECK_DERIVED;
    if (c->exact || is_cut(s))
        return VRS_OK; /* no replay reproduces a file of grade D */
    TRY(spans_make(s, &spans, err));
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        struct block_size block = proven_block(proven, i);
        spans_add(&spans, l->birth, l->freed, block.bytes, block_more(block));
    }
    spans_top(&spans, &most);
    /* No more can be active than is reserved. */
    int64_t reserved = proven->curves.of[CURVE_RESERVED].peak_bytes;
    v->upper = most.upper < reserved ? most.upper : reserved;
    v->upper = v->upper < v->lower ? v->lower : v->upper;
    rounded(v);
    if (proven->trust.grade != 'D' || most.lower == v->lower)
        return VRS_OK;
    v->upper = most.upper > v->upper ? most.upper : v->upper;
    v->lower = most.lower < v->lower ? most.lower : v->lower;
    contradicted(v);
    return VRS_OK;
}

static enum vrs_status value_of_reserved(const struct proven_study *proven, struct check_value *v)
{
    const struct study *s = proven->study;
    const struct curve *c = &proven->curves.of[CURVE_RESERVED];
    if (s->traced || is_cut(s)) {
        top_of(proven, CURVE_RESERVED, v);
        return VRS_OK;
    }
    at_peak(proven, v);
    exactly(v, c->end_bytes, CHECK_MEASURED);
    v->weight = WEIGHT_BYTES;
    return VRS_OK;
}

static enum vrs_status value_of_end(const struct proven_study *proven, struct check_value *v,
                                    struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *c = &proven->curves.of[CURVE_REQUESTED];
    if (!c->end_known) {
        unknown(v, "incomplete", "the file is cut: its final state is missing");
        return VRS_OK;
    }
    end_of(proven, CURVE_REQUESTED, v);
    return is_cut(s) ? VRS_OK : by_both(proven, v->at, v->at, v, err);
}

static enum vrs_status value_of_step_peak(const struct proven_study *proven, struct check_value *v,
                                          struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct steps *steps = &s->steps;
    if (!s->traced) {
        without_trace(s, v);
        return VRS_OK;
    }
    if (steps->count == 0) {
        unknown(v, "no_steps", "no complete step was found");
        return VRS_OK;
    }
    const struct step_boundary *top = &steps->boundary[0];
    for (uint32_t i = 1; i < steps->count; i++)
        if (steps->boundary[i].peak_bytes > top->peak_bytes)
            top = &steps->boundary[i];
    exactly(v, top->peak_bytes, steps->low_confidence ? CHECK_ESTIMATED : CHECK_DERIVED);
    v->event = v->at = top->peak_event;
    v->weight = WEIGHT_BYTES;
    within_window(proven, v);
    return by_both(proven, steps->boundary[0].event, steps->end_event, v, err);
}

static enum vrs_status value_of_slack(const struct proven_study *proven, struct check_value *v)
{
    const struct study *s = proven->study;
    uint64_t lower = 0, more = 0;
    if (!s->traced) {
        without_trace(s, v);
        return VRS_OK;
    }
    at_peak(proven, v);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!lifetime_alive(l, v->at))
            continue;
        lower += proven_slack(proven, i);
        more += block_more(proven_block(proven, i));
    }
    exactly(v, (int64_t)lower, CHECK_DERIVED);
    v->upper = (int64_t)(lower + more);
    v->weight = WEIGHT_SLACK;
    rounded(v);
    return VRS_OK;
}

/* A free that its next event completes waits for nobody: that is how every free is recorded.  What
 * waits at the end without a request in the trace was asked for before it. */
int64_t check_waits_from(const struct study *s, uint32_t i)
{
    const struct recording *r = s->r;
    const struct lifetime *l = &s->lifetimes.at[i];
    uint32_t block = r->allocations.block[r->devices.first_allocation[s->device] + i];
    int64_t events = s->events;
    if (l->requested == events && block != NO_ROW && r->blocks.state[block] == BLOCK_PENDING)
        return l->birth;
    bool at_once = l->freed < events && l->freed <= l->requested + 1;
    return at_once ? l->freed : l->requested;
}

static enum vrs_status value_of_pending(const struct proven_study *proven, struct check_value *v,
                                        struct vrs_error *err)
{
    const struct study *s = proven->study;
    struct spans spans;
    TRY(spans_make(s, &spans, err));
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        struct block_size block = proven_block(proven, i);
        spans_add(&spans, check_waits_from(s, i), l->freed, block.bytes, block_more(block));
    }
    at_peak(proven, v);
    spans_top(&spans, v);
    v->weight = WEIGHT_PENDING;
    if (!s->traced || v->lower == 0)
        v->event = CHECK_NO_EVENT;
    rounded(v);
    if (s->traced)
        return VRS_OK;
    v->open = true; /* more may have waited before the end */
    v->reason = "needs_trace";
    v->text = "in the final state: the recording has no trace";
    return VRS_OK;
}

/* Low confidence, and memory of no category, may or may not be meant. */
static enum vrs_status value_of_category(const struct proven_study *proven,
                                         const struct limit *limit, struct check_value *v)
{
    const struct study *s = proven->study;
    const struct categories *c = &s->categories;
    uint64_t sure = 0, unsure = 0, open = 0;
    at_peak(proven, v);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!lifetime_alive(l, v->at))
            continue;
        if (c->of[i] == limit->category && c->confidence[i] == CONFIDENCE_LOW &&
            limit->category != CATEGORY_UNKNOWN)
            unsure += l->bytes;
        else if (c->of[i] == limit->category)
            sure += l->bytes;
        else if (c->of[i] == CATEGORY_UNKNOWN || c->of[i] == CATEGORY_PERSISTENT)
            open += l->bytes;
    }
    if (limit->category == CATEGORY_UNKNOWN)
        open = 0;
    exactly(v, (int64_t)sure, CHECK_DERIVED);
    v->upper = (int64_t)(sure + unsure + open);
    v->has_estimate = true;
    v->estimate = (int64_t)(sure + unsure);
    v->weight = WEIGHT_CATEGORY;
    if (v->lower != v->upper) {
        v->reason = "undecided_category";
        v->text = "the category of some of the memory is unsure or unknown";
    }
    return VRS_OK;
}

static enum vrs_status value_of_site(const struct proven_study *proven, const struct limit *limit,
                                     struct check_value *v, struct vrs_error *err)
{
    const struct study *s = proven->study;
    uint64_t lower = 0, nameless = 0;
    uint8_t *match = NULL;
    bool any = false;
    if (!s->stacked) {
        unknown(v, "needs_stacks", "the recording has no stacks");
        return VRS_OK;
    }
    at_peak(proven, v);
    TRY(check_matches_find(s, limit, &match, err));
    for (uint32_t i = 0; i < s->r->code.stacks.rows.len; i++)
        any = any || match[i];
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!lifetime_alive(l, v->at))
            continue;
        if (match[l->alloc_stack.n])
            lower += l->bytes;
        else if (l->alloc_stack.n == 0)
            nameless += l->bytes;
    }
    exactly(v, (int64_t)lower, CHECK_MEASURED);
    v->upper = (int64_t)(lower + nameless);
    v->weight = WEIGHT_SITE;
    if (nameless > 0) {
        v->reason = "no_stack";
        v->text = "some of the memory has no stack, so its site is not known";
    }
    v->unmatched = !any;
    if (!any && nameless == 0) {
        v->reason = "no_match";
        v->text = "no site matches";
    } else if (!any) {
        v->text = "no site matches, and some of the memory has no stack";
    }
    return VRS_OK;
}

static enum vrs_status value_of_headroom(const struct proven_study *proven,
                                         const struct budget *budget, struct check_value *v)
{
    TRY(value_of_reserved(proven, v));
    if (v->known)
        v->lower = v->upper = (int64_t)(budget->capacity_bytes - (uint64_t)v->lower);
    return VRS_OK;
}

static enum vrs_status value_of_ooms(const struct proven_study *proven, struct check_value *v)
{
    const struct study *s = proven->study;
    const uint8_t *action = s->r->events.action + s->r->devices.first_event[s->device];
    v->measure = CHECK_COUNT;
    /* One that was seen is one, however short the trace. */
    if (!s->traced && proven->curves.oom_events == 0) {
        without_trace(s, v);
        return VRS_OK;
    }
    exactly(v, (int64_t)proven->curves.oom_events, CHECK_MEASURED);
    for (uint32_t i = 0; i < s->events && v->event == CHECK_NO_EVENT; i++)
        if (action[i] == ACTION_OOM)
            v->event = v->at = i;
    v->weight = WEIGHT_BYTES;
    within_window(proven, v);
    return VRS_OK;
}

/* Memory was given back because a request found none: the stack of the release says so. */
static enum vrs_status value_of_retries(const struct proven_study *proven, struct check_value *v)
{
    const struct study *s = proven->study;
    uint32_t first = s->r->devices.first_event[s->device];
    const uint8_t *action = s->r->events.action + first;
    const uint32_t *stack = s->r->events.stack + first;
    int64_t retries = 0, untold = 0;
    v->measure = CHECK_COUNT;
    if (!s->traced) {
        without_trace(s, v);
        return VRS_OK;
    }
    for (uint32_t i = 0; i < s->events; i++) {
        if (!action_returns(action[i]) || (i > 0 && action_returns(action[i - 1])))
            continue;
        token_set said = s->tokens->of_stack[stack[i]];
        if ((said & TOKEN_EMPTY_CACHE) != 0)
            continue;
        if ((said & TOKEN_DEVICE_MALLOC) == 0)
            untold++;
        else if (retries++ == 0)
            v->event = v->at = i;
    }
    exactly(v, retries, CHECK_DERIVED);
    v->upper = retries + untold;
    v->weight = WEIGHT_BYTES;
    within_window(proven, v);
    if (untold > 0 && retries == 0) {
        v->reason = "unknown_cause";
        v->text = "cached memory was released, and no stack tells why";
    }
    return VRS_OK;
}

static enum vrs_status value_of_unknown_share(const struct proven_study *proven,
                                              struct check_value *v)
{
    const struct study *s = proven->study;
    uint64_t nameless = 0, all = 0;
    v->measure = CHECK_RATIO;
    if (!s->traced) {
        without_trace(s, v);
        return VRS_OK;
    }
    at_peak(proven, v);
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *l = &s->lifetimes.at[i];
        if (!lifetime_alive(l, v->at))
            continue;
        all += l->bytes;
        nameless += l->alloc_stack.n == 0 ? l->bytes : 0;
    }
    exactly(v, (int64_t)nameless, CHECK_MEASURED);
    v->whole = (int64_t)all;
    return VRS_OK;
}

/* Of the sites that grow from step to step and do not stop; the largest come first. */
static enum vrs_status value_of_growth(struct parts *parts, const struct study *s,
                                       struct check_value *v, struct vrs_error *err)
{
    const struct leaks *leaks = NULL;
    if (!s->traced) {
        without_trace(s, v);
        return VRS_OK;
    }
    TRY(parts_leaks(parts, s, &leaks, err));
    if (leaks->moments == 0) {
        unknown(v, "no_steps", "fewer than two complete steps were found");
        return VRS_OK;
    }
    for (uint32_t i = 0; i < leaks->sites; i++) {
        const struct leak_site *site = &leaks->site[i];
        if (!leak_is_told(site))
            break;
        if (v->event == CHECK_NO_EVENT && site->survivors > 0)
            v->event = site->survivor[site->survivors - 1].event;
        if (v->stacks == CHECK_SITES)
            continue;
        v->stack[v->stacks] = site->site.stack;
        v->stack_bytes[v->stacks++] = (uint64_t)site->slope_bytes;
    }
    exactly(v, leaks->slope_total_bytes, s->steps.low_confidence ? CHECK_ESTIMATED : CHECK_DERIVED);
    if (leaks->leaks + leaks->suspects == 0) {
        v->reason = "no_leak";
        v->text = "nothing grows from step to step";
    } else if (leaks->leaks == 0) {
        v->reason = "suspect";
        v->text = "would be a leak, but too few steps were seen";
    }
    return VRS_OK;
}

/* The largest of those who pin it; pins come most stranded first. */
static void name_pins(const struct fragments *f, struct check_value *v)
{
    for (uint32_t i = 0; i < f->pins; i++) {
        uint32_t at = 0;
        while (at < v->stacks && v->stack[at].n != f->pin[i].by.site.stack.n)
            at++;
        if (at == CHECK_SITES)
            continue;
        v->stack[at] = f->pin[i].by.site.stack;
        v->stack_bytes[at] += f->pin[i].stranded_bytes;
        v->stacks += at == v->stacks;
    }
}

/* Free memory that can neither be used nor returned, at the end. */
static enum vrs_status value_of_stranded(struct parts *parts, const struct proven_study *proven,
                                         struct check_value *v, struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct fragments *f = NULL;
    TRY(parts_fragments(parts, proven, &f, err));
    if (f == NULL) {
        unknown(v, "no_layout", "the final state of the memory is not known");
        return VRS_OK;
    }
    exactly(v, (int64_t)f->total.stranded_bytes, CHECK_MEASURED);
    v->event = s->traced && !is_cut(s) ? (int64_t)s->events - 1 : CHECK_NO_EVENT;
    name_pins(f, v);
    return VRS_OK;
}

static enum vrs_status value_of(struct parts *parts, const struct proven_study *proven,
                                const struct limit *limit, const struct budget *budget,
                                struct check_value *v, struct vrs_error *err)
{
    const struct study *s = proven->study;
    switch (limit->kind) {
    case LIMIT_PEAK:
    case LIMIT_DEVICE_PEAK:
    case LIMIT_DELTA: /* of which the baseline's is taken; of the next two for shares of it */
    case LIMIT_SITE_DELTA:
    case LIMIT_NEW_SITE:
        return value_of_peak(proven, v, err);
    case LIMIT_PEAK_ACTIVE:
        return value_of_peak_active(proven, v, err);
    case LIMIT_RESERVED:
        return value_of_reserved(proven, v);
    case LIMIT_END:
        return value_of_end(proven, v, err);
    case LIMIT_GROWTH:
        return value_of_growth(parts, s, v, err);
    case LIMIT_STEP_PEAK:
        return value_of_step_peak(proven, v, err);
    case LIMIT_STRANDED:
        return value_of_stranded(parts, proven, v, err);
    case LIMIT_SLACK:
        return value_of_slack(proven, v);
    case LIMIT_PENDING:
        return value_of_pending(proven, v, err);
    case LIMIT_CATEGORY:
        return value_of_category(proven, limit, v);
    case LIMIT_SITE:
        return value_of_site(proven, limit, v, err);
    case LIMIT_HEADROOM:
        return value_of_headroom(proven, budget, v);
    case LIMIT_OOM:
        return value_of_ooms(proven, v);
    case LIMIT_RETRY:
        return value_of_retries(proven, v);
    case LIMIT_UNKNOWN_SHARE:
        return value_of_unknown_share(proven, v);
    case LIMIT_TRACE_BUSY: /* of which no snapshot has a value */
    case LIMIT_TRACE_IDLE:
    case LIMIT_TRACE_STEP:
    case LIMIT_TRACE_MEMORY:
    case LIMIT_KINDS:
        break;
    }
    return VRS_OK;
}

void check_value_leave_open(const struct study *s, struct check_value *v)
{
    if (!v->known || !is_cut(s))
        return;
    v->open = true;
    v->reason = "incomplete";
    v->text = v->weight == WEIGHT_FINAL ? "at the end; the file is cut: the peak may be higher"
                                        : "the file is cut: what was not read may hold more";
}

enum vrs_status check_value_of(struct parts *parts, const struct proven_study *proven,
                               const struct limit *limit, const struct budget *budget,
                               struct check_value *ret, struct vrs_error *err)
{
    const struct study *s = proven->study;
    *ret = (struct check_value){ .event = CHECK_NO_EVENT, .at = CHECK_NO_EVENT };
    TRY(value_of(parts, proven, limit, budget, ret, err));
    if (ret->known && !proven->curves.sizes_known && ret->measure != CHECK_COUNT) {
        ret->open = true;
        ret->reason = "unknown_sizes";
        ret->text = "some sizes are missing from the file or out of range";
    }
    if (limit->kind != LIMIT_END && limit->kind != LIMIT_STRANDED)
        check_value_leave_open(s, ret);
    return VRS_OK;
}
