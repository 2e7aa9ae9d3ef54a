/* budget.c - reads limits: their names, sizes, shares and subjects. */
#include "analysis/snapshot/check/budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/snapshot/categories/category_rules.h"
#include "base/buf.h"
#include "base/number.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/str.h"

enum { TEXT_SHOWN = 60, MILLION = 1000000 };

/* No honest share is larger than a thousand times the whole. */
#define MILLIONTHS_MOST (UINT64_C(1000) * MILLION)

enum takes {
    TAKES_NOTHING,
    TAKES_SIZE,
    TAKES_SHARE,
    TAKES_AMOUNT,  /* a size, or a share of the baseline's */
    TAKES_SUBJECT, /* SUBJECT=AMOUNT */
    TAKES_PART,    /* a share of a trace's time */
    TAKES_TIME,
};

const char *const limit_names[LIMIT_KINDS] = {
    [LIMIT_PEAK] = "max-peak",
    [LIMIT_PEAK_ACTIVE] = "max-peak-active",
    [LIMIT_RESERVED] = "max-reserved",
    [LIMIT_END] = "max-end",
    [LIMIT_GROWTH] = "max-growth-per-step",
    [LIMIT_STEP_PEAK] = "max-step-peak",
    [LIMIT_STRANDED] = "max-stranded",
    [LIMIT_SLACK] = "max-slack",
    [LIMIT_PENDING] = "max-pending",
    [LIMIT_CATEGORY] = "max-category",
    [LIMIT_SITE] = "max-site",
    [LIMIT_DEVICE_PEAK] = "max-device-peak",
    [LIMIT_HEADROOM] = "headroom",
    [LIMIT_OOM] = "no-oom",
    [LIMIT_RETRY] = "no-retry",
    [LIMIT_UNKNOWN_SHARE] = "max-unknown-share",
    [LIMIT_DELTA] = "max-delta",
    [LIMIT_SITE_DELTA] = "max-site-delta",
    [LIMIT_NEW_SITE] = "no-new-site",
    [LIMIT_TRACE_BUSY] = "min-busy",
    [LIMIT_TRACE_IDLE] = "max-idle",
    [LIMIT_TRACE_STEP] = "max-step",
    [LIMIT_TRACE_MEMORY] = "max-memory-peak",
};

static const uint8_t takes_of[LIMIT_KINDS] = {
    [LIMIT_PEAK] = TAKES_AMOUNT,     [LIMIT_PEAK_ACTIVE] = TAKES_AMOUNT,
    [LIMIT_RESERVED] = TAKES_AMOUNT, [LIMIT_END] = TAKES_AMOUNT,
    [LIMIT_GROWTH] = TAKES_AMOUNT,   [LIMIT_STEP_PEAK] = TAKES_AMOUNT,
    [LIMIT_STRANDED] = TAKES_AMOUNT, [LIMIT_SLACK] = TAKES_AMOUNT,
    [LIMIT_PENDING] = TAKES_AMOUNT,  [LIMIT_CATEGORY] = TAKES_SUBJECT,
    [LIMIT_SITE] = TAKES_SUBJECT,    [LIMIT_DEVICE_PEAK] = TAKES_SUBJECT,
    [LIMIT_HEADROOM] = TAKES_SIZE,   [LIMIT_OOM] = TAKES_NOTHING,
    [LIMIT_RETRY] = TAKES_NOTHING,   [LIMIT_UNKNOWN_SHARE] = TAKES_SHARE,
    [LIMIT_DELTA] = TAKES_AMOUNT,    [LIMIT_SITE_DELTA] = TAKES_SIZE,
    [LIMIT_NEW_SITE] = TAKES_SIZE,   [LIMIT_TRACE_BUSY] = TAKES_PART,
    [LIMIT_TRACE_IDLE] = TAKES_PART, [LIMIT_TRACE_STEP] = TAKES_TIME,
    [LIMIT_TRACE_MEMORY] = TAKES_SIZE,
};

static int shown(str text)
{
    return text.len > TEXT_SHOWN ? TEXT_SHOWN : (int)text.len;
}

/* The library counts in signed bytes. */
static bool read_bytes(str text, uint64_t *ret)
{
    uint64_t bytes;
    if (!size_read(text, &bytes) || bytes > INT64_MAX)
        return false;
    *ret = bytes;
    return true;
}

/* "105%", "2.5 %" in millionths of the whole. */
static bool read_share(str text, uint64_t *ret)
{
    struct decimal n;
    if (!decimal_take(&text, &n) || !str_equal(setting_trimmed(text), S("%")))
        return false;
    if (n.whole > MILLIONTHS_MOST)
        return false;
    uint64_t millionths = n.whole * (MILLION / 100) + n.part * (MILLION / 100) / n.scale;
    *ret = millionths;
    return millionths <= MILLIONTHS_MOST;
}

static enum vrs_status read_amount(str name, enum takes takes, str text, struct amount *ret,
                                   struct vrs_error *err)
{
    const char *wanted = takes == TAKES_SHARE ? "a share, such as 25%"
                         : takes == TAKES_SIZE
                             ? "a size, such as 24GiB, 512MiB or a number of "
                               "bytes"
                             : "a size, such as 24GiB or a number of bytes, or with a baseline a "
                               "share of its figure, such as 105%";
    *ret = (struct amount){ 0 };
    if (takes != TAKES_SHARE && read_bytes(text, &ret->bytes))
        return VRS_OK;
    if (takes != TAKES_SIZE && read_share(text, &ret->millionths)) {
        /* What is a part of something cannot be more than all of it. */
        if (takes == TAKES_SHARE && ret->millionths > MILLION)
            return vrs_fail(err, VRS_USAGE, "%.*s is a part of the peak: at most 100%%, not %.*s",
                            shown(name), name.ptr, shown(text), text.ptr);
        ret->relative = true;
        return VRS_OK;
    }
    return vrs_fail(err, VRS_USAGE, "%.*s does not take \"%.*s\": %s", shown(name), name.ptr,
                    shown(text), text.len == 0 ? "" : text.ptr, wanted);
}

/* What a snapshot has no value for is read only to be sure that it makes sense. */
static enum vrs_status read_of_traces(str name, enum takes takes, str text, struct vrs_error *err)
{
    uint64_t share = 0;
    int64_t ns = 0;
    bool is_part = takes == TAKES_PART;
    if (is_part ? share_read(text, &share) && share <= MILLION : duration_read(text, &ns))
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%.*s does not take \"%.*s\": %s", shown(name), name.ptr,
                    shown(text), text.len == 0 ? "" : text.ptr,
                    is_part ? "a share of at most 100%, such as 70%"
                            : "a time, such as 120ms, 1.5s or 800us");
}

static enum vrs_status read_category(str subject, struct limit *l, struct vrs_error *err)
{
    for (uint32_t c = 0; c < CATEGORIES; c++)
        if (str_equal(str_from(category_names[c]), subject)) {
            l->category = (enum category)c;
            return VRS_OK;
        }
    return vrs_fail(
        err, VRS_USAGE,
        "there is no category \"%.*s\": parameter, buffer, "
        "parameter_copy, gradient, optimizer_state, optimizer_temp, activation, input, temporary, "
        "autograd_detail, communication, kv_cache, workspace, persistent, unknown",
        subject.len > 30 ? 30 : (int)subject.len, subject.ptr);
}

static enum vrs_status read_device(str subject, struct limit *l, struct vrs_error *err)
{
    uint64_t n = 0;
    bool negative;
    if (!number_integer(subject, &n, &negative) || subject.ptr[0] == '+' || subject.ptr[0] == '-' ||
        n > UINT32_MAX)
        return vrs_fail(err, VRS_USAGE,
                        "max-device-peak takes a device's number with a size, as 0=24GiB, not "
                        "\"%.*s\"",
                        shown(subject), subject.ptr);
    l->device = (uint32_t)n;
    return VRS_OK;
}

static enum vrs_status read_site(struct budget *b, str subject, struct limit *l,
                                 struct vrs_error *err)
{
    struct pattern *made = arena_array(b->arena, struct pattern, 1);
    if (made == NULL)
        return vrs_no_memory(err);
    struct vrs_error why;
    enum vrs_status status = pattern_compile(made, subject, false, &why);
    if (status == VRS_USAGE)
        return vrs_fail(err, VRS_USAGE, "max-site does not take the expression \"%.*s\": %s",
                        shown(subject), subject.ptr, why.message);
    if (status != VRS_OK)
        return vrs_no_memory(err);
    l->site = made;
    return VRS_OK;
}

/* SUBJECT=AMOUNT; the last "=" parts them, since an expression may hold one. */
static enum vrs_status read_subject(struct budget *b, str value, struct limit *l, str *ret_subject,
                                    struct vrs_error *err)
{
    const char *example = l->kind == LIMIT_CATEGORY ? "activation=8GiB"
                          : l->kind == LIMIT_SITE   ? "model.py:12=2GiB"
                                                    : "0=24GiB";
    size_t at = value.len;
    while (at > 0 && value.ptr[at - 1] != '=')
        at--;
    str subject = setting_trimmed((str){ value.ptr, at == 0 ? 0 : at - 1 });
    if (subject.len == 0)
        return vrs_fail(err, VRS_USAGE, "%s takes two parts, as %s, not \"%.*s\"",
                        limit_names[l->kind], example, shown(value),
                        value.len == 0 ? "" : value.ptr);
    str amount = setting_trimmed((str){ value.ptr + at, value.len - at });
    TRY(read_amount(str_from(limit_names[l->kind]), TAKES_AMOUNT, amount, &l->amount, err));
    *ret_subject = subject;
    if (l->kind == LIMIT_CATEGORY)
        return read_category(subject, l, err);
    if (l->kind == LIMIT_DEVICE_PEAK)
        return read_device(subject, l, err);
    return read_site(b, subject, l, err);
}

static void free_limit(struct limit *l)
{
    if (l->site != NULL)
        pattern_free(l->site);
    l->site = NULL;
}

/* A line of a file never takes back what another one says. */
static enum vrs_status admit_line(const struct budget *b, unsigned line, str name,
                                  struct vrs_error *err)
{
    if (b->line == 0 || line == 0)
        return VRS_OK;
    return vrs_fail(err, VRS_USAGE, "%.*s stands in line %u already; leave one of them out",
                    shown(name), name.ptr, line);
}

static bool is_same(const struct limit *a, const struct limit *b)
{
    return a->kind == b->kind && a->category == b->category && a->device == b->device &&
           (a->kind != LIMIT_SITE || str_equal(a->name, b->name));
}

/* Replaces the same limit, or adds one.  Takes `*l` over, also when it fails. */
static enum vrs_status add(struct budget *b, struct limit *l, str subject, struct vrs_error *err)
{
    struct buf name;
    buf_init(&name, SIZE_MAX / 2);
    buf_text(&name, limit_names[l->kind]);
    if (subject.len > 0)
        buf_char(&name, ' ');
    buf_str(&name, subject);
    l->name = name.failed ? (str){ NULL, 0 } : arena_copy(b->arena, buf_slice(&name));
    buf_free(&name);
    uint32_t at = 0;
    while (l->name.ptr != NULL && at < b->limits && !is_same(&b->limit[at], l))
        at++;
    if (l->name.ptr == NULL || at == BUDGET_LIMITS_MOST) {
        free_limit(l);
        return l->name.ptr == NULL
                   ? vrs_no_memory(err)
                   : vrs_fail(err, VRS_USAGE, "more than %d limits", BUDGET_LIMITS_MOST);
    }
    enum vrs_status admitted =
        at < b->limits ? admit_line(b, b->limit[at].line, l->name, err) : VRS_OK;
    if (admitted != VRS_OK) {
        free_limit(l);
        return admitted;
    }
    l->line = b->line;
    if (at < b->limits)
        free_limit(&b->limit[at]);
    else
        b->limits++;
    b->limit[at] = *l;
    return VRS_OK;
}

enum vrs_status budget_make(struct arena *arena, struct budget *ret, struct vrs_error *err)
{
    *ret = (struct budget){ .arena = arena };
    ret->limit = arena_array(arena, struct limit, BUDGET_LIMITS_MOST);
    return ret->limit == NULL ? vrs_no_memory(err) : VRS_OK;
}

void budget_free(struct budget *b)
{
    for (uint32_t i = 0; i < b->limits; i++)
        free_limit(&b->limit[i]);
    b->limits = 0;
}

/* What belongs to limits and is none. */
static enum vrs_status set_beside(struct budget *b, str name, str value, bool *ret_taken,
                                  struct vrs_error *err)
{
    struct amount capacity;
    *ret_taken = true;
    if (str_equal(name, S("tolerance"))) {
        TRY(admit_line(b, b->tolerance_line, name, err));
        b->tolerance_line = b->line;
        b->has_tolerance = true;
        return read_amount(name, TAKES_AMOUNT, value, &b->tolerance, err);
    }
    if (str_equal(name, S("capacity"))) {
        TRY(admit_line(b, b->capacity_line, name, err));
        b->capacity_line = b->line;
        TRY(read_amount(name, TAKES_SIZE, value, &capacity, err));
        if (capacity.bytes == 0)
            return vrs_fail(err, VRS_USAGE, "a capacity of 0 leaves no headroom");
        b->capacity_bytes = capacity.bytes;
        return VRS_OK;
    }
    *ret_taken = false;
    return VRS_OK;
}

enum vrs_status budget_set(struct budget *b, str name, str value, struct vrs_error *err)
{
    struct limit l = { 0 };
    bool taken = false;
    TRY(set_beside(b, name, value, &taken, err));
    if (taken)
        return VRS_OK;
    uint32_t kind = 0;
    while (kind < LIMIT_KINDS && !str_equal(str_from(limit_names[kind]), name))
        kind++;
    if (kind == LIMIT_KINDS)
        return vrs_fail(err, VRS_USAGE,
                        "there is no limit called \"%.*s\" (vramscope help check lists all)",
                        shown(name), name.len == 0 ? "" : name.ptr);
    l.kind = (enum limit_kind)kind;
    enum takes takes = (enum takes)takes_of[kind];
    str subject = S("");
    if (takes == TAKES_NOTHING) {
        if (value.len > 0 && !str_equal(value, S("true")))
            return vrs_fail(err, VRS_USAGE, "%s takes no value; leave the line out to allow it",
                            limit_names[kind]);
    } else if (takes == TAKES_SUBJECT) {
        TRY(read_subject(b, value, &l, &subject, err));
    } else if (takes == TAKES_PART || takes == TAKES_TIME) {
        TRY(read_of_traces(name, takes, value, err));
    } else {
        TRY(read_amount(name, takes, value, &l.amount, err));
    }
    return add(b, &l, subject, err);
}

/* A line of a file; the budget knows it while it is set. */
static enum vrs_status take_line(void *arg, unsigned line, str name, str value,
                                 struct vrs_error *err)
{
    struct budget *b = arg;
    b->line = line;
    enum vrs_status status = budget_set(b, name, value, err);
    b->line = 0;
    return status;
}

enum vrs_status budget_read(struct budget *b, str file, str text, struct vrs_error *err)
{
    return settings_read(file, text, take_line, b, err);
}

static bool compares(enum limit_kind kind)
{
    return kind == LIMIT_DELTA || kind == LIMIT_SITE_DELTA || kind == LIMIT_NEW_SITE;
}

enum vrs_status budget_check(const struct budget *b, bool has_baseline, struct vrs_error *err)
{
    bool headroom = false;
    if (b->limits == 0)
        return vrs_fail(err, VRS_USAGE,
                        "there is no limit to check; give one, such as --max-peak 24GiB");
    for (uint32_t i = 0; i < b->limits; i++) {
        const struct limit *l = &b->limit[i];
        headroom = headroom || l->kind == LIMIT_HEADROOM;
        bool relative = l->amount.relative && l->kind != LIMIT_UNKNOWN_SHARE;
        if (!has_baseline && (relative || compares(l->kind)))
            return vrs_fail(err, VRS_USAGE,
                            "%s%s needs a recording to compare with: --baseline "
                            "FILE",
                            limit_names[l->kind], relative ? " with a share" : "");
    }
    if (b->has_tolerance && !has_baseline)
        return vrs_fail(err, VRS_USAGE,
                        "tolerance applies to growth against a baseline: add --baseline FILE");
    if (headroom && b->capacity_bytes == 0)
        return vrs_fail(err, VRS_USAGE,
                        "headroom is what is left of the device's memory: add "
                        "--capacity SIZE");
    return VRS_OK;
}

bool limit_is_of_traces(enum limit_kind kind)
{
    return kind >= LIMIT_TRACE_BUSY && kind < LIMIT_KINDS;
}

enum vrs_status budget_check_own(const struct budget *b, struct vrs_error *err)
{
    for (uint32_t i = 0; i < b->limits; i++)
        if (!limit_is_of_traces(b->limit[i].kind))
            return VRS_OK;
    return vrs_fail(err, VRS_USAGE,
                    "a memory snapshot, and none of the limits is one of snapshots: --max-peak, "
                    "--max-reserved, --no-oom and others (%s is one of profiler traces)",
                    b->limits == 0 ? "--min-busy" : limit_names[b->limit[0].kind]);
}

int64_t amount_of(struct amount amount, int64_t whole)
{
    if (!amount.relative)
        return (int64_t)amount.bytes;
    if (whole <= 0)
        return 0;
    uint64_t of = (uint64_t)whole, n = amount.millionths;
    /* whole = MILLION * high + low, so that no product passes 64 bits unseen. */
    uint64_t high = of / MILLION, low = of % MILLION;
    if (n != 0 && high > (uint64_t)INT64_MAX / n)
        return INT64_MAX;
    uint64_t sum = high * n + low * n / MILLION;
    return sum > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)sum;
}
