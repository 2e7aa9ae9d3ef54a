/* reader.c - a pushdown automaton over JSON text: what may stand next, and what is open. */
#include "format/json/reader.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "format/json/plain.h"
#include "format/json/string.h"

enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* behind "[" */
    EXPECT_KEY,
    EXPECT_KEY_OR_END, /* behind "{" */
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING
};

struct json {
    struct window *w;
    const struct limits *limits;
    struct json_sink sink;
    uint64_t offset;   /* of the token at hand */
    VEC(uint8_t) open; /* '{' or '[' */
    bool in_dict;      /* what the innermost open one is */
    uint32_t skipped;  /* containers around the value that nobody takes; 0: every value is taken */
    enum expect expect;
    struct buf text; /* a string with escapes, or one that the window does not show whole */
    uint64_t lone_strings;
    bool cut;
    bool takes_all; /* the sink takes keys, strings and numbers */
};

static enum vrs_status refuse(struct json *j, struct vrs_error *err)
{
    static const char *const wanted[] = { "a value",         "a value or ]",
                                          "a key in quotes", "a key in quotes or }",
                                          "a colon",         "a comma or the end of what is open",
                                          "nothing" };
    uint8_t c = *j->w->at;
    uint64_t offset = window_offset(j->w);
    if (c > ' ' && c < 0x7f)
        return vrs_fail_at(err, VRS_CORRUPT, offset, "JSON with %c where %s should stand", c,
                           wanted[j->expect]);
    return vrs_fail_at(err, VRS_CORRUPT, offset, "JSON with byte 0x%02x where %s should stand", c,
                       wanted[j->expect]);
}

/* Behind a value.  A key stands in a dict, so what is skipped lies in one container at least. */
static void value_done(struct json *j)
{
    if (j->open.len == j->skipped)
        j->skipped = 0;
    j->expect = j->open.len == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

static enum vrs_status string_refuse(struct json *j, enum json_string end, struct vrs_error *err)
{
    switch (end) {
    case JSON_STRING_WHOLE:
    case JSON_STRING_CUT:
        break;
    case JSON_STRING_ESCAPE:
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(j->w),
                           "a JSON string with an escape that there is not");
    case JSON_STRING_CONTROL:
        return vrs_fail_at(err, VRS_CORRUPT, window_offset(j->w),
                           "a JSON string with a control character");
    case JSON_STRING_LONG:
        return vrs_fail_at(err, VRS_LIMIT, j->offset, "a string longer than %u; see --limit string",
                           j->limits->string_bytes);
    case JSON_STRING_MEMORY:
        return vrs_no_memory(err);
    }
    j->cut = true;
    return VRS_OK;
}

/* At the opening quote of a string, whose end may lie behind the end of the input (j->cut). */
static enum vrs_status read_string(struct json *j, str *ret, struct vrs_error *err)
{
    struct window *w = j->w;
    const uint8_t *at = plain_end(++w->at, w->end);
    str text = { (const char *)w->at, (size_t)(at - w->at) };
    if (at < w->end && *at == '"') {
        if (text.len > j->limits->string_bytes)
            return vrs_fail_at(err, VRS_LIMIT, j->offset,
                               "a string of %zu bytes, longer than %u; see --limit string",
                               text.len, j->limits->string_bytes);
        w->at = at + 1;
    } else {
        /* Escapes, or more than the window shows: gathered. */
        uint64_t lone_surrogates = 0;
        enum json_string end =
            json_string_read(w, &j->text, j->limits->string_bytes, &lone_surrogates);
        if (end != JSON_STRING_WHOLE)
            return string_refuse(j, end, err);
        bool lone = lone_surrogates != 0 && j->skipped == 0;
        j->lone_strings += lone;
        if (lone && j->sink.lone != NULL)
            j->sink.lone(j->sink.self, j->offset);
        text = buf_slice(&j->text);
    }
    *ret = text;
    return VRS_OK;
}

static enum vrs_status read_key(struct json *j, struct vrs_error *err)
{
    str text;
    bool take = true;
    TRY(read_string(j, &text, err));
    if (j->cut)
        return VRS_OK;
    j->expect = EXPECT_COLON;
    if (j->skipped != 0 || j->sink.key == NULL)
        return VRS_OK;
    TRY(j->sink.key(j->sink.self, text, j->offset, &take, err));
    if (!take)
        j->skipped = j->open.len;
    return VRS_OK;
}

static enum vrs_status read_text(struct json *j, struct vrs_error *err)
{
    str text;
    TRY(read_string(j, &text, err));
    if (j->cut || j->skipped != 0 || j->sink.string == NULL)
        return VRS_OK;
    return j->sink.string(j->sink.self, text, j->offset, err);
}

static enum vrs_status read_number(struct json *j, struct vrs_error *err)
{
    str text;
    enum json_scan scan = json_scan_number(j->w, &text);
    if (scan == JSON_SCAN_WRONG)
        return vrs_fail_at(err, VRS_CORRUPT, j->offset, "not a number of JSON");
    j->cut = scan == JSON_SCAN_CUT;
    if (j->cut || j->skipped != 0 || j->sink.number == NULL)
        return VRS_OK;
    return j->sink.number(j->sink.self, text, j->offset, err);
}

/* A word without quotes. */
static enum vrs_status read_literal(struct json *j, struct vrs_error *err)
{
    enum json_literal literal;
    enum json_scan scan = json_scan_literal(j->w, &literal);
    if (scan == JSON_SCAN_WRONG)
        return refuse(j, err);
    j->cut = scan == JSON_SCAN_CUT;
    if (j->cut || j->skipped != 0 || j->sink.literal == NULL)
        return VRS_OK;
    return j->sink.literal(j->sink.self, literal, j->offset, err);
}

static enum vrs_status open_container(struct json *j, uint8_t c, struct vrs_error *err)
{
    j->w->at++;
    if (!vec_push(&j->open, c)) {
        if (j->open.len < j->open.max)
            return vrs_no_memory(err);
        return vrs_fail_at(err, VRS_LIMIT, j->offset,
                           "value nested deeper than %u; is this a %s? see --limit nesting",
                           j->open.max, j->sink.kind);
    }
    j->in_dict = c == '{';
    j->expect = j->in_dict ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    enum vrs_status (*begin)(void *, uint64_t, struct vrs_error *) =
        c == '{' ? j->sink.begin_object : j->sink.begin_array;
    if (j->skipped != 0 || begin == NULL)
        return VRS_OK;
    return begin(j->sink.self, j->offset, err);
}

static enum vrs_status close_container(struct json *j, struct vrs_error *err)
{
    j->w->at++;
    enum vrs_status (*end)(void *, uint64_t, struct vrs_error *) =
        j->in_dict ? j->sink.end_object : j->sink.end_array;
    j->open.len--;
    j->in_dict = j->open.len > 0 && j->open.at[j->open.len - 1] == '{';
    bool taken = j->skipped == 0;
    value_done(j);
    if (!taken || end == NULL)
        return VRS_OK;
    return end(j->sink.self, j->offset, err);
}

/* At "{"; `*ret_done`: the sink has read what begins there. */
static enum vrs_status offer_elements(struct json *j, bool *ret_done, struct vrs_error *err)
{
    const uint8_t *before = j->w->at;
    *ret_done = false;
    if (j->sink.elements == NULL || j->skipped != 0 || j->in_dict || j->open.len == 0)
        return VRS_OK;
    TRY(j->sink.elements(j->sink.self, j->w, err));
    *ret_done = j->w->at != before;
    return VRS_OK;
}

static enum vrs_status read_value(struct json *j, uint8_t c, struct vrs_error *err)
{
    bool done = false;
    if (c == '{')
        TRY(offer_elements(j, &done, err));
    if (done) {
        value_done(j);
        return VRS_OK;
    }
    if (c == '{' || c == '[')
        return open_container(j, c, err);
    bool infinity = c == '-' && window_need(j->w, 2) && j->w->at[1] == 'I';
    if (c == '"')
        TRY(read_text(j, err));
    else if (!infinity && (c == '-' || (c >= '0' && c <= '9')))
        TRY(read_number(j, err));
    else
        TRY(read_literal(j, err));
    value_done(j);
    return VRS_OK;
}

/* One token, which begins with `c`. */
static enum vrs_status read_token(struct json *j, uint8_t c, struct vrs_error *err)
{
    bool closes = j->open.len > 0 && c == (j->in_dict ? '}' : ']');
    switch (j->expect) {
    case EXPECT_VALUE_OR_END:
        if (closes)
            return close_container(j, err);
        return read_value(j, c, err);
    case EXPECT_VALUE:
        return read_value(j, c, err);
    case EXPECT_KEY_OR_END:
        if (closes)
            return close_container(j, err);
        break;
    case EXPECT_COMMA_OR_END:
        if (closes)
            return close_container(j, err);
        if (c != ',')
            return refuse(j, err);
        j->w->at++;
        j->expect = j->in_dict ? EXPECT_KEY : EXPECT_VALUE;
        return VRS_OK;
    case EXPECT_COLON:
        if (c != ':')
            return refuse(j, err);
        j->w->at++;
        j->expect = EXPECT_VALUE;
        return VRS_OK;
    case EXPECT_KEY:
    case EXPECT_NOTHING:
        break;
    }
    return c == '"' ? read_key(j, err) : refuse(j, err);
}

/* The value of a member, where it is a common string or number; `*ret_done` whether. */
static enum vrs_status common_scalar(struct json *j, bool *ret_done, struct vrs_error *err)
{
    struct window *w = j->w;
    bool taken = j->skipped == 0;
    uint8_t c = *w->at;
    uint32_t most = j->limits->string_bytes;
    str text;
    j->offset = window_offset(w);
    *ret_done = c == '"' ? json_scan_text(w, w->at, most, &text, &w->at)
                         : (c == '-' || is_digit((char)c)) && json_scan_common(w, &text);
    if (!*ret_done)
        return VRS_OK;
    value_done(j);
    if (!taken)
        return VRS_OK;
    return c == '"' ? j->sink.string(j->sink.self, text, j->offset, err)
                    : j->sink.number(j->sink.self, text, j->offset, err);
}

/* At a key of a dict: reads members without a turn of the automaton for each of their tokens, as
 * long as they are strings and numbers, and common ones.  Wherever it stops, at a token that is
 * another, or wrong, or that the window may not show whole, the automaton goes on. */
static enum vrs_status common_members(struct json *j, struct vrs_error *err)
{
    struct window *w = j->w;
    for (bool more = true; more;) {
        const uint8_t *at;
        str key;
        bool take = true;
        if (!json_scan_text(w, w->at, j->limits->string_bytes, &key, &at) || *at != ':')
            return VRS_OK;
        j->offset = window_offset(w);
        w->at = behind_blanks(at + 1);
        j->expect = EXPECT_VALUE;
        TRY(j->sink.key(j->sink.self, key, j->offset, &take, err));
        j->skipped = take ? 0 : j->open.len;
        TRY(common_scalar(j, &more, err));
        if (!more || *w->at != ',')
            return VRS_OK;
        w->at = behind_blanks(w->at + 1);
        j->expect = EXPECT_KEY;
        more = *w->at == '"';
    }
    return VRS_OK;
}

/* Takes the colon or the comma that mostly stands right behind a token, and what is blank behind
 * it.  The automaton judges what stands there else; the zeros behind a window are neither. */
static void take_separator(struct json *j)
{
    const uint8_t *at = j->w->at;
    if (*at == ',' && j->expect == EXPECT_COMMA_OR_END)
        j->expect = j->in_dict ? EXPECT_KEY : EXPECT_VALUE;
    else if (*at == ':' && j->expect == EXPECT_COLON)
        j->expect = EXPECT_VALUE;
    else
        return;
    j->w->at = behind_blanks(at + 1);
}

/* Goes on in a list that nobody takes, through what such lists mostly hold: numbers, strings
 * without escapes, lists.  Stops at the first token that is another one, or wrong, or that the
 * window may not show whole; the automaton goes on there. */
static void skip_common(struct json *j)
{
    struct window *w = j->w;
    while (j->skipped != 0 && !j->in_dict) {
        bool wants = j->expect == EXPECT_VALUE || j->expect == EXPECT_VALUE_OR_END;
        bool behind = j->expect == EXPECT_COMMA_OR_END;
        uint8_t c = *w->at;
        str text;
        if (is_blank(c) || (c == ',' && behind)) {
            j->expect = c == ',' ? EXPECT_VALUE : j->expect;
            w->at++;
        } else if (wants && (c == '-' || is_digit((char)c)) && json_scan_common(w, &text)) {
            j->expect = EXPECT_COMMA_OR_END;
        } else if (wants && c == '"') {
            if (!json_scan_text(w, w->at, j->limits->string_bytes, &text, &w->at))
                return;
            j->expect = EXPECT_COMMA_OR_END;
        } else if (wants && c == '[' && j->open.len < j->open.cap) {
            j->open.at[j->open.len++] = c;
            j->expect = EXPECT_VALUE_OR_END;
            w->at++;
        } else if (c == ']' && j->expect != EXPECT_VALUE) {
            j->open.len--;
            j->in_dict = j->open.at[j->open.len - 1] == '{';
            value_done(j);
            w->at++;
        } else {
            return;
        }
    }
}

static enum vrs_status read_all(struct json *j, struct json_end *ret, struct vrs_error *err)
{
    struct window *w = j->w;
    while (j->expect != EXPECT_NOTHING && !j->cut && window_need(w, 1)) {
        uint8_t c = *w->at;
        if (is_blank(c)) {
            w->at = behind_blanks(w->at);
            continue;
        }
        if (c == '"' && j->takes_all && j->skipped == 0 &&
            (j->expect == EXPECT_KEY || j->expect == EXPECT_KEY_OR_END)) {
            const uint8_t *before = w->at;
            TRY(common_members(j, err));
            if (w->at != before)
                continue;
        }
        j->offset = window_offset(w);
        TRY(read_token(j, c, err));
        take_separator(j);
        if (j->skipped != 0 && !j->in_dict)
            skip_common(j);
    }
    bool cut = j->cut || j->expect != EXPECT_NOTHING;
    if (cut)
        TRY(window_status(w, err));
    *ret = (struct json_end){
        .cut = cut,
        .at_value = cut && !j->cut && j->expect == EXPECT_VALUE,
        .offset = window_offset(w) + (cut ? (uint64_t)(w->end - w->at) : 0),
        .lone_strings = j->lone_strings,
    };
    return VRS_OK;
}

static enum vrs_status read_expected(struct window *w, const struct limits *limits,
                                     const struct json_sink *sink, str open, enum expect expect,
                                     struct json_end *ret, struct vrs_error *err)
{
    struct json j = {
        .w = w,
        .limits = limits,
        .sink = *sink,
        .takes_all = sink->key != NULL && sink->string != NULL && sink->number != NULL,
        .open.max = limits->nesting,
        .expect = expect,
    };
    buf_init(&j.text, (size_t)limits->string_bytes + 8);
    enum vrs_status status = VRS_OK;
    for (size_t i = 0; i < open.len && status == VRS_OK; i++)
        if (!vec_push(&j.open, (uint8_t)open.ptr[i]))
            status = vrs_no_memory(err);
    j.in_dict = open.len > 0 && open.ptr[open.len - 1] == '{';
    if (status == VRS_OK)
        status = read_all(&j, ret, err);
    buf_free(&j.text);
    vec_free(&j.open);
    return status;
}

enum vrs_status json_read(struct window *w, const struct limits *limits,
                          const struct json_sink *sink, struct json_end *ret, struct vrs_error *err)
{
    return read_expected(w, limits, sink, S(""), EXPECT_VALUE, ret, err);
}

enum vrs_status json_read_inside(struct window *w, const struct limits *limits,
                                 const struct json_sink *sink, str open, enum json_at at,
                                 struct json_end *ret, struct vrs_error *err)
{
    assert(open.len > 0 && open.len <= limits->nesting);
    bool dict = open.ptr[open.len - 1] == '{';
    enum expect first = dict ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return read_expected(w, limits, sink, open,
                         at == JSON_BEHIND_VALUE ? EXPECT_COMMA_OR_END : first, ret, err);
}
