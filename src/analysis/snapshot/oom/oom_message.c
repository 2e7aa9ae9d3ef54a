/* oom_message.c - finds the phrases of every wording, and the size beside each. */
#include "analysis/snapshot/oom/oom_message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* No honest size is larger; sums of several do not wrap. */
#define SAID_MOST ((uint64_t)1 << 60)

static const struct said nothing_said = { UNKNOWN_U64, 0 };

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

/* A blank for what is white, a small letter for a capital one. */
static char levelled(char c)
{
    if (is_blank(c))
        return ' ';
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

/* Runs of white space as one blank, letters small: lines may be broken anywhere. */
static bool level(str text, struct arena *scratch, str *ret)
{
    char *to = arena_take(scratch, text.len + 1);
    size_t len = 0;
    if (to == NULL)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = levelled(text.ptr[i]);
        if (c != ' ' || (len > 0 && to[len - 1] != ' '))
            to[len++] = c;
    }
    *ret = (str){ to, len };
    return true;
}

static str rest_of(str text, size_t from)
{
    return (str){ text.ptr + from, text.len - from };
}

/* Sizes. */

static const struct {
    const char *name;
    uint32_t shift;
} units[] = { { "bytes", 0 }, { "byte", 0 }, { "kib", 10 }, { "mib", 20 },
              { "gib", 30 },  { "tib", 40 }, { "b", 0 } };

enum {
    UNITS = sizeof units / sizeof *units,
    DECIMALS_MOST = 6,
    LETTERS_MOST = 8,
    DIGITS_MOST = 32
};

/* A number at the start of `text`, as its digits without the point; how many stand behind it. */
static size_t read_number(str text, uint64_t *ret, uint32_t *ret_decimals)
{
    size_t i = 0;
    uint64_t n = 0;
    uint32_t decimals = 0;
    bool point = false;
    for (; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.' && !point && i > 0 && i + 1 < text.len && is_digit(text.ptr[i + 1])) {
            point = true;
            continue;
        }
        if (!is_digit(c))
            break;
        if (decimals == DECIMALS_MOST)
            continue; /* digits too fine to matter */
        if (n >= SAID_MOST / 16)
            return 0;
        n = n * 10 + (uint64_t)(c - '0');
        decimals += point;
    }
    *ret = n;
    *ret_decimals = decimals;
    return i;
}

/* digits / 10^decimals units of 2^shift bytes; unknown where that is no size. */
static struct said scale(uint64_t digits, uint32_t decimals, uint32_t shift)
{
    uint64_t ten = 1, unit = (uint64_t)1 << shift;
    for (uint32_t i = 0; i < decimals; i++)
        ten *= 10;
    uint64_t whole = digits / ten, part = digits % ten;
    if (whole >= SAID_MOST >> shift)
        return nothing_said;
    /* part < 10^6 and unit <= 2^40: the product fits. */
    uint64_t bytes = whole * unit + (part * unit + ten / 2) / ten;
    return (struct said){ bytes, shift == 0 ? 0 : unit / ten / 2 + 1 };
}

/* A size at the start of `text`: a number, a blank or none, a unit. */
static struct said size_at(str text, size_t *ret_len)
{
    uint64_t digits = 0;
    uint32_t decimals = 0;
    size_t at = read_number(text, &digits, &decimals);
    if (at == 0)
        return nothing_said;
    at += at < text.len && text.ptr[at] == ' ';
    for (uint32_t i = 0; i < UNITS; i++) {
        str unit = str_from(units[i].name), rest = rest_of(text, at);
        bool ends = rest.len <= unit.len || !is_letter(rest.ptr[unit.len]);
        if (!str_starts(rest, unit) || !ends)
            continue;
        *ret_len = at + unit.len;
        return scale(digits, decimals, units[i].shift);
    }
    return nothing_said;
}

/* The size that ends where `text` does; one blank may follow it. */
static struct said size_before(str text)
{
    size_t end = text.len - (text.len > 0 && text.ptr[text.len - 1] == ' '), at = end, len = 0;
    while (at > 0 && end - at < LETTERS_MOST && is_letter(text.ptr[at - 1]))
        at--;
    at -= at > 0 && text.ptr[at - 1] == ' ';
    while (at > 0 && end - at < DIGITS_MOST &&
           (is_digit(text.ptr[at - 1]) || text.ptr[at - 1] == '.'))
        at--;
    struct said said = size_at((str){ text.ptr + at, end - at }, &len);
    return len == end - at ? said : nothing_said;
}

/* Phrases. */

/* The first size right behind a phrase; `then` must follow it. */
static struct said said_after(str text, str phrase, str then)
{
    for (size_t at = str_find(text, phrase); at < text.len; at = str_find(text, phrase)) {
        size_t len = 0;
        text = rest_of(text, at + phrase.len);
        struct said said = size_at(text, &len);
        if (is_said(said) && str_starts(rest_of(text, len), then))
            return said;
    }
    return nothing_said;
}

/* The first size right before a phrase. */
static struct said said_before(str text, str phrase)
{
    for (size_t from = 0; from < text.len;) {
        size_t at = from + str_find(rest_of(text, from), phrase);
        if (at >= text.len)
            break;
        struct said said = size_before((str){ text.ptr, at });
        if (is_said(said))
            return said;
        from = at + phrase.len;
    }
    return nothing_said;
}

static struct said either(struct said first, struct said second)
{
    return is_said(first) ? first : second;
}

/* Digits at the start of `text`; how many, 0 where there are none or too many. */
static size_t digits_at(str text)
{
    size_t len = 0;
    while (len < text.len && is_digit(text.ptr[len]))
        len++;
    return len > 9 ? 0 : len;
}

static int64_t device_of(str text)
{
    const str phrase = S("gpu ");
    for (size_t at = str_find(text, phrase); at < text.len; at = str_find(text, phrase)) {
        text = rest_of(text, at + phrase.len);
        int64_t n = 0;
        size_t len = digits_at(text);
        for (size_t i = 0; i < len; i++)
            n = n * 10 + (text.ptr[i] - '0');
        if (len > 0)
            return n;
    }
    return -1;
}

/* "process 4711 has 78.92 gib": a process seen from outside, maybe this one under another number.
 * Of several it is the smallest that holds what PyTorch has reserved. */
static struct said listed_process(str text, struct said reserved)
{
    const str phrase = S("process ");
    struct said best = nothing_said;
    for (size_t at = str_find(text, phrase); at < text.len; at = str_find(text, phrase)) {
        text = rest_of(text, at + phrase.len);
        size_t digits = digits_at(text), len = 0;
        const str has = S(" has ");
        if (digits == 0 || !str_starts(rest_of(text, digits), has))
            continue;
        struct said said = size_at(rest_of(text, digits + has.len), &len);
        bool holds =
            !is_said(reserved) || said.bytes + said.slack + reserved.slack >= reserved.bytes;
        if (is_said(said) && holds && (!is_said(best) || said.bytes < best.bytes))
            best = said;
    }
    return best;
}

/* "Requested size: 20.00 MiB", with whatever stands between. */
static struct said requested_size(str text)
{
    const str phrase = S("requested size");
    size_t at = str_find(text, phrase), len = 0;
    if (at >= text.len)
        return nothing_said;
    at += phrase.len;
    for (uint32_t i = 0; i < 8 && at < text.len && !is_digit(text.ptr[at]); i++)
        at++;
    return size_at(rest_of(text, at), &len);
}

struct oom_message oom_message_none(void)
{
    return (struct oom_message){
        .device = -1,
        .tried = nothing_said,
        .capacity = nothing_said,
        .free = nothing_said,
        .process = nothing_said,
        .allowed = nothing_said,
        .allocated = nothing_said,
        .private_pools = nothing_said,
        .unallocated = nothing_said,
        .reserved = nothing_said,
    };
}

struct said oom_message_reserved(const struct oom_message *m)
{
    if (is_said(m->reserved) || !is_said(m->allocated) || !is_said(m->unallocated))
        return m->reserved;
    return (struct said){ m->allocated.bytes + m->unallocated.bytes,
                          m->allocated.slack + m->unallocated.slack };
}

static bool has(str text, str phrase)
{
    return str_find(text, phrase) < text.len;
}

static bool says_any(const struct oom_message *m)
{
    return is_said(m->tried) || is_said(m->capacity) || is_said(m->free) || is_said(m->process) ||
           is_said(m->allowed) || is_said(m->allocated) || is_said(m->private_pools) ||
           is_said(m->unallocated) || is_said(m->reserved) || m->preemptive;
}

enum vrs_status oom_message_read(str text, struct arena *scratch, struct oom_message *ret,
                                 struct vrs_error *err)
{
    const str any = S("");
    str t = text;
    t.len = t.len > OOM_MESSAGE_BYTES_MAX ? OOM_MESSAGE_BYTES_MAX : t.len;
    if (!level(t, scratch, &t))
        return vrs_no_memory(err);
    struct oom_message m = { .device = device_of(t) };
    m.preemptive = has(t, S("preemptively rejected")) || has(t, S("requested size"));
    m.tried = either(said_after(t, S("tried to allocate "), any), requested_size(t));
    m.capacity = either(
        said_after(t, S("total capacity of "), any),
        either(said_after(t, S("total capacty of "), any), said_before(t, S("total capacity"))));
    m.free = either(said_after(t, S("of which "), S(" is free")), said_before(t, S("free")));
    m.allowed = said_before(t, S("allowed"));
    m.allocated = either(said_before(t, S("is allocated by pytorch")),
                         said_before(t, S("already allocated")));
    m.private_pools = either(said_before(t, S("allocated in private pools")),
                             said_before(t, S("is allocated in private pools")));
    m.unallocated = either(said_before(t, S("is reserved by pytorch but unallocated")),
                           either(said_before(t, S("reserved by pytorch but unallocated")),
                                  said_before(t, S("cached"))));
    m.reserved = said_before(t, S("reserved in total by pytorch"));
    m.process = either(said_after(t, S("this process has "), any),
                       listed_process(t, oom_message_reserved(&m)));
    m.any = says_any(&m);
    *ret = m;
    return VRS_OK;
}

bool said_agrees(struct said said, uint64_t measured)
{
    if (!is_said(said) || measured == UNKNOWN_U64)
        return true;
    uint64_t apart = said.bytes > measured ? said.bytes - measured : measured - said.bytes;
    return apart <= said.slack;
}
