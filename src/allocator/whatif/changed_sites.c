/* changed_sites.c - parses the sites and scopes of a what-if into stacks and events. */
#include "allocator/whatif/changed_sites.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/sorted.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/recording.h"
#include "model/strings.h"

/* Words. */

static bool read_event(str text, int64_t *ret)
{
    uint64_t n;
    bool negative;
    if (!number_integer(text, &n, &negative) || negative || n > UINT32_MAX)
        return false;
    *ret = (int64_t)n;
    return true;
}

/* "SITE=VALUE", cut at the last sign: sites may hold one. */
static bool cut_value(str *site, str *value)
{
    for (size_t i = site->len; i-- > 0;) {
        if (site->ptr[i] != '=')
            continue;
        *value = (str){ site->ptr + i + 1, site->len - i - 1 };
        site->len = i;
        return true;
    }
    return false;
}

static enum vrs_status read_site(str text, struct site_option *ret, struct vrs_error *err)
{
    str event = S("event:");
    ret->site = text;
    ret->event = -1;
    if (text.len == 0)
        return vrs_fail(err, VRS_USAGE,
                        "a site is a part of a line as report prints it, or event:N; it is empty");
    if (!str_starts(text, event))
        return VRS_OK;
    str number = { text.ptr + event.len, text.len - event.len };
    ret->site = S("");
    if (read_event(number, &ret->event))
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "event:N names the stack of event N, a whole number");
}

static enum vrs_status read_scale(str text, struct site_option *ret, struct vrs_error *err)
{
    str value = S("");
    *ret = (struct site_option){ .kind = CHANGE_SCALE, .until = -1 };
    if (!cut_value(&text, &value) || !number_real(value, &ret->factor) ||
        !(ret->factor >= 0 && ret->factor <= 1024))
        return vrs_fail(err, VRS_USAGE,
                        "a scaled site is SITE=FACTOR with a factor from 0 to 1024, as "
                        "model.py:12=0.5");
    return read_site(text, ret, err);
}

static enum vrs_status read_early(str text, struct site_option *ret, struct vrs_error *err)
{
    str value = S("");
    *ret = (struct site_option){ .kind = CHANGE_FREE_EARLY, .until = -1 };
    if (!cut_value(&text, &value) || value.len == 0)
        return vrs_fail(err, VRS_USAGE,
                        "a site freed early is SITE=SCOPE: an event's number, or the name of an "
                        "annotation at whose end it is freed");
    if (!read_event(value, &ret->until))
        ret->scope = value;
    return read_site(text, ret, err);
}

static enum vrs_status read_drop(str text, struct site_option *ret, struct vrs_error *err)
{
    *ret = (struct site_option){ .kind = CHANGE_DROP, .until = -1 };
    return read_site(text, ret, err);
}

enum vrs_status site_option_read(enum change_kind kind, str text, struct site_option *ret,
                                 struct vrs_error *err)
{
    switch (kind) {
    case CHANGE_SCALE:
        return read_scale(text, ret, err);
    case CHANGE_FREE_EARLY:
        return read_early(text, ret, err);
    case CHANGE_DROP:
        break;
    }
    return read_drop(text, ret, err);
}

/* Stacks. */

static enum vrs_status matches(const struct site_option *w, const struct program *p,
                               const struct stack_namer *namer, uint32_t stack, bool *ret,
                               struct vrs_error *err)
{
    str culprit, owner;
    if (w->event >= 0) {
        *ret = w->event < p->events && p->r->events.stack[p->first + (uint32_t)w->event] == stack;
        return VRS_OK;
    }
    TRY(namer->name(namer->arg, (stack_id){ stack }, &culprit, &owner, err));
    *ret = str_find(culprit, w->site) < culprit.len || str_find(owner, w->site) < owner.len;
    return VRS_OK;
}

/* Marks the stacks that allocate on this device. */
static uint8_t *allocating_stacks(const struct program *p, struct arena *arena)
{
    const struct events *e = &p->r->events;
    uint8_t *seen = arena_array(arena, uint8_t, p->r->code.stacks.rows.len);
    if (seen == NULL)
        return NULL;
    for (uint32_t i = 0; i < p->events; i++) {
        uint8_t action = e->action[p->first + i];
        if (action == ACTION_ALLOC || action == ACTION_OOM)
            seen[e->stack[p->first + i]] = 1;
    }
    for (uint32_t i = 0; i < p->starts; i++)
        seen[p->start[i].stack] = 1;
    seen[0] = 0;
    return seen;
}

static enum vrs_status no_such_site(const struct site_option *w, unsigned device,
                                    struct vrs_error *err)
{
    if (w->event >= 0)
        return vrs_fail(err, VRS_USAGE,
                        "event %lld of device %u has no stack, or is no allocation; --device "
                        "chooses a device",
                        (long long)w->event, device);
    return vrs_fail(err, VRS_USAGE,
                    "no allocation on device %u has a culprit or owner that contains \"%.*s\"; "
                    "report prints them, --device chooses a device",
                    device, w->site.len > 80 ? 80 : (int)w->site.len, w->site.ptr);
}

/* The first read that matches a stack is the one that counts. */
static enum vrs_status mark_stacks(const struct site_options *options, const struct program *p,
                                   const struct stack_namer *namer, uint8_t *stacks,
                                   struct vrs_error *err)
{
    bool met[SITE_CHANGES_MAX] = { false }, counts[SITE_CHANGES_MAX] = { false };
    for (uint32_t s = 1; s < p->r->code.stacks.rows.len; s++) {
        bool allocates = stacks[s] != 0, found = false;
        stacks[s] = 0;
        for (uint32_t i = 0; allocates && i < options->options; i++) {
            TRY(matches(&options->read[i], p, namer, s, &found, err));
            met[i] |= found;
            if (!found || stacks[s] != 0)
                continue;
            stacks[s] = (uint8_t)(i + 1);
            counts[i] = true;
        }
    }
    for (uint32_t i = 0; i < options->options; i++) {
        if (!met[i])
            return no_such_site(&options->read[i], p->r->devices.number[p->device], err);
        if (!counts[i])
            return vrs_fail(err, VRS_USAGE,
                            "all allocations at \"%.*s\" are changed by an earlier site already",
                            options->read[i].site.len > 80 ? 80 : (int)options->read[i].site.len,
                            options->read[i].site.ptr);
    }
    return VRS_OK;
}

/* Scopes. */

/* The first event at or after a time. */
static uint32_t event_from(const struct program *p, uint64_t time_us)
{
    return sorted_at_least(p->r->events.time_us + p->first, p->events, time_us);
}

static int by_begin(const void *a, const void *b)
{
    const struct scope *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end < y->end) - (x->end > y->end);
}

/* Pairs starts and ends of one name as a stack: an end without a start began before the first
 * event, a start without an end closes nothing. */
static enum vrs_status annotation_scopes(const struct program *p, str name, struct arena *arena,
                                         struct site_change *ret, struct vrs_error *err)
{
    const struct marks *m = &p->r->marks;
    uint32_t *open = arena_array(arena, uint32_t, m->rows.len), depth = 0;
    struct scope *scope = arena_array(arena, struct scope, m->rows.len);
    if (open == NULL || scope == NULL)
        return vrs_no_memory(err);
    uint32_t scopes = 0;
    for (uint32_t i = 0; i < m->rows.len; i++) {
        if (!str_equal(strings_text(&p->r->code.strings, (string_id){ m->name[i] }), name) ||
            m->time_us[i] == UNKNOWN_U64)
            continue;
        if (m->stage[i] == STAGE_START) {
            open[depth++] = i;
            continue;
        }
        int64_t begin = depth == 0 ? -1 : (int64_t)event_from(p, m->time_us[open[--depth]]);
        scope[scopes++] = (struct scope){ begin, (int64_t)event_from(p, m->time_us[i] + 1) };
    }
    if (scopes == 0)
        return vrs_fail(err, VRS_USAGE,
                        "the recording has no finished annotation \"%.*s\"; a scope is the name of "
                        "a finished annotation, or an event's number",
                        name.len > 80 ? 80 : (int)name.len, name.ptr);
    qsort(scope, scopes, sizeof *scope, by_begin);
    ret->scope = scope;
    ret->scopes = scopes;
    return VRS_OK;
}

static enum vrs_status find_scopes(const struct site_option *w, const struct program *p,
                                   struct arena *arena, struct site_change *ret,
                                   struct vrs_error *err)
{
    if (w->until < 0)
        return annotation_scopes(p, w->scope, arena, ret, err);
    struct scope *scope = arena_array(arena, struct scope, 1);
    if (scope == NULL)
        return vrs_no_memory(err);
    *scope = (struct scope){ -1, w->until };
    ret->scope = scope;
    ret->scopes = 1;
    return VRS_OK;
}

enum vrs_status site_changes_make(const struct site_options *options, const struct program *p,
                                  const struct stack_namer *namer, struct arena *arena,
                                  struct site_change **ret_change, uint8_t **ret_stack,
                                  struct vrs_error *err)
{
    *ret_change = NULL;
    *ret_stack = NULL;
    if (options->options == 0)
        return VRS_OK;
    struct site_change *change = arena_array(arena, struct site_change, options->options);
    uint8_t *stacks = allocating_stacks(p, arena);
    if (change == NULL || stacks == NULL)
        return vrs_no_memory(err);
    TRY(mark_stacks(options, p, namer, stacks, err));
    for (uint32_t i = 0; i < options->options; i++) {
        change[i].kind = options->read[i].kind;
        change[i].factor = options->read[i].factor;
        if (change[i].kind == CHANGE_FREE_EARLY)
            TRY(find_scopes(&options->read[i], p, arena, &change[i], err));
    }
    *ret_change = change;
    *ret_stack = stacks;
    return VRS_OK;
}
