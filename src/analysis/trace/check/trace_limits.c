/* trace_limits.c - reads limits for traces: their names, shares, times and sizes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/trace/check/trace_check.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/str.h"

#define MILLION 1e6

enum { TEXT_SHOWN = 60, ALL_MILLIONTHS = 1000000, LIMITS_AT_FIRST = 8 };

const char *const trace_limit_names[TRACE_LIMITS] = {
    [TRACE_LIMIT_MIN_BUSY] = "min-busy",
    [TRACE_LIMIT_MAX_IDLE] = "max-idle",
    [TRACE_LIMIT_MAX_STEP] = "max-step",
    [TRACE_LIMIT_MAX_MEMORY_PEAK] = "max-memory-peak",
};

/* One file of limits serves snapshots and traces; those that a trace has no value for are known by
 * their names. */
static const char *const of_snapshots[] = {
    "max-peak",     "max-peak-active",   "max-reserved", "max-end",        "max-growth-per-step",
    "max-step-peak", "max-stranded",     "max-slack",    "max-pending",    "max-category",
    "max-site",     "max-device-peak",   "headroom",     "no-oom",         "no-retry",
    "max-delta",    "max-unknown-share", "no-new-site",  "max-site-delta",
};
static const char *const beside_limits[] = { "capacity", "tolerance" };
static const char *const with_subject[] = { "max-category", "max-site", "max-device-peak" };

#define IS_ONE_OF(name, names) str_is_one_of_texts(name, names, sizeof(names) / sizeof *(names))

static bool read_share(str value, double *ret)
{
    uint64_t millionths = 0;
    if (!share_read(value, &millionths) || millionths > ALL_MILLIONTHS)
        return false;
    *ret = (double)millionths / MILLION;
    return true;
}

static bool read_bytes(str value, int64_t *ret)
{
    uint64_t bytes = 0;
    if (!size_read(value, &bytes) || bytes > INT64_MAX)
        return false;
    *ret = (int64_t)bytes;
    return true;
}

/* NULL, or what the limit takes, which `value` is not. */
static const char *read_value(struct trace_limit *l, str value)
{
    switch ((enum trace_limit_kind)l->kind) {
    case TRACE_LIMIT_MIN_BUSY:
    case TRACE_LIMIT_MAX_IDLE:
        return read_share(value, &l->ratio) ? NULL : "a share of at most 100%, such as 70%";
    case TRACE_LIMIT_MAX_STEP:
        return duration_read(value, &l->value) ? NULL : "a time, such as 120ms, 1.5s or 800us";
    case TRACE_LIMIT_MAX_MEMORY_PEAK:
        return read_bytes(value, &l->value) ? NULL
                                            : "a size, such as 24GiB, 512MiB or a number of bytes";
    case TRACE_LIMIT_OTHER:
    case TRACE_LIMITS:
        break;
    }
    return NULL;
}

/* "max-category activation" of "max-category" with "activation=8GiB", and "8GiB"; the last "="
 * parts the two. */
static bool keep_texts(struct arena *arena, str name, str value, struct trace_limit *l)
{
    size_t at = IS_ONE_OF(name, with_subject) ? value.len : 0;
    while (at > 0 && value.ptr[at - 1] != '=')
        at--;
    str subject = setting_trimmed((str){ value.ptr, at == 0 ? 0 : at - 1 });
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_str(&text, name);
    buf_text(&text, subject.len > 0 ? " " : "");
    buf_str(&text, subject);
    l->name = text.failed ? (str){ NULL, 0 } : arena_copy(arena, buf_slice(&text));
    l->asked = arena_copy(arena, setting_trimmed((str){ value.ptr + at, value.len - at }));
    buf_free(&text);
    return l->name.ptr != NULL && l->asked.ptr != NULL;
}

static bool make_room(struct trace_limit_list *list)
{
    if (list->limits < list->room)
        return true;
    uint32_t room = list->room == 0 ? LIMITS_AT_FIRST : list->room * 2;
    struct trace_limit *larger = arena_array(list->arena, struct trace_limit, room);
    if (larger == NULL)
        return false;
    for (uint32_t i = 0; i < list->limits; i++)
        larger[i] = list->limit[i];
    list->limit = larger;
    list->room = room;
    return true;
}

static enum vrs_status add(struct trace_limit_list *list, const struct trace_limit *l,
                           struct vrs_error *err)
{
    uint32_t at = 0;
    while (at < list->limits && !str_equal(list->limit[at].name, l->name))
        at++;
    if (at == list->limits && !make_room(list))
        return vrs_no_memory(err);
    list->limits += at == list->limits;
    list->limit[at] = *l;
    return VRS_OK;
}

enum vrs_status trace_limit_add(struct trace_limit_list *list, str name, str value,
                                struct vrs_error *err)
{
    struct trace_limit l = { 0 };
    int shown = name.len > TEXT_SHOWN ? TEXT_SHOWN : (int)name.len;
    if (IS_ONE_OF(name, beside_limits))
        return VRS_OK;
    while (l.kind < TRACE_LIMIT_OTHER && !str_equal(name, str_from(trace_limit_names[l.kind])))
        l.kind++;
    if (l.kind == TRACE_LIMIT_OTHER && !IS_ONE_OF(name, of_snapshots))
        return vrs_fail(err, VRS_USAGE,
                        "there is no limit called \"%.*s\" (vramscope help check lists all); of "
                        "traces there are min-busy, max-idle, max-step and max-memory-peak",
                        shown, name.len == 0 ? "" : name.ptr);
    const char *wanted = read_value(&l, value);
    if (wanted != NULL)
        return vrs_fail(err, VRS_USAGE, "%.*s does not take \"%.*s\": %s", shown, name.ptr,
                        value.len > TEXT_SHOWN ? TEXT_SHOWN : (int)value.len,
                        value.len == 0 ? "" : value.ptr, wanted);
    if (!keep_texts(list->arena, name, value, &l))
        return vrs_no_memory(err);
    return add(list, &l, err);
}

static enum vrs_status take_line(void *arg, unsigned line, str name, str value,
                                 struct vrs_error *err)
{
    (void)line;
    return trace_limit_add(arg, name, value, err);
}

enum vrs_status trace_limits_read(struct trace_limit_list *list, str file, str text,
                                  struct vrs_error *err)
{
    return settings_read(file, text, take_line, list, err);
}

enum vrs_status trace_limits_check(const struct trace_limit_list *list, struct vrs_error *err)
{
    for (uint32_t i = 0; i < list->limits; i++)
        if (list->limit[i].kind != TRACE_LIMIT_OTHER)
            return VRS_OK;
    return vrs_fail(err, VRS_USAGE,
                    "a profiler trace, and none of the limits is one of traces: --min-busy, "
                    "--max-idle, --max-step, --max-memory-peak");
}
