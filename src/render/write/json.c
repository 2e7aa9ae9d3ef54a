/* json.c - writes JSON. */
#include "render/write/json.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/utf8.h"
#include "render/write/escape.h"

void json_start(struct json *j, struct buf *out)
{
    *j = (struct json){ .out = out };
    j->level[0].empty = true;
}

void json_finish(struct json *j)
{
    assert(j->depth == 0);
    buf_char(j->out, '\n');
}

static void put_string(struct buf *out, str s)
{
    buf_char(out, '"');
    size_t plain = 0; /* start of what needs no escape */
    for (size_t at = 0; at < s.len;) {
        uint32_t point;
        size_t len = utf8_decode((str){ s.ptr + at, s.len - at }, &point);
        bool broken = len == 1 && point == 0xfffd;
        if (point != '"' && point != '\\' && !broken && !escape_needed(point)) {
            at += len;
            continue;
        }
        buf_bytes(out, s.ptr + plain, at - plain);
        if (point == '"' || point == '\\')
            buf_format(out, "\\%c", (char)point);
        else if (point == '\n')
            buf_text(out, "\\n");
        else if (point == '\t')
            buf_text(out, "\\t");
        else if (point >= 0x10000)
            buf_format(out, "\\u%04x\\u%04x", 0xd7c0u + (point >> 10), 0xdc00u | (point & 0x3ffu));
        else
            buf_format(out, "\\u%04x", (unsigned)point);
        at += len;
        plain = at;
    }
    buf_bytes(out, s.ptr + plain, s.len - plain);
    buf_char(out, '"');
}

/* What stands before a member or element: comma, line, key. */
static void begin(struct json *j, const char *key)
{
    bool first = j->level[j->depth].empty, line = j->level[j->depth].line;
    j->level[j->depth].empty = false;
    if (!first)
        buf_char(j->out, ',');
    if (j->depth > 0 && !line) {
        buf_char(j->out, '\n');
        buf_repeat(j->out, S("  "), j->depth);
    } else if (!first || (line && j->level[j->depth].close == '}')) {
        buf_char(j->out, ' ');
    }
    str name = key != NULL ? str_from(key) : j->name;
    if (name.ptr != NULL) {
        put_string(j->out, name);
        buf_text(j->out, ": ");
    }
    j->name.ptr = NULL;
}

static void open_level(struct json *j, const char *key, const char *brackets, bool line)
{
    assert(j->depth < JSON_DEPTH);
    begin(j, key);
    buf_char(j->out, brackets[0]);
    bool inside = j->level[j->depth].line;
    j->depth++;
    j->level[j->depth].close = brackets[1];
    j->level[j->depth].line = line || inside;
    j->level[j->depth].empty = true;
}

void json_object(struct json *j, const char *key)
{
    open_level(j, key, "{}", false);
}

void json_array(struct json *j, const char *key)
{
    open_level(j, key, "[]", false);
}

void json_line_object(struct json *j, const char *key)
{
    open_level(j, key, "{}", true);
}

void json_line_array(struct json *j, const char *key)
{
    open_level(j, key, "[]", true);
}

void json_close(struct json *j)
{
    assert(j->depth > 0);
    bool empty = j->level[j->depth].empty, line = j->level[j->depth].line;
    char close = j->level[j->depth].close;
    j->depth--;
    if (!empty && !line) {
        buf_char(j->out, '\n');
        buf_repeat(j->out, S("  "), j->depth);
    } else if (!empty && close == '}') {
        buf_char(j->out, ' ');
    }
    buf_char(j->out, close);
}

void json_name(struct json *j, str name)
{
    j->name = name;
}

void json_str(struct json *j, const char *key, str value)
{
    begin(j, key);
    if (value.ptr == NULL)
        buf_text(j->out, "null");
    else
        put_string(j->out, value);
}

void json_text(struct json *j, const char *key, const char *value)
{
    json_str(j, key, value == NULL ? (str){ NULL, 0 } : str_from(value));
}

void json_raw(struct json *j, const char *key, str json)
{
    begin(j, key);
    buf_str(j->out, json);
}

void json_u64(struct json *j, const char *key, uint64_t value)
{
    begin(j, key);
    buf_u64(j->out, value);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
    begin(j, key);
    if (value < 0)
        buf_char(j->out, '-');
    buf_u64(j->out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    buf_text(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    begin(j, key);
    buf_text(j->out, "null");
}

void json_known(struct json *j, const char *key, uint64_t value)
{
    if (value == UINT64_MAX)
        json_null(j, key);
    else
        json_u64(j, key, value);
}

void json_known_i64(struct json *j, const char *key, int64_t value)
{
    if (value < 0)
        json_null(j, key);
    else
        json_i64(j, key, value);
}

void json_known_fixed(struct json *j, const char *key, double value, uint32_t decimals)
{
    if (value < 0)
        json_null(j, key);
    else
        json_fixed(j, key, value, decimals);
}

void json_fixed(struct json *j, const char *key, double value, uint32_t decimals)
{
    uint64_t scale = 1;
    for (uint32_t i = 0; i < decimals; i++)
        scale *= 10;
    double scaled = (value < 0 ? -value : value) * (double)scale;
    if (!isfinite(value)) {
        json_null(j, key);
        return;
    }
    /* From 2^53 on the digits of `scaled` are no longer those of the value. */
    if (scaled >= 9007199254740992.0) {
        begin(j, key);
        buf_fixed(j->out, value, (int)decimals);
        return;
    }
    uint64_t n = (uint64_t)scaled;
    double rest = scaled - (double)n;
    if (rest > 0.5 || (rest == 0.5 && n % 2 == 1))
        n++;
    begin(j, key);
    if (value < 0 && n > 0)
        buf_char(j->out, '-');
    buf_u64(j->out, n / scale);
    if (decimals > 0)
        buf_format(j->out, ".%0*llu", (int)decimals, (unsigned long long)(n % scale));
}
