/* oom_sites.c - sums by line of what was alive, the largest first until they suffice. */
#include "analysis/snapshot/oom/oom_sites.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "analysis/attribution/naming.h"
#include "analysis/snapshot/categories/category_rules.h"
#include "analysis/snapshot/curves/curves.h"
#include "analysis/snapshot/curves/lifetime.h"
#include "analysis/snapshot/oom/oom_program.h"
#include "analysis/snapshot/steps/phases.h"
#include "analysis/snapshot/steps/steps.h"
#include "analysis/snapshot/study/held_names.h"
#include "analysis/snapshot/study/study.h"
#include "base/arena.h"
#include "base/fail.h"
#include "model/ids.h"
#include "model/strings.h"

/* The line that stacks are told by, as a number. */
struct lines {
    struct strings culprits;
    uint32_t *of; /* of each stack, plus 1; 0: not yet asked */
};

/* When rows are of, and by what. */
struct at_failure {
    const struct lines *lines;
    int64_t event;
    bool by_category;
};

/* What one line holds, all of it or in one category. */
struct held {
    uint32_t line;
    uint8_t category;
    uint32_t count, lifetime; /* the largest allocation, of several the first */
    uint64_t bytes, largest;
};

static int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_line(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->line != y->line ? order_of(x->line, y->line) : order_of(x->lifetime, y->lifetime);
}

static int by_category_and_line(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->category != y->category ? order_of(x->category, y->category) : by_line(a, b);
}

static int by_bytes(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->bytes != y->bytes ? order_of(y->bytes, x->bytes) : order_of(x->lifetime, y->lifetime);
}

static int by_category_and_bytes(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    return x->category != y->category ? order_of(x->category, y->category) : by_bytes(a, b);
}

/* Rows of one line (and category) stand side by side; the first takes the rest.  How many stay. */
static uint32_t join(struct held *row, uint32_t count, bool categories)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct held *last = kept == 0 ? NULL : &row[kept - 1];
        if (last == NULL || last->line != row[i].line ||
            (categories && last->category != row[i].category)) {
            row[kept++] = row[i];
            continue;
        }
        last->bytes += row[i].bytes;
        last->count += row[i].count;
        if (row[i].largest > last->largest) {
            last->largest = row[i].largest;
            last->lifetime = row[i].lifetime;
        }
    }
    return kept;
}

static enum vrs_status line_of(const struct study *s, struct lines *lines, stack_id stack,
                               uint32_t *ret, struct vrs_error *err)
{
    if (lines->of[stack.n] == 0) {
        struct stack_names names;
        string_id id;
        TRY(naming_of(s->naming, stack, &names, err));
        if (!strings_intern(&lines->culprits, names.culprit, &id))
            return vrs_no_memory(err);
        lines->of[stack.n] = id.n + 1;
    }
    *ret = lines->of[stack.n] - 1;
    return VRS_OK;
}

static enum vrs_status find_held(const struct study *s, struct lines *lines, int64_t event,
                                 struct held **ret, uint32_t *ret_count, struct vrs_error *err)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++)
        count += lifetime_alive(&s->lifetimes.at[i], event);
    struct held *row = arena_array(s->scratch, struct held, count);
    if (row == NULL)
        return vrs_no_memory(err);
    count = 0;
    for (uint32_t i = 0; i < s->lifetimes.count; i++) {
        const struct lifetime *life = &s->lifetimes.at[i];
        if (!lifetime_alive(life, event))
            continue;
        struct held held = { .category = s->categories.of[i],
                             .count = 1,
                             .lifetime = i,
                             .bytes = life->bytes,
                             .largest = life->bytes };
        TRY(line_of(s, lines, life->alloc_stack, &held.line, err));
        row[count++] = held;
    }
    *ret = row;
    *ret_count = count;
    return VRS_OK;
}

/* How many of the first rows reach the need; 0 where all do not. */
static uint32_t prefix(const struct held *row, uint32_t count, uint64_t need, uint64_t *ret_bytes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum = row[i].bytes > UINT64_MAX - sum ? UINT64_MAX : sum + row[i].bytes;
        *ret_bytes = sum;
        if (sum >= need)
            return i + 1;
    }
    return 0;
}

/* What of a row has a name. */
static enum vrs_status find_names(const struct study *s, const struct at_failure *f,
                                  const struct held *held, struct held_names *ret,
                                  struct vrs_error *err)
{
    struct names_sum sum = { .r = s->r };
    for (uint32_t i = 0; s->r->named.rows.len > 0 && i < s->lifetimes.count; i++) {
        const struct lifetime *life = &s->lifetimes.at[i];
        bool of_row = lifetime_alive(life, f->event) &&
                      f->lines->of[life->alloc_stack.n] == held->line + 1 &&
                      (!f->by_category || s->categories.of[i] == held->category);
        if (of_row)
            names_sum_add(&sum, s->lifetimes.first + i);
    }
    return names_sum_end(&sum, s->keep, ret, err);
}

static enum vrs_status keep_sites(const struct study *s, const struct at_failure *f,
                                  const struct held *row, uint32_t count, uint64_t bytes,
                                  struct oom_sites *ret, struct vrs_error *err)
{
    struct oom_sites kept = { arena_array(s->keep, struct oom_site, count), 0, bytes, count > 0 };
    if (kept.at == NULL)
        return vrs_no_memory(err);
    for (; kept.count < count; kept.count++) {
        const struct held *held = &row[kept.count];
        struct oom_site *site = &kept.at[kept.count];
        site->bytes = held->bytes;
        site->count = held->count;
        TRY(study_site(s, s->lifetimes.at[held->lifetime].alloc_stack, &site->site, err));
        TRY(find_names(s, f, held, &site->names, err));
    }
    *ret = kept;
    return VRS_OK;
}

/* The category whose fewest sites suffice; of two that need as many, the one that holds less
 * besides, in these sites. */
static enum vrs_status find_category(const struct study *s, const struct lines *lines,
                                     struct held *row, uint32_t count, struct oom *oom,
                                     struct vrs_error *err)
{
    uint32_t best = 0, best_len = 0;
    uint64_t best_bytes = 0;
    for (uint32_t i = 0, end; i < count; i = end) {
        uint64_t bytes = 0;
        for (end = i; end < count && row[end].category == row[i].category;)
            end++;
        uint32_t len = prefix(row + i, end - i, oom->need_bytes, &bytes);
        if (len == 0 || row[i].category == CATEGORY_UNKNOWN)
            continue;
        if (best_len == 0 || len < best_len || (len == best_len && bytes < best_bytes)) {
            best = i;
            best_len = len;
            best_bytes = bytes;
        }
    }
    if (best_len == 0)
        return VRS_OK;
    oom->has_category = true;
    oom->category = (enum category)row[best].category;
    struct at_failure f = { lines, oom->event, true };
    return keep_sites(s, &f, row + best, best_len, best_bytes, &oom->must_go_category, err);
}

static enum vrs_status find(const struct study *s, struct lines *lines, struct oom *oom,
                            struct vrs_error *err)
{
    struct held *row = NULL;
    uint32_t count = 0, joined;
    uint64_t bytes = 0;
    TRY(find_held(s, lines, oom->event, &row, &count, err));
    struct held *again = arena_array(s->scratch, struct held, count);
    if (again == NULL)
        return vrs_no_memory(err);
    for (uint32_t i = 0; i < count; i++)
        again[i] = row[i];
    if (count > 1)
        qsort(row, count, sizeof *row, by_line);
    joined = join(row, count, false);
    if (joined > 1)
        qsort(row, joined, sizeof *row, by_bytes);
    uint32_t len = prefix(row, joined, oom->need_bytes, &bytes);
    struct at_failure f = { lines, oom->event, false };
    TRY(keep_sites(s, &f, row, len, bytes, &oom->must_go, err));
    if (count > 1)
        qsort(again, count, sizeof *again, by_category_and_line);
    joined = join(again, count, true);
    if (joined > 1)
        qsort(again, joined, sizeof *again, by_category_and_bytes);
    return find_category(s, lines, again, joined, oom, err);
}

enum vrs_status oom_sites_find(const struct study *s, struct oom *oom, struct vrs_error *err)
{
    struct lines lines = { .of = NULL };
    oom->must_go = oom->must_go_category = (struct oom_sites){ .enough = oom->need_bytes == 0 };
    if (oom->need_bytes == 0)
        return VRS_OK;
    lines.of = arena_array(s->scratch, uint32_t, s->r->code.stacks.rows.len);
    bool made = strings_init(&lines.culprits, UINT32_MAX) && lines.of != NULL;
    enum vrs_status status = made ? find(s, &lines, oom, err) : vrs_no_memory(err);
    strings_free(&lines.culprits);
    return status;
}

/* The step before. */

/* Events [begin, end) of a step; the one behind the last complete step has no end yet. */
static void span_of(const struct study *s, uint32_t step, int64_t *ret_begin, int64_t *ret_end)
{
    const struct steps *steps = &s->steps;
    int64_t after = (int64_t)steps->end_event + 1;
    *ret_begin = step < steps->count ? steps->boundary[step].event : after;
    *ret_end = step + 1 < steps->count    ? steps->boundary[step + 1].event
               : step + 1 == steps->count ? after
                                          : (int64_t)s->events;
}

static int64_t end_of_phase(const struct study *s, stack_id stack, int64_t begin, int64_t end)
{
    uint8_t phase = s->phases.of_stack[stack.n];
    int64_t found = -1;
    for (uint32_t i = 0; s->phases.known && i < s->phases.intervals; i++) {
        const struct phase_interval *interval = &s->phases.interval[i];
        if (interval->phase == phase && interval->first_event >= begin &&
            interval->first_event < end)
            found = interval->last_event;
    }
    return found;
}

uint64_t oom_previous_step(const struct study *s, int64_t event, stack_id stack)
{
    int64_t step = s->steps.count == 0 ? -1 : steps_at(&s->steps, event);
    int64_t begin, end, ignored;
    if (step <= 0 || stack.n == 0)
        return UNKNOWN_U64;
    span_of(s, (uint32_t)step, &begin, &ignored);
    uint32_t nth = oom_allocs_of(s, stack, begin, event);
    span_of(s, (uint32_t)step - 1, &begin, &end);
    int64_t at = oom_nth_alloc(s, stack, begin, end, nth);
    at = at >= 0 ? at - 1 : end_of_phase(s, stack, begin, end);
    if (at < 0)
        return UNKNOWN_U64;
    int64_t bytes = curve_at(s->r, s->device, CURVE_REQUESTED, at);
    return bytes < 0 ? UNKNOWN_U64 : (uint64_t)bytes;
}
