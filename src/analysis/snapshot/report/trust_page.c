/* trust_page.c - one pass for each fact, one row for each check. */
#include "analysis/snapshot/report/trust_page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/replay/replay.h"
#include "analysis/attribution/tokens.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/live.h"
#include "analysis/snapshot/study/study.h"
#include "analysis/snapshot/trust/recorded_stacks.h"
#include "analysis/snapshot/trust/trust.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"
#include "base/table.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Where a file has no sum to check, or no trace, or not both whole. */
enum need { NEEDS_SEGMENTS, NEEDS_TRACE, NEEDS_ANCHOR };

static struct trust_row row_of(const struct study *s, enum need need, const char *check,
                               const char *id, const char *meaning, struct breach found)
{
    uint8_t parts = s->r->devices.parts[s->device];
    bool run = need == NEEDS_SEGMENTS ? (parts & PART_SEGMENTS) != 0
                                      : s->traced && s->r->devices.events[s->device] != 0;
    if (need == NEEDS_ANCHOR)
        run = run && (parts & PART_ANCHOR) != 0;
    return (struct trust_row){
        .check = check,
        .id = id,
        .meaning = meaning,
        .outcome = !run               ? TRUST_NOT_RUN
                   : found.count == 0 ? TRUST_HOLDS
                                      : TRUST_FAILS,
        .has_bytes = true,
        .found = found,
    };
}

static struct trust_row replay_row(const struct proven_study *proven)
{
    const struct study *s = proven->study;
    const struct agreement *g = proven->agreement;
    bool run = s->traced && g->refusal == REFUSED_NOT && g->addresses != 0;
    struct breach found = { .first_event = -1, .first_address = UNKNOWN_U64 };
    if (run) {
        found.count = g->addresses - g->addresses_equal;
        found.first_event = g->first.kind == AGREES ? -1 : g->first.event;
        found.first_address = g->first.kind == AGREES ? UNKNOWN_U64 : g->first.recorded_address;
        found.shown[0] = (struct breach_case){ found.first_event, found.first_address };
    }
    return (struct trust_row){
        .check = "T09",
        .id = "replay",
        .meaning = "addresses are reproduced",
        .outcome = !run                       ? TRUST_NOT_RUN
                   : grade_is_exact(g->grade) ? TRUST_HOLDS
                                              : TRUST_FAILS,
        .found = found,
    };
}

/* Memory that was freed without its alloc is a fault only where nothing can be missing. */
static struct trust_row orphans_row(const struct proven_study *proven, const struct checks *c)
{
    const struct study *s = proven->study;
    struct trust_row row =
        row_of(s, NEEDS_TRACE, "T07", "orphans", "frees have their alloc", c->orphans);
    if (row.outcome == TRUST_FAILS && proven->trust.window != WINDOW_COMPLETE)
        row.outcome = TRUST_HOLDS;
    return row;
}

/* Recordings older than PyTorch 2.2 have no times, which is no fault of theirs. */
static struct trust_row no_time_row(const struct study *s, const struct checks *c)
{
    struct trust_row row =
        row_of(s, NEEDS_TRACE, "T08", "no_time", "events carry a time", c->no_time);
    row.has_bytes = false;
    if (row.outcome == TRUST_FAILS)
        row.outcome = TRUST_HOLDS;
    return row;
}

/* Only a request that failed tells how much memory the device has. */
static struct trust_row capacity_row(const struct study *s, const struct checks *c)
{
    struct trust_row row = row_of(s, NEEDS_ANCHOR, "T10", "capacity_varies",
                                  "the capacity is constant", c->capacity_varies);
    if (s->curves.oom_events == 0)
        row.outcome = TRUST_NOT_RUN;
    return row;
}

static void fill_checks(const struct proven_study *proven, const struct checks *c,
                        struct trust_page *o)
{
    const struct study *s = proven->study;
    const struct trust_row rows[TRUST_ROWS] = {
        row_of(s, NEEDS_SEGMENTS, "T01", "sums", "blocks fill their segments", c->layout),
        row_of(s, NEEDS_SEGMENTS, "T02", "sums", "sums equal their blocks", c->totals),
        row_of(s, NEEDS_ANCHOR, "T03", "end_mismatch", "open allocs are final blocks",
               c->end_mismatch),
        row_of(s, NEEDS_ANCHOR, "T03", "unpaired_request", "requested frees complete",
               c->unpaired_request),
        row_of(s, NEEDS_ANCHOR, "T04", "negative_start", "the start is not below zero",
               c->negative_start),
        row_of(s, NEEDS_ANCHOR, "T04", "baselines_differ", "both counts of start agree",
               c->baselines_differ),
        row_of(s, NEEDS_ANCHOR, "T05", "peak_above_reserved", "requested fits in reserved",
               c->above_reserved),
        row_of(s, NEEDS_ANCHOR, "T06", "unknown_segment", "allocs lie in segments",
               c->unknown_segment),
        row_of(s, NEEDS_TRACE, "T07", "double_alloc", "no address is taken twice", c->double_alloc),
        orphans_row(proven, c),
        row_of(s, NEEDS_TRACE, "T07", "skipped_actions", "frees have both halves",
               c->skipped_actions),
        no_time_row(s, c),
        row_of(s, NEEDS_TRACE, "T08", "time_backwards", "time does not run back",
               c->time_backwards),
        replay_row(proven),
        capacity_row(s, c),
    };
    for (uint32_t i = 0; i < TRUST_ROWS; i++)
        o->check[i] = rows[i];
    o->check[12].has_bytes = false;
}

static bool any_action(const struct recording *r, uint8_t action)
{
    for (uint32_t i = 0; i < r->events.rows.len; i++)
        if (r->events.action[i] == action)
            return true;
    return false;
}

static bool any_set(const uint32_t *column, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        if (column[i] != 0)
            return true;
    return false;
}

static bool any_known(const uint64_t *column, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++)
        if (column[i] != UNKNOWN_U64)
            return true;
    return false;
}

static bool any_host(const struct recording *r)
{
    for (uint32_t i = 0; i < r->devices.rows.len; i++)
        if (r->devices.kind[i] == DEVICE_HOST)
            return true;
    return false;
}

static bool has_setting(const struct recording *r, const char *name)
{
    return settings_find(r, str_from(name)) != NO_ROW;
}

/* What only newer versions write, newest first. */
static str producer_of(const struct recording *r)
{
    const struct contexts *c = &r->contexts;
    const struct segments *s = &r->segments;
    const struct {
        bool seen;
        str text;
    } marks[] = {
        { any_set(c->category, c->rows.len), S("PyTorch's profiler, by the categories of events") },
        { any_host(r), S("PyTorch 2.14 or later, by memory of the host") },
        { any_action(r, ACTION_ANNOTATE), S("PyTorch 2.14 or later, by annotate events") },
        { any_set(c->internal_metadata, c->rows.len),
          S("PyTorch 2.14 or later, by internal_metadata") },
        { r->events.rows.len != 0 && any_set(c->pool, c->rows.len),
          S("PyTorch 2.12 or later, by the pools of events") },
        { has_setting(r, "trace_alloc_max_entries"),
          S("PyTorch 2.12 or later, by trace_alloc_max_entries") },
        { any_set(c->forward_stack, c->rows.len) || any_set(s->forward_stack, s->rows.len),
          S("PyTorch 2.11 or later, by forward_frames") },
        { any_set(c->user_metadata, c->rows.len), S("PyTorch 2.10 or later, by user_metadata") },
        { r->code.fx_nodes.rows.len > 1, S("PyTorch 2.10 or later, by fx nodes") },
        { has_setting(r, "graph_capture_record_stream_reuse"),
          S("PyTorch 2.9 or later, by graph_capture_record_stream_reuse") },
        { any_set(c->compile_context, c->rows.len), S("PyTorch 2.8 or later, by compile_context") },
        { r->marks.rows.len != 0, S("PyTorch 2.5 or later, by annotations") },
        { r->settings.rows.len != 0, S("PyTorch 2.3 or later, by allocator_settings") },
        { any_known(r->events.time_us, r->events.rows.len), S("PyTorch 2.2 or later, by time_us") },
        { any_action(r, ACTION_SEGMENT_MAP), S("PyTorch 2.1 or later, by segment_map events") },
        { any_set(s->pool, s->rows.len), S("PyTorch 2.1 or later, by segment_pool_id") },
        { any_set(s->stack, s->rows.len), S("PyTorch 2.1 or later, by the stacks of segments") },
        { r->events.rows.len != 0, S("PyTorch 2.0 or later, by its events") },
        { any_known(s->requested_size, s->rows.len), S("PyTorch 2.0 or later, by requested_size") },
        { s->rows.len != 0, S("PyTorch 1.13 or later: segments and their blocks") },
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].seen)
            return marks[i].text;
    return S("not known");
}

static enum vrs_status count_actions(const struct study *s, struct trust_page *o,
                                     struct vrs_error *err)
{
    const struct recording *r = s->r;
    uint64_t count[ACTIONS] = { 0 };
    uint32_t first = r->devices.first_event[s->device];
    for (uint32_t i = 0; i < s->events; i++)
        count[r->events.action[first + i]]++;
    o->action = arena_array(s->keep, struct name_count, ACTIONS);
    if (o->action == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < ACTIONS; i++)
        if (count[i] != 0 && event_action_names[i] != NULL)
            o->action[o->actions++] =
                (struct name_count){ str_from(event_action_names[i]), count[i] };
    return VRS_OK;
}

static bool keep_text(struct arena *keep, const struct strings *strings, uint32_t id, str *ret)
{
    *ret = arena_copy(keep, strings_text(strings, (string_id){ id }));
    return ret->ptr != NULL;
}

/* The first TALLIES_MAX names are told apart, as in the tallies; the rest has no name. */
static enum vrs_status name_unknown_actions(const struct study *s, struct trust_page *o,
                                            struct vrs_error *err)
{
    const struct recording *r = s->r;
    uint64_t *count = arena_array(s->scratch, uint64_t, r->code.strings.rows.len);
    o->unknown_action = arena_array(s->keep, struct name_count, TALLIES_MAX + 1);
    if (count == NULL || o->unknown_action == NULL)
        return vrs_no_memory(err);
    uint32_t first = r->devices.first_event[s->device];
    for (uint32_t i = first; i < first + s->events; i++)
        if (r->events.action[i] == ACTION_OTHER)
            count[r->contexts.action[r->events.context[i]]]++;
    uint64_t rest = count[0];
    for (uint32_t id = 1; id < r->code.strings.rows.len; id++) {
        if (count[id] == 0)
            continue;
        if (o->unknown_actions == TALLIES_MAX) {
            rest += count[id];
            continue;
        }
        struct name_count *to = &o->unknown_action[o->unknown_actions++];
        to->count = count[id];
        if (!keep_text(s->keep, &r->code.strings, id, &to->name))
            return vrs_no_memory(err);
    }
    if (rest != 0)
        o->unknown_action[o->unknown_actions++] = (struct name_count){ S(""), rest };
    return VRS_OK;
}

static enum vrs_status name_unknown_keys(const struct study *s, struct trust_page *o,
                                         struct vrs_error *err)
{
    const struct tallies *t = &s->r->tallies;
    o->unknown_key = arena_array(s->keep, struct name_count, t->rows.len);
    if (o->unknown_key == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < t->rows.len; i++) {
        if (t->kind[i] != TALLY_UNKNOWN_KEY)
            continue;
        struct name_count *to = &o->unknown_key[o->unknown_keys++];
        to->count = t->count[i];
        if (!keep_text(s->keep, &s->r->code.strings, t->name[i], &to->name))
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

/* Of settings with one name the first, which is the one that counts. */
static enum vrs_status keep_settings(const struct study *s, struct trust_page *o,
                                     struct vrs_error *err)
{
    const struct settings *from = &s->r->settings;
    bool *seen = arena_array(s->scratch, bool, s->r->code.strings.rows.len);
    o->setting = arena_array(s->keep, struct setting, from->rows.len);
    if (seen == NULL || o->setting == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < from->rows.len; i++) {
        if (seen[from->name[i]])
            continue;
        seen[from->name[i]] = true;
        struct setting *to = &o->setting[o->settings++];
        to->type = (enum setting_type)from->type[i];
        to->integer = from->integer[i];
        to->real = from->real[i];
        if (!keep_text(s->keep, &s->r->code.strings, from->name[i], &to->name) ||
            !keep_text(s->keep, &s->r->code.strings, from->text[i], &to->text))
            return vrs_no_memory(err);
    }
    return VRS_OK;
}

static enum vrs_status count_places(const struct study *s, struct trust_page *o,
                                    struct vrs_error *err)
{
    const struct recording *r = s->r;
    bool *stream = arena_array(s->scratch, bool, r->streams.rows.len);
    bool *pool = arena_array(s->scratch, bool, r->pools.rows.len);
    if (stream == NULL || pool == NULL)
        return vrs_no_memory(err);
    uint32_t first = r->devices.first_event[s->device];
    for (uint32_t i = first; i < first + s->events; i++) {
        uint8_t action = r->events.action[i];
        /* Others have no stream of their own, and carry the default one. */
        bool memory = action == ACTION_ALLOC || action_obtains(action) || action_returns(action);
        if (memory && r->events.stream[i] < r->streams.rows.len)
            stream[r->events.stream[i]] = true;
        if (memory)
            pool[r->contexts.pool[r->events.context[i]]] = true;
    }
    first = r->devices.first_segment[s->device];
    for (uint32_t i = first; i < first + r->devices.segments[s->device]; i++) {
        if (r->segments.stream[i] < r->streams.rows.len)
            stream[r->segments.stream[i]] = true;
        pool[r->segments.pool[i]] = true;
    }
    for (uint32_t i = 0; i < r->streams.rows.len; i++)
        o->streams += stream[i];
    for (uint32_t i = 1; i < r->pools.rows.len; i++)
        o->pools += pool[i];
    return VRS_OK;
}

/* Bytes alive at one event, by what is known of their origin. */
struct coverage {
    uint64_t all, unknown, explained, no_user;
};

/* Does the structural split say what a block without a stack is?  What is left over is no answer.
 */
static bool has_place(const struct live *live, uint8_t category)
{
    return live->born < 0 && category != CATEGORY_UNKNOWN && category != CATEGORY_PERSISTENT;
}

static enum vrs_status cover(const struct study *s, int64_t event, struct coverage *ret,
                             struct vrs_error *err)
{
    struct arena_mark mark = arena_mark(s->scratch);
    struct coverage c = { 0 };
    struct live_set set;
    uint32_t first = s->r->devices.first_allocation[s->device];
    TRY(live_at(s->r, s->device, event, s->scratch, &set, err));
    for (uint32_t i = 0; i < set.len; i++) {
        const struct live *live = &set.at[i];
        uint8_t category = s->categories.of[live->allocation - first];
        c.all += live->bytes;
        if (live->stack.n == 0)
            c.unknown += live->bytes;
        if (live->stack.n != 0 || has_place(live, category))
            c.explained += live->bytes;
        if ((s->tokens->of_stack[live->stack.n] & TOKEN_USER) == 0)
            c.no_user += live->bytes;
    }
    arena_release(s->scratch, mark);
    *ret = c;
    return VRS_OK;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole == 0 ? -1 : (double)part / (double)whole;
}

static enum vrs_status fill_coverage(const struct study *s, struct trust_page *o,
                                     struct vrs_error *err)
{
    int64_t end = (int64_t)s->events - 1;
    struct coverage peak, last;
    TRY(cover(s, s->traced ? s->curves.of[CURVE_REQUESTED].peak_event : end, &peak, err));
    TRY(cover(s, end, &last, err));
    o->unknown_origin_peak_ratio = share(peak.unknown, peak.all);
    o->unknown_origin_end_ratio = share(last.unknown, last.all);
    o->explained_peak_ratio = share(peak.explained, peak.all);
    o->no_user_frame_peak_ratio = share(peak.no_user, peak.all);
    return VRS_OK;
}

/* A ring of one has no allocs to tell; its final blocks do. */
static struct recorded_stacks capture_of_blocks(const struct study *s)
{
    struct recorded_stacks c = { 0 };
    uint32_t first = s->r->devices.first_block[s->device];
    for (uint32_t i = first; i < first + s->r->devices.blocks[s->device]; i++) {
        token_set tokens = s->tokens->of_stack[s->r->blocks.stack[i]];
        if (!block_live(s->r, i))
            continue;
        c.without_stack += s->r->blocks.stack[i] == 0;
        c.with_native += (tokens & TOKEN_NATIVE) != 0;
        c.python_only += tokens == 0 ? 0 : (tokens & TOKEN_NATIVE) == 0;
    }
    return c;
}

static const char *style_of(const struct recorded_stacks *c)
{
    if (c->with_native != 0 && c->python_only != 0)
        return "mixed";
    if (c->with_native != 0)
        return "all";
    if (c->python_only != 0)
        return "python";
    return c->without_stack != 0 ? "none" : NULL;
}

static uint64_t span_of(const struct study *s)
{
    if (s->events == 0)
        return UNKNOWN_U64;
    uint32_t first = s->r->devices.first_event[s->device];
    uint64_t begin = s->r->events.time_us[first];
    uint64_t end = s->r->events.time_us[first + s->events - 1];
    return begin == UNKNOWN_U64 || end == UNKNOWN_U64 || end < begin ? UNKNOWN_U64 : end - begin;
}

enum vrs_status trust_page_compute(const struct proven_study *proven, struct trust_page *ret,
                                   struct vrs_error *err)
{
    const struct study *s = proven->study;
    const struct curve *of = proven->curves.of;
    struct checks checks = proven->basis->checks;
    struct recorded_stacks capture = s->traced ? proven->basis->capture : capture_of_blocks(s);
    checks_add_curves(s->r, s->device, &proven->curves, &checks);
    *ret = (struct trust_page){
        .producer = producer_of(s->r),
        .span_events = s->r->devices.events[s->device],
        .span_us = span_of(s),
        .gap_us = checks.largest_gap_us,
        .gap_event = checks.largest_gap_event,
        .baseline_forward_bytes = checks.forward_start_bytes,
        .baseline_backward_bytes = of[CURVE_REQUESTED].start_bytes,
        .reserved_baseline_bytes = of[CURVE_RESERVED].start_bytes,
        .baselines_known = of[CURVE_REQUESTED].start_known && of[CURVE_RESERVED].start_known,
        .capture_style = style_of(&capture),
        .annotations = s->r->marks.rows.len,
    };
    fill_checks(proven, &checks, ret);
    TRY(count_actions(s, ret, err));
    TRY(name_unknown_actions(s, ret, err));
    TRY(name_unknown_keys(s, ret, err));
    TRY(keep_settings(s, ret, err));
    TRY(count_places(s, ret, err));
    return fill_coverage(s, ret, err);
}
